"""Whoever applies the changes of the index in their order has the pages that the index has."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow.parquet as pq
import pytest

from gossamer.errors import ForgottenChanges, InvalidCursor
from gossamer.index.changes import reading
from gossamer.index.changes.reading import ChangeLog
from gossamer.index.changes.recording import record_changes
from gossamer.index.indexed_rows import ADDED, KEPT, REMOVED, REPLACED
from gossamer.state import lsm
from gossamer.tables import DISPOSITIONS, PAGES
from tests.support.change_readers import Reader
from tests.support.harvest_steps import run_index
from tests.support.rows import NOW_MS, frame, put

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.index.changes.reading import Change
    from gossamer.state.workspace import Workspace

DAY_MS = 86_400_000
COMPARED = (
    "url string, round int, source bigint, change string, old_round int, old_source bigint, "
    "shard int, index_language string"
)
URLS = [f"http://{host}.example/{n}" for host in "abc" for n in range(6)]


class Died(Exception):
    """A harvest that ends before it commits."""


class RandomIndex:
    """An index whose harvests add, change and remove pages, as the step `index` compares them."""

    def __init__(self, work: Workspace, seed: int) -> None:
        self.work = work
        self.draw = random.Random(seed)  # noqa: S311  # reproducible
        self.round = 0
        self.held: dict[str, tuple[int, str]] = {}
        """The round and the text of the document of each page in the index."""

    def harvest(self) -> None:
        self.round += 1
        after = dict(self.held)
        documents = []
        for url in self.draw.sample(URLS, self.draw.choice((0, 1, 3, 8))):
            if url in after and self.draw.random() < 0.4:
                del after[url]
            else:
                text = self.draw.choice(("one", "two", "three"))
                after[url] = self.round, text
                documents.append({"url": url, "round": self.round, "main_text": text})
        if documents:
            put(self.work, "documents", documents, self.round)
        if self.draw.random() < 0.2:
            with pytest.raises(Died):
                self._commit(after, dies=True)
        self._commit(after)
        self.held = after

    def _commit(self, after: dict[str, tuple[int, str]], *, dies: bool = False) -> None:
        work, anew = self.work, self.draw.random() < 0.2
        compared = [
            self._compared(url, None if anew else self.held.get(url), after.get(url))
            for url in {*after, *([] if anew else self.held)}
        ]
        with work.step("index", self.round) as draft:
            rows = [
                {"url": url, "round": round_, "source": 1} for url, (round_, _) in after.items()
            ]
            layer = work.write(frame(work, "indexed", rows), "indexed", self.round)
            draft.replace["indexed"] = (layer,)
            made = work.engine.spark.createDataFrame(compared, COMPARED)
            record_changes(work, draft, made, layer, anew=anew)
            if dies:
                raise Died

    def _compared(
        self, url: str, old: tuple[int, str] | None, new: tuple[int, str] | None
    ) -> tuple[Any, ...]:
        before, now = old and old[0], new and new[0]
        change = ADDED if old is None else REMOVED if new is None else REPLACED
        if old == new and self.draw.random() < 0.5:
            change = KEPT
        return url, now, 1, change, before, 1, 1, "en"

    def check(self, reader: Reader) -> None:
        """The reader has the pages that the index has, with their texts."""
        assert set(reader.pages) == set(self.held)
        documents = self.work.read("documents").collect()
        texts = {(row["url"], row["round"]): row["main_text"] for row in documents}
        read = {url: texts[url, round_] for url, round_ in reader.pages.items()}
        assert read == {url: text for url, (_, text) in self.held.items()}


@pytest.fixture
def log_work(work: Workspace) -> Workspace:
    """A crawl in which pages that leave the index have no row in other datasets."""
    with work.step("test", 1) as draft:
        for table in (DISPOSITIONS, PAGES):
            rows = frame(work, table.name, [{"url": "http://none.example/"}])
            draft.replace[table.name] = lsm.append_layer(work, table, rows, 1, 1)
    return work


@pytest.mark.parametrize(
    "seed",
    [
        0,  # in which a reader comes too late
        # Changes are merged while a reader of 17 begins.
        *(pytest.param(n, marks=pytest.mark.slow) for n in (17, *range(1, 10))),
        *(pytest.param(n, marks=pytest.mark.long) for n in range(10, 200) if n != 17),
    ],
)
def test_whoever_applies_all_changes_has_the_pages_of_the_index(
    log_work: Workspace, seed: int
) -> None:
    index = RandomIndex(log_work, seed)
    draw, waits = random.Random(seed), index.work.config.index.changes_days / 4  # noqa: S311
    readers, forgotten = [Reader() for _ in range(3)], 0
    for _ in range(12):
        index.harvest()
        log_work.clock_ms = log_work.now_ms() + int(draw.choice((0, waits, 3 * waits)) * DAY_MS)
        index.check(read_by(log_work, Reader(), draw.choice((1, 3, 1_000))))
        for number, reader in enumerate(readers):
            try:
                if number == 0 or draw.random() < 0.3:
                    index.check(read_by(log_work, reader, draw.choice((1, 5, 1_000))))
                elif draw.random() < 0.5:  # it may stop midway
                    reader.read(log_work, 2)
            except ForgottenChanges:
                assert number
                readers[number] = Reader()
                forgotten += 1
    assert seed or forgotten, "no reader came too late"


def read_by(work: Workspace, reader: Reader, count: int) -> Reader:
    reader.read_all(work, count)
    return reader


def test_each_change_is_read_once_by_whoever_asks_often_enough(log_work: Workspace) -> None:
    index, reader = RandomIndex(log_work, 1), Reader()
    for _ in range(8):
        index.harvest()
        reader.read_all(log_work, 1)
    rows = log_work.read("changes").collect()
    assert len(reader.met) == len(rows) > 30
    assert {(each.url, each.change) for each in reader.met} == {
        (row["url"], row["change"]) for row in rows
    }


def test_layers_are_merged_and_old_changes_forgotten(log_work: Workspace) -> None:
    index = RandomIndex(log_work, 2)
    late = Reader()
    for _ in range(3):
        index.harvest()
        late.read(log_work, 1)
    log_work.clock_ms = NOW_MS + 365 * DAY_MS
    for _ in range(12):
        index.harvest()
    assert len(log_work.store.manifest.layers("changes")) < 6
    with pytest.raises(ForgottenChanges, match=r"(?s)not kept any more.*begin again"):
        late.read_all(log_work)
    index.check(read_by(log_work, Reader(), 1_000))
    assert log_work.read("changes").count() < 2 * len(URLS) + 30


@pytest.mark.folder  # the sizes of objects are not looked at again within SEEN_S
def test_damaged_changes_are_made_again_and_no_old_cursor_holds(log_work: Workspace) -> None:
    index, old = RandomIndex(log_work, 3), Reader()
    for _ in range(2):
        index.harvest()
    old.read_all(log_work)
    path = log_work.paths("changes")[0]
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    index.harvest()
    with pytest.raises(ForgottenChanges):
        old.read_all(log_work)
    index.check(read_by(log_work, Reader(), 2))


def document(url: str, text: str, **more: Any) -> dict[str, Any]:
    row = {"url": url, "host": "a.example", "outcome": "parsed", "noindex": False, "headings": []}
    return row | {"main_text": text, "title": text, "digest": url, "fetched_ms": 0} | more


def states(work: Workspace, rows: Iterable[dict[str, Any]]) -> None:
    made = [{"fetched_ms": 0} | row for row in rows]
    with work.step("test", work.round) as draft:
        known, _ = work.scratch(frame(work, "pages", made))
        draft.replace["pages"] = lsm.append_layer(work, PAGES, known, len(made), work.round)


def changes_of(work: Workspace, reader: Reader) -> dict[str, tuple[str, str | None, str | None]]:
    before = len(reader.met)
    reader.read_all(work)
    return {each.url: (each.change, each.other, each.reason) for each in reader.met[before:]}


def test_the_changes_say_what_became_of_a_page(work: Workspace) -> None:
    names = ("stays", "better", "moves", "gone", "longer", "hidden", "empty", "alias")
    urls = {name: f"http://a.example/{name}" for name in names}
    states(work, [{"url": url, "status": "fetched"} for url in urls.values()])
    put(work, "documents", [document(url, f"text of {name}") for name, url in urls.items()])
    put(work, "ranks", [{"url": url, "rank": 0.1} for url in urls.values()])
    run_index(work)
    reader = Reader()
    assert changes_of(work, reader) == dict.fromkeys(urls.values(), ("added", None, None))

    run_index(work)
    assert not changes_of(work, reader)

    target = "http://a.example/target"
    put(
        work,
        "responses",
        [
            {"url": urls["moves"], "round": 2, "outcome": "redirect", "redirect_url": target},
            {"url": urls["gone"], "round": 2, "outcome": "not_found"},
        ],
        2,
    )
    states(
        work,
        [
            {"url": urls["moves"], "status": "redirected", "outcome": "redirect"},
            {"url": urls["gone"], "status": "gone", "outcome": "not_found"},
            {"url": urls["alias"], "status": "alias"},
        ],
    )
    alias = {"url": urls["alias"], "target": urls["stays"], "active": True, "round": 2}
    put(work, "aliases", [alias], 2)
    put(
        work,
        "documents",
        [
            document(urls["better"], "a better text", round=2),
            document(urls["stays"], "text of stays", round=2, digest="other bytes"),
            document(urls["longer"], "copied", digest="same", canonical=urls["stays"], round=2),
            document(urls["hidden"], "text of hidden", noindex=True, round=2),
            document(urls["empty"], "", outcome="empty", round=2),
        ],
        2,
    )
    put(
        work,
        "documents",
        [document(urls["longer"], "text of stays", digest="x", text_hash=7, round=3)],
        3,
    )
    put(
        work,
        "documents",
        [document(urls["stays"], "text of stays", digest="y", text_hash=7, round=3)],
        3,
    )
    run_index(work)
    assert changes_of(work, reader) == {
        urls["better"]: ("changed", None, None),
        urls["moves"]: ("moved", target, "redirect"),
        urls["alias"]: ("moved", urls["stays"], "alias"),
        urls["gone"]: ("gone", None, "not_found"),
        urls["longer"]: ("duplicate", urls["stays"], "text"),
        urls["hidden"]: ("gone", None, "noindex"),
        urls["empty"]: ("gone", None, "outcome"),
    }


def test_cursors_are_of_one_crawl_and_whole(log_work: Workspace, new_work: Any) -> None:
    index = RandomIndex(log_work, 5)
    index.harvest()
    log = ChangeLog(log_work)
    cursor = log.page(log.cursor(""), 1).cursor
    assert log.page(log.cursor(cursor), 1_000).changes
    other = ChangeLog(new_work())
    with pytest.raises(InvalidCursor, match="of another crawl"):
        other.cursor(cursor)
    for damaged in (
        cursor[:-1],
        cursor + "A",
        cursor[:20] + "x" + cursor[21:],
        "x",
        "né",
        "=",
        " ",
    ):
        if damaged != cursor:
            with pytest.raises(InvalidCursor, match="cursor"):
                log.cursor(damaged)


def test_a_site_has_its_own_changes_and_the_cursor_goes_on(log_work: Workspace) -> None:
    index = RandomIndex(log_work, 6)
    for _ in range(6):
        index.harvest()
    log = ChangeLog(log_work)
    found: list[Change] = []
    cursor, site = "", "b.example"
    while (page := log.page(log.cursor(cursor), 2, site)).more:
        found, cursor = [*found, *page.changes], page.cursor
    found += page.changes
    rows = [row for row in log_work.read("changes").collect() if f"//{site}/" in row["url"]]
    assert len(found) == len(rows) > 3
    assert log.page(log.cursor(page.cursor), 2, site) == msgspec.structs.replace(page, changes=[])
    assert not log.page(log.cursor(""), 2, "example.org").changes
    assert log.page(log.cursor(""), 1_000, "example").changes


def test_whoever_begins_now_gets_only_what_comes(log_work: Workspace) -> None:
    index = RandomIndex(log_work, 7)
    index.harvest()
    log = ChangeLog(log_work)
    cursor = log.page(log.cursor("now"), 10).cursor
    before = log_work.read("changes").count()
    assert not log.page(log.cursor(cursor), 10).changes
    while log_work.read("changes").count() == before:
        index.harvest()
    found = log.page(log.cursor(cursor), 1_000).changes
    assert len(found) == log_work.read("changes").count() - before


def test_without_older_changes_all_pages_are_added_and_no_old_cursor_holds(
    log_work: Workspace,
) -> None:
    """As in a crawl of an older version, or after a repair."""
    index, old = RandomIndex(log_work, 8), Reader()
    for _ in range(3):
        index.harvest()
    old.read_all(log_work)
    with log_work.step("test", 1) as draft:
        draft.replace |= {"changes": (), "forgotten_changes": ()}
    index.harvest()
    index.check(read_by(log_work, Reader(), 1_000))
    with pytest.raises(ForgottenChanges):
        old.read_all(log_work)


def test_whoever_begins_before_the_first_page_misses_none(log_work: Workspace) -> None:
    index, early = RandomIndex(log_work, 10), Reader()
    early.read_all(log_work)
    while not index.held:
        index.harvest()
    early.read(log_work, 1)
    index.harvest()
    index.check(read_by(log_work, early, 2))


def test_a_harvest_that_ends_while_changes_are_read_is_read_next(
    log_work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, reader = RandomIndex(log_work, 9), Reader()
    index.harvest()
    real = reading._rows_after

    def slow(*given: Any) -> Any:
        rows = real(*given)
        monkeypatch.setattr(reading, "_rows_after", real)
        held = set(index.held)
        while set(index.held) == held:
            index.harvest()
        return rows

    monkeypatch.setattr(reading, "_rows_after", slow)
    index.check(read_by(log_work, reader, 1_000))


@pytest.mark.parametrize("seed", range(5))
def test_files_may_hold_changes_in_any_order(work: Workspace, seed: int) -> None:
    """Several files and row groups overlap, and some changes even have the same position."""
    draw = random.Random(seed)  # noqa: S311
    rows = [
        {"harvest": 1, "place": draw.randrange(-20, 20), "url": f"http://a.example/{number}"}
        | {"change": "added", "round": 1, "at_ms": 0}
        for number in range(60)
    ]
    while rows_left := rows[len(work.read("changes").collect()) :]:
        put(work, "changes", rows_left[: draw.choice((1, 5, 20))])
    log, after, met = ChangeLog(work), ChangeLog(work).beginning(), list[str]()
    while (found := log.read(after, draw.choice((1, 3, 10))))[0]:
        met += [placed.change.url for placed in found[0]]
        after = found[1]
    places = {str(row["url"]): int(str(row["place"])) for row in rows}
    ordered = sorted(places, key=lambda url: (places[url], url))
    assert met == ordered
    newest = [places[change.url] for change in log.recent(10)]
    assert newest == [places[url] for url in reversed(ordered[-10:])]
