"""The flow of a crawl: its steps in order, and what each reads and writes.

    seeds ─inject─▶ pages ─generate─▶ fetchlist ─fetch─▶ responses, warc
                      ▲                                      │
                      │                                    parse
                      │                                      ▼
                      └──────update── responses, links ◀── documents, links
    links ─invert─▶ inlinks ────────────────────┐
    links ─graph──▶ graph ──┬─rank─▶ ranks ─────┼─index─▶ index ─serve─▶ answers
    links ─farms──▶ farms ──┘          │        │
    documents ─boilerplate─▶ own_texts ┴─dedup─▶ dispositions

One pass of generate, fetch, parse and update is a round. Each step ends in one commit, so a crawl
that was interrupted, at any moment and in any way, resumes with the first step that was not
committed. Pages are parsed while others are fetched (`parse.Ahead`), but this, too, is committed by
`parse`. `reparse` parses all rounds again.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from gossamer import dedup, fetch, index, parse
from gossamer.dedup import boilerplate
from gossamer.flow.settings_check import check_settings
from gossamer.links import farms, graph, invert, rank
from gossamer.links.graph.stored_graph import is_imported
from gossamer.schedule import generate, update
from gossamer.state import pausing
from gossamer.state.heartbeats import clear_heartbeats
from gossamer.status.overview import REPARSE
from gossamer.tables import CHANGES, DATASETS, FORGOTTEN_CHANGES, GRAPH
from gossamer.upkeep import compaction, joining, prune

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping

    from gossamer.parse import Ahead
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Manifest, StepReport

    Step = Callable[[Workspace], StepReport]

ROUND: Mapping[str, Step] = {
    "generate": generate.run,
    "fetch": fetch.run,
    "parse": parse.run,
    "update": update.run,
}
"""The steps of a round."""


HARVEST: Mapping[str, Step] = {
    "graph": graph.run,
    "farms": farms.run,
    "rank": rank.run,
    "invert": invert.run,
    "boilerplate": boilerplate.run,
    "dedup": dedup.run,
    "index": index.run,
}
"""The steps that make a crawl searchable, after its rounds."""
SEARCHABLE = ("boilerplate", "dedup", "index")
"""Those of them after which all pages are searchable, by what was known of the links to them."""
OPTIONAL = "embed"
"""The step after `index`, in crawls that are searched by meaning, too."""
OF_LINKS = tuple(name for name in HARVEST if name not in SEARCHABLE)
"""The others, which find what links say of the pages that they lead to."""
NEW_FIRST = (*SEARCHABLE, *OF_LINKS)
"""An order in which new pages are searchable soon. The next index has the new links and ranks."""


def run(
    work: Workspace,
    rounds: int | None = None,
    minutes: float | None = None,
    announce: Callable[[str, int], None] = lambda _step, _round: None,
) -> Iterator[StepReport]:
    """Run rounds until nothing is due, or up to the limits, and then `harvest`.

    Yields the report of each step when it is committed; `announce(step, round)` is called before
    each step. An interrupted round is finished first and counts as one of `rounds`. No round starts
    after `minutes`. If nothing is due but some fetched pages are still unparsed, a round parses
    these; it is the last round if it could parse none of them.
    """
    check_settings(work)
    ends = time.monotonic() + 60 * minutes if minutes is not None else float("inf")
    done = 0
    while (rounds is None or done < rounds) and time.monotonic() < ends:
        found = yield from round_(work, announce)
        yield from merge_layers(work, announce)
        yield from tend_archive(work, announce)
        if not found:
            break
        done += 1
    work.make_room()  # parsers, too, have nothing to do any more
    yield from harvest(work, announce)


def round_(
    work: Workspace, announce: Callable[[str, int], None]
) -> Generator[StepReport, None, bool]:
    """Run a round, or finish the newest one. Returns whether it fetched or parsed anything."""
    left, begins = (
        count_unparsed(work.store.manifest),
        pending(work.store.manifest)[0] == "generate",
    )
    yield from _steps_left(work, announce)
    idle = begins and not _has_fetchlist(work.store.manifest)
    return not idle or count_unparsed(work.store.manifest) < left


def harvest(
    work: Workspace,
    announce: Callable[[str, int], None] = lambda _step, _round: None,
    steps: Iterable[str] | None = None,
) -> Iterator[StepReport]:
    """Run the steps that make the crawl searchable, or some of them."""
    for name in HARVEST if steps is None else steps:
        yield _do(work, name, HARVEST[name], work.round, announce)
        if name == "index" and work.config.semantic.model:
            yield _do(work, OPTIONAL, _embed, work.round, announce)
    _clean(work)


def harvest_all(
    work: Workspace, announce: Callable[[str, int], None] = lambda _step, _round: None
) -> Iterator[StepReport]:
    """As `harvest`, but from nothing, as if no step of it had ever run.

    What each step replaces stays in use until it commits. An imported graph is kept, and so are
    the changes of the index, to which those are added that this harvest makes.
    """
    kept = {CHANGES.name, FORGOTTEN_CHANGES.name} | ({GRAPH.name} if is_imported(work) else set())
    made = {name for name, each in DATASETS.items() if each.writer in {*HARVEST, OPTIONAL}}
    with work.branch(without=made - kept) as beside:
        yield from harvest(beside, announce)
    work.store.refresh()
    _clean(work)


def merge_layers(
    work: Workspace, announce: Callable[[str, int], None]
) -> Generator[StepReport, None, None]:
    """Merge layers of documents, links and responses, if there are many."""
    if compaction.due_spans(work):
        yield _do(work, "compact", compaction.run, work.round, announce)
        _clean(work)


def tend_archive(
    work: Workspace, announce: Callable[[str, int], None]
) -> Generator[StepReport, None, None]:
    """Drop what the archive need not keep, if it has grown, and join its small files, if many."""
    for name, step in (("prune", prune), ("join", joining)):
        if step.is_due(work):
            yield _do(work, name, step.run, work.round, announce)
            _clean(work)


def finish(
    work: Workspace, announce: Callable[[str, int], None] = lambda _step, _round: None
) -> Iterator[StepReport]:
    """Run the steps that are left in the newest round, if its pages are fetched."""
    if pending(work.store.manifest)[0] in ("parse", "update"):
        yield from _steps_left(work, announce)
        yield from merge_layers(work, announce)
        yield from tend_archive(work, announce)


def reparse(
    work: Workspace, announce: Callable[[str, int], None] = lambda _step, _round: None
) -> StepReport:
    """Parse all stored pages again and add the newly found URLs, in one commit.

    The index does not change. Raises UsageError if nothing was parsed yet or the newest round is
    unfinished, and MissingFile.
    """
    with work.step(REPARSE, work.round) as draft:
        parse.reparse(work, draft, announce)
        announce("update", work.round)
        update.add_link_targets(work, draft)
    _clean(work)
    return draft.done


def pending(manifest: Manifest) -> list[str]:
    """The steps that are left in the newest round; if none are, all steps of a new one."""
    done = manifest.steps_of(manifest.round)
    begun = _has_fetchlist(manifest) or "parse" in done
    left = [name for name in _steps(manifest) if name not in done | {"generate"}]
    return left if begun and left else list(ROUND)


def _steps(manifest: Manifest) -> list[str]:
    """The steps of the newest round: without pages to fetch or to parse, only `generate`."""
    if _has_fetchlist(manifest):
        return list(ROUND)
    left = count_unparsed(manifest) or "parse" in manifest.steps_of(manifest.round)
    return ["generate", "parse", "update"] if left else ["generate"]


def count_unparsed(manifest: Manifest) -> int:
    """The number of fetched pages that could not be parsed so far."""
    return sum(layer.rows for layer in manifest.layers("unparsed"))


def _has_fetchlist(manifest: Manifest) -> bool:
    """Whether the newest round has anything to fetch."""
    return any(layer.rows for layer in manifest.layers("fetchlist", manifest.round))


def _steps_left(work: Workspace, announce: Callable[[str, int], None]) -> Iterator[StepReport]:
    clear_heartbeats(work.root, "fetch", "parse")
    with parse.Ahead(work) as ahead:
        begun = {"fetch": partial(_fetch, ahead=ahead), "parse": partial(_parse, ahead=ahead)}
        for name in pending(work.store.manifest):
            if name != "generate" and name not in _steps(work.store.manifest):
                continue
            number = work.round + (name == "generate")
            yield _do(work, name, begun.get(name, ROUND[name]), number, announce)
    _clean(work)


def _fetch(work: Workspace, ahead: Ahead) -> StepReport:
    with ahead.beside_fetch() as notes:
        return fetch.run(work, notes)


def _parse(work: Workspace, ahead: Ahead) -> StepReport:
    return parse.run(work, ahead)


def _embed(work: Workspace) -> StepReport:
    from gossamer.semantic import step  # only where there is a model

    return step.run(work)


def _clean(work: Workspace) -> None:
    work.store.collect_garbage(work.config.store.keep_versions)


def _do(
    work: Workspace, name: str, step: Step, number: int, announce: Callable[[str, int], None]
) -> StepReport:
    announce(name, number)
    pausing.wait_while_paused(work.root, work.config.store.min_free_gb)
    return step(work)
