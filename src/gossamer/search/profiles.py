"""Profiles: formulas that order the best candidates, ours and others for comparison.

    fields            score(page) of `ranking.py`, the default
    content-pagerank  0.6 · content / best content + 0.4 · PageRank / best PageRank, where the best
                      are the maxima of the candidates, and content is score(page) without
                      popularity and freshness: a weighted mean, as textbooks combine the two
    cosine            cosine of the tf-idf vectors of query and page, weighted lnc.ltc: Salton and
                      Buckley, "Term-weighting approaches in automatic text retrieval" (IPM 1988);
                      Manning, Raghavan and Schütze, "Introduction to Information
                      Retrieval" (2008), §6.4.3

Each profile orders the pages that `fields` found, so they differ only in the order. The weight of a
term in a tf-idf vector is

    lnc  in a page: 1 + lg tf, no idf, divided by the vector's length
    ltc  in a query: (1 + lg tf) · lg (N / n), divided by the vector's length

A page's terms are those of its stored document: title, and the beginning of its text.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, get_args

from gossamer.config import Profile
from gossamer.search.recency import freshness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gossamer.config import RankingConfig
    from gossamer.search.diversity import PlacedPage
    from gossamer.search.recency import FreshnessIntent

PROFILES: tuple[Profile, ...] = get_args(Profile)
CONTENT, PAGERANK = 0.6, 0.4

Vector = dict[str, float]


def scores(
    profile: Profile,
    candidates: Sequence[PlacedPage],
    weights: RankingConfig,
    time: FreshnessIntent | None,
) -> list[float]:
    """The scores of candidates in a profile. `time`: which dates the query favours, if any."""
    match profile:
        case "content-pagerank":
            return content_pagerank(
                [each.words for each in candidates], [each.page.static_rank for each in candidates]
            )
        case "cosine":
            return [each.cosine for each in candidates]
        case "fields":
            weight = weights.popularity
            worth = [each.words + weight * popularity(each.page.static_rank) for each in candidates]
            if time is None:
                return worth
            return [
                value + weights.freshness * freshness(each.page.date_ms, time)
                for value, each in zip(worth, candidates, strict=True)
            ]


def content_pagerank(contents: Sequence[float], ranks: Sequence[float]) -> list[float]:
    """Scores from 0 to 1 of candidates with these contents and ranks, which are not negative."""
    of_contents, of_ranks = _shares_of_best(contents), _shares_of_best(ranks)
    return [
        CONTENT * content + PAGERANK * rank
        for content, rank in zip(of_contents, of_ranks, strict=True)
    ]


def lnc(terms: Iterable[str]) -> Vector:
    """The vector of a page, given its terms with repetitions."""
    return _normalize_length({term: _log_tf(count) for term, count in Counter(terms).items()})


def ltc(terms: Iterable[str], frequencies: Mapping[str, int], pages: int) -> Vector:
    """The vector of a query whose terms occur on `frequencies[term]` of `pages` pages.

    A term that no page has, or every page, weighs nothing.
    """
    return _normalize_length(
        {
            term: _log_tf(count) * math.log10(pages / having)
            for term, count in Counter(terms).items()
            if 0 < (having := frequencies[term]) < pages
        }
    )


def cosine(query: Vector, page: Vector) -> float:
    """From 0, no term in common, to 1, the same direction."""
    return sum(weight * page.get(term, 0.0) for term, weight in query.items())


def _log_tf(count: int) -> float:
    return 1 + math.log10(count)


def _normalize_length(weights: Vector) -> Vector:
    length = math.hypot(*weights.values())
    return {term: weight / length for term, weight in weights.items()} if length else {}


def _shares_of_best(values: Sequence[float]) -> list[float]:
    best = max(values, default=0.0)
    return [value / best if best else 0.0 for value in values]


def popularity(static_rank: float) -> float:
    """The popularity of a page whose PageRank is `static_rank` times that of an average page."""
    return math.log2(1 + static_rank)
