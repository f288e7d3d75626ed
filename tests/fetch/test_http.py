from __future__ import annotations

import asyncio
import gzip
import os
import socket
import threading
import time
import zlib
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import brotli
import pytest
from backports import zstd

from gossamer import __version__
from gossamer.fetch.exchange import FetchResult, Request
from gossamer.fetch.http import body_reader
from gossamer.fetch.http import fetcher as http
from gossamer.fetch.http.fetcher import DRAIN_BYTES, retry_after_s
from gossamer.rules.filter_rules.rule_index import RuleIndex
from gossamer.rules.filter_rules.rule_syntax import Rule
from tests.support.loopback import NOTHING, RESET, SILENCE, Loopback, Script, page, reset
from tests.support.loopback_fetches import LIMIT, config, fetch, fetch_url, http_fetcher

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Callable

PAGE = "http://a.test/page"
TEXT = b"<p>" + b"word " * 1_000
PAGE_LIMIT, FILE = 2_000, 50_000


def fetch_one(
    server: Loopback, answer: bytes, limit: int = LIMIT, **settings: object
) -> FetchResult:
    server.answers["/page"] = answer
    (found,) = fetch(config(server, **settings), Request("http://a.test/page", limit))
    return found


def test_a_page(server: Loopback) -> None:
    headers = ("Content-Type: text/html", 'ETag: "v1"', "Last-Modified: yesterday")
    before_ms = int(time.time() * 1000)
    answer = fetch_one(server, page(TEXT, headers))
    assert (answer.outcome, answer.http_status, answer.detail) == ("ok", 200, None)
    assert (answer.body, answer.truncated) == (TEXT, False)
    assert (answer.content_type, answer.etag) == ("text/html", '"v1"')
    assert answer.last_modified == "yesterday"
    assert answer.headers[0] == (b"Content-Type", b"text/html")
    assert before_ms <= answer.started_ms <= answer.started_ms + answer.elapsed_ms


def test_what_we_say_of_ourselves(server: Loopback) -> None:
    answer = fetch_one(server, page(TEXT))
    sent = server.asked[0].headers
    assert sent["host"] == "a.test"
    assert sent["user-agent"] == f"gossamer/{__version__} (+mailto:me@a.test)"
    assert sent["accept-encoding"] == "gzip, deflate, br, zstd"
    assert {name.lower(): value for name, value in answer.request_headers} == sent
    assert answer.target == "/page"


def test_a_url_is_sent_as_it_is(server: Loopback) -> None:
    fetch(config(server), Request("http://a.test/%7Ea%2Fb?x=%20&y=a+b", LIMIT))
    assert server.paths == ["/%7Ea%2Fb?x=%20&y=a+b"]


def test_a_connection_is_used_again_after_any_small_answer(server: Loopback) -> None:
    server.answers = {"/moved": page(b"x" * 999, ("Location: /x",), status="302 Found")}
    urls = ["http://a.test/none", "http://a.test/moved", "http://a.test/none"]
    answers = fetch(config(server), *(Request(url, LIMIT) for url in urls))
    assert [answer.outcome for answer in answers] == ["not_found", "redirect", "not_found"]
    assert server.paths == ["/none", "/moved", "/none"]


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("204 No Content", "ok"),
        ("404 Not Found", "not_found"),
        ("410 Gone", "not_found"),
        ("403 Forbidden", "refused"),
        ("429 Too Many Requests", "busy"),
        ("503 Service Unavailable", "busy"),
        ("500 Internal Server Error", "server_error"),
        ("302 Found", "bad_redirect"),  # without Location
        ("304 Not Modified", "broken"),  # without validators
        ("600 Odd", "server_error"),
        ("999 Go Away", "server_error"),
        ("101 Switching Protocols", "broken"),
        ("000 Zero", "server_error"),
    ],
)
def test_outcomes_by_status(server: Loopback, status: str, outcome: str) -> None:
    answer = fetch_one(server, page(status=status))
    assert (answer.outcome, answer.http_status) == (outcome, int(status[:3]))


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/b?utm_source=x&a=1#top", "http://a.test/b?a=1"),
        ("HTTPS://B.test:443", "https://b.test/"),
        ("http://169.254.169.254/", "http://169.254.169.254/"),  # refused when it is asked for
    ],
)
def test_a_redirect_is_not_followed(server: Loopback, location: str, target: str) -> None:
    answer = fetch_one(server, page(b"", (f"Location: {location}",), status="301 Moved"))
    assert (answer.outcome, answer.redirect_url) == ("redirect", target)
    assert server.paths == ["/page"]


