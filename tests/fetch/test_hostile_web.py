"""The whole hostile web in one task, beside good hosts that must not suffer from it."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gossamer.config import FetchConfig
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fakeweb.hostile import CATALOGUE
from gossamer.fetch.http.response_parser import MAX_FRAMING_BYTES
from tests.support.fetched_parts import Fetched, Row, settings, wanted

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Iterable, Iterator, Mapping

    from tests.support.loopback import Loopback

HERE = "127.77.0.1"
"""Not 127.0.0.1, so that what hostile pages say of that is refused."""
LIMIT, FILE_LIMIT = 300_000, 3_000_000
MAX_GROWTH_MB = 300
PATIENCE_S = 60
"""Fifteen times what a host may take."""
RULED = ("robots-huge", "robots-endless", "robots-5-hops")
UNRULED = (
    "robots-6-hops", "robots-loop", "robots-401", "robots-403", "robots-html", "robots-binary"
)  # fmt: skip


class Seen(NamedTuple):
    rows: Mapping[str, Row]
    counts: Mapping[str, int]
    took_s: float
    grown_mb: float
    """The most memory that the task's process had, over what it had before."""

    def of(self, case: str) -> Row:
        return self.rows[CATALOGUE[case].url]


def hurried(fake: FakeWeb) -> FetchConfig:
    """Of a crawl in a hurry, which knows one address alone."""
    return FetchConfig(
        delay_s=0,
        delay_factor=0,
        address_delay_s=0,
        connections_per_address=1_000,
        connect_timeout_s=2.0,
        head_timeout_s=3.0,
        timeout_s=4.0,
        max_body_bytes=LIMIT,
        max_file_bytes=FILE_LIMIT,
        allow_networks=(f"{HERE}/32",),
        host_overrides=fake.routes,
    )


def peak_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _fetch(root: Path, urls: Iterable[str], config: FetchConfig, ca_file: str | None) -> Seen:
    os.environ["SSL_CERT_FILE"] = ca_file or ""
    before_mb, begun_s = peak_mb(), time.monotonic()
    fetched = Fetched(root, [wanted(url) for url in urls], config)
    took_s = time.monotonic() - begun_s
    return Seen(fetched.rows, fetched.counts, took_s, peak_mb() - before_mb)


