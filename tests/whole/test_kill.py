"""Nothing lost, nothing twice: a crawl that is killed often ends as one that is not.

    pytest -m "" tests/whole/test_kill.py -k often --seeds 5

kills crawls 230 times: each of 5 x 2 of a large web 20 times, and of a small one 3 times.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import subprocess
import sys
import urllib.request
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil
import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from tests.support import small_index
from tests.support.change_readers import Reader
from tests.support.command_line import gossamer
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import answers, damaged_records, garbage, tables
from tests.support.merging_program import GOSSAMER, MERGING
from tests.support.small_index import put_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.engine.engine import Engine

pytestmark = pytest.mark.server


class Size(NamedTuple):
    """How large the web is, and how often its crawl is killed."""

    hosts: int
    pages_per_host: int
    max_depth: int
    pages: int
    """At least as many become known."""
    kills: int


SIZES = [
    Size(4, 12, max_depth=2, pages=40, kills=3),
    pytest.param(Size(8, 30, max_depth=20, pages=300, kills=20), marks=pytest.mark.long),
]
SETTINGS = """
engine.workers = 2
filter.max_depth = {}
generate.pages = {}
rank.tolerance = 1e-12
store.warc_versions = 1
"""
ALWAYS = "from gossamer.flow import harvests; harvests.PARTS = 1\n"
"""A harvest begins after each round without one."""
FOREVER = f"""
from gossamer.cli import main, supervisor as renewal
renewal.CRAWL = {MERGING + ALWAYS!r} + renewal.CRAWL
main()
"""
RUNS = [
    pytest.param((), GOSSAMER, id="rounds, then a harvest"),
    pytest.param(
        ("--forever",),
        [sys.executable, "-c", FOREVER],
        id="harvests beside rounds",
        marks=pytest.mark.long,
    ),
]
"""Further words of `gossamer crawl`, and what runs it."""
VICTIMS = ("the command", "one of its processes", "all")
MARK = "GOSSAMER_TEST_RUN"
STDERR = "stderr"
GONE_S = 20


@pytest.fixture(scope="module", params=SIZES, ids=lambda size: f"{size.hosts} hosts")
def size(request: pytest.FixtureRequest) -> Size:
    found: Size = request.param
    return found


@pytest.fixture(scope="module")
def web(size: Size) -> Iterator[FakeWeb]:
    """Finite, for a crawl that ends by itself, and without hosts that want to be waited for."""
    mix = Mix(calendars=0, crawl_delay=0, slow=0)
    web = Web(hosts=size.hosts, pages_per_host=size.pages_per_host, page_bytes=3_000, mix=mix)
    with FakeWeb(web) as fake:
        yield fake


@pytest.fixture(scope="module")
def whole(
    web: FakeWeb, size: Size, engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A crawl that nobody disturbed, in this process."""
    folder = create(tmp_path_factory.mktemp("undisturbed") / "crawl", web, size)
    crawl = Crawl.open(str(folder), engine)
    crawl.inject(web.web.seeds())
    crawl.run()
    assert garbage(crawl) == set()
    return folder


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(7, 7 + metafunc.config.getoption("seeds")))


@pytest.fixture
def mark() -> str:
    """Found in the environment of every process that a test's crawls start."""
    return uuid.uuid4().hex


