"""What is parsed while its round is being fetched gives what parsing afterwards gives."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from gossamer import fetch, parse
from gossamer.api.crawl import Crawl
from gossamer.errors import EngineError, StoreFull
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fakeweb.hostile import CATALOGUE
from gossamer.parse.page_rules import rules_of
from gossamer.parse.step import parse_ahead as parsing_ahead
from gossamer.parse.step import parse_task
from gossamer.parse.step.planning import create_job
from gossamer.schedule import generate
from gossamer.state.finished_files import Handover
from gossamer.state.heartbeats import heartbeats
from gossamer.status.fetch_progress import lanes
from gossamer.storage.names import is_collected
from gossamer.storage.store import File
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import garbage
from tests.support.killed_parsers import Killed, spending
from tests.support.stored_rounds import (
    HOME,
    Fetched,
    commit_fetch,
    store_seeds,
    table,
    write_shares,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gossamer.engine.engine import Engine
    from gossamer.parse import Ahead
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport
    from gossamer.storage.task_output import Row

    Killing = Callable[[dict[str, int]], Killed]

pytestmark = pytest.mark.embedded
PATIENCE_S = 60
GOSSAMER = [sys.executable, "-c", "from gossamer.cli import main; main()"]
PAGES = [Fetched(f"{HOME}{n}", b"<p>page %d<a href=/from/%d>l</a>" % (n, n)) for n in range(8)]


def until(true: Callable[[], bool]) -> None:
    """Wait for other threads and processes."""
    ends = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < ends
        Event().wait(0.005)


def parsed_files(ahead: Ahead) -> set[File]:
    return {file for files, _ in ahead._results for file in files}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds of any size are parsed ahead, each file by a task of its own."""
    monkeypatch.setattr(parsing_ahead, "MIN_PAGES", 0)
    monkeypatch.setattr(parsing_ahead, "PAGES_PER_TASK", 1)


def begin(work: Workspace, round_: int = 1) -> None:
    """Commit what comes before the fetch of a round."""
    if round_ == 1:
        store_seeds(work, [HOME])
    with work.step("generate", round_):
        pass


def hand_over(work: Workspace, notes: str | None, written: Iterable[Row]) -> None:
    assert notes is not None
    for row in written:
        if row["name"] == "responses":
            Handover(notes, 0).leave(work.root, row)


def parsed(
    work: Workspace,
    *shares: Sequence[Fetched],
    first: int | None = None,
    lost: Sequence[Fetched] = (),
    change: Callable[[], None] = lambda: None,
    round_: int = 1,
) -> StepReport:
    """Parse a round, the `first` shares of it (by default, all) ahead.

    `lost` are pages of a fetch task that dies after it has handed them over. `change` is called
    when the fetch has ended.
    """
    begin(work, round_)
    with parse.Ahead(work) as ahead:
        with ahead.beside_fetch() as notes:
            written = write_shares(work, *shares[:first], round_=round_)
            handed = [*written, *(write_shares(work, lost, round_=round_) if lost else ())]
            hand_over(work, notes, handed)
            files = sum(row["name"] == "responses" for row in handed)
            until(lambda: len(parsed_files(ahead)) == files)
            if first is not None:
                written += write_shares(work, *shares[first:], round_=round_)
            commit_fetch(work, written, round_)
        change()
        return parse.run(work, ahead)


def afterwards(work: Workspace, *shares: Sequence[Fetched]) -> StepReport:
    begin(work)
    commit_fetch(work, write_shares(work, *shares))
    return parse.run(work)


def contents(work: Workspace) -> dict[str, list[dict[str, Any]]]:
    """The rows that the step has written, without the places of bodies."""
    rows = {name: table(work, name) for name in ("documents", "links", "unparsed")}
    for row in rows["unparsed"]:
        del row["warc_file"], row["warc_offset"]
    return rows


