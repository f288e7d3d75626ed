"""The Python API: a crawl as an object.

from gossamer import Crawl

with Crawl.create("my-web", settings='fetch.contact = "me@example.org"') as crawl:
    crawl.inject(["https://example.org/"])
    crawl.run(rounds=3)
    for hit in crawl.search("words").hits:
        print(hit.title, hit.url)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gossamer import config as configs
from gossamer.flow.worker_preparation import prepare_worker
from gossamer.state.settings_file import has_settings, read_settings, write_settings
from gossamer.state.workspace import Workspace
from gossamer.storage.backends import open_backend
from gossamer.storage.file_modes import OWNER_ONLY
from gossamer.storage.names import CONFIG_NAME
from gossamer.storage.store import Store
from gossamer.storage.vacancy import check_vacant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Self

    from pyspark.sql import DataFrame

    from gossamer.api.changes import CrawlChanges
    from gossamer.api.documents import CrawlDocuments
    from gossamer.api.filters import CrawlFilters
    from gossamer.api.remote import RemoteCrawl
    from gossamer.api.versions import CrawlVersions
    from gossamer.engine.engine import Engine
    from gossamer.flow.forever import Handover, Listener
    from gossamer.links.graph.queries import LinkGraph
    from gossamer.rules.url_rules.rule_listing import TestedUrl, UrlRule
    from gossamer.schedule.focus.marks import Mark
    from gossamer.schedule.order.sections.step import Section
    from gossamer.search.results import Results
    from gossamer.serve.documents import Document
    from gossamer.serve.verification import Claim, Verdict
    from gossamer.status.explanation import Explanation
    from gossamer.storage.store import Layer, StepReport
    from gossamer.web.seed_lists import BadLine


class Crawl:
    """An open crawl folder. A context manager; `close` stops the engine.

    Methods that write hold the crawl's lock while they run, and raise `errors.Locked` if another
    process holds it. Creating or opening a crawl sets the umask of this process: `store.readers`.
    """

    def __init__(self, work: Workspace) -> None:
        self.work = work
        self._graphs: dict[str, tuple[tuple[Layer, ...], LinkGraph]] = {}

    @classmethod
    def create(
        cls,
        path: str,
        settings: str = "",
        engine: Engine | None = None,
        *,
        keep_settings: bool = False,
    ) -> Self:
        """Create a crawl in a folder of its own; `settings` is the text of its gossamer.toml.

        With `keep_settings`, a gossamer.toml that already exists is used instead. If the settings
        contain a secret, other users cannot read the file that is written. Raises ConfigError;
        Conflict if the folder already holds a crawl or other settings; Occupied if it holds files
        that Gossamer did not write.
        """
        os.umask(OWNER_ONLY)
        backend = open_backend(path)
        kept = keep_settings and has_settings(backend)
        config = read_settings(backend.url) if kept else configs.loads(settings, CONFIG_NAME)
        os.umask(config.store.umask)
        beside = configs.files_beside(config)
        check_vacant(backend, beside)
        if not kept:
            private = configs.has_secrets(config.fetch)
            write_settings(backend, settings, private=private)
        Store.create(backend, beside)
        return cls.open(path, engine)

    @classmethod
    def open(cls, path: str, engine: Engine | None = None) -> Self:
        """Open an existing crawl. Raises NotACrawl, ConfigError, CorruptManifest."""
        return cls(Workspace.open(path, engine))

    @staticmethod
    def connect(url: str) -> RemoteCrawl:
        """The crawl that a `gossamer serve` serves at a URL: the methods that read what it answers.

        Nothing is requested yet.
        """
        from gossamer.api.remote import RemoteCrawl

        return RemoteCrawl(url)

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
        """Add seeds: URLs, and files that list URLs (see gossamer.web.seed_lists).

        Invalid lines of a list are passed to `report` and skipped. Raises SeedError if a list
        cannot be read, or if one of `urls` is not a URL or is the name of a file.
        """
        from gossamer.schedule import inject

        self.work.prepare = prepare_worker
        with self.work.store.lock(), self.work.errors():
            return inject.run(self.work, urls, lists, report)

    def run(
        self,
        rounds: int | None = None,
        minutes: float | None = None,
        announce: Callable[[str, int], None] = lambda _step, _round: None,
        report: Callable[[StepReport], None] = lambda _: None,
    ) -> list[StepReport]:
        """Run rounds until nothing is due, then rank and index; return the steps' reports.

        At most `rounds` rounds are run, and none starts after `minutes`. `announce(step, round)`
        is called before each step, `report` with the step's report after it.
        """
        from gossamer.flow import rounds as flow

        self.work.prepare = prepare_worker
        with self.work.store.lock(), self.work.errors():
            return _reported(flow.run(self.work, rounds, minutes, announce), report)

    def harvest(
        self,
        announce: Callable[[str, int], None] = lambda _step, _round: None,
        report: Callable[[StepReport], None] = lambda _: None,
        *,
        everything: bool = False,
    ) -> list[StepReport]:
        """Rank and index what was crawled, as at the end of `run`; return the steps' reports.

        The steps follow what has changed since they ran last. With `everything`, they begin from
        nothing; the index that there is answers until the new one is committed.
        """
        from gossamer.flow import rounds as flow

        self.work.prepare = prepare_worker
        harvest = flow.harvest_all if everything else flow.harvest
        with self.work.store.lock(), self.work.errors():
            return _reported(harvest(self.work, announce), report)

    def run_forever(
        self, listener: Listener | None = None, *, follows: Handover | None = None
    ) -> None:
        """Run a round whenever a page is due, and rank and index, until an exception ends it.

        Meanwhile, other processes may change the crawl while no page is due. `listener` is told
        what happens, and its exceptions end the crawl. `follows`: another process ran this crawl
        before and left this, so this one waits if the crawl is locked. The memory of a process
        grows by some MB per round; `gossamer crawl --forever` therefore replaces it from time to
        time.
        """
        from gossamer.flow import forever

        self.work.prepare = prepare_worker
        listener = listener or forever.Listener()
        with self.work.errors():
            forever.run(self.work, listener, follows=follows)

    def refresh(self, pattern: str = "") -> StepReport:
        """Make known pages due: those whose URL contains `pattern` (RE2), or all except gone ones.

        Raises ConfigError for an invalid pattern.
        """
        from gossamer.schedule import refresh

        with self.work.store.lock(), self.work.errors():
            return refresh.run(self.work, pattern)

    def reparse(
        self, announce: Callable[[str, int], None] = lambda _step, _round: None
    ) -> StepReport:
        """Parse all stored pages again, with the current code and settings.

        Newly found URLs are added to pages. The index does not change; `run(rounds=0)` updates
        it. Raises UsageError if nothing was parsed yet or the newest round is unfinished.
        """
        from gossamer.flow import rounds as flow

        with self.work.store.lock(), self.work.errors():
            return flow.reparse(self.work, announce)

    def repair(
        self,
        announce: Callable[[str, int], None] = lambda _step, _round: None,
        report: Callable[[StepReport], None] = lambda _: None,
    ) -> list[StepReport]:
        """Mend what `gossamer check` finds (see check/), and return the steps' reports."""
        from gossamer.flow.check.repair import repair

        with self.work.store.lock(), self.work.errors():
            return _reported(repair(self.work, announce), report)

    def url_rules(self, host: str | None = None) -> list[UrlRule]:
        """The learned rules for URLs of a host, or of all hosts, with their evidence."""
        from gossamer.rules.url_rules import rule_listing

        with self.work.errors():
            return rule_listing.rules_of(self.work, host)

    def test_url(self, url: str) -> TestedUrl:
        """What a URL becomes by the learned rules, and by which. Raises UsageError."""
        from gossamer.rules.url_rules import rule_listing

        with self.work.errors():
            return rule_listing.test_url(self.work, url)

    def disable_rule(self, rule: str) -> StepReport:
        """Disable a learned rule; the URLs that it rewrote become pages. Raises UsageError."""
        return self._set_rule(rule, enabled=False)

    def enable_rule(self, rule: str) -> StepReport:
        """Enable a rule, whatever the evidence against it was so far. Raises UsageError."""
        return self._set_rule(rule, enabled=True)

    def _set_rule(self, rule: str, *, enabled: bool) -> StepReport:
        from gossamer.schedule import update

        with self.work.store.lock(), self.work.errors():
            return update.set_url_rule(self.work, rule, enabled=enabled)

    @property
    def filters(self) -> CrawlFilters:
        """Filter rules: list, test, add, remove, disable, enable, and apply to known pages."""
        from gossamer.api.filters import CrawlFilters

        return CrawlFilters(self.work)

    def mark(self, urls: Iterable[str], *, fit: bool | None, known: bool = False) -> StepReport:
        """Mark pages as wanted (`fit`) or not; None: forget their marks (see mark_step.py).

        `known`: judge all known pages anew, not only these. Raises UsageError.
        """
        from gossamer.schedule.focus import mark_step

        with self.work.store.lock(), self.work.errors():
            return mark_step.run(self.work, urls, fit=fit, known=known)

    def marks(self) -> list[Mark]:
        """The marked pages, by URL."""
        from gossamer.schedule.focus import marks

        with self.work.errors():
            return marks.list_marks(self.work)

    def explain(self, url: str) -> Explanation:
        """Why a URL is fetched, or found, or not. Raises UsageError if it cannot be crawled."""
        from gossamer.status import explanation

        with self.work.errors():
            return explanation.explain(self.work, url)

    def verify(self, claims: Iterable[Claim]) -> list[Verdict]:
        """Whether the archive proves claims (`serve.verification.claims_of` an answer)."""
        from gossamer.search.page_info import PageInfo
        from gossamer.serve.verification import Verifier
        from gossamer.state.lookup import Lookup

        with self.work.errors():
            lookup = Lookup(self.work)
            verifier = Verifier(self.work, PageInfo(self.work, lookup), lookup)
            return [verifier.verify(claim) for claim in claims]

    def sections(self, domain: str | None = None) -> list[Section]:
        """What the parts of a host or domain, or of all hosts, hold (see sections/)."""
        from gossamer.schedule.order.sections.step import sections_of_domain

        with self.work.errors():
            return sections_of_domain(self.work, domain)

    def document(self, url: str) -> Document:
        """The main text of a page as Markdown, with its passages: see `CrawlDocuments`.

        Raises UsageError if the crawl has not stored the page, or must not show it.
        """
        return self.documents.read(url)

    @property
    def documents(self) -> CrawlDocuments:
        """The pages of the index as Markdown and passages, and the llms.txt of a site."""
        from gossamer.api.documents import CrawlDocuments

        return CrawlDocuments(self.work)

    @property
    def changes(self) -> CrawlChanges:
        """What harvests have changed in the index, for programs that keep a copy of it."""
        from gossamer.api.changes import CrawlChanges

        return CrawlChanges(self.work)

    @property
    def versions(self) -> CrawlVersions:
        """The versions of pages that the archive holds: what changed on a page or a site."""
        from gossamer.api.versions import CrawlVersions

        return CrawlVersions(self.work)

    def pages(self) -> DataFrame:
        """Every known URL, once (dataset pages), as a Spark DataFrame."""
        from gossamer.state import lsm
        from gossamer.tables import PAGES

        return lsm.current(self.work, PAGES)

    def links(self) -> DataFrame:
        """The links of each page as it was last parsed (dataset links)."""
        from gossamer.links import current_links

        return current_links.read_current(self.work)

    def inlinks(self) -> DataFrame:
        """Who links to each page, as of the last harvest (dataset inlinks)."""
        from gossamer.state import lsm
        from gossamer.tables import INLINKS

        return lsm.current(self.work, INLINKS).where("count > 0")

    def seed_hosts(self) -> Iterator[str]:
        """Yield the host of each seed once, as in the column `host` of pages."""
        seeds = self.pages().where("source = 'seed'").select("host").distinct()
        return (row["host"] for row in seeds.toLocalIterator())

    def build_graph(self, *, anew: bool = False) -> StepReport:
        """Bring the link graphs of pages and hosts up to date, from which `graph` answers.

        Only what was crawled since the last time is read. `anew`: build them from all links.
        Raises UsageError if the graph was imported, unless `anew`.
        """
        from gossamer.links import graph
        from gossamer.links.graph import importing

        with self.work.store.lock(), self.work.errors():
            if not anew:
                importing.refuse_to_build(self.work)
            done = graph.run(self.work, anew=anew)
            self.work.store.collect_garbage(self.work.config.store.keep_versions)
        return done

    def import_graph(
        self,
        base: str,
        urls: str | None = None,
        report: Callable[[BadLine], None] = lambda _: None,
        *,
        anew: bool = False,
    ) -> StepReport:
        """Make a graph in WebGraph's files the link graph of this crawl.

        `base`: the path of the files without their endings. `urls`: a file with the URL of each
        node, one per line; by default `base` with .urls, .urls.gz or .urls.zst. The first invalid
        lines are passed to `report`. `anew`: replace the graph that the crawl has. Raises
        UsageError and StoreError.
        """
        from gossamer.links.graph import importing

        with self.work.store.lock(), self.work.errors():
            done = importing.run(self.work, importing.graph_files(base, urls), report, anew=anew)
            self.work.store.collect_garbage(self.work.config.store.keep_versions)
        return done

    def compute_centrality(self) -> StepReport:
        """Compute how near each page and host is to all others (dataset centrality).

        Raises UsageError if the link graphs were never built.
        """
        from gossamer.links.graph import centrality

        with self.work.store.lock(), self.work.errors():
            done = centrality.run(self.work)
            self.work.store.collect_garbage(self.work.config.store.keep_versions)
        return done

    @property
    def graph(self) -> LinkGraph:
        """The link graph of pages: `crawl.graph.inlinks(url)`. Raises UsageError without one."""
        return self._link_graph("page")

    @property
    def host_graph(self) -> LinkGraph:
        """The link graph of hosts. Raises UsageError without one."""
        return self._link_graph("host")

    def _link_graph(self, kind: str) -> LinkGraph:
        """Open a graph, or return the one that was opened before, if it is still the newest."""
        from gossamer.links.graph.queries import LinkGraph

        layers = self.work.store.manifest.layers("graph")
        if kind not in self._graphs or self._graphs[kind][0] != layers:
            self._graphs[kind] = layers, LinkGraph(self.work, kind)
        return self._graphs[kind][1]

    def dataset(self, name: str) -> DataFrame:
        """All rows of a dataset; of `pages`, `links` and `inlinks`, only the current ones."""
        current = {"pages": self.pages, "links": self.links, "inlinks": self.inlinks}
        return current.get(name, lambda: self.work.read(name))()

    def rows_of(self, name: str) -> list[str]:
        """Paths of Parquet files that together hold the rows of `dataset(name)`, each once."""
        if name in {"pages", "links", "inlinks"}:
            files = self.work.scratch_files(self.dataset(name))
            return [f"{self.path}/{file.path}" for file in files]
        return self.work.paths(name)

    def search(self, query: str, limit: int = 10, offset: int = 0) -> Results:
        """Search the index; docs/searching.md describes the query language."""
        from gossamer.search.searcher import Searcher

        return Searcher.open(self.work).search(query, offset=offset, limit=limit)


def _reported(
    steps: Iterable[StepReport], report: Callable[[StepReport], None]
) -> list[StepReport]:
    """Run steps, and report each when it is committed."""
    done = []
    for step_report in steps:
        report(step_report)
        done.append(step_report)
    return done
