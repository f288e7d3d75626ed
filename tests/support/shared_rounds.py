"""Rounds that the tests of a module share.

A round costs about as much with the pages of fifty tests as with those of one. So a test tells the
story of hosts of its own: it is a generator that yields what a round finds there, and goes on when
that round is over. The stories of a module are played together in one crawl, the first yield of
each in its first round, and so on. Each is a test of its own, which fails where its story does.

    shared = SharedRounds(update={"new_urls_per_domain": 3})

    @shared.story
    def test_a_link_makes_a_page_known(site: Site) -> Story:
        pages = yield {"links": [{"src": site.url("/"), "dst": site.url("/x")}]}
        assert pages[site.url("/x")]["status"] == "unfetched"
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from gossamer.schedule import update
from gossamer.state import lsm
from gossamer.tables import DATASETS
from gossamer.web.urls import host_of
from tests.support.rows import put_all

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

Row = dict[str, Any]
Pages = dict[str, Row]
Found = Mapping[str, Iterable[Row]]
"""Rows by dataset. Those of STATE are there before the round, the others are what it finds."""
Story = Generator[Found, Pages, None]

STATE = {"pages", "hosts", "habits", "domains", "url_rules", "filter_rules"}
FOUND = ("responses", "documents", "links")
"""What each round has, if no story does."""
LONGEST_LABEL = 63
"""RFC 1035 §2.3.4: the letters of a part of a host's name."""
_WORD = re.compile(r"[\w-]+")
"""A label of a host's name, and what else a URL has between its punctuation."""


@dataclass
class SharedCrawl:
    """The crawl in which stories are played."""

    work: Workspace
    _read: dict[str, tuple[int, dict[str, list[Row]]]] = field(default_factory=dict)
    """By dataset, the version of the store that was read, and the rows that have each word."""

    def rows(self, dataset: str, site: str) -> list[Row]:
        """The present rows that name a host or URL of a site."""
        version, table = self.work.store.manifest.version, DATASETS[dataset]
        if dataset not in self._read or self._read[dataset][0] != version:
            rows = [row.asDict(recursive=True) for row in lsm.current(self.work, table).collect()]
            keys = {tuple(row[name] for name in table.key) for row in rows}
            assert len(keys) == len(rows), f"{dataset}: a key stands twice"
            named: dict[str, list[Row]] = defaultdict(list)
            for row in rows:
                for word in _words(row):
                    named[word].append(row)
            self._read[dataset] = version, named
        return self._read[dataset][1].get(site, [])

    def play_round(self, found: Iterable[Found]) -> None:
        """Commit what a round finds, as its parsing leaves it; then update."""
        number = self.work.round + 1
        state: dict[str, list[Row]] = defaultdict(list)
        tables: dict[str, list[Row]] = defaultdict(list, {name: [] for name in FOUND})
        for each in found:
            for dataset, rows in each.items():
                into = state if dataset in STATE else tables
                into[dataset] += [self._plain(dataset, row, number) | row for row in rows]
        if state:
            put_all(self.work, state, number - 1)
        put_all(self.work, tables, number, step="parse")
        update.run(self.work)

    def _plain(self, dataset: str, row: Row, number: int) -> Row:
        """What a row says of host, round and time unless its story does."""
        plain: Row = {}
        if "url" in row:
            plain["host"] = host_of(row["url"])
        if dataset not in STATE:
            plain |= {"round": number, "fetched_ms": self.work.now_ms()}
        return {name: plain[name] for name in plain if name in DATASETS[dataset].column_names}


@dataclass
class Site:
    """The hosts of a story, which have a top-level domain of their own."""

    name: str
    crawl: SharedCrawl = field(repr=False)

    @property
    def work(self) -> Workspace:
        return self.crawl.work

    def host(self, name: str = "a") -> str:
        return f"{name}.{self.name}"

    def url(self, path: str = "/", host: str = "a") -> str:
        return f"http://{self.host(host)}{path}"

    def rows(self, dataset: str) -> list[Row]:
        """The present rows that name a host or URL of this site."""
        return self.crawl.rows(dataset, self.name)

    def pages(self) -> Pages:
        """The pages by URL."""
        return {row["url"]: row for row in self.rows("pages")}


