"""The Python API: a crawl as an object.

from gossamer import Crawl

with Crawl.create("my-web", settings='fetch.contact = "me@example.org"') as crawl:
    crawl.inject(["https://example.org/"])
    crawl.run(rounds=3)
    for hit in crawl.search("words").hits:
        print(hit.title, hit.url)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer import config as configs
from gossamer.backends import open_backend
from gossamer.errors import Conflict
from gossamer.store import Store
from gossamer.workspace import CONFIG_NAME, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Self

    from pyspark.sql import DataFrame

    from gossamer.engine import Engine
    from gossamer.seeds import BadLine
    from gossamer.serve.answers import Results
    from gossamer.store import StepReport


class Crawl:
    """A crawl folder in use. A context manager; `close` stops the engine.

    Methods that write hold the crawl's lock while they run, and raise `errors.Locked` where
    another process has it.
    """

    def __init__(self, work: Workspace) -> None:
        self.work = work

    @classmethod
    def create(cls, path: str, settings: str = "", engine: Engine | None = None) -> Self:
        """Make a new crawl; `settings` is the text of its gossamer.toml.

        Raises ConfigError, and Conflict where there is a crawl already, or other settings.
        """
        backend = open_backend(path)
        configs.loads(settings, CONFIG_NAME)
        try:  # first, so that what is cut off here is no crawl yet, and none without its settings
            backend.create(CONFIG_NAME, settings.encode())
        except FileExistsError:
            if backend.read(CONFIG_NAME) != settings.encode():
                raise Conflict(
                    f"{backend.url}/{CONFIG_NAME}",
                    "there are settings already",
                    "choose another folder, or move this file away and edit the new one",
                ) from None
        Store.create(backend)
        return cls.open(path, engine)

    @classmethod
    def open(cls, path: str, engine: Engine | None = None) -> Self:
        """Raises NotACrawl, ConfigError, CorruptManifest."""
        return cls(Workspace.open(path, engine))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.work.close()

    @property
    def path(self) -> str:
        return self.work.root

    def inject(
        self,
        urls: Iterable[str] = (),
        lists: Iterable[str] = (),
        report: Callable[[BadLine], None] = lambda _: None,
    ) -> StepReport:
        """Add seeds: URLs, and files that list some (see gossamer.seeds)."""
        from gossamer import inject

        with self.work.store.lock():
            return inject.run(self.work, urls, lists, report)

    def run(
        self,
        rounds: int | None = None,
        minutes: float | None = None,
        announce: Callable[[str, int], None] = lambda _step, _round: None,
        report: Callable[[StepReport], None] = lambda _: None,
    ) -> list[StepReport]:
        """Crawl rounds until nothing is due, so many are done, or the time is over; then index.

        `announce(step, round)` is called before each step, `report` with what it did after it.
        """
        from gossamer import rounds as flow

        done = []
        with self.work.store.lock():
            for step_report in flow.run(self.work, rounds, minutes, announce):
                report(step_report)
                done.append(step_report)
        return done

    def parse_again(
        self, announce: Callable[[str, int], None] = lambda _step, _round: None
    ) -> StepReport:
        """Parse all that is stored with today's code and settings; make known what that finds.

        What the index says is unchanged until the next `run`, which may be one of no rounds.
        Raises UsageError where nothing is parsed, or a round is not at its end.
        """
        from gossamer import rounds as flow

        with self.work.store.lock():
            return flow.again(self.work, announce)

    def pages(self) -> DataFrame:
        """Every URL ever met, once (dataset pages). `.toPandas()`, `.toArrow()`, `.where(…)`."""
        from gossamer import states
        from gossamer.tables import PAGES

        return states.current(self.work, PAGES)

    def links(self) -> DataFrame:
        """The links of each page as it was last parsed (dataset links)."""
        from gossamer import linkgraph

        return linkgraph.current(self.work)

    def seed_hosts(self) -> Iterator[str]:
        """The hosts of all seeds, each once, as in the column `host` of pages."""
        seeds = self.pages().where("source = 'seed'").select("host").distinct()
        return (row["host"] for row in seeds.toLocalIterator())

    def dataset(self, name: str) -> DataFrame:
        """The rows of a dataset, in its current state."""
        return {"pages": self.pages, "links": self.links}.get(name, lambda: self.work.read(name))()

    def rows_of(self, name: str) -> list[str]:
        """Parquet files that together hold `dataset(name)`, each row once."""
        if name in {"pages", "links"}:
            files = self.work.scratch_files(self.dataset(name))
            return [f"{self.path}/{file.path}" for file in files]
        return self.work.paths(name)

    def search(self, query: str, limit: int = 10, offset: int = 0) -> Results:
        """The best pages for a query; see docs/searching.md for what it may hold."""
        from gossamer.serve.search import Searcher

        return Searcher.open(self.work).search(query, offset=offset, limit=limit)
