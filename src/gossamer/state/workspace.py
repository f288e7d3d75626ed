"""An open crawl: its tables, settings, clock and engine, and the frame in which a step commits.

A step is a function `run(work: Workspace) -> StepReport`: it reads datasets, writes files, and
ends in one `commit`. Folder layout: docs/formats.md.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gossamer.errors import UsageError
from gossamer.state.settings_file import read_settings
from gossamer.state.table_io import Tables
from gossamer.storage import opening
from gossamer.storage.backends import open_backend
from gossamer.storage.file_modes import OWNER_ONLY
from gossamer.storage.names import CONFIG_NAME
from gossamer.storage.objects.bucket import is_object_url, variables_of_engine
from gossamer.storage.store import Layer, StepReport, Store
from gossamer.tables import DATASETS, PAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Self

    from gossamer.config import Config
    from gossamer.engine.engine import Engine
    from gossamer.state.last_valid import LastValid

FEW_PAGES = 1_000_000
"""Known pages from which on the engine may keep memory between queries, which saves CPU time."""


@dataclass
class Workspace(Tables):
    """An open crawl. The engine starts when `engine` is first used.

    It sets the umask of this process and of those that it starts, by `store.readers`.
    """

    config: Config
    clock_ms: int | None = None
    """The time that steps use as the current one, set by tests and replays; None: the real time."""
    is_endless: bool = False
    """Whether rounds follow each other without end. In others, a feed would be due again and again,
    so pages with a rhythm are due after listing_polls.UNHURRIED_S at the earliest."""
    last_valid: LastValid | None = None
    """In a crawl without end, what its files of filter rules held when they could last be used."""
    prepare: Callable[[], None] | None = None
    """What a worker of the engine does when it starts: see `pool.Pool`."""

    def __post_init__(self) -> None:
        os.umask(self.config.store.umask)

    @classmethod
    def open(cls, path: str, engine: Engine | None = None) -> Self:
        """Open an existing crawl. Raises NotACrawl, ConfigError, CorruptManifest."""
        os.umask(OWNER_ONLY)
        store = Store.open(open_backend(path))
        return cls(store, read_settings(store.url), _engine=engine)

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            from gossamer.engine.engine import Engine

            if is_object_url(self.root):
                _check_engine(self.root, self.config.engine.url)
                os.environ.update(variables_of_engine(os.environ))
            self._engine = Engine(
                self.config.engine, self.prepare, is_frugal=self._known_pages() < FEW_PAGES
            )
        return self._engine

    @property
    def _is_embedded(self) -> bool:
        """Whether the engine is the embedded one. Does not start it."""
        engine = self._engine
        return self.config.engine.url == "local" if engine is None else engine.is_local

    @property
    def settings_changed_ms(self) -> int:
        """When gossamer.toml was last written; 0 if it does not exist, or by a wrong clock.

        If a time that has not come yet counted, requests would be repeated until then.
        """
        try:
            written_ms = opening.modified_ms(f"{self.root}/{CONFIG_NAME}")
        except OSError:
            return 0
        return written_ms if written_ms <= self.now_ms() else 0

    def _known_pages(self) -> int:
        """The number of known pages, or of the rows from which they are merged."""
        manifest = self.store.manifest
        return manifest.totals(PAGES.name).rows if PAGES.name in manifest.datasets else 0

    def now_ms(self) -> int:
        return int(time.time() * 1000) if self.clock_ms is None else self.clock_ms

    def make_room(self) -> None:
        """Let the engine keep no memory of what it did before, as much will be needed."""
        if self._engine is not None:
            self._engine.make_room()

    def rest(self) -> None:
        """Let the engine do with less memory, as there is no work for long."""
        if self._engine is not None:
            self._engine.rest()

    def close(self) -> None:
        self.sweep()
        if self._engine is not None:
            self._engine.stop()
            self._engine = None

    @contextmanager
    def branch(self, without: Collection[str] = ()) -> Iterator[Workspace]:
        """A workspace for steps that run beside those of this one, in another thread.

        See `Store.branch`. They use the same engine, and the settings of now.
        """
        with self.store.branch(without) as store:
            beside = replace(self, store=store, _engine=self.engine, _scratch=[])
            try:
                yield beside
            finally:
                beside.sweep()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of the engine, Arrow and the operating system into GossamerErrors."""
        from gossamer.engine.engine import engine_errors
        from gossamer.storage.damage import damage_errors

        with damage_errors(self.root, self._parquet_files), engine_errors(self.root):
            yield

    def _parquet_files(self) -> Iterator[str]:
        for path in sorted(self.store.manifest.paths()):
            if path.endswith(".parquet"):
                yield f"{self.root}/{path}"

    @contextmanager
    def step(self, name: str, round_: int) -> Iterator[Draft]:
        """Time a step, and commit its draft as one version when the block ends.

        Errors of the engine in the block are raised as GossamerErrors.
        """
        draft = Draft()
        started_ms, started = int(time.time() * 1000), time.monotonic()
        with self.errors():
            yield draft
        if self._engine is not None and is_object_url(self.root):
            self._engine.check_copies(started)
        for unknown in self.store.unknown:
            if DATASETS[unknown].writer == name:
                draft.replace.setdefault(unknown, ())
        done = StepReport(
            name, round_, started_ms, round(time.monotonic() - started, 3), dict(draft.counts)
        )
        draft.done = self.store.commit(done, append=draft.append, replace=draft.replace)
        self.sweep()


def _check_engine(crawl: str, url: str) -> None:
    """Raise UsageError for a cluster whose tables would be at gs:// or az://."""
    if url != "local" and not crawl.startswith("s3://"):
        what = f"engine.url = {url!r} only works with s3:// among object stores"
        raise UsageError(crawl, what, 'use the embedded engine: engine.url = "local"')


@dataclass
class Draft:
    """The layers and counts that a step is going to commit."""

    append: dict[str, Layer] = field(default_factory=dict)
    replace: dict[str, tuple[Layer, ...]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    done: StepReport = field(init=False)
    """The report, set when the step is committed."""
