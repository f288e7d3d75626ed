"""Words that begin like a word of the query: derivations that its stemmer keeps apart.

`verschlüsselt` has another stem than `Verschlüsselung`, and `printer` than `printing`. No list of
suffixes tells which words belong together, but the index: terms of its texts that share all but the
last letters mostly do. A page that has some of them gets RELATED_WEIGHT times the idf of the
query's word. They find no page by themselves, and do not count in a query of one word, in a passage
and in scripts without spaces. An index that is a part of a larger one asks its own texts only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tantivy import Query

from gossamer.index.format.unspaced import is_pair
from gossamer.search.query_clauses import any_of, unit_clause_once
from gossamer.search.statistics import idf_sum

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tantivy import Schema

    from gossamer.index.format.analysis import Unit
    from gossamer.search.statistics import Frequencies, Statistics

MIN_SHARED = 5
"""Letters that related words share, at least; of a longer word, all but MAX_LESS."""
MAX_LESS, MAX_MORE = 2, 3
"""How much shorter and longer than a word its related words are."""
MAX_RELATED = 4
"""Related words of a word, the most frequent ones."""
RELATED_WEIGHT = 0.3


def related_terms(term: str, here: Statistics) -> Sequence[str]:
    """The most frequent terms that begin like a term and are nearly as long."""
    if len(term) < MIN_SHARED or is_pair(term) or not _is_word(term):
        return ()
    lengths = range(len(term) - MAX_LESS, len(term) + MAX_MORE + 1)
    found = [
        each
        for each in here.terms_beginning(term[: max(MIN_SHARED, len(term) - MAX_LESS)])
        if each != term and len(each) in lengths and _is_word(each)
    ]
    return found[:MAX_RELATED]


def related_words_bonus(
    schema: Schema, weights: Mapping[Unit, float], here: Statistics, among: Frequencies
) -> Iterator[Query]:
    """What pages get for words that are related to units, by the weights of these.

    One query, if there are any. A word that is itself in the query counts as what it is.
    """
    found = []
    for unit, weight in weights.items():
        related = related_terms(*unit, here) if len(unit) == 1 else ()
        if units := [(each,) for each in related if (each,) not in weights]:
            either = any_of([unit_clause_once(schema, "text", each, among) for each in units])
            gain = RELATED_WEIGHT * weight * idf_sum(unit, "text", among)
            found.append(Query.const_score_query(either, gain))
    if found:
        yield any_of(found)


def _is_word(term: str) -> bool:
    """Whether a term has letters and their marks only."""
    return not any(each.isdigit() or each == "_" for each in term)