def everything() -> list[list[Fetched]]:
    """Files with all kinds of pages; bodies repeat within a file and in others."""
    hostile = [b"<a href=http://[1>x</a>" * 2_000, b"<div>" * 5_000, b"\xff\x00" * 2_000]
    return [
        [
            *(
                Fetched(f"{HOME}{file}/{n}", b"<title>%d</title><a href=/%d>l</a>" % (n % 5, n % 7))
                for n in range(12)
            ),
            Fetched(f"{HOME}{file}/cut", b"<p>half a", truncated=True),
            Fetched(f"{HOME}{file}/old", outcome="redirect", redirect_url=f"{HOME}{file}/new"),
            Fetched(f"{HOME}{file}/gone", outcome="not_found"),
            Fetched(f"{HOME}{file}/hostile", hostile[file]),
            Fetched(f"https://{file}.example.org/robots.txt", b"Sitemap: /s.xml", "text/plain"),
        ]
        for file in range(3)
    ]


@pytest.fixture(scope="module")
def theirs(new_work: Callable[[], Workspace]) -> tuple[StepReport, dict[str, Any]]:
    """What parsing everything afterwards gives."""
    work = new_work()
    return afterwards(work, *everything()), contents(work)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("first", [1, 3])
def test_the_results_are_those_of_parsing_afterwards(
    work: Workspace, theirs: tuple[StepReport, dict[str, Any]], first: int
) -> None:
    report, expected = theirs
    assert parsed(work, *everything(), first=first).counts == report.counts
    assert contents(work) == expected
    assert len(expected["documents"]) == 3 * 15
    assert not list(Path(work.root, "scratch").rglob("*.parquet"))
    assert first == 1 or not list(heartbeats(work.root))  # those of tasks that have ended


def test_a_task_gets_the_files_of_a_thousand_pages_or_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing_ahead, "PAGES_PER_TASK", 10)
    waiting = [File(str(n), rows, 1) for n, rows in enumerate((12, 4, 6, 1, 0, 9, 1))]
    tasks = []
    while waiting:
        tasks.append([file.rows for file in parsing_ahead._first_waiting_files(waiting)])
    assert tasks == [[12], [4, 6], [1, 0, 9], [1]]


@pytest.mark.usefixtures("small")
def test_files_that_the_fetch_has_not_committed_do_not_count(work: Workspace) -> None:
    """A task that handed over a file died; the pages were fetched again, into another one."""
    counts = parsed(work, PAGES[:4], PAGES[4:], lost=PAGES[:4]).counts
    assert counts == {"documents": 8, "links": 8, "parsed": 8}
    assert [row["url"] for row in table(work, "documents")] == [page.url for page in PAGES]
    assert len(table(work, "links")) == 8


def reset(work: Workspace, name: str, **keys: Any) -> None:
    changed = structs.replace(getattr(work.config, name), **keys)
    work.config = structs.replace(work.config, **{name: changed})


@pytest.mark.usefixtures("small")
def test_settings_that_are_read_anew_after_the_fetch_count(work: Workspace) -> None:
    change = lambda: reset(work, "filter", deny=("/from/1$",))  # noqa: E731  # two words
    counts = parsed(work, PAGES, change=change).counts
    assert counts == {"documents": 8, "links": 7, "dropped_deny": 1, "parsed": 8}


@pytest.mark.usefixtures("small")
def test_a_harvest_beside_the_round_may_commit_between_fetch_and_parse(work: Workspace) -> None:
    begin(work)
    with parse.Ahead(work) as ahead:
        with ahead.beside_fetch() as notes:
            written = write_shares(work, PAGES)
            hand_over(work, notes, written)
            until(lambda: len(parsed_files(ahead)) == 1)
            with work.branch() as beside, beside.step("invert", 1):
                pass
            commit_fetch(work, written)
        job = create_job(work, rules_of(work.config, work.root))
        files = work.store.files("responses")
        assert ahead.done(job, files).files == {file.path for file in files}


@pytest.fixture
def killing(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Killing]:
    """Tasks run in this process, one after the other, with a parser that may be killed."""
    started = []

    def in_process(tasks: Sequence[Any], fn: Any, *_: object) -> list[Row]:
        return list(chain.from_iterable(fn(one) for one in tasks))

    def use(times: dict[str, int]) -> Killed:
        started.append(Killed(times))
        monkeypatch.setattr(parse_task, "standing_parser", lambda _rules: started[-1])
        return started[-1]

    monkeypatch.setattr(work.engine, "map_tasks", in_process)
    monkeypatch.setattr(work.engine, "run_beside", lambda one, fn, _: list(fn(one)))
    yield use
    for parser in started:
        parser.__exit__()