def create(folder: Path, web: FakeWeb, size: Size) -> Path:
    """A crawl of several rounds."""
    settings = SETTINGS.format(size.max_depth, size.hosts * size.pages_per_host // 2)
    Crawl.create(str(folder), loopback_settings(web.address, settings)).close()
    return folder


def start(folder: Path, web: FakeWeb, mark: str) -> subprocess.Popen[bytes]:
    return launch(folder, mark, "crawl", *web.web.seeds())


def launch(
    folder: Path, mark: str, command: str, *words: str, program: Sequence[str] = GOSSAMER
) -> subprocess.Popen[bytes]:
    with (folder.parent / STDERR).open("ab") as stderr:
        return subprocess.Popen(
            [*program, *command.split(), str(folder), *words],
            env=os.environ | {MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )


def marked(mark: str) -> list[int]:
    """Processes that carry the mark and are alive."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:  # ended, or not ours
            continue
    return found


def strays(mark: str) -> list[int]:
    """Those that do not end by themselves."""
    for pid in marked(mark):
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            select.select([descriptor], [], [], GONE_S)
        finally:
            os.close(descriptor)
    return marked(mark)


def version(folder: Path) -> int:
    return max(int(path.stem) for path in (folder / "manifest").glob("[0-9]*.json"))


def kill_somewhen(process: subprocess.Popen[bytes], folder: Path, chance: random.Random) -> int:
    """Kill a process of the crawl, then the crawl, or the crawl alone, or all at once: how many."""
    await_moment(process, folder, chance)
    victim, kills = chance.choice(VICTIMS), 1
    if victim == "one of its processes" and (others := descendants(process)):
        kill(chance.choice(others))
        await_moment(process, folder, chance)
        kills += process.poll() is None
    everyone = descendants(process) if victim == "all" else []
    process.kill()
    for other in everyone:
        kill(other)
    process.wait()
    return kills


def await_moment(process: subprocess.Popen[bytes], folder: Path, chance: random.Random) -> None:
    """After none to four more commits, and somewhere within the step that follows.

    The first commit of a run is that of its seeds.
    """
    goal = version(folder) + chance.randrange(5)
    while version(folder) < goal and process.poll() is None:
        wait(process, 0.01)
    wait(process, chance.random() * 0.8)


def descendants(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return list(psutil.Process(process.pid).children(recursive=True))
    return []


def kill(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.kill()


def wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "program"), RUNS)
def test_a_crawl_that_is_killed_often_ends_as_one_that_is_not(
    web: FakeWeb,
    whole: Path,
    mark: str,
    engine: Engine,
    tmp_path: Path,
    size: Size,
    words: Sequence[str],
    program: Sequence[str],
    seed: int,
) -> None:
    killed = create(tmp_path / "killed", web, size)
    chance = random.Random(seed)  # noqa: S311 - moments, not secrets
    cut_off: set[int] = set()
    kills = runs = 0
    while kills < size.kills:
        runs += 1
        process = launch(killed, mark, "crawl", *web.web.seeds(), *words, program=program)
        kills += kill_somewhen(process, killed, chance)
        if process.returncode == -signal.SIGKILL:
            cut_off.add(version(killed))
        assert strays(mark) == []
    assert len(cut_off) >= runs / 2, "the kills should be spread over the run"
    (tmp_path / STDERR).unlink()
    assert start(killed, web, mark).wait() == 0
    assert strays(mark) == []

    assert (tmp_path / STDERR).read_text() == ""
    with_kills, without = Crawl.open(str(killed), engine), Crawl.open(str(whole), engine)
    assert garbage(with_kills) == set()
    expected = tables(without)
    assert len(expected["pages"]) >= size.pages
    for name, rows in tables(with_kills).items():
        assert rows == expected[name], name
    reader = Reader()
    reader.read_all(with_kills.work)
    assert {*reader.pages} == {row.url for row in with_kills.dataset("indexed").collect()}
    titles = [row.title for row in without.dataset("documents").limit(20).collect()]
    assert answers(with_kills, titles) == answers(without, titles)
    assert damaged_records(with_kills) == damaged_records(without) == []


@pytest.mark.slow
def test_parsing_again_that_is_killed_leaves_the_old_state(
    whole: Path, mark: str, engine: Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(whole, folder)
    with (folder / "gossamer.toml").open("a") as settings:
        settings.write("parse.max_text_chars = 50\n")
    was, before = version(folder), tables(Crawl.open(str(folder), engine))
    process = launch(folder, mark, "reparse")
    while not any(folder.glob(f"documents/{was + 1:08d}-*/*")) and process.poll() is None:
        wait(process, 0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert strays(mark) == []
    assert version(folder) == was
    assert tables(Crawl.open(str(folder), engine)) == before

    assert launch(folder, mark, "reparse").wait() == 0
    after = Crawl.open(str(folder), engine)
    assert garbage(after) == set()
    assert {name for name, rows in tables(after).items() if rows != before[name]} == {"documents"}
    texts = [row.text or "" for row in after.dataset("documents").collect()]
    assert max(map(len, texts)) == 50


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param("pages.graph", marks=pytest.mark.slow),
        pytest.param("", marks=pytest.mark.long),
        pytest.param("hosts-t.graph", marks=pytest.mark.long),
    ],
)
def test_a_build_of_the_graph_that_is_killed_leaves_the_old_one(
    whole: Path, mark: str, engine: Engine, tmp_path: Path, wanted: str
) -> None:
    """It is killed when a file exists. If that was too late, the new one has the same files."""
    folder = tmp_path / "crawl"
    shutil.copytree(whole, folder)
    was, before = version(folder), graph_of(folder)
    process = launch(folder, mark, "graph build", "--rebuild")
    while process.poll() is None and not any(folder.glob(f"graph/{was + 1:08d}-*/{wanted}*")):
        wait(process, 0.01)
    process.kill()
    assert process.wait() in {0, -signal.SIGKILL}
    assert strays(mark) == []
    assert version(folder) in {was, was + 1}
    assert graph_of(folder) == before
    was = version(folder)
    assert launch(folder, mark, "graph build", "--rebuild").wait() == 0
    assert version(folder) == was + 1
    assert graph_of(folder) == before
    assert garbage(Crawl.open(str(folder), engine)) == set()


def graph_of(folder: Path) -> dict[str, str]:
    """The checksums of a crawl's graph, after comparing them."""
    files = Crawl.open(str(folder)).work.store.files("graph")
    return {Path(file.path).name: file.xxh3 for file in files if ".graph" in file.path}


@pytest.mark.slow
def test_a_server_leaves_the_crawl_as_it_was_and_at_its_end_no_other_files(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "crawl"
    put_index(small_index.crawl(folder), [{"url": "http://a.test/", "text": "a page"}])
    before = sorted((folder / "manifest").iterdir())
    serve = [*GOSSAMER, "serve", str(folder), "--port", "0"]
    for number in (signal.SIGKILL, signal.SIGTERM):
        # Processes of the server that is killed may remove their files after it has ended.
        own = tmp_path / number.name
        own.mkdir()
        alone = {**os.environ, "TMPDIR": str(own)}
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, env=alone) as server:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            with urllib.request.urlopen(f"{url}api/v1/search?q=page", timeout=30) as answer:  # noqa: S310 - our own server
                assert answer.status == 200
            server.send_signal(number)
        assert sorted((folder / "manifest").iterdir()) == before
    assert server.returncode == 0
    assert list(own.iterdir()) == []


@pytest.mark.slow
def test_of_two_crawls_the_second_names_the_first(
    web: FakeWeb, size: Size, mark: str, tmp_path: Path
) -> None:
    folder = create(tmp_path / "crawl", web, size)
    first = start(folder, web, mark)
    lock = folder / ".lock"
    while not (lock.exists() and lock.read_bytes()) and first.poll() is None:
        wait(first, 0.01)
    second = gossamer("crawl", folder, code=1)
    first.kill()
    first.wait()
    assert f"process {first.pid} on" in second.stderr
    assert f"kill {first.pid}" in second.stderr
    assert strays(mark) == []
