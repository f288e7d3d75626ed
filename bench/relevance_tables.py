"""The tables of relevance.py: a row per set, and by language, kind of set and length of query."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from collection import Collection
from harness import report
from paired_scores import by_collection, difference, grouped, mean_ratio, scores_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paired_scores import Judged, Values

OURS, BEFORE = "fields", "before"
HEAD = """| set | queries | `fields` | bm25s | tantivy | analysis of bm25s | ratio to the better | \
difference | won : lost |
|---|---|---|---|---|---|---|---|---|"""
MIN_QUERIES = 20
"""A set counts in a row with other sets if it has so many queries there: ratios of fewer are far
from those of the set."""
LENGTHS = {"1–2 words": 2, "3–5 words": 5, "6 or more words": math.inf}


def language_of(name: str) -> str:
    return Collection(name, [], [], {}).language


def kind_of(name: str) -> str:
    """What the sets of several languages have in common: their name without the language."""
    return name.removesuffix(f"-{language_of(name)}")


def length_of(judged: Judged) -> str:
    return next(name for name, most in LENGTHS.items() if judged.words <= most)


def best_peer(judged: Sequence[Judged], prefix: str = "") -> str:
    """The peer with the highest mean over a set."""
    peers = [name for name in judged[0].scores if name != OURS and name.startswith(prefix)]
    return max(peers, key=lambda name: scores_of(judged, name).mean())


def print_row(judged: Sequence[Judged]) -> None:
    """Print the row of a set."""
    peer, usual = best_peer(judged), best_peer(judged, "bm25s")
    pair = (scores_of(judged, OURS), scores_of(judged, peer))
    values = [f"{scores_of(judged, name).mean():.3f}" for name in (OURS, usual, "tantivy")]
    ratio, *_ = mean_ratio([pair])
    cells = [judged[0].collection, str(len(judged)), *values, usual.removeprefix("bm25s ")]
    print("|", " | ".join((*cells, f"{ratio:.3f}", str(difference([pair])))), "|", flush=True)


def print_summary(judged: Sequence[Judged]) -> None:
    """Print the tables over all sets, and the figure."""
    sets = by_collection(judged)
    peers = {name: best_peer(each) for name, each in sets.items()}
    of_peer = partial(_with_best_peer, peers=peers)
    against = [of_peer(each) for each in judged]
    print_changes("language", grouped(against, lambda each: language_of(each.collection)))
    print_changes("kind", grouped(against, lambda each: kind_of(each.collection)))
    print_changes("length of the query", grouped(against, length_of))
    print_changes("all", {"all": against})
    differences = {
        name: difference([_pair(each, BEFORE)]) for name, each in by_collection(against).items()
    }
    below = [name for name, each in differences.items() if each.mean < 0]
    worse = [name for name, each in differences.items() if each.is_worse]
    better = sum(each.is_better for each in differences.values())
    print(f"\nbelow the better peer: {', '.join(below) or 'none'}")
    print(f"significantly below: {', '.join(worse) or 'none'}")
    ratio, low, high = mean_ratio([_pair(each, BEFORE) for each in by_collection(against).values()])
    report(
        f"{ratio:.3f} × [{low:.3f}, {high:.3f}] the nDCG@10 of the better of bm25s and tantivy; "
        f"{better} of {len(sets)} sets significantly above, {len(worse)} below"
    )


def print_changes(title: str, groups: Mapping[str, Sequence[Judged]]) -> None:
    """Print a row per group of queries: our scores beside those named BEFORE, sets alike."""
    print(f"\n| {title} | sets | queries | mean ratio | difference | won : lost |")
    print("|---|---|---|---|---|---|")
    for name, judged in groups.items():
        sets = [*by_collection(judged).values()]
        pairs = [_pair(each, BEFORE) for each in sets if len(each) >= MIN_QUERIES or len(sets) == 1]
        if not pairs:
            continue
        ratio, low, high = mean_ratio(pairs)
        cells = (name, str(len(pairs)), str(len(judged)), f"{ratio:.3f} [{low:.3f}, {high:.3f}]")
        print("|", " | ".join((*cells, str(difference(pairs)))), "|")


def _with_best_peer(judged: Judged, peers: Mapping[str, str]) -> Judged:
    peer = judged.scores[peers[judged.collection]]
    return judged._replace(scores={OURS: judged.scores[OURS], BEFORE: peer})


def _pair(judged: Sequence[Judged], other: str) -> tuple[Values, Values]:
    return scores_of(judged, OURS), scores_of(judged, other)