def in_a_process(
    root: Path, urls: Iterable[str], config: FetchConfig, ca_file: str | None = None
) -> Seen:
    """Whose memory and environment are nobody else's."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_fetch, root, list(urls), config, ca_file).result()


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeWeb]:
    web = Web(hosts=10, pages_per_host=20, mix=Mix.plain(), hostile=True, tls=True)
    with FakeWeb(web, HERE) as running:
        yield running


@pytest.fixture(scope="module")
def good(fake: FakeWeb) -> list[str]:
    return [url for host in fake.web.hosts() for url in fake.web.urls(host)]


@pytest.fixture(scope="module")
def seen(fake: FakeWeb, good: list[str], tmp_path_factory: pytest.TempPathFactory) -> Seen:
    hostile = [case.url for case in CATALOGUE.values()]
    private = [f"http://{name}.hostile.test/private/" for name in (*RULED, *UNRULED)]
    folder, urls = tmp_path_factory.mktemp("crawl"), [*good, *hostile, *private]
    return in_a_process(folder, urls, hurried(fake), fake.ca_file)


def test_each_host_ends_as_the_catalogue_says(seen: Seen) -> None:
    ended = {case.name: seen.rows[case.url]["outcome"] for case in CATALOGUE.values()}
    wrong = {name: how for name, how in ended.items() if how not in CATALOGUE[name].outcomes}
    assert not wrong


@pytest.mark.slow
def test_each_host_ends_so_if_its_wish_files_are_as_bad_as_its_pages(
    fake: FakeWeb, good: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", fake.ca_file or "")
    rows = [wanted(url) for url in [*good, *(case.url for case in CATALOGUE.values())]]
    fetched = Fetched(tmp_path, rows, hurried(fake), wish_files=True)
    ended = {case.name: fetched.rows[case.url]["outcome"] for case in CATALOGUE.values()}
    wrong = {name: how for name, how in ended.items() if how not in CATALOGUE[name].outcomes}
    assert {name: how for name, how in wrong.items() if how != "postponed"} == {}
    assert all("for 2592000 s" in fetched.rows[CATALOGUE[name].url]["detail"] for name in wrong)
    assert {fetched.rows[url]["outcome"] for url in good} == {"ok"}
    assert not any(file["body"] for host in fetched.hosts.values() for file in host["wish_files"])


def test_what_went_wrong_is_said(seen: Seen) -> None:
    told = {"ok", "robots"}  # by the outcome alone
    assert all(row["detail"] for row in seen.rows.values() if row["outcome"] not in told)


def test_good_hosts_do_not_suffer(seen: Seen, good: list[str]) -> None:
    assert len(good) > 100
    assert {seen.rows[url]["outcome"] for url in good} == {"ok"}
    assert not any(seen.rows[url]["truncated"] for url in good)


def test_time_is_bounded(seen: Seen) -> None:
    assert seen.took_s < PATIENCE_S


def test_memory_is_bounded(seen: Seen) -> None:
    assert seen.grown_mb < MAX_GROWTH_MB
    sizes = {row["body_bytes"] or 0 for row in seen.rows.values()}
    assert {size for size in sizes if size >= LIMIT} == {LIMIT, FILE_LIMIT}


@pytest.mark.slow
def test_files_without_end_take_memory_for_a_few_of_them(server: Loopback, tmp_path: Path) -> None:
    async def pour(reader: StreamReader, writer: StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n")
        while not reader.at_eof():
            writer.write(bytes(1 << 16))
            await writer.drain()

    server.answers["/paper"] = pour
    limits = {"max_body_bytes": LIMIT, "max_file_bytes": 8 << 20}
    config = settings(server, connections_per_address=100, **limits)
    urls = [f"http://{n}.test/paper" for n in range(40)]
    seen = in_a_process(tmp_path, urls, config)
    assert {row["outcome"] for row in seen.rows.values()} == {"ok"}
    assert {row["body_bytes"] for row in seen.rows.values()} == {8 << 20}
    assert seen.grown_mb < 230, "40 of 8 MB would be 320"


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("endless-body", LIMIT),
        ("endless-file", FILE_LIMIT),
        ("endless-chunks", LIMIT),
        ("ten-gigabytes", LIMIT),
        ("gzip-bomb", LIMIT),
        ("gzip-in-gzip", LIMIT),
    ],
)
def test_what_has_no_end_is_cut(seen: Seen, name: str, limit: int) -> None:
    row = seen.of(name)
    assert (row["outcome"], row["body_bytes"], row["truncated"]) == ("ok", limit, True)


def test_a_body_of_tiny_chunks_is_whole(seen: Seen) -> None:
    """aiohttp pauses its parser after some thousands."""
    row = seen.of("tiny-chunks")
    assert (row["outcome"], row["body_bytes"], row["truncated"]) == ("ok", 50_000, False)


def test_framing_without_a_body_is_not_read_for_long(seen: Seen) -> None:
    row = seen.of("endless-extension")
    assert row["outcome"] == "broken"
    assert row["detail"] == "the connection ended after 0 bytes of the body"


def test_tiny_chunks_without_end_are_cut_early(server: Loopback, tmp_path: Path) -> None:
    """Each costs as much to parse as a hundred bytes."""

    async def drizzle(_: StreamReader, writer: StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(10_000 * b"1\r\nx\r\n")
            await writer.drain()

    server.answers["a.test/"] = drizzle
    fetched = Fetched(tmp_path, [wanted("http://a.test/")], settings(server))
    (row,) = fetched.rows.values()
    assert (row["outcome"], row["truncated"]) == ("ok", True)
    assert MAX_FRAMING_BYTES / 6 < row["body_bytes"] < MAX_FRAMING_BYTES / 3


@pytest.mark.parametrize("name", ["talks-first", "tls-close", "robots-garbage"])
def test_who_does_not_speak_http_is_not_asked_for_ever(seen: Seen, name: str) -> None:
    """Pages that are postponed would be tried again without end."""
    assert seen.of(name)["outcome"] == "broken"
    assert seen.of(name)["detail"].startswith("robots.txt: ")


def test_what_can_be_read_of_robots_is_obeyed(seen: Seen) -> None:
    outcomes = {
        name: seen.rows[f"http://{name}.hostile.test/private/"]["outcome"]
        for name in (*RULED, *UNRULED)
    }
    assert outcomes == dict.fromkeys(RULED, "robots") | dict.fromkeys(UNRULED, "ok")


def test_the_target_of_each_redirect_is_checked_again(
    fake: FakeWeb, seen: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = {row["redirect_url"] for row in seen.rows.values()} - {None}
    inside = {url for url in targets if ".hostile.test" not in url}
    assert inside == {
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:7f00:1]/",
        "http://127.0.0.1/",
        "http://localhost:22/",
    }
    monkeypatch.setenv("SSL_CERT_FILE", fake.ca_file or "")
    urls = [*targets, "file:///etc/passwd", "ftp://ftp.hostile.test/"]
    again = Fetched(tmp_path, [wanted(url) for url in urls], hurried(fake))
    refused = {url for url, row in again.rows.items() if row["outcome"] == "forbidden_address"}
    assert refused == inside | {"file:///etc/passwd", "ftp://ftp.hostile.test/"}
    assert again.counts["forbidden_address"] == len(refused)
