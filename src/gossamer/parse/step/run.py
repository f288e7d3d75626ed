"""The step itself: divides the responses among tasks, and commits what they have written.

Pages whose parser was killed from outside get a second pass, in a single task after all others. No
other page is being parsed then, on any engine, and the memory that the others used is free.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

from gossamer.errors import UsageError
from gossamer.parse.page_rules import rules_of
from gossamer.parse.process import sandbox
from gossamer.parse.step.body_copies import moving
from gossamer.parse.step.job import Job, Share
from gossamer.parse.step.parse_ahead import Done
from gossamer.parse.step.parse_task import UNREADABLE_DDL, parse_share
from gossamer.parse.step.planning import create_job
from gossamer.parse.step.stored_responses import Piece, response_pieces, taper_response_pieces
from gossamer.state.heartbeats import clear_heartbeats
from gossamer.storage import parquet
from gossamer.storage.store import Layer
from gossamer.storage.task_output import YIELD, YIELD_DDL, balance_files, counts_of, layers_of
from gossamer.tables import DOCUMENTS, HOSTS, LINKS, RESPONSES, REWRITTEN, UNPARSED, WARC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gossamer.parse.step.parse_ahead import Ahead
    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import File, StepReport
    from gossamer.storage.task_output import Row

PIECES_PER_WORKER = 16
"""The last tasks consist of one piece each, so a core waits for at most 1/16 of the step's time."""
COMPLETE = 2
"""Number of mechanisms of a complete sandbox: Landlock and seccomp."""

_log = logging.getLogger(__name__)


def run(work: Workspace, ahead: Ahead | None = None) -> StepReport:
    """Parse what the round fetched and was not parsed `ahead`.

    Raises UsageError if there is nothing to parse or the round is already parsed, MissingFile if a
    file is missing or incomplete, and ConfigError for unusable settings, site rules and plugins.
    """
    rules = rules_of(work.config, work.root)
    if rules.sandbox and len(sandbox.supported_mechanisms()) < COMPLETE:
        _log.warning("the kernel lacks Landlock or seccomp: hostile pages are less contained")
    round_ = work.round
    if "parse" in work.store.manifest.steps_of(round_):
        raise UsageError(
            work.root, f"round {round_} is already parsed", f"gossamer update {work.root}"
        )
    left = work.store.files(UNPARSED.name)
    if not left and not work.store.manifest.layers("responses", round_):
        raise UsageError(
            work.root, f"round {round_} has nothing to parse", f"gossamer fetch {work.root}"
        )
    with work.step("parse", round_) as draft:
        hosts = work.store.files(HOSTS.name, round_)
        job = replace(create_job(work, rules), domain_cpu_s=work.config.parse.domain_cpu_s)
        done = Done() if ahead is None else ahead.done(job, work.store.listed("responses", round_))
        rows = parse_round(work, job, left=left, hosts=hosts, done=done)
        draft.append = layers_of(rows, round_)
        unparsed = draft.append.pop(UNPARSED.name, None)
        draft.replace[UNPARSED.name] = () if unparsed is None else (unparsed,)
        draft.counts = dict(counts_of(rows))
    return draft.done


def reparse(work: Workspace, draft: Draft, announce: Callable[[str, int], None]) -> None:
    """Parse all stored pages again; the draft replaces all layers of what follows from them.

    A page that several rounds fetched is parsed for each of them. Links from robots.txt files are
    taken from the replaced layers, because `hosts` keeps only the newest robots.txt. Calls
    `announce("parse", round)` before each layer. Raises UsageError if nothing was parsed or the
    newest round is unfinished, and what `run` raises. No domain's pages are postponed.

    A page whose record in the archive is damaged keeps the document and links that it has, and is
    counted as `unreadable`.
    """
    rounds = parsed_rounds(work)
    job = create_job(work, rules_of(work.config, work.root))
    job = replace(job, unreadable=work.scratch_attempt())
    work.store.files(WARC.name)  # checks them
    layers: dict[str, list[Layer]] = {
        name: [] for name in (DOCUMENTS.name, LINKS.name, UNPARSED.name, REWRITTEN.name)
    }
    counts: Counter[str] = Counter()
    for round_ in rounds:
        clear_heartbeats(work.root, "parse")
        announce("parse", round_)
        links = work.store.files(LINKS.name, round_)
        rows = parse_round(work, replace(job, round=round_), links=links)
        counts += counts_of(rows)
        made = layers_of(rows, round_)
        if (unreadable := made.pop("scratch", None)) is not None:
            made = _keep_unreadable(work, made, unreadable)
        for name, layer in made.items():
            layers[name].append(layer)
    draft.replace |= {name: tuple(stack) for name, stack in layers.items()}
    draft.counts |= counts


