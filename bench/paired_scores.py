"""Scores of single queries by set and system, and what can be said of their differences.

Intervals are 95 % of a paired bootstrap: the same queries for both systems, drawn anew within each
set (Sakai, "Evaluating evaluation metrics based on the bootstrap", SIGIR 2006).
"""

from __future__ import annotations

import csv
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

DRAWS = 2_000
SAME = 0.001
"""Differences of nDCG below this are neither won nor lost."""


class Judged(NamedTuple):
    """A query of a set, and its nDCG by system."""

    collection: str
    query: str
    words: int
    scores: Mapping[str, float]


class Difference(NamedTuple):
    """The mean difference of two systems, over queries of a set or over sets, and its interval."""

    mean: float
    low: float
    high: float
    won: int
    lost: int

    @property
    def is_worse(self) -> bool:
        return self.high < 0

    @property
    def is_better(self) -> bool:
        return self.low > 0

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}] | {self.won} : {self.lost}"


def by_collection(judged: Iterable[Judged]) -> Mapping[str, Sequence[Judged]]:
    found: dict[str, list[Judged]] = defaultdict(list)
    for each in judged:
        found[each.collection].append(each)
    return found


def scores_of(judged: Iterable[Judged], system: str) -> Values:
    return np.array([each.scores[system] for each in judged])


def difference(sets: Iterable[tuple[Values, Values]]) -> Difference:
    """How much better the first of each two is, each set counting alike."""
    differences = [ours - theirs for ours, theirs in sets]
    drawn = np.mean([_drawn_means(each) for each in differences], axis=0)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Difference(
        float(np.mean([each.mean() for each in differences])),
        float(low),
        float(high),
        sum(int((each > SAME).sum()) for each in differences),
        sum(int((each < -SAME).sum()) for each in differences),
    )


def mean_ratio(sets: Sequence[tuple[Values, Values]]) -> tuple[float, float, float]:
    """The mean over sets of the ratio of both means, and its interval."""
    drawn = []
    for ours, theirs in sets:
        both = _drawn_means(np.stack([ours, theirs], axis=1))
        drawn.append(both[:, 0] / np.maximum(both[:, 1], SAME))
    ratio = np.mean([ours.mean() / max(theirs.mean(), SAME) for ours, theirs in sets])
    low, high = np.quantile(np.mean(drawn, axis=0), (0.025, 0.975))
    return float(ratio), float(low), float(high)


def _drawn_means(values: Values) -> Values:
    """The means of DRAWS samples of the rows, with replacement; the same draws every time."""
    draws = np.random.default_rng(1).integers(len(values), size=(DRAWS, len(values)))
    found: Values = values[draws].mean(axis=1)
    return found


def grouped(
    judged: Iterable[Judged], group_of: Callable[[Judged], str]
) -> Mapping[str, Sequence[Judged]]:
    found: dict[str, list[Judged]] = defaultdict(list)
    for each in judged:
        found[group_of(each)].append(each)
    return dict(sorted(found.items()))


def save(path: Path, judged: Iterable[Judged]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(("set", "query", "words", "system", "ndcg"))
        for collection, query, words, scores in judged:
            for system, score in scores.items():
                writer.writerow((collection, query, words, system, f"{score:.5f}"))


def load(path: Path) -> Sequence[Judged]:
    found: dict[tuple[str, str, int], dict[str, float]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            key = (row["set"], row["query"], int(row["words"]))
            found[key][row["system"]] = float(row["ndcg"])
    return [Judged(*key, scores) for key, scores in found.items()]
