"""What the words of a query mean in one index: the terms to look for, in the forms that it has."""

from __future__ import annotations

import math
from collections import defaultdict
from heapq import nlargest
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from gossamer.index.format.unspaced import clusters, is_ideographic_pair
from gossamer.search import query as query_tree
from gossamer.search.compound_words import compound_units, parts_of_compound
from gossamer.search.query_cost import affordable, affordable_units, count_terms
from gossamer.search.query_units import (
    compounds,
    drop_stop_words,
    joined_phrases,
    joined_unit,
    parts_of,
    run_weight,
    split_units,
    synonym_units,
    units_of,
)
from gossamer.search.statistics import idf_sum
from gossamer.search.typed_forms import symbols_of, typed_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gossamer.index.format.analysis import Analyzer, Unit
    from gossamer.search.statistics import Frequencies
    from gossamer.search.typed_forms import TypedWord

JOINED_WEIGHT = 2.0
"""The weight of joined words as a phrase, in a query of nothing else."""
SHORT_QUERY = 3
"""In a query of more units, coverage and pairs count for less."""
SYNONYM_WEIGHT = 0.5
"""The weight of a synonym. That of the word that was typed is 1."""
MAX_UNITS = 64
"""Units of a query that are searched: of a longer one, those with the highest tf-idf."""
MAX_FORMED_TERMS = 32
"""Terms of a query that are also sought as they were typed, joined, or in another language."""
MAX_OPTIONS = 16
MAX_SHOWN_TERMS = 24
"""A query of more terms is shown in snippets by the most telling of its words."""


class Interpretation(NamedTuple):
    """The terms of a query.

    `tree`: the query, without what costs too much (`query_cost.py`). `whole`: the frequencies of
    the pages in its language.
    """

    tree: query_tree.Query
    whole: Frequencies
    units: Sequence[Unit]
    """The terms of each word. Repeated words repeat there, and weigh more."""
    weights: Sequence[float]
    """The weight of each unit: `scale` times `run_weight` of its part."""
    scale: float
    """Such that the idf of all units, times their weights, adds up to what it would without."""
    further: Sequence[tuple[Unit, float]]
    """Terms that add to the score, with weights: joined words as phrases, compounds, parts of
    compounds, options, and words as the language of the query stems them."""
    typed: Sequence[TypedWord]
    """Forms and code that give a bonus."""
    symbols: Sequence[Unit]
    """Code without words, which a page must have."""
    split: Sequence[Sequence[Unit]]
    """The units of the parts of each word in CamelCase, which a page may have instead."""
    is_passage: bool
    synonyms: Sequence[tuple[Unit, float]]
    """Terms that pages may have instead of a word, with weights."""

    @classmethod
    def from_query(
        cls,
        tree: query_tree.Query,
        analyzer: Analyzer,
        whole: Frequencies,
        stems: Mapping[str, str] = MappingProxyType({}),
    ) -> Interpretation:
        """`stems`: by term, that of the same word in the language of the query.

        In a long query, all words are units, but only the first are also sought in other forms.
        """
        is_passage = query_tree.is_passage(tree)
        tree = affordable(tree, analyzer, whole)
        words = query_tree.wanted_words(tree)
        options = [*map(query_tree.Words, query_tree.query_options(tree))][:MAX_OPTIONS]
        weighted = _most_telling_units(_known_units(words, analyzer, whole), whole)
        units = [unit for unit, _ in weighted]
        idfs = [idf_sum(unit, "text", whole) for unit in units]
        damped = sum(idf * weight for idf, (_, weight) in zip(idfs, weighted, strict=True))
        scale = sum(idfs) / damped if damped else 1.0
        weights = [scale * weight for _, weight in weighted]
        count, words = len(words), _first_words(words)
        further = [
            *(
                (unit, JOINED_WEIGHT / count)
                for unit in joined_phrases(words, analyzer)
                if unit not in units
            ),
            *compounds(words, analyzer),
            *compound_units(words, analyzer, whole),
            *((unit, 1.0) for unit in units_of(options, analyzer)),
            *_stemmed_units(zip(units, weights, strict=True), stems),
        ]
        typed = typed_words([each.text for each in (*words, *options)], analyzer, whole)
        symbols: Iterable[Unit] = (each.terms for each in typed)
        if units:
            symbols = () if is_passage else symbols_of(words, analyzer)
        symbols = [terms for terms in symbols if pages_at_most([terms], whole, "code")]
        parts = (part for each in words for part in parts_of(each, analyzer))
        split = [found for part in parts if (found := split_units(part, analyzer))]
        split += [(unit,) for each in words if (unit := joined_unit(each, analyzer))]
        known = [(unit, weight) for unit, weight in further if pages_at_most([unit], whole)]
        synonyms = [
            (unit, SYNONYM_WEIGHT * scale)
            for text in query_tree.synonyms_in(words)
            for unit in synonym_units(text, analyzer)
            if pages_at_most([unit], whole)
        ]
        return cls(
            *(
                tree,
                whole,
                units,
                weights,
                scale,
                known,
                typed,
                symbols,
                split,
                is_passage,
                synonyms,
            )
        )

    @property
    def length_factor(self) -> float:
        """How much coverage and pairs count, less for each word of a longer query.

        A page need not have all words of a long question, and two of its many words are neighbours
        in a text by chance.
        """
        return SHORT_QUERY / max(len(self.units), SHORT_QUERY)

    def pages(self, among: Frequencies) -> int:
        """How many pages of an index can have all the words, if all are required: at most these.

        Pages that have all words of a passage are found like others, by the words that they have.
        """
        if self.is_passage:
            return 0
        if not self.units:
            return pages_at_most(self.symbols, among, "code")
        by_parts = max((pages_at_most(units, among) for units in self.split), default=0)
        return pages_at_most(self.units, among) + by_parts


