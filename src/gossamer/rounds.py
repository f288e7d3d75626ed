"""THE FLOW: the steps in order, what each reads and writes.

    seeds ─inject─▶ pages ─generate─▶ fetchlist ─fetch─▶ responses, warc
                      ▲                                      │
                      │                                    parse
                      │                                      ▼
                      └──────update── responses + documents, links
    links ─invert─▶ inlinks ─┐
    links ─rank──▶ ranks ────┼─index─▶ index ─serve─▶ answers
    documents ───────────────┘

A pass of generate, fetch, parse, update is a round. Each step ends in one commit, so a crawl
that was cut off, at any moment and in any way, goes on with the first step that is not
committed. `again` parses all rounds once more.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gossamer import fetch, generate, index, invert, parse, rank, update
from gossamer.monitor import silence
from gossamer.overview import REPARSE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gossamer.store import Manifest, StepReport
    from gossamer.workspace import Workspace

    Step = Callable[[Workspace], StepReport]

ROUND: Mapping[str, Step] = {
    "generate": generate.run,
    "fetch": fetch.run,
    "parse": parse.run,
    "update": update.run,
}
"""What repeats."""

HARVEST: Mapping[str, Step] = {"invert": invert.run, "rank": rank.run, "index": index.run}
"""What makes a crawl searchable."""


def run(
    work: Workspace,
    rounds: int | None = None,
    minutes: float | None = None,
    announce: Callable[[str, int], None] = lambda _step, _round: None,
) -> Iterator[StepReport]:
    """Run rounds until nothing is due, or so many are done, or the time is over; then harvest.

    Yields each step's report once it is committed. `announce(step, round)` is called before
    each. A round that was cut off earlier is finished first, and counts as one.
    """
    ends = time.monotonic() + 60 * minutes if minutes is not None else float("inf")
    done = 0
    while (rounds is None or done < rounds) and time.monotonic() < ends:
        for report in _round(work, announce):
            yield report
            if report.step == "generate" and not report.counts["pages"]:
                yield from harvest(work, announce)
                return
        done += 1
    yield from harvest(work, announce)


def harvest(
    work: Workspace, announce: Callable[[str, int], None] = lambda _step, _round: None
) -> Iterator[StepReport]:
    """Make what was crawled searchable."""
    for name, step in HARVEST.items():
        yield _do(work, name, step, work.round, announce)
    _clean(work)


def again(
    work: Workspace, announce: Callable[[str, int], None] = lambda _step, _round: None
) -> StepReport:
    """Parse all that was parsed once more, and make known what only that found: one commit.

    Raises UsageError where nothing is parsed, or a round is not at its end, and MissingFile. What
    the harvest makes is as it was.
    """
    with work.step(REPARSE, work.round) as draft:
        parse.again(work, draft, announce)
        announce("update", work.round)
        update.learn(work, draft)
    _clean(work)
    return draft.done


def pending(manifest: Manifest) -> list[str]:
    """The steps that the newest round still lacks; all of them where it lacks none."""
    begun = any(layer.rows for layer in manifest.layers("fetchlist", manifest.round))
    done = manifest.steps_of(manifest.round)
    left = [name for name in ROUND if name not in done]
    return left if begun and left else list(ROUND)


def _round(work: Workspace, announce: Callable[[str, int], None]) -> Iterator[StepReport]:
    for name in pending(work.store.manifest):
        number = work.round + (name == "generate")
        yield _do(work, name, ROUND[name], number, announce)
    _clean(work)


def _clean(work: Workspace) -> None:
    work.store.collect_garbage(work.config.store.keep_versions)


def _do(
    work: Workspace,
    name: str,
    step: Step,
    number: int,
    announce: Callable[[str, int], None],
) -> StepReport:
    silence(work.root, name)
    announce(name, number)
    return step(work)
