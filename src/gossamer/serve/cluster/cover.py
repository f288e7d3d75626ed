"""Which processes answer together? The choice that a server makes among what its nodes hold.

An answer must come from one state of the index, with each shard searched once. While nodes take up
a newer state, or change their shards, several choices exist. The best one has most shards, and of
such, it is of the newest state. All servers that see the same reports choose the same.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gossamer.search.messages import Holding

    Held = Iterable[tuple[str, Holding]]
    """The address or name of a process, and what it holds."""

MAX_STEPS = 10_000
"""Bounds the search for sets of shards that fit together. Usually all of them do."""


class Part(NamedTuple):
    """Shards, and the processes that hold exactly these."""

    shards: tuple[int, ...]
    holders: tuple[str, ...]


class Cover(NamedTuple):
    """Parts without a common shard. `missing` shards of this state are in none of them."""

    state: str
    version: int
    parts: tuple[Part, ...]
    missing: int
    pages: int
    languages: frozenset[str]

    @property
    def share(self) -> float:
        """The share of the shards that are covered."""
        found = sum(len(part.shards) for part in self.parts)
        return found / (found + self.missing)


def best_cover(held: Held) -> Cover | None:
    """The best cover; None if nobody holds anything."""
    states: dict[str, list[tuple[str, Holding]]] = defaultdict(list)
    for holder, holding in held:
        if holding.shards and set(holding.shards) <= set(holding.whole):
            states[holding.state].append((holder, holding))
    covers = [_cover(each) for each in states.values()]
    return max(covers, key=lambda cover: (cover.share, cover.version), default=None)


def _cover(held: Sequence[tuple[str, Holding]]) -> Cover:
    """The best cover of one state."""
    holders: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for holder, holding in held:
        holders[holding.shards].append(holder)
    known = {holding.shards: holding for _, holding in held}
    whole = held[0][1].whole
    chosen = _disjoint_shards(sorted(known), whole)
    found = [known[shards] for shards in chosen]
    return Cover(
        held[0][1].state,
        max(holding.version for _, holding in held),
        tuple(Part(shards, tuple(sorted(holders[shards]))) for shards in chosen),
        len(whole) - sum(map(len, chosen)),
        sum(each.pages for each in found),
        frozenset(language for each in found for language in each.languages),
    )


def _disjoint_shards(
    sets: Sequence[tuple[int, ...]], whole: Sequence[int]
) -> list[tuple[int, ...]]:
    """Sets without a common shard that have as many shards as possible, as far as MAX_STEPS tell.

    Sets of one division of the shards fit together at once. Only those of two divisions may not.
    """
    having: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for each in sets:
        for shard in each:
            having[shard].append(each)
    found: list[tuple[int, ...]] = []
    covered = -1
    begun: list[tuple[list[tuple[int, ...]], set[int]]] = [([], set(whole))]
    for _ in range(MAX_STEPS):
        if not begun or covered == len(whole):
            break
        chosen, left = begun.pop()
        if sum(map(len, chosen)) > covered:
            found, covered = chosen, sum(map(len, chosen))
        if left:
            first = min(left)
            fitting = [each for each in having[first] if left.issuperset(each)]
            begun += [([*chosen, each], left.difference(each)) for each in reversed(fitting)]
            if not fitting:
                begun.append((chosen, left - {first}))
    return sorted(found)