class SharedRounds:
    """A crawl that stories share. `settings`: what differs from the defaults, by table."""

    def __init__(self, clock_ms: int | None = None, **settings: Mapping[str, Any]) -> None:
        self._clock_ms, self._settings = clock_ms, settings
        self._stories: dict[str, Callable[[Site], Story]] = {}
        self._ends: dict[str, BaseException | None] = {}

    def story(self, tell: Callable[..., Story]) -> Callable[..., None]:
        """Make a test of a story, or with a mark `parametrize`, one per case."""
        marks = getattr(tell, "pytestmark", [])
        given, values = next((m.args for m in marks if m.name == "parametrize"), ((), [()]))
        names = (given,) if isinstance(given, str) else given
        cases = [(value,) if isinstance(given, str) else value for value in values]
        label = tell.__name__.removeprefix("test_").replace("_", "-")
        told = [f"c{n}-{label}" if names else label for n in range(len(cases))]
        told = [name[:LONGEST_LABEL].rstrip("-") for name in told]
        for name, case in zip(told, cases, strict=True):
            assert not any(name in each or each in name for each in self._stories), name
            self._stories[name] = partial(tell, **dict(zip(names, case, strict=True)))

        def test(new_work: Callable[[], Workspace], **case: Any) -> None:
            self._ends = self._ends or self.play(new_work())
            number = cases.index(tuple(case[name] for name in names))
            if (error := self._ends[told[number]]) is not None:
                raise error

        _look_like(test, tell, ("new_work", *names))
        test.__dict__["rounds"] = self  # the recorder of tests/mutation reads it
        return test

    def play(self, work: Workspace) -> dict[str, BaseException | None]:
        """Return with which error each story ends; None: it was told to its end."""
        work.clock_ms = self._clock_ms or work.clock_ms
        for name, changed in self._settings.items():
            table = structs.replace(getattr(work.config, name), **changed)
            work.config = structs.replace(work.config, **{name: table})
        crawl = SharedCrawl(work)
        sites = {name: Site(name, crawl) for name in self._stories}
        stories = {name: tell(sites[name]) for name, tell in self._stories.items()}
        ends: dict[str, BaseException | None] = {}
        found = {name: _resume(story, None, ends, name) for name, story in stories.items()}
        while len(ends) < len(stories):
            waiting = [name for name in stories if name not in ends]
            try:
                crawl.play_round(found[name] for name in waiting)
            except Exception as error:  # noqa: BLE001  # each test raises it
                return dict.fromkeys(waiting, error) | ends
            for name in waiting:
                found[name] = _resume(stories[name], sites[name].pages(), ends, name)
        return ends


def _words(row: Row) -> set[str]:
    """The words of a row's texts, among them the sites that it names."""
    texts = (value for value in row.values() if isinstance(value, str))
    return {word for text in texts for word in _WORD.findall(text)}


def _resume(
    story: Story, pages: Pages | None, ends: dict[str, BaseException | None], name: str
) -> Found:
    """What the next round of a story finds. If there is none, `ends` has a new entry."""
    try:
        return next(story) if pages is None else story.send(pages)
    except StopIteration:
        ends[name] = None
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # its test raises it
        ends[name] = error
    return {}


def _look_like(
    test: Callable[..., None], story: Callable[..., Story], names: Iterable[str]
) -> None:
    """Give a test the name, place and marks of its story, and the parameters `names`."""
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(test, name, getattr(story, name))
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    test.__dict__ |= {"pytestmark": getattr(story, "pytestmark", []), "__wrapped__": story}
    test.__dict__["__signature__"] = signature
