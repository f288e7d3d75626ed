"""What a query may cost. It is judged after its analysis, and only here.

Facts
  * The length of a query says little. `"a.b." * 240` is one word to its user, and 480 to an index.
  * A term costs a look-up in each segment, and Python's share for its clauses, however few pages
    have it.
  * A union reads the postings of all terms. A conjunction or phrase reads about as many of each
    term as its rarest one has, and a phrase also positions.

So a query has two bounds. `first_terms` bounds its terms before any index is asked, in the order of
the query. `affordable` bounds terms and postings in the index of a language: the rarest words stay,
because they tell the most and cost the least. Neither changes a query of up to FREE_TERMS terms.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from gossamer.index.format.analysis import MAX_KEPT, first_words, number_of_words
from gossamer.index.format.unspaced import is_pair, is_unspaced
from gossamer.search.addresses import typed_address
from gossamer.search.query import (
    MAX_PASSAGE,
    MAX_WORDS,
    And,
    Filter,
    Like,
    Not,
    Or,
    Urls,
    Words,
    is_passage,
)
from gossamer.search.query_units import split_units, units_of
from gossamer.search.typed_forms import code_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.index.format.analysis import Analyzer, Unit
    from gossamer.search.query import Leaf, Query
    from gossamer.search.statistics import Frequencies

FREE_TERMS = 10
"""As many terms, with one phrase among them, are searched however frequent they are."""
RUN_TERMS, FILTER_TERMS = 0.5, 0.25
"""How many terms a pair of characters counts, in scripts without spaces, and a word of a filter."""
MAX_TERMS = 64
"""Terms that are searched in the index of a language."""
MAX_READ, MAX_SHARE = 100_000, 2
"""Postings that are read: MAX_READ, and MAX_SHARE for each page of the index."""
HEAVY_TERMS = 12
"""A query of more terms is expected to be expensive."""
FILTER_SHARE, DATE_SHARE, URLS_SHARE = 1 / 8, 1 / 2, 1
"""What a filter is expected to cost for each page of the index, in postings: tantivy scans the
dates of all pages for `before:` and `after:`, and all URLs for the others."""
POSITIONS = 4
"""What a posting of a phrase costs, whose positions are read, too. Pairs of characters are on few
pages, and each page that has one has others: their positions are read for few."""


class Cost(NamedTuple):
    """What it costs to search for something: terms to look up, and postings to read.

    `phrases`: how many phrases in quotes there are.
    """

    terms: float = 0
    read: float = 0.0
    phrases: int = 0


@lru_cache(MAX_KEPT)
def count_terms(text: str) -> int:
    """How many terms a typed word or phrase has in any language, at least one."""
    return max(number_of_words(text), len(code_of(text)), 1)


def query_terms(tree: Query) -> int:
    """How many terms a query has, with those that it excludes."""
    return sum(map(_leaf_terms, _leaves(tree)))


def first_terms(tree: Query) -> Query:
    """The beginning of a query: MAX_WORDS terms, or MAX_PASSAGE if it has no operators."""
    left = MAX_PASSAGE if _is_plain(tree) else MAX_WORDS
    if query_terms(tree) <= left:
        return tree
    kept: list[Leaf | None] = []
    for leaf in _leaves(tree):
        cut = _cut(leaf, left)
        left -= _leaf_terms(cut) if cut else left
        kept.append(cut)
    return _replace_leaves(tree, iter(kept)) or And(())


def affordable(tree: Query, analyzer: Analyzer, whole: Frequencies) -> Query:
    """The query without what costs too much in an index with these frequencies.

    If it is too expensive, filters come first, then the words on the fewest pages. A word or phrase
    that is too long for what is left is cut. Of a passage, units are chosen (`interpretation.py`).
    """
    if is_passage(tree):
        return tree
    leaves = [*_leaves(tree)]
    costs = [_leaf_cost(leaf, analyzer, whole) for leaf in leaves]
    if _is_affordable(_sum(costs), whole):
        return tree
    kept: list[Leaf | None] = [None] * len(leaves)
    spent = Cost()
    for at in sorted(range(len(leaves)), key=lambda at: _precedence(leaves[at], costs[at])):
        terms = int(MAX_TERMS - spent.terms)
        while terms and (leaf := _cut(leaves[at], terms)):
            cost = _sum([spent, _leaf_cost(leaf, analyzer, whole)])
            if _is_affordable(cost, whole):
                kept[at], spent = leaf, cost
                break
            terms = min(terms, _leaf_terms(leaf)) * 3 // 4
    return _replace_leaves(tree, iter(kept)) or And(())


def affordable_units(units: Iterable[Unit], whole: Frequencies) -> Iterator[Unit]:
    """The first units, as far as they are affordable together."""
    spent = Cost()
    for unit in units:
        spent = _sum([spent, unit_cost(unit, whole)])
        if not _is_affordable(spent, whole):
            break
        yield unit


def unit_cost(unit: Unit, whole: Frequencies) -> Cost:
    """The cost of a term, or of a phrase."""
    least = min(whole.pages("text", term) for term in unit)
    if len(unit) == 1:
        return Cost(RUN_TERMS if is_pair(unit[0]) else 1, least)
    if all(map(is_unspaced, unit)):
        return Cost(RUN_TERMS * (len(unit) - 1), len(unit) * least)
    return Cost(len(unit), POSITIONS * len(unit) * least)


def _is_affordable(cost: Cost, whole: Frequencies) -> bool:
    if cost.read <= MAX_READ + MAX_SHARE * whole.documents:
        return cost.terms <= MAX_TERMS
    return cost.terms <= FREE_TERMS and cost.phrases <= 1


def _leaf_cost(leaf: Leaf, analyzer: Analyzer, whole: Frequencies) -> Cost:
    match leaf:
        case Words():
            also = [Words(text, exact=True) for text in leaf.also]
            units = [*units_of([leaf], analyzer), *split_units(leaf, analyzer)]
            units += units_of(also, analyzer)
            cost = _sum([unit_cost(unit, whole) for unit in units])
            terms = max(cost.terms, len(code_of(leaf.text)), 1)
            return Cost(terms, cost.read, leaf.exact and any(len(unit) > 1 for unit in units))
        case Like(words):
            likened = units_of([Words(text) for text, _ in words], analyzer)
            return _sum([unit_cost(unit, whole) for unit in likened])
        case Urls():
            return Cost(FILTER_TERMS, URLS_SHARE * whole.documents)
        case Filter("before" | "after"):
            return Cost(FILTER_TERMS, DATE_SHARE * whole.documents)
        case Filter("site" | "host", value) if typed_address(value).pattern:
            return Cost(FILTER_TERMS, URLS_SHARE * whole.documents)
        case Filter():
            return Cost(FILTER_TERMS * _leaf_terms(leaf), FILTER_SHARE * whole.documents)


def _precedence(leaf: Leaf, cost: Cost) -> tuple[bool, float]:
    return isinstance(leaf, Words), cost.read / max(cost.terms, 1)


def _sum(costs: Sequence[Cost]) -> Cost:
    return Cost(*map(sum, zip(*costs, strict=True)))


def _leaf_terms(leaf: Leaf) -> int:
    match leaf:
        case Words(text, _, also):
            return count_terms(text) + sum(map(count_terms, also))
        case Filter(_, text):
            return count_terms(text)
        case Like(words):
            return len(words)
        case Urls():
            return 1


def _cut(leaf: Leaf, terms: int) -> Leaf | None:
    """The first terms of a word or phrase, without synonyms. Other leaves cannot be cut."""
    if _leaf_terms(leaf) <= terms:
        return leaf
    if isinstance(leaf, Words) and leaf.also:
        return _cut(replace(leaf, also=()), terms)
    text = first_words((leaf.text,), terms) if terms and isinstance(leaf, Words) else ""
    return replace(leaf, text=text) if text and count_terms(text) <= terms else None


def _is_plain(tree: Query) -> bool:
    match tree:
        case And(parts, strict):
            return not strict and all(isinstance(part, Words | Filter | Urls) for part in parts)
        case _:
            return isinstance(tree, Words)


def _leaves(tree: Query) -> Iterator[Leaf]:
    """The leaves of the tree, with excluded ones."""
    match tree:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _leaves(part)
        case Not(part):
            yield from _leaves(part)
        case _:
            yield tree


def _replace_leaves(tree: Query, leaves: Iterator[Leaf | None]) -> Query | None:
    """The tree with other leaves, without those that are None; None if no leaf is left."""
    match tree:
        case And(parts) | Or(parts):
            kept = [found for part in parts if (found := _replace_leaves(part, leaves))]
            return replace(tree, parts=tuple(kept)) if kept else None
        case Not(part, unless):
            found = _replace_leaves(part, leaves)
            return Not(found, unless if found == part else "") if found else None
        case _:
            return next(leaves)