@pytest.mark.parametrize(
    "location",
    [
        "javascript:void(0)",
        "file:///etc/passwd",
        "http://",
        "//[",
        "mailto:a@b",
    ],
)
def test_a_redirect_to_nowhere(server: Loopback, location: str) -> None:
    answer = fetch_one(server, page(b"", (f"Location: {location}",), status="301 Moved"))
    assert (answer.outcome, answer.redirect_url) == ("bad_redirect", None)
    assert answer.detail is not None
    assert answer.detail.encode()  # no lone surrogates: it can be stored
    assert answer.detail.startswith(f"HTTP 301 to {location[:7]}")


@pytest.mark.parametrize(
    ("location", "target"),
    [
        (b"/caf\xe9", "/caf%E9"),  # Latin-1
        (b"/caf\xc3\xa9?q=\xc3\xa9", "/caf%C3%A9?q=%C3%A9"),
        (b"/\xd0\x9f?q=\xcf\xf0", "/%D0%9F?q=%CF%F0"),
        (b"?\xff\xfe", "/page?%FF%FE"),
        (b"/\xe9%e9", "/%E9%E9"),
    ],
)
def test_bytes_of_a_location_are_escaped(server: Loopback, location: bytes, target: str) -> None:
    server.answers["/page"] = b"HTTP/1.1 302 Found\r\nLocation: %b\r\n\r\n" % location
    answer = fetch_url(config(server), PAGE)
    assert (answer.outcome, answer.redirect_url) == ("redirect", f"http://a.test{target}")


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        ("300 Multiple Choices", ()),
        ("300 Multiple Choices", ("Location: /there",)),
        ("301 Moved", ()),
        ("302 Found", ("Location:",)),
        ("305 Use Proxy", ("Location: http://proxy.test/",)),
        ("399 Odd", ()),
    ],
)
def test_what_does_not_redirect_is_a_page(
    server: Loopback, status: str, headers: tuple[str, ...]
) -> None:
    answer = fetch_one(server, page(TEXT, headers, status=status))
    assert (answer.outcome, answer.body, answer.detail) == ("ok", TEXT, None)
    assert (answer.http_status, answer.redirect_url) == (int(status[:3]), None)


def test_a_choice_without_a_body_is_a_redirect(server: Loopback) -> None:
    answer = fetch_one(server, page(b"", ("Location: /there",), status="300 Choices"))
    assert (answer.outcome, answer.redirect_url) == ("redirect", "http://a.test/there")
    assert answer.detail == "HTTP 300"


def test_a_redirect_without_a_target(server: Loopback) -> None:
    answer = fetch_one(server, page(status="302 Found"))
    assert (answer.outcome, answer.detail) == ("bad_redirect", "HTTP 302 without Location")


def test_what_did_not_change_is_not_sent_again(server: Loopback) -> None:
    server.answers["/page"] = page(b"", ('ETag: "v1"',), status="304 Not Modified")
    request = Request("http://a.test/page", LIMIT, '"v1"', "Tue, 01 Oct 2024 00:00:00 GMT")
    (answer,) = fetch(config(server), request)
    assert (answer.outcome, answer.etag) == ("unchanged", '"v1"')
    sent = server.asked[0].headers
    assert sent["if-none-match"] == '"v1"'
    assert sent["if-modified-since"] == "Tue, 01 Oct 2024 00:00:00 GMT"


RULES = RuleIndex([Rule("deny", "type", "application/")])


