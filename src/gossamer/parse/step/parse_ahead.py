"""Parses pages while their round is still being fetched.

A fetch hands over the files of responses that it has closed (gossamer.state.finished_files).
`Ahead` parses them in worker processes beside the fetch, and `run` of the step only what is left;
it commits all of it at once. The results are those of parsing afterwards:

  * What was parsed ahead counts only if the fetch has committed the same files, with the same
    checksums, and if the step's job is the same: settings may have been read anew. Meanwhile, the
    crawl is locked, and a harvest beside the round changes nothing that a job depends on.
  * When the fetch ends, so do the tasks, after the page that they are parsing. The pages that they
    have not parsed are left to the step, which divides them among all workers.
  * Pages of domains that have used up much of their processor time are left to the step, too. It
    deducts what they took ahead from their budgets.
  * Sitemaps that robots.txt files name are found by the step, since `hosts` is committed with the
    fetch.
  * Equal bodies in several files are read once per file that is parsed ahead (`body_copies.py`).

An error ends a task, and its files are parsed by the step, which meets the error again. Files of
tasks that do not count are garbage.

Only the embedded engine parses ahead: notes are scratch files of this machine. There are at most as
many tasks as workers but one, so a fetch with one task keeps a core for itself, and parsers have a
lower priority than fetch tasks (`guarded_parser.py`).
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.errors import StoreError
from gossamer.parse.page_rules import rules_of
from gossamer.parse.step.cpu_budget import SPENT
from gossamer.parse.step.job import Early, Job, Share
from gossamer.parse.step.parse_task import parse_share
from gossamer.parse.step.planning import create_job
from gossamer.parse.step.stored_responses import Piece
from gossamer.state import pausing
from gossamer.state.finished_files import take_notes
from gossamer.state.heartbeats import clear_heartbeats
from gossamer.storage import opening, parquet
from gossamer.storage.store import File
from gossamer.storage.task_output import YIELD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from gossamer.state.workspace import Workspace
    from gossamer.storage.task_output import Row

MIN_PAGES = 300
"""Rounds with fewer pages are not parsed ahead: that would save less than half a second."""
PAGES_PER_TASK = 1_000
"""A task takes files with about as many pages, if as many wait."""
BUDGET_SHARE = 0.5
"""How much of its processor time a domain may take ahead. The rest is for the other pages of the
round, and for those that earlier rounds have left."""
NOTABLE_SHARE = 0.01
"""Domains that have taken less of their processor time are treated as if they had taken none."""
LOOK_S = 0.05
"""Seconds between two looks for notes."""
END_S = 10.0
"""Seconds that a task may take to end. One that takes longer parses a page for the limit of time
(`guarded_parser.py`), and does not count."""


class Done(NamedTuple):
    """What was parsed ahead, and what of it remains to be done."""

    files: frozenset[str] = frozenset()
    """Paths of files of responses."""
    rows: tuple[Row, ...] = ()
    """Rows of YIELD: the files written, and counts."""
    later: tuple[File, ...] = ()
    """Scratch files of pages, with the columns of unparsed, that were not parsed."""
    killed: tuple[Row, ...] = ()
    """Scratch files of pages for the second pass."""
    spent: tuple[tuple[str, float], ...] = ()
    """Processor time that domains took, in seconds."""


class Ahead:
    """The pages of one round that are parsed ahead; a context manager that deletes scratch files.

    Threads: one waits for notes and starts the others, each of which waits for a task.
    """

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._began = False
        self._job: Job | None = None
        self._spent = SPENT.empty_table()
        self._guard = threading.Lock()
        self._over = threading.Event()
        self._tasks: list[threading.Thread] = []
        self._results: list[tuple[tuple[File, ...], list[Row]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._began:
            self._join()
            self._work.sweep()

    @contextmanager
    def beside_fetch(self) -> Iterator[str | None]:
        """Parse what the fetch in this block hands over, in the folder that is yielded.

        None is yielded if nothing is parsed ahead: the round is small, or the engine a cluster.
        """
        work = self._work
        listed = work.store.manifest.layers("fetchlist", work.round)
        if sum(layer.rows for layer in listed) < MIN_PAGES or not work.engine.is_local:
            yield None
            return
        # Scratch files of its own, which outlive the step that is running.
        self._work = replace(work, _engine=work.engine, _scratch=[])
        self._began = True
        folder = self._work.scratch_attempt()
        watcher = threading.Thread(target=self._watch, args=(folder,), daemon=True)
        watcher.start()
        try:
            yield folder
        finally:
            self._over.set()
            watcher.join()
            if self._tasks:
                opening.touch(_over(work.root, folder))

    def done(self, job: Job, fetched: Sequence[File]) -> Done:
        """Return what was parsed ahead of the committed files, if the step's job is the same."""
        if self._job is None:
            return Done()
        self._join()
        clear_heartbeats(self._work.root, "parse")
        with self._guard:
            results, spent = tuple(self._results), self._notable()
        if _job_parsed_ahead(job) != _job_parsed_ahead(self._job):
            return Done()
        committed = set(fetched)
        kept = [(of, rows) for of, rows in results if committed.issuperset(of)]
        rows = [row for _, made in kept for row in made]
        early, killed = self._job.early, self._job.attempts[-1]
        assert early is not None  # noqa: S101  # `_prepared` made it
        return Done(
            frozenset(file.path for of, _ in kept for file in of),
            tuple(row for row in rows if not _is_below(row, killed, early.later, early.spent)),
            tuple(msgspec.convert(row, File) for row in rows if _is_below(row, early.later)),
            tuple(row for row in rows if _is_below(row, killed)),
            spent,
        )

    def _join(self) -> None:
        """Wait for the tasks, which are about to end."""
        ends = time.monotonic() + END_S
        for task in self._tasks:
            task.join(max(0, ends - time.monotonic()))

    def _watch(self, folder: str) -> None:
        with suppress(OSError, StoreError):  # nothing is parsed ahead then
            self._take_up(folder)

    def _take_up(self, folder: str) -> None:
        """Start tasks for the files that are handed over, until the fetch has ended."""
        work, numbers = self._work, count()
        most, min_free_gb = max(1, work.engine.workers - 1), work.config.store.min_free_gb
        waiting: list[File] = []
        while not self._over.wait(LOOK_S):
            waiting += take_notes(work.root, folder)
            self._tasks = [task for task in self._tasks if task.is_alive()]
            while waiting and len(self._tasks) < most:
                if pausing.pause_reason(work.root, min_free_gb) is not None:
                    break
                if self._job is None and not self._prepared(folder, most):
                    return
                arguments = next(numbers), _first_waiting_files(waiting)
                self._tasks.append(
                    threading.Thread(target=self._parse, args=arguments, daemon=True)
                )
                self._tasks[-1].start()

    def _prepared(self, folder: str, tasks: int) -> bool:
        """Make the job of all tasks, and return whether that was possible."""
        work = self._work
        try:
            job = create_job(work, rules_of(work.config, work.root))
        except Exception:  # noqa: BLE001  # the step meets it again
            return False
        early = Early(
            _over(work.root, folder), work.scratch_attempt(), work.scratch_attempt(), tasks
        )
        budget_s = BUDGET_SHARE * work.config.parse.domain_cpu_s
        self._job = replace(job, early=early, domain_cpu_s=budget_s)
        return True

    def _parse(self, number: int, fetched: tuple[File, ...]) -> None:
        """Parse files in a worker process, as task `number`."""
        work = self._work
        assert self._job is not None  # noqa: S101  # `_watch` made it
        with self._guard:
            job = replace(self._job, spent=self._notable())
        share = Share(number, tuple(Piece(file.path, 0, 1, file.bytes) for file in fetched))
        try:
            rows = work.engine.run_beside(share, partial(parse_share, job), YIELD)
            spent = [row for row in rows if job.early and _is_below(row, job.early.spent)]
            tables = [parquet.read_table(f"{work.root}/{row['path']}") for row in spent]
        except Exception:  # noqa: BLE001  # the step parses these files, and meets it again
            return
        with self._guard:
            self._results.append((fetched, rows))
            if tables:
                sums = pa.concat_tables([self._spent, *tables]).group_by("domain")
                summed = sums.aggregate([("cpu_s", "sum")]).select(["domain", "cpu_s_sum"])
                self._spent = summed.rename_columns(SPENT.names)

    def _notable(self) -> tuple[tuple[str, float], ...]:
        """The domains that have taken much of their processor time, and how much."""
        least_s = NOTABLE_SHARE * self._work.config.parse.domain_cpu_s
        much = self._spent.filter(pc.field("cpu_s") >= least_s).to_pylist() if least_s else []
        return tuple((row["domain"], row["cpu_s"]) for row in much)


def _over(root: str, folder: str) -> str:
    """The file that tells the tasks to end."""
    return f"{root}/{folder}/over"


def _first_waiting_files(waiting: list[File]) -> tuple[File, ...]:
    """Take the first files from a list, up to PAGES_PER_TASK rows, and at least one."""
    first, rows = [waiting.pop(0)], 0
    while waiting and (rows := rows + first[-1].rows) + waiting[0].rows <= PAGES_PER_TASK:
        first.append(waiting.pop(0))
    return tuple(first)


def _job_parsed_ahead(job: Job) -> Job:
    """What determines the results of a job: without its folders, and where its budgets end."""
    return replace(
        job,
        attempts=("", "", "", ""),
        url_rules=(),
        rewritten="",
        fetch_began_ms=0,
        domain_cpu_s=0,
        early=None,
    )


def _is_below(row: Row, *folders: str) -> bool:
    return str(row["path"]).startswith(tuple(f"{folder}/" for folder in folders))
