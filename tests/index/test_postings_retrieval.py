"""AND, OR and the cosine, beside a search that reads every document."""

from __future__ import annotations

import math
from collections import Counter
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.postings import retrieval
from gossamer.index.postings.blocks import Postings
from gossamer.index.postings.retrieval import (
    best_documents,
    document_norm,
    intersect,
    query_weight,
    unite,
    weigh_postings,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Bag = Counter[str]

TERMS = "abcdef"
BAGS = st.lists(st.lists(st.sampled_from(TERMS), min_size=1, max_size=9).map(Counter), max_size=12)
QUERIES = st.lists(st.sampled_from(TERMS), min_size=1, max_size=5).map(Counter)


def postings_of(term: str, bags: Sequence[Bag]) -> Postings:
    having = [(number, bag[term]) for number, bag in enumerate(bags) if term in bag]
    pairs = np.array(having, np.int32).reshape(-1, 2)
    return Postings(pairs[:, 0], pairs[:, 1])


def cosine(query: Mapping[str, int], bag: Bag, bags: Sequence[Bag]) -> float:
    """lnc.ltc, from the vectors as they are written on paper."""
    df = {term: sum(term in other for other in bags) for term in query}
    asked = {
        term: (1 + math.log(tf)) * math.log(len(bags) / df[term]) if df[term] else 0.0
        for term, tf in query.items()
    }
    has = {term: 1 + math.log(tf) for term, tf in bag.items()}
    product = sum(weight * has.get(term, 0) for term, weight in asked.items())
    lengths = [math.sqrt(sum(x * x for x in vector.values())) for vector in (asked, has)]
    return product / math.prod(lengths) if all(lengths) else 0.0


@given(BAGS, QUERIES, st.booleans(), st.integers(1, 15))
def test_it_finds_what_reading_every_document_finds(
    bags: list[Bag], query: Bag, every: bool, k: int
) -> None:
    of = {term: postings_of(term, bags) for term in query}
    weights = {term: query_weight(query[term], of[term].df, len(bags)) for term in query}
    length = math.hypot(*weights.values()) or 1.0
    parts = [weigh_postings(of[term], weights[term] / length) for term in query]
    found = reduce(intersect if every else unite, parts)
    chosen = all if every else any
    expected = {
        number: cosine(query, bag, bags)
        for number, bag in enumerate(bags)
        if chosen(term in bag for term in query)
    }
    assert found.documents.tolist() == sorted(expected)
    hits = best_documents(found, np.array([document_norm(bag.values()) for bag in bags]), k)
    assert hits.sums.tolist() == pytest.approx(sorted(expected.values(), reverse=True)[:k])
    for number, score in zip(hits.documents.tolist(), hits.sums.tolist(), strict=True):
        assert score == pytest.approx(expected[number])


def test_of_equals_the_lowest_numbers_are_best() -> None:
    ones = retrieval.Scored(np.arange(9, dtype=np.int32), np.ones(9))
    assert best_documents(ones, np.ones(9), 4).documents.tolist() == [0, 1, 2, 3]


def test_what_is_in_nothing() -> None:
    nothing = retrieval.NO_DOCUMENTS
    one = retrieval.Scored(np.array([3], np.int32), np.array([0.5]))
    assert (
        intersect(nothing, one).documents.tolist()
        == intersect(one, nothing).documents.tolist()
        == []
    )
    assert unite(nothing, one).documents.tolist() == [3]
    assert unite(nothing, nothing).documents.tolist() == []