async def head_only(_: StreamReader, writer: StreamWriter) -> None:
    """Announce a body that never comes."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: Application/PDF; x=y\r\n")
    writer.write(b"Content-Length: 9000000\r\n\r\n")
    await writer.drain()
    await writer.wait_closed()


def test_the_body_of_a_refused_type_is_not_awaited(server: Loopback) -> None:
    server.answers["/x"] = head_only
    (answer,) = fetch(config(server), Request("http://a.test/x", LIMIT, rules=RULES))
    assert (answer.outcome, answer.detail) == ("filtered_type", "deny type application/")
    assert (answer.body, answer.truncated, answer.http_status) == (b"", True, 200)


def test_types_are_refused_whether_a_page_is_new_or_as_before(server: Loopback) -> None:
    length = b"Content-Length: 0\r\n\r\n"
    server.answers["/pdf"] = b"HTTP/1.1 304 N\r\nContent-Type: application/pdf\r\n" + length
    server.answers["/untold"] = b"HTTP/1.1 304 N\r\n" + length
    server.answers["/page"] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + length
    server.answers["/error"] = b"HTTP/1.1 500 E\r\nContent-Type: application/json\r\n" + length
    names = ("pdf", "untold", "page", "error")
    requests = [Request(f"http://a.test/{n}", LIMIT, "etag", rules=RULES) for n in names]
    found = [answer.outcome for answer in fetch(config(server), *requests)]
    assert found == ["filtered_type", "unchanged", "ok", "server_error"]


@pytest.mark.parametrize("size", [LIMIT - 1, LIMIT, LIMIT + 1, 40 * LIMIT])
def test_a_body_is_cut_at_the_limit(server: Loopback, size: int) -> None:
    answer = fetch_one(server, page(b"x" * size))
    assert answer.outcome == "ok"
    assert answer.body == b"x" * min(size, LIMIT)
    assert answer.truncated is (size > LIMIT)


@pytest.mark.parametrize(
    ("path", "headers", "kept"),
    [
        ("/page", ("Content-Type: application/pdf",), FILE),
        ("/page.html", ("Content-Type: Text/XML; charset=utf-8",), FILE),
        ("/paper.pdf", (), FILE),
        ("/paper.pdf", ("Content-Type: text/html",), PAGE_LIMIT),
        ("/page", (), PAGE_LIMIT),
    ],
)
@pytest.mark.parametrize("coding", ["", "gzip"])
def test_a_file_has_a_limit_of_its_own(
    server: Loopback, path: str, headers: tuple[str, ...], kept: int, coding: str
) -> None:
    said = bytes(100_000)
    if coding:
        said, headers = gzip.compress(said), (*headers, "Content-Encoding: gzip")
    server.answers[path] = page(said, (*headers, 'ETag: "v1"'))
    request = Request(f"http://a.test{path}", PAGE_LIMIT, max_file_bytes=FILE)
    (answer,) = fetch(config(server, max_body_bytes=PAGE_LIMIT), request)
    assert (answer.outcome, answer.body, answer.truncated) == ("ok", bytes(kept), True)
    assert answer.etag == '"v1"'


def test_a_file_that_is_whole_at_last(server: Loopback) -> None:
    server.answers["/page"] = page(bytes(FILE), ("Content-Type: application/zip",))
    request = Request(PAGE, PAGE_LIMIT, max_file_bytes=FILE)
    (answer,) = fetch(config(server, max_body_bytes=PAGE_LIMIT), request)
    assert (answer.body, answer.truncated) == (bytes(FILE), False)


def test_a_file_that_does_not_end_in_time_is_cut(server: Loopback) -> None:
    """And asked for whole another time."""
    headers = ("Content-Type: application/pdf", 'ETag: "v1"')
    server.answers["/page"] = page(bytes(PAGE_LIMIT + 1), headers, length=FILE)
    request = Request(PAGE, PAGE_LIMIT, max_file_bytes=FILE)
    (answer,) = fetch(config(server, max_body_bytes=PAGE_LIMIT, timeout_s=0.3), request)
    assert (answer.outcome, answer.detail) == ("ok", None)
    assert (answer.body, answer.truncated) == (bytes(PAGE_LIMIT + 1), True)
    assert answer.etag is None


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found"])
def test_the_rest_of_a_long_body_is_no_answer(server: Loopback, status: str) -> None:
    server.answers = {"/long": page(page(b"trap") * 20_000, status=status), "/page": page(TEXT)}
    urls = ["http://a.test/long", "http://a.test/page"]
    answers = fetch(config(server), *(Request(url, LIMIT) for url in urls))
    assert answers[0].http_status == int(status[:3])
    assert answers[1].body == TEXT


def test_an_error_whose_body_breaks_off_is_that_error(server: Loopback) -> None:
    said = page(b"gone", length=100, status="404 Not Found", headers=["Connection: close"])
    assert fetch_one(server, said).outcome == "not_found"


def test_a_chunked_body(server: Loopback) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = fetch_one(server, head + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    assert (answer.outcome, answer.body) == ("ok", b"abcde")


def test_a_body_that_ends_with_the_connection(server: Loopback) -> None:
    answer = fetch_one(server, b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc")
    assert (answer.outcome, answer.body) == ("ok", b"abc")


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(TEXT, mtime=0)),
        ("GZIP", gzip.compress(TEXT, mtime=0)),
        ("gzip", gzip.compress(TEXT[:9], mtime=0) + gzip.compress(TEXT[9:], mtime=0)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)[2:-4]),  # without its frame, as many servers send it
        ("br", brotli.compress(TEXT)),
        ("zstd", zstd.compress(TEXT)),
        ("gzip, br", brotli.compress(gzip.compress(TEXT, mtime=0))),
        ("utf-8", TEXT),  # no coding at all
    ],
)
def test_content_codings(server: Loopback, coding: str, body: bytes) -> None:
    answer = fetch_one(server, page(body, (f"Content-Encoding: {coding}",)))
    assert (answer.outcome, answer.body) == ("ok", TEXT)
    assert answer.decoded is (coding != "utf-8")


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("br", brotli.compress),
        ("zstd", zstd.compress),
        ("gzip, gzip", lambda body: gzip.compress(gzip.compress(10 * body))),
    ],
)
def test_a_bomb_is_cut_at_the_limit(
    server: Loopback, coding: str, pack: Callable[[bytes], bytes]
) -> None:
    bomb = pack(bytes(5_000_000))
    answer = fetch_one(server, page(bomb, (f"Content-Encoding: {coding}",)))
    assert (answer.outcome, answer.truncated) == ("ok", True)
    assert answer.body == bytes(len(answer.body))
    assert LIMIT // 2 < len(answer.body) <= LIMIT


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "gzip, gzip, gzip"])
def test_a_body_that_is_not_what_its_coding_says(server: Loopback, coding: str) -> None:
    answer = fetch_one(server, page(bytes(range(256)), (f"Content-Encoding: {coding}",)))
    assert (answer.outcome, answer.http_status) == ("broken", 200)
    assert answer.detail


def test_half_of_a_gzip_body_is_better_than_none(server: Loopback) -> None:
    answer = fetch_one(server, page(gzip.compress(TEXT)[:-8], ("Content-Encoding: gzip",)))
    assert (answer.outcome, answer.body) == ("ok", TEXT)


@pytest.mark.parametrize(
    ("said", "outcome", "detail"),
    [
        (RESET, "unreachable", "connection reset by peer"),
        (NOTHING, "broken", "closed without an answer"),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nX-Ha", "broken", "closed within the head"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "broken", "expected HTTP, got 'SSH-2.0-OpenSSH_9.2'"),
        (b"<html>HTTP/0.9", "broken", "expected HTTP"),
        (b"\x00\x00\x12\x04" + bytes(24), "broken", "expected HTTP"),  # SETTINGS of HTTP/2
        (b"HTTP/1.1 99999 No\r\n\r\n", "broken", "a status of more than three digits"),
        (b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "broken", "an empty Content-Length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n", "broken", "different values"),
        (b"HTTP/1.1 200 OK\r\nX: \0\r\n\r\n", "broken", "NUL in the head"),
        (page(TEXT, [f"X-{n}: {'x' * 5000}" for n in range(60)]), "broken", "more than 262144"),
        (page(TEXT, [f"X: {'x' * 300_000}"]), "broken", "more than 262144"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 5_000, "broken", "16 interim responses"),
    ],
)
def test_what_is_no_answer(server: Loopback, said: bytes, outcome: str, detail: str) -> None:
    answer = fetch_one(server, said)
    assert (answer.outcome, answer.http_status) == (outcome, None)
    assert answer.detail is not None
    assert detail in answer.detail
    assert len(server.asked) <= 1  # RESET is not counted


@pytest.mark.parametrize(
    ("rubbish", "flaw"),
    [
        (b"zz\r\n", "the connection ended after 3 bytes of the body"),
        (b"", "the connection ended after 3 bytes of the body"),
    ],
)
@pytest.mark.parametrize("apart", [False, True])
def test_a_chunked_body_that_breaks_off(
    server: Loopback, rubbish: bytes, flaw: str, *, apart: bool
) -> None:
    head = b'HTTP/1.1 200 OK\r\nETag: "v1"\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'

    async def say(_: StreamReader, writer: StreamWriter) -> None:
        writer.write(head if apart else head + rubbish)
        await writer.drain()
        writer.write(rubbish if apart else b"")

    server.answers["/page"] = say
    started_s = time.monotonic()
    answer = fetch_url(config(server), PAGE)
    assert (answer.outcome, answer.body, answer.truncated) == ("ok", b"abc", True)
    assert (answer.detail, answer.etag) == (flaw, None)
    assert time.monotonic() - started_s < 10  # aiohttp alone waits for the end of its time


def test_a_body_shorter_than_its_length_is_taken_as_truncated(server: Loopback) -> None:
    answer = fetch_one(
        server, page(TEXT, ('ETag: "v1"', "Connection: close"), length=len(TEXT) + 1)
    )
    assert (answer.outcome, answer.body, answer.truncated) == ("ok", TEXT, True)
    assert answer.detail == f"the connection ended after {len(TEXT)} bytes of the body"
    assert answer.etag is None  # else its rest would never be asked for


def test_a_body_that_is_reset_is_taken_as_truncated(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    came = threading.Event()  # a reset overtakes what was not read yet
    take_head = http._take_head

    def tell(*arguments: Any) -> None:
        take_head(*arguments)
        came.set()

    async def say(_: StreamReader, writer: StreamWriter) -> None:
        writer.write(page(TEXT, length=len(TEXT) + 1))
        await writer.drain()
        await asyncio.to_thread(came.wait)
        reset(writer)

    monkeypatch.setattr(http, "_take_head", tell)
    server.answers["/page"] = say
    answer = fetch_url(config(server), PAGE)
    assert (answer.outcome, answer.body, answer.truncated) == ("ok", TEXT, True)


def test_a_body_of_which_nothing_came(server: Loopback) -> None:
    answer = fetch_one(server, page(b"", ("Connection: close",), length=10))
    assert (answer.outcome, answer.http_status) == ("broken", 200)
    assert answer.detail == "the connection ended after 0 bytes of the body"


def test_a_body_longer_than_its_length_is_cut_there(server: Loopback) -> None:
    said = page(TEXT + b"\r\n", length=len(TEXT))
    server.answers = {"/page": said, "/next": page(b"next")}
    answers = fetch(config(server), *(Request(f"http://a.test{p}", LIMIT) for p in server.answers))
    assert [answer.body for answer in answers] == [TEXT, b"next"]


def test_an_answer_that_was_not_asked_for_is_no_answer(server: Loopback) -> None:
    server.answers = {"/page": page(b"page") + page(b"trap"), "/next": page(b"next")}
    answers = fetch(config(server), *(Request(f"http://a.test{p}", LIMIT) for p in server.answers))
    assert [answer.body for answer in answers] == [b"page", b"next"]
    assert server.opened == 2


def test_interim_answers_are_passed_over(server: Loopback) -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    assert fetch_one(server, interim * 3 + page(TEXT)).body == TEXT


@pytest.mark.parametrize("said", [NOTHING, b"HTTP/1.1 200 OK\r\nConnection: close\r\nX-Ha"])
def test_nobody_is_asked_twice(server: Loopback, said: bytes) -> None:
    fetch_one(server, said)
    assert server.paths == ["/page"]


def test_nobody_who_began_to_answer_is_asked_again(server: Loopback) -> None:
    """RFC 9112 §9.3.1: a request is sent again if the connection had been idle, not otherwise."""
    server.answers["/page"] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nX-Ha"
    urls = ("http://a.test/none", PAGE)
    _, answer = fetch(config(server), *(Request(url, LIMIT) for url in urls))
    assert answer.outcome == "broken"
    assert (server.paths, server.opened) == (["/none", "/page"], 1)


def test_a_connection_closed_while_idle_is_replaced(server: Loopback) -> None:
    async def once(_: StreamReader, writer: StreamWriter) -> None:
        writer.write(page(TEXT))
        await writer.drain()

    server.answers["/page"] = once
    request = Request(PAGE, LIMIT)
    answers = fetch(config(server), request, request, request)
    assert [answer.detail for answer in answers] == [None] * 3
    assert [answer.body for answer in answers] == [TEXT] * 3


def test_a_server_that_says_nothing_is_given_up(server: Loopback) -> None:
    answer = fetch_one(server, SILENCE, timeout_s=0.05)
    assert (answer.outcome, answer.http_status) == ("timeout", None)
    assert answer.detail == "no answer within 0.05 s"


async def pause(reader: StreamReader, seconds: float) -> None:
    """Until the client goes away, but not for longer."""
    with suppress(TimeoutError):
        await asyncio.wait_for(reader.read(1), seconds)


async def drip(reader: StreamReader, writer: StreamWriter) -> None:
    """A header that does not end (slow loris)."""
    writer.write(b"HTTP/1.1 200 OK\r\nX: ")
    while not reader.at_eof():
        writer.write(b"x")
        await writer.drain()
        await pause(reader, 0.001)


async def hint(reader: StreamReader, writer: StreamWriter) -> None:
    """Interim answers, slowly."""
    while not reader.at_eof():
        writer.write(b"HTTP/1.1 102 Processing\r\n\r\n")
        await writer.drain()
        await pause(reader, 0.02)


@pytest.mark.parametrize("slow", [drip, hint])
def test_a_head_that_comes_too_slowly_is_given_up(server: Loopback, slow: Script) -> None:
    server.answers["/page"] = slow
    answer = fetch_url(config(server, head_timeout_s=0.1), PAGE)
    assert (answer.outcome, answer.detail) == ("timeout", "no answer within 0.1 s")
    assert server.all_closed.wait(10)


def test_a_server_that_stops_half_way_is_given_up(server: Loopback) -> None:
    server.answers["/page"] = page(b"half", length=1_000)
    answer = fetch_url(config(server, timeout_s=0.05), PAGE)
    assert (answer.outcome, answer.http_status, answer.body) == ("timeout", 200, b"half")
    assert answer.detail == "not complete within 0.05 s, 4 bytes came"


def test_a_body_that_comes_too_slowly_is_given_up(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body_reader, "GRACE_S", 0.05)
    server.answers["/page"] = page(b"half", length=1_000)
    answer = fetch_url(config(server, min_bytes_per_s=1_000), PAGE)
    assert answer.outcome == "timeout"
    assert answer.detail is not None
    assert answer.detail.endswith("bytes/s on average, slower than 1000")


async def pour(reader: StreamReader, writer: StreamWriter) -> None:
    """A body without end."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
    while not reader.at_eof():
        writer.write(bytes(1 << 16))
        await writer.drain()


