"""Which shards belong to which node? All nodes compute it from the same names, without a leader.

The shards are dealt to a fixed number of groups, and the nodes, too: a node holds the shards of its
group, and all nodes of a group hold the same. So a node answers from all its shards as one index,
and another one of its group can go on with a question where it failed. How much a node holds does
not depend on how many nodes are there.

Both are dealt by rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to increase
hit rates", IEEE/ACM Transactions on Networking 6, 1998): the pair of the highest hash comes first.
A group that has its share takes no more, so that all are of the same size, give or take one. When a
node comes or goes, few others change their group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import xxhash

if TYPE_CHECKING:
    from collections.abc import Collection

_T = TypeVar("_T", int, str)


def share(node: str, nodes: Collection[str], shards: Collection[int], groups: int) -> list[int]:
    """The shards that a node holds, which is one of `nodes`."""
    groups = max(min(groups, len(shards)), 1)
    mine = dealt(nodes, groups)[node]
    return sorted(shard for shard, group in dealt(shards, groups).items() if group == mine)


def dealt(items: Collection[_T], groups: int) -> dict[_T, int]:
    """The group of each item. The sizes of the groups differ by one at most."""
    least, larger = divmod(len(items), groups)
    pairs = sorted(
        ((_hash(f"{group}/{item}"), item, group) for item in items for group in range(groups)),
        reverse=True,
    )
    found: dict[_T, int] = {}
    sizes = [0] * groups
    for _, item, group in pairs:
        is_full = sizes[group] > least or (sizes[group] == least and not larger)
        if item in found or is_full:
            continue
        larger -= sizes[group] == least
        found[item] = group
        sizes[group] += 1
    return found


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode())