@pytest.mark.usefixtures("small")
def test_a_task_ends_with_the_fetch_and_its_other_pages_are_parsed_by_the_step(
    work: Workspace, killing: Killing, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser, reached, over = killing({}), Event(), Event()
    parse_page = parser.parse

    def waiting(page: Any) -> Any:
        if page.url == PAGES[3].url and not over.is_set():
            reached.set()
            assert over.wait(PATIENCE_S)
        return parse_page(page)

    monkeypatch.setattr(parser, "parse", waiting)
    begin(work)
    with parse.Ahead(work) as ahead:
        with ahead.beside_fetch() as notes:
            written = write_shares(work, PAGES)
            hand_over(work, notes, written)
            assert reached.wait(PATIENCE_S)
            commit_fetch(work, written)
        over.set()
        assert parse.run(work, ahead).counts == {"documents": 8, "links": 8, "parsed": 8}
    assert parser.asked == [page.url for page in PAGES]
    assert len({file.path for file in work.store.files("documents")}) == 2


@pytest.mark.usefixtures("small")
def test_a_page_whose_parser_is_killed_ahead_is_parsed_alone_at_the_end(
    work: Workspace, killing: Killing
) -> None:
    parser = killing({PAGES[1].url: 2})
    counts = parsed(work, PAGES[:4], PAGES[4:], first=1).counts
    assert counts == {"documents": 8, "links": 8, "parsed": 8, "retried_alone": 1}
    assert parser.asked[-1] == PAGES[1].url


@pytest.mark.usefixtures("small")
def test_a_page_that_is_always_killed_is_left_to_a_later_round(
    work: Workspace, killing: Killing
) -> None:
    killing({PAGES[1].url: 4})
    assert parsed(work, PAGES[:4], PAGES[4:], first=1).counts["interrupted"] == 1
    (left,) = table(work, "unparsed")
    assert (left["url"], left["why"]) == (PAGES[1].url, "interrupted")


@pytest.mark.usefixtures("small")
def test_the_budget_of_a_domain_holds_for_what_is_parsed_ahead_and_afterwards_together(
    work: Workspace, killing: Killing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages take 2 s each, and their domain may take 5 s, half of it ahead.

    A task may exceed its share by a page. So two pages are parsed ahead, and one afterwards.
    """
    parser = killing({})
    monkeypatch.setattr(parser, "parse", spending(parser, {"farm.example": 2.0}))
    reset(work, "parse", domain_cpu_s=5.0)
    reset(work, "filter", scope="any")
    farm = [Fetched(f"https://{n % 2}.farm.example/{n}", b"<p>%d" % n) for n in range(9)]
    shares = [farm[:1], farm[1:2], farm[2:3], [*farm[3:], Fetched(HOME, b"<p>good")]]
    counts = parsed(work, *shares, first=3).counts
    assert counts == {"documents": 4, "links": 0, "parsed": 4, "postponed_cpu": 6}
    assert HOME in {row["url"] for row in table(work, "documents")}
    assert {row["why"] for row in table(work, "unparsed")} == {"postponed_cpu"}


@pytest.mark.usefixtures("small")
def test_an_error_ahead_means_that_the_step_parses_these_pages(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = Event()

    def fail(*_: object) -> list[Row]:
        tried.set()
        raise EngineError("worker process 1", "died with exit code -9")

    monkeypatch.setattr(work.engine, "run_beside", fail)
    begin(work)
    with parse.Ahead(work) as ahead:
        with ahead.beside_fetch() as notes:
            written = write_shares(work, PAGES)
            hand_over(work, notes, written)
            assert tried.wait(PATIENCE_S)
            commit_fetch(work, written)
        assert parse.run(work, ahead).counts == {"documents": 8, "links": 8, "parsed": 8}


@pytest.mark.usefixtures("small")
def test_a_fetch_that_fails_leaves_no_scratch_files_and_its_error_is_raised(
    work: Workspace,
) -> None:
    def fetch_in_vain(notes: str | None) -> None:
        hand_over(work, notes, write_shares(work, PAGES))
        until(lambda: len(parsed_files(ahead)) == 1)
        raise StoreFull(work.root, "is full", "free some space")

    begin(work)
    with parse.Ahead(work) as ahead, ahead.beside_fetch() as notes, pytest.raises(StoreFull):
        fetch_in_vain(notes)
    assert [path for path in Path(work.root, "scratch").rglob("*") if path.is_file()] == []


def test_small_rounds_and_clusters_are_not_parsed_ahead(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(work)
    with parse.Ahead(work) as ahead, ahead.beside_fetch() as notes:
        assert notes is None
    monkeypatch.setattr(parsing_ahead, "MIN_PAGES", 0)
    monkeypatch.setattr(work.engine, "_pool", None)  # as on Spark, whose executors have no folder
    with parse.Ahead(work) as ahead, ahead.beside_fetch() as notes:
        assert notes is None


@pytest.mark.usefixtures("small")
def test_a_pause_holds_back_what_is_handed_over(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = Event()

    def paused(*_: object) -> str:
        looked.set()
        return "gossamer pause asked for it"

    monkeypatch.setattr("gossamer.state.pausing.pause_reason", paused)
    begin(work)
    with parse.Ahead(work) as ahead, ahead.beside_fetch() as notes:
        hand_over(work, notes, write_shares(work, PAGES))
        assert looked.wait(PATIENCE_S)
        assert not ahead._tasks


@pytest.mark.folder
@pytest.mark.usefixtures("small")
def test_tasks_report_their_progress_beside_the_fetch(work: Workspace) -> None:
    begin(work)
    with parse.Ahead(work) as ahead, ahead.beside_fetch() as notes:
        hand_over(work, notes, write_shares(work, PAGES))
        until(lambda: len(parsed_files(ahead)) == 1)
        (beat,) = heartbeats(work.root)
        assert (beat.step, beat.round, beat.done, beat.total) == ("parse", 1, 8, 8)
        fetching = structs.replace(beat, step="fetch", done=8, total=900)
        parsing = structs.replace(beat, done=4)
        shown = lanes([parsing, fetching], beat.at_ms)
    assert [(lane.step, lane.done, lane.total) for lane in shown] == [
        ("fetch", 8, 900),
        ("parse", 4, 8),
    ]


@pytest.mark.folder
def test_garbage_collection_knows_the_names_of_notes(work: Workspace) -> None:
    notes = work.scratch_attempt()
    hand_over(work, notes, write_shares(work, PAGES))
    names = [path.name for path in Path(work.root, notes).iterdir()]
    assert names
    for name in (*names, names[0].replace(".json", ".4711.draft"), "over"):
        assert is_collected(f"{notes}/{name}")


# Whole crawls


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeWeb]:
    """Everything that the web has, with bodies that are stored once or never."""
    mix = Mix(crawl_delay=0, copies=0.1, mirrors=0.5)
    web = Web(hosts=12, pages_per_host=60, page_bytes=2_000, mix=mix, hostile=True, drip_s=0.001)
    with FakeWeb(web) as running:
        yield running


HURRY = """
fetch.head_timeout_s = 2
fetch.timeout_s = 3
fetch.connections_per_address = 1_000
fetch.max_body_bytes = 300_000
fetch.max_file_bytes = 300_000
engine.workers = 2
"""


@pytest.mark.parametrize(
    "waits",
    [pytest.param(True, marks=pytest.mark.long), pytest.param(False, marks=pytest.mark.slow)],
)
def test_a_crawl_of_everything_gives_what_parsing_afterwards_gives(
    fake: FakeWeb, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    """Half of the time, all pages are parsed ahead, otherwise as many as happen to be.

    The same responses are parsed twice, since hosts that are slow answer differently each time. A
    page is left out that takes about as long as a parser may.
    """
    monkeypatch.setattr(parsing_ahead, "MIN_PAGES", 0)
    crawl = Crawl.create(str(tmp_path / "crawl"), loopback_settings(fake.address, HURRY), engine)
    hosts = [host for host in fake.web.hosts() if "hostile" not in host]
    synthetic = [url for host in hosts for url in (f"http://{host}/gone", *fake.web.urls(host))]
    quick = (case for name, case in CATALOGUE.items() if not case.tls and name != "nested")
    crawl.inject([*synthetic, *(case.url for case in quick)])
    work = crawl.work
    generate.run(work)
    with parse.Ahead(work) as ahead:
        with ahead.beside_fetch() as notes:
            fetch.run(work, notes)
            if waits:
                files = set(work.store.files("responses"))
                until(lambda: files == parsed_files(ahead))
        others = shutil.ignore_patterns("heartbeats")  # a worker may still write one
        shutil.copytree(crawl.path, tmp_path / "copy", ignore=others)
        report = parse.run(work, ahead)
    copy = Crawl.open(str(tmp_path / "copy"), engine).work
    assert parse.run(copy).counts == report.counts
    assert contents(work) == contents(copy)
    outcomes = {row["outcome"] for row in work.read("responses").collect()}
    assert {"ok", "redirect", "not_found"} <= outcomes
    assert len(contents(work)["documents"]) > 500


SLOWLY = """
engine.workers = 2
fetch.delay_s = 0.004
filter.max_depth = 0
"""


@pytest.fixture(scope="module")
def site() -> Iterator[FakeWeb]:
    with FakeWeb(Web(hosts=1, pages_per_host=500, page_bytes=2_000, mix=Mix.plain())) as running:
        yield running


def prepared(folder: Path, site: FakeWeb) -> Path:
    """A crawl of one round, whose fetch takes some seconds."""
    with Crawl.create(str(folder), loopback_settings(site.address, SLOWLY)) as crawl:
        crawl.inject(site.web.urls("site-0.test"))
    return folder


@pytest.fixture(scope="module")
def undisturbed(site: FakeWeb, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    folder = prepared(tmp_path_factory.mktemp("undisturbed") / "crawl", site)
    crawl = Crawl.open(str(folder), engine)
    crawl.run()
    return crawl


def until_parsing(folder: Path) -> subprocess.Popen[bytes]:
    """Start a crawl, and return it when the first pages are parsed while others are fetched."""
    command = [*GOSSAMER, "crawl", str(folder)]
    crawl = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: any(folder.glob("documents/*/*.parquet")) or crawl.poll() is not None)
    assert crawl.poll() is None
    return crawl


def steps(folder: Path) -> list[str]:
    return [done.step for done in Crawl.open(str(folder)).work.store.manifest.history]


KILLS = [
    pytest.param(signal.SIGKILL, marks=pytest.mark.slow),
    pytest.param(signal.SIGTERM, marks=pytest.mark.long),
]


@pytest.mark.parametrize("number", KILLS)
def test_a_crawl_that_ends_while_it_parses_ahead_goes_on_as_if_it_had_not(
    site: FakeWeb, undisturbed: Crawl, engine: Engine, tmp_path: Path, number: signal.Signals
) -> None:
    folder = prepared(tmp_path / "crawl", site)
    crawl = until_parsing(folder)
    crawl.send_signal(number)
    crawl.wait()
    begun, done = ["inject", "generate"], steps(folder)
    # On a busy machine, the fetch may have ended before the signal arrives.
    assert done == [*begun, "fetch"] or (done == begun and number == signal.SIGKILL)
    assert not Crawl.open(str(folder)).work.store.listed("documents")
    ended = Crawl.open(str(folder), engine)
    ended.run()
    assert garbage(ended) == garbage(undisturbed) == set()
    assert whole(ended) == whole(undisturbed)
    assert len(whole(ended)[0]) == 500


def whole(crawl: Crawl) -> list[list[tuple[Any, ...]]]:
    """The documents and links of all rounds; the rounds of pages depend on when a fetch ended."""
    documents = crawl.dataset("documents").select("url", "outcome", "title", "text", "links")
    links = crawl.dataset("links").select("src", "dst", "anchor", "depth")
    return [sorted(map(tuple, rows.collect())) for rows in (documents, links)]