def test_a_body_without_end_ends_at_the_limit(server: Loopback) -> None:
    server.answers["/page"] = pour
    answer = fetch_url(config(server), PAGE)
    assert (answer.outcome, answer.body, answer.truncated) == ("ok", bytes(LIMIT), True)
    assert server.all_closed.wait(10)


def test_ten_gigabytes_end_at_the_limit(server: Loopback) -> None:
    answer = fetch_one(server, page(bytes(300_000), length=10 << 30))
    assert (answer.body, answer.truncated) == (bytes(LIMIT), True)


@pytest.mark.parametrize(
    ("coding", "said"), [("gzip", gzip.compress(TEXT, mtime=0)), ("x", TEXT), ("gzip", TEXT)]
)
def test_the_body_of_an_error_is_kept(server: Loopback, coding: str, said: bytes) -> None:
    answer = fetch_one(server, page(said, (f"Content-Encoding: {coding}",), status="404 No"))
    assert (answer.outcome, answer.body, answer.truncated) == ("not_found", TEXT, False)
    assert answer.decoded is (said != TEXT)
    assert (b"Content-Encoding", coding.encode()) in answer.headers
    assert answer.target == "/page"
    assert dict(answer.request_headers)["Host"] == "a.test"


def test_a_long_body_of_an_error_is_cut(server: Loopback) -> None:
    answer = fetch_one(server, page(bytes(DRAIN_BYTES + 1), status="404 No"), 1 << 20)
    assert (answer.outcome, answer.body, answer.truncated) == (
        "not_found",
        bytes(DRAIN_BYTES),
        True,
    )