def _keep_unreadable(
    work: Workspace, made: dict[str, Layer], unreadable: Layer
) -> dict[str, Layer]:
    """Add the old documents and links of unreadable pages to the new layers of a round."""
    round_ = unreadable.round
    pages = work.engine.read(
        [f"{work.root}/{path}" for path in paths(unreadable.files)], UNREADABLE_DDL
    )
    linking = pages.where("has_links").withColumnRenamed("url", "src")
    for dataset, urls, key in ((DOCUMENTS, pages, "url"), (LINKS, linking, "src")):
        before = work.read(dataset.name)
        lost = before.join(urls, on=["round", key], how="left_semi")
        kept = work.write(lost, dataset.name, round_)
        if kept.files:
            new = made[dataset.name].files if dataset.name in made else ()
            made[dataset.name] = Layer(round_, (*new, *kept.files))
    return made


def parsed_rounds(work: Workspace) -> list[int]:
    """The rounds of the layers to parse again. Raises UsageError as `reparse` does."""
    manifest = work.store.manifest
    done = manifest.steps_of(work.round)
    if "fetch" in done and "update" not in done:
        missing = "update" if "parse" in done else "parse"
        raise UsageError(
            work.root, f"round {work.round} is not finished", f"gossamer {missing} {work.root}"
        )
    made = (*manifest.layers(DOCUMENTS.name), *manifest.layers(LINKS.name))
    rounds = {layer.round for layer in made}
    # Rounds without documents and links are only in the history, which is bounded.
    parsed = {report.round for report in manifest.history if report.step == "parse"}
    answers = manifest.layers(RESPONSES.name)
    rounds |= {layer.round for layer in answers if layer.is_merged or layer.round in parsed}
    if not rounds:
        raise UsageError(work.root, "nothing is parsed yet", f"gossamer crawl {work.root}")
    return sorted(rounds)


def parse_round(
    work: Workspace,
    job: Job,
    *,
    left: Sequence[File] = (),
    hosts: Sequence[File] = (),
    links: Sequence[File] = (),
    done: Done = Done(),  # noqa: B008  # it is immutable
) -> list[Row]:
    """Run the tasks and return their rows of YIELD: the files written, and counts.

    `left` are the files of `unparsed`. `hosts` and `links` are files of these datasets from which
    sitemaps of robots.txt files are read. `done` was parsed ahead, and the rows include it. Raises
    MissingFile if a file is missing or incomplete.
    """
    files = [
        file for file in work.store.files("responses", job.round) if file.path not in done.files
    ]
    # Pages in a truncated WARC file would be recorded as failed.
    work.store.files(WARC.name, job.round)
    work.store.check(_archives_to_parse(work, left))
    left = (*left, *done.later)
    moved = paths(moving(work, files))
    job = replace(job, files=(paths(files), paths(left)), moved=moved, spent=done.spent)
    workers = work.engine.workers
    cut = (response_pieces(some, PIECES_PER_WORKER * workers) for some in (files, left))
    new, old = (taper_response_pieces(some, workers) for some in cut)
    tasks = max(len(new), len(old), 1)
    robots, before = (balance_files(some, tasks) for some in (hosts, links))
    parts = zip_longest(new, old, robots, before, fillvalue=())
    shares = [
        Share(number, tuple(fetched), tuple(again), paths(known), paths(linked))
        for number, (fetched, again, known, linked) in enumerate(parts)
    ]
    rows = work.engine.map_tasks(shares, partial(parse_share, job), YIELD, YIELD_DDL)
    again = [row for row in rows if str(row["path"]).startswith(f"{job.attempts[-1]}/")]
    killed = tuple(
        Piece(str(row["path"]), 0, 1, int(row["bytes"] or 0)) for row in (*again, *done.killed)
    )
    if killed:
        alone = Share(len(shares), unparsed=killed, alone=True)
        run = partial(parse_share, replace(job, domain_cpu_s=0))
        rows += work.engine.map_tasks([alone], run, YIELD, YIELD_DDL)
    return [*(row for row in rows if row not in again), *done.rows]


def _archives_to_parse(work: Workspace, left: Sequence[File]) -> list[File]:
    """The WARC files of the pages that are left."""
    if not left:
        return []
    tables = (
        parquet.read_table(f"{work.root}/{path}", columns=["warc_file"]) for path in paths(left)
    )
    named = {path for table in tables for path in table["warc_file"].unique().to_pylist()}
    return [file for file in work.store.listed(WARC.name) if file.path in named]


def paths(files: Iterable[File]) -> tuple[str, ...]:
    return tuple(file.path for file in files)
