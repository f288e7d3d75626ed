"""Profiles, against examples that were worked out by hand."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import RankingConfig
from gossamer.search.diversity import PlacedPage
from gossamer.search.messages import Candidate
from gossamer.search.profiles import content_pagerank, cosine, lnc, ltc, scores
from gossamer.search.recency import FreshnessIntent

PAGES = 1_000_000
FREQUENCIES = {"auto": 5_000, "best": 50_000, "car": 10_000, "insurance": 1_000}


def test_content_and_pagerank_count_by_the_best_of_the_candidates() -> None:
    scores = content_pagerank([20.0, 10.0, 5.0], [1.0, 4.0, 0.0])
    assert scores == pytest.approx([0.6 + 0.4 / 4, 0.3 + 0.4, 0.15])
    assert content_pagerank([3.0, 0.0], [0.0, 0.0]) == [0.6, 0.0]
    assert content_pagerank([], []) == []


def test_what_counts_in_each_profile() -> None:
    weights = RankingConfig(popularity=0.5, freshness=4.0)
    now_ms = 2_000_000_000_000
    known = ((10.0, 0.0, now_ms, 0.2), (5.0, 3.0, None, 0.7))
    pages = [
        PlacedPage(
            0, Candidate(words, static_rank, 0, date_ms, (0, 0, 0)), False, words, words, cosine
        )
        for words, static_rank, date_ms, cosine in known
    ]
    assert scores("fields", pages, weights, FreshnessIntent(now_ms, now_ms)) == [14.0, 6.0]
    assert scores("fields", pages, weights, None) == [10.0, 6.0]
    assert scores("content-pagerank", pages, weights, None) == [0.6, 0.3 + 0.4]
    assert scores("cosine", pages, weights, None) == [0.2, 0.7]


def test_a_page_s_vector() -> None:
    """1, 1 and 1 + lg 2 = 1.301, by their length 1.9216."""
    vector = lnc(["car", "insurance", "auto", "insurance"])
    assert vector == pytest.approx({"auto": 0.5204, "car": 0.5204, "insurance": 0.6770}, abs=1e-4)


def test_a_query_s_vector() -> None:
    """lg N/n is 1.301, 2 and 3, by their length 3.8331."""
    vector = ltc(["best", "car", "insurance"], FREQUENCIES, PAGES)
    assert vector == pytest.approx({"best": 0.3394, "car": 0.5218, "insurance": 0.7827}, abs=1e-4)


def test_the_cosine() -> None:
    """0.5218 · 0.5204 + 0.7827 · 0.6770, the example of IIR §6.4.3."""
    query = ltc(["best", "car", "insurance"], FREQUENCIES, PAGES)
    page = lnc(["car", "insurance", "auto", "insurance"])
    assert cosine(query, page) == pytest.approx(0.8014, abs=1e-4)
    assert cosine(query, lnc(["pear"])) == 0


def test_a_term_of_no_page_or_of_every_page_says_nothing() -> None:
    assert ltc(["a", "b", "c"], {"a": 0, "b": 10, "c": 5}, 10) == {"c": 1.0}
    assert ltc(["b"], {"b": 12}, 10) == {}
    assert lnc([]) == {}


@given(st.lists(st.sampled_from("abcd"), min_size=1))
def test_vectors_have_the_length_1(terms: list[str]) -> None:
    frequencies = Counter("abbcccdddd")
    for vector in (lnc(terms), ltc(terms, frequencies, 100)):
        assert math.hypot(*vector.values()) == pytest.approx(1)
        assert cosine(vector, vector) == pytest.approx(1)
