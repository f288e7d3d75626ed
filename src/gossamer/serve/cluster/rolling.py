"""When may a node open a newer index, and when may it drop an older one? Decided from reports.

A newer state of the index spreads over the nodes while the older one answers: it is used once nodes
hold all of its shards (`cover.py`), and only then is the older one dropped. So there is always a
state that is whole, unless nodes die.

  * The nodes of a group open a state one after another, so that opening it slows down one of them
    at a time. The servers do not know about this order, and none of them waits for ever.
  * A state that is not whole yet is not replaced by one that is newer still, or none would ever be
    whole where commits follow each other faster than nodes open them. Only if another node has gone
    on to a newer one, because it was started since, all follow.
  * A node that has got another place keeps its shards until the nodes of the old place have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.serve.cluster.cover import best_cover

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gossamer.search.messages import Holding, Report

MAX_HELD = 3
"""States, or other shards of a state, that a node has open at once. They share unchanged files."""
ME = ""
"""Stands for the node itself among the names of holders."""


def droppable_now(
    mine: Sequence[Holding], newest: str, reports: Mapping[str, Report]
) -> list[Holding] | None:
    """What to drop at once to open the state `newest`; None if it must not be opened now.

    `mine`: what this node holds, oldest first. `reports`: those of the other nodes, by name.
    """
    now = best_cover(_node_holdings(mine, reports))
    pending = [each for each in mine if now and each.state != newest and each.version > now.version]
    if pending and not any(
        report.target[0] > pending[-1].version and report.target[1] != pending[-1].state
        for report in reports.values()
    ):
        return None
    left = len(mine) - len(pending)
    return pending if left < MAX_HELD else None


def is_turn(
    name: str,
    mine: Sequence[Holding],
    newest: str,
    share: Sequence[int],
    reports: Mapping[str, Report],
) -> bool:
    """Whether the nodes of the same group whose names come first are ahead of this one.

    They are if they have its `share` of the state `newest`, as when this node has got another
    place, or a newer state than it.
    """
    if not mine:
        return True
    last = mine[-1]

    def is_ahead(each: Holding) -> bool:
        is_there = each.state == newest and tuple(each.shards) == tuple(share)
        return is_there or (each.version > last.version and each.state != last.state)

    return all(
        any(map(is_ahead, report.held))
        for other, report in reports.items()
        if other < name and tuple(report.share) == tuple(share) and report.held
    )


def droppable_later(
    mine: Sequence[Holding], wanted: Holding, reports: Mapping[str, Report]
) -> list[Holding]:
    """What this node holds beside `wanted` and nobody needs, once the state of `wanted` answers.

    Other nodes count only with what they will keep: two must not leave the same shards to each
    other.
    """
    before = best_cover(_node_holdings(mine, reports))
    left, dropped = list(mine), []
    for each in mine:
        if each is wanted:
            continue
        rest = [other for other in left if other is not each]
        after = best_cover(_node_holdings(rest, reports, kept=True))
        if after and before and after.state == wanted.state and after.share >= before.share:
            left = rest
            dropped.append(each)
    return dropped


def _node_holdings(
    mine: Sequence[Holding], reports: Mapping[str, Report], *, kept: bool = False
) -> Iterator[tuple[str, Holding]]:
    """What nodes hold, by name; of other nodes, only what they will keep, if `kept`."""
    for each in mine:
        yield ME, each
    for name, report in reports.items():
        for each in report.held:
            if not kept or each.shards == report.share:
                yield name, each