def _stemmed_units(
    weighted: Iterable[tuple[Unit, float]], stems: Mapping[str, str]
) -> Iterator[tuple[Unit, float]]:
    """Units that are single words, as the language of the query stems them, if otherwise."""
    for unit, weight in weighted:
        if len(unit) == 1 and (stem := stems.get(unit[0], unit[0])) != unit[0]:
            yield (stem,), weight


def pages_at_most(units: Iterable[Unit], whole: Frequencies, field: str = "text") -> int:
    """An upper bound of the number of pages that have all units."""
    return min((whole.pages(field, term) for unit in units for term in unit), default=0)


def telling_words(
    words: Sequence[query_tree.Words], analyzer: Analyzer, whole: Frequencies
) -> Sequence[query_tree.Words]:
    """The words that a snippet shows: all, or those with the highest idf, once each."""
    if sum(count_terms(each.text) for each in words) <= MAX_SHOWN_TERMS:
        return words
    worths = {each: _telling(analyzer.terms_of(each.text), whole) for each in words}
    shown: dict[query_tree.Words, int] = {}
    for word in sorted(worths, key=worths.__getitem__, reverse=True):
        shown[word] = count_terms(word.text)
        if sum(shown.values()) >= MAX_SHOWN_TERMS:
            break
    return [word for word in worths if word in shown]


def _first_words(words: Sequence[query_tree.Words]) -> list[query_tree.Words]:
    """The first words, up to MAX_FORMED_TERMS terms, at least one."""
    terms = accumulate(count_terms(each.text) for each in words)
    return [
        word
        for number, (word, until) in enumerate(zip(words, terms, strict=True))
        if not number or until <= MAX_FORMED_TERMS
    ]


def _telling(unit: Unit, whole: Frequencies) -> float:
    """How telling a unit is: its idf, or 0 if no page has it."""
    return idf_sum(unit, "text", whole) if pages_at_most([unit], whole) else 0.0


def all_but_one(
    words: Sequence[str], analyzer: Analyzer, whole: Frequencies
) -> Iterator[tuple[str, float]]:
    """The words without each of them in turn, and the share of the idf that is left."""
    terms = [
        [term for term in analyzer.terms_of(word) if whole.pages("text", term)] for word in words
    ]
    idfs = [idf_sum(tuple(each), "text", whole) for each in terms]
    for at, idf_without in enumerate(idfs):
        yield " ".join([*words[:at], *words[at + 1 :]]), 1 - idf_without / (sum(idfs) or 1)


def _most_telling_units(
    weighted: Iterable[tuple[Unit, float]], whole: Frequencies
) -> Sequence[tuple[Unit, float]]:
    """The most telling units with weights: at most MAX_UNITS, and affordable ones.

    Of up to MAX_UNITS units, all. Where some are left out, each of the others is once.
    """
    units = [*weighted]
    if len(units) <= MAX_UNITS:
        return units
    weights: dict[Unit, float] = defaultdict(float)
    for unit, weight in units:
        weights[unit] += weight
    worths = {unit: weight * _telling(unit, whole) for unit, weight in weights.items()}
    best = {*affordable_units(nlargest(MAX_UNITS, worths, worths.__getitem__), whole)}
    return [(unit, weight) for unit, weight in weights.items() if unit in best]


def _known_units(
    words: Sequence[query_tree.Words], analyzer: Analyzer, whole: Frequencies
) -> Iterator[tuple[Unit, float]]:
    """The units of words, with weights.

    A compound or a word in CamelCase that no page has is replaced by its parts.
    """
    for each in drop_stop_words(words, analyzer):
        for part in parts_of(each, analyzer):
            units = [*units_of([part], analyzer)]
            if not pages_at_most(units, whole):
                split = split_units(part, analyzer) or parts_of_compound(part, analyzer, whole)
                units = [*split] or units
            weight = run_weight(units)
            yield from ((unit, weight * pair_weight(unit, whole)) for unit in units)


def pair_weight(unit: Unit, whole: Frequencies) -> float:
    """The weight of a pair of kana or ideographs beside its idf; 1 for other units.

    Each of these characters tells something by itself, and a rare pair may span the end of a word.
    So what counts is the geometric mean of the idf of the pair and that of its characters.
    """
    if len(unit) > 1 or not is_ideographic_pair(unit[0]):
        return 1.0
    characters = idf_sum(tuple(clusters(unit[0])), "text", whole)
    return math.sqrt(characters / idf_sum(unit, "text", whole))