@pytest.mark.parametrize("more", [0, 1])
def test_a_long_body_that_cannot_be_decoded_is_cut(server: Loopback, more: int) -> None:
    body = gzip.compress(b"")[:10].ljust(DRAIN_BYTES + more, b"x")
    answer = fetch_one(server, page(body, ("Content-Encoding: gzip",)), 1 << 20)
    assert (answer.outcome, answer.truncated) == ("broken", more > 0)
    assert answer.body == body[:DRAIN_BYTES]


def test_a_slow_body_of_an_error_costs_little(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "DRAIN_S", 0.05)
    answer = fetch_one(server, page(b"half", length=1_000, status="404 No"))
    assert (answer.outcome, answer.detail) == ("not_found", "HTTP 404")
    assert (answer.body, answer.truncated) == (b"half", True)
    assert answer.elapsed_ms < 5_000


def test_who_answered(server: Loopback) -> None:
    server.answers = {"/page": page(TEXT), "/end": page(TEXT, ("Connection: close",))}
    paths = ["/page", "/none", "/page", "/end"]
    answers = fetch(config(server), *(Request(f"http://a.test{path}", LIMIT) for path in paths))
    assert [answer.address for answer in answers] == ["127.0.0.1"] * 4
    assert server.opened == 1


@pytest.mark.parametrize("said", [SILENCE, page(b"half", length=1_000), pour])
@pytest.mark.parametrize("steps", range(12))
def test_a_fetch_that_is_cancelled_leaves_nothing(
    server: Loopback, said: bytes | Script, steps: int
) -> None:
    server.answers["/page"] = said

    async def cancelled() -> None:
        async with http_fetcher(config(server)) as fetcher:
            task = asyncio.create_task(fetcher.fetch(Request(PAGE, 1 << 30)))
            for _ in range(steps):
                await asyncio.wait([task], timeout=0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.sleep(0)
            assert not clients(server.port)

    asyncio.run(cancelled())


def clients(port: int) -> list[Path]:
    """Descriptors of this process that are connected to the port."""
    return [fd for fd in Path("/proc/self/fd").iterdir() if is_client(fd, port)]


def is_client(fd: Path, port: int) -> bool:
    try:
        if not str(fd.readlink()).startswith("socket:"):
            return False
        with socket.socket(fileno=os.dup(int(fd.name))) as found:
            return bool(found.getpeername()[1:2] == (port,))
    except OSError:
        return False


def test_a_port_that_nobody_listens_on(server: Loopback) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        (answer,) = fetch(config(server), Request(f"http://127.0.0.1:{port}/", LIMIT))
    assert (answer.outcome, answer.http_status) == ("unreachable", None)


@pytest.mark.parametrize("url", ["http://a.test/page", "http://127.0.0.1:1/", "http://[::1]:1/"])
def test_an_address_inside_is_refused_before_connecting(server: Loopback, url: str) -> None:
    (answer,) = fetch(config(server, allow_networks=()), Request(url, LIMIT))
    assert answer.outcome == "forbidden_address"
    assert answer.detail is not None
    assert "allow_networks" in answer.detail
    assert not server.asked


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("120", 120),
        (" 0 ", 0),
        ("-5", None),
        ("1.5", None),
        ("9" * 5_000, 30 * 86_400),
        (formatdate(1_000_060, usegmt=True), 60),
        (formatdate(999_000, usegmt=True), 0),
        ("soon", None),
        ("Mon, 99 Xyz 2024 00:00:00 GMT", None),
    ],
)
def test_retry_after(value: str | None, seconds: int | None) -> None:
    assert retry_after_s(value, None, now_s=1_000_000) == seconds


@pytest.mark.parametrize("now_s", [0, 1_000_000, 2_000_000_000])
@pytest.mark.parametrize(("until", "seconds"), [("13:46:50", 10), ("13:46:30", 0)])
def test_a_date_counts_from_that_of_the_answer(until: str, seconds: int, now_s: int) -> None:
    sent = "Mon, 12 Jan 1970 13:46:40 GMT"
    assert retry_after_s(f"Mon, 12 Jan 1970 {until} GMT", sent, now_s) == seconds


def test_retry_after_is_passed_on(server: Loopback) -> None:
    answer = fetch_one(server, page(b"", ("Retry-After: 7",), status="503 Service Unavailable"))
    assert (answer.outcome, answer.retry_after_s) == ("busy", 7)
