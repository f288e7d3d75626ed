"""A crawl that pauses, and goes on by itself."""

from __future__ import annotations

import asyncio
import subprocess
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pytest

from gossamer.api.crawl import Crawl
from gossamer.config import FetchConfig
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fetch import fetch_loop as visits
from gossamer.fetch.exchange import FetchResult
from gossamer.fetch.fetch_part import PageRows
from gossamer.fetch.host_book import HostBook
from gossamer.fetch.response_writer import ResponseWriter
from gossamer.state import pausing, stopping
from gossamer.state.heartbeats import Heartbeat
from gossamer.tables import FETCHLIST
from tests.support.command_line import gossamer
from tests.support.crawl_settings import loopback_settings
from tests.support.fetched_parts import ROUND, wanted
from tests.support.merging_program import GOSSAMER

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.fetch.exchange import Request
    from gossamer.fetch.scheme_fetchers import Fetchers

pytestmark = pytest.mark.server

PAGES = 20


class Server:
    """A fetcher that pauses the crawl while it answers the first page of the round."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.asked: list[str] = []

    def delay_s(self, host: str) -> None:
        pass

    async def locate(self, host: str) -> str | None:
        return f"192.0.2.{len(host)}"

    async def fetch(self, request: Request) -> FetchResult:
        self.asked.append(request.url)
        if len(self.asked) == 1:
            pausing.pause(self._root)
        return FetchResult("not_found", 0, http_status=404)


def loop_of(root: Path) -> tuple[Server, visits.FetchLoop, Heartbeat]:
    config = FetchConfig(delay_s=0, address_delay_s=0, hosts_at_once=1)
    rows = [wanted(f"ftp://h{n}.test/") for n in range(PAGES)]  # ftp has no robots.txt
    pages = PageRows(pa.Table.from_pylist(rows, schema=FETCHLIST.schema))
    writer = ResponseWriter(str(root), ("responses/1", "warc/1", "scratch/1"), ROUND, config)
    heartbeat = Heartbeat(str(root), "fetch", ROUND, "0", len(pages))
    server = Server(str(root))
    fetchers = cast("Fetchers", server)
    loop = visits.FetchLoop(
        str(root), pages, HostBook(), config, fetchers, writer, heartbeat, min_free_gb=0
    )
    return server, loop, heartbeat


async def paused(server: Server, looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Return when the loop has looked so many times without asking for a page in between."""
    enough = asyncio.Event()
    seen: list[int] = []
    look = pausing.pause_reason

    def noted(root: str, min_free_gb: float) -> str | None:
        seen.append(len(server.asked))
        if len(seen) > looks and len(set(seen[-looks:])) == 1:
            enough.set()
        return look(root, min_free_gb)

    monkeypatch.setattr(pausing, "pause_reason", noted)
    await enough.wait()


def test_a_fetch_sends_no_requests_while_it_is_paused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "LOOK_S", 0.0)
    server, loop, heartbeat = loop_of(tmp_path)

    async def run() -> int:
        fetch = asyncio.create_task(loop.run())
        await paused(server, 5, monkeypatch)
        asked = len(server.asked)
        pausing.resume(str(tmp_path))
        await fetch
        return asked

    assert 0 < asyncio.run(run()) < PAGES
    assert len(server.asked) == PAGES
    assert heartbeat.counts == {"not_found": PAGES}


def test_a_paused_fetch_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "LOOK_S", 0.0)
    server, loop, heartbeat = loop_of(tmp_path)

    async def run() -> None:
        fetch = asyncio.create_task(loop.run())
        await paused(server, 5, monkeypatch)
        stopping.request(str(tmp_path))
        await fetch

    asyncio.run(run())
    assert heartbeat.counts["not_found"] == len(server.asked) < PAGES
    assert heartbeat.counts["postponed_stopped"] == PAGES - len(server.asked)


@pytest.mark.slow
def test_a_paused_crawl_waits_says_so_and_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with FakeWeb(Web(hosts=1, pages_per_host=5, mix=Mix.plain())) as web:
        Crawl.create(str(folder), loopback_settings(web.address)).close()
        assert gossamer("pause", folder).stdout == f"paused; to go on: gossamer resume {folder}\n"
        with started("crawl", folder, *web.web.seeds()) as crawl:
            assert told(crawl, "paused: ") == "paused: gossamer pause asked for it"
            assert f"paused: {pausing.ASKED}" in gossamer("status", folder).stdout
            assert web.log() == []
            gossamer("resume", folder)
            assert told(crawl, "goes on") == "goes on"
            crawl.communicate()
        assert crawl.returncode == 0
        assert len(web.log()) > 5
    assert "paused: " not in gossamer("status", folder).stdout


@pytest.mark.slow
def test_a_crawl_pauses_while_the_disk_is_nearly_full(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    settings = loopback_settings("127.0.0.1:9", "store.min_free_gb = 1e6")
    Crawl.create(str(folder), settings).close()
    with started("crawl", folder, "http://a.test/") as crawl:
        said = told(crawl, "paused: ")
        crawl.kill()
    assert said.startswith(f"paused: the disk of {folder} has ")
    assert "GB left, less than store.min_free_gb = 1,000,000.0; it goes on when" in said


def test_a_linked_dataset_on_a_nearly_full_disk_is_a_reason(
    tmp_path: Path, small_disk: Path
) -> None:
    assert pausing.pause_reason(str(tmp_path), 0.01) is None
    (tmp_path / "warc").symlink_to(small_disk)
    assert pausing.pause_reason(str(tmp_path), 0.01) == (
        f"the disk of {tmp_path}/warc has 0.00 GB left, less than store.min_free_gb = 0.01; "
        "it goes on when there is more"
    )


def test_there_is_no_pause_without_a_reason(tmp_path: Path) -> None:
    assert pausing.pause_reason(str(tmp_path), 0) is None
    pausing.resume(str(tmp_path))
    pausing.pause(str(tmp_path))
    assert pausing.pause_reason(str(tmp_path), 0) == pausing.ASKED
    pausing.resume(str(tmp_path))
    pausing.wait_while_paused(str(tmp_path), 0)


def started(*words: object) -> subprocess.Popen[str]:
    command = [*GOSSAMER, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def told(process: subprocess.Popen[str], beginning: str) -> str:
    """The next line that begins so."""
    assert process.stdout is not None
    return next(line.rstrip() for line in process.stdout if line.startswith(beginning))
