"""Ways to order the best candidates, by name: ours, and published ones to compare it with.

    fields            score(page) of `ranking.py`, the default
    content-pagerank  0.6 · content / best content + 0.4 · PageRank / best PageRank, where the best
                      are those of the candidates, and content is score(page) without popularity
    cosine            of the angle between the tf-idf vectors of query and page, weighed lnc.ltc:
                      Salton and Buckley, "Term-weighting approaches in automatic text retrieval"
                      (IPM 1988); Manning, Raghavan and Schütze, "Introduction to Information
                      Retrieval" (2008), §6.4.3

Each orders what `fields` found, so they differ in order alone. Vectors of tf-idf are what the terms
of a text weigh:

    lnc  a page: 1 + lg tf, no idf, divided by the vector's length
    ltc  a query: (1 + lg tf) · lg (N / n), divided by the vector's length

A page's terms are those of its card: title, and the beginning of its text.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, get_args

from gossamer.config import Profile
from gossamer.serve.ranking import popularity
from gossamer.serve.recency import freshness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gossamer.config import RankingConfig
    from gossamer.serve.placing import Placed
    from gossamer.serve.recency import Wanted

PROFILES: tuple[Profile, ...] = get_args(Profile)
CONTENT, PAGERANK = 0.6, 0.4

Vector = dict[str, float]


def scores(
    profile: Profile, candidates: Sequence[Placed], weights: RankingConfig, time: Wanted | None
) -> list[float]:
    """Of candidates, in a profile. `time` is what the query wants."""
    match profile:
        case "content-pagerank":
            return content_pagerank(
                [each.words for each in candidates], [each.page.merit for each in candidates]
            )
        case "cosine":
            return [each.cosine for each in candidates]
        case "fields":
            worth = [
                each.words + weights.popularity * popularity(each.page.merit) for each in candidates
            ]
            if time is None:
                return worth
            return [
                value + weights.freshness * freshness(each.page.date_ms, time)
                for value, each in zip(worth, candidates, strict=True)
            ]


def content_pagerank(contents: Sequence[float], ranks: Sequence[float]) -> list[float]:
    """Scores of candidates from 0 to 1. Neither their contents nor their ranks are negative."""
    of_contents, of_ranks = _of_the_best(contents), _of_the_best(ranks)
    return [
        CONTENT * content + PAGERANK * rank
        for content, rank in zip(of_contents, of_ranks, strict=True)
    ]


def lnc(terms: Iterable[str]) -> Vector:
    """The vector of a page by its terms, repeated ones too."""
    return _of_length_1({term: _log_tf(count) for term, count in Counter(terms).items()})


def ltc(terms: Iterable[str], frequencies: Mapping[str, int], pages: int) -> Vector:
    """The vector of a query; each of its terms is in `frequencies[term]` of so many pages.

    A term that no page has says nothing, nor does one that all have.
    """
    return _of_length_1(
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


def _of_length_1(weights: Vector) -> Vector:
    length = math.hypot(*weights.values())
    return {term: weight / length for term, weight in weights.items()} if length else {}


def _of_the_best(values: Sequence[float]) -> list[float]:
    best = max(values, default=0.0)
    return [value / best if best else 0.0 for value in values]
