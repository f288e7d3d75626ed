from __future__ import annotations

import asyncio
import gzip
import socket
import time
import zlib
from email.utils import formatdate

import brotli
import pytest

from gossamer import __version__
from fetching import LIMIT, config, fetch, fetch_url, http_fetcher
from gossamer.fetch.exchange import Answer, Request
from gossamer.fetch.http import retry_after_s
from loopback import NOTHING, RESET, SILENCE, Loopback, page

TEXT = b"<p>" + b"word " * 1_000


def fetch_one(server: Loopback, answer: bytes, limit: int = LIMIT, **settings: object) -> Answer:
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
        ("javascript:void(0)", None),
        ("http://\xff\xfe/", None),
    ],
)
def test_a_redirect_is_not_followed(server: Loopback, location: str, target: str | None) -> None:
    answer = fetch_one(server, page(b"", (f"Location: {location}",), status="301 Moved"))
    assert (answer.outcome, answer.redirect_url) == ("redirect", target)
    assert answer.detail is not None
    assert answer.detail.encode()  # no lone surrogates: it can be stored
    assert server.paths == ["/page"]


def test_what_did_not_change_is_not_sent_again(server: Loopback) -> None:
    server.answers["/page"] = page(b"", ('ETag: "v1"',), status="304 Not Modified")
    request = Request("http://a.test/page", LIMIT, '"v1"', "Tue, 01 Oct 2024 00:00:00 GMT")
    (answer,) = fetch(config(server), request)
    assert (answer.outcome, answer.etag) == ("unchanged", '"v1"')
    sent = server.asked[0].headers
    assert sent["if-none-match"] == '"v1"'
    assert sent["if-modified-since"] == "Tue, 01 Oct 2024 00:00:00 GMT"


@pytest.mark.parametrize("size", [LIMIT - 1, LIMIT, LIMIT + 1, 40 * LIMIT])
def test_a_body_is_cut_at_the_limit(server: Loopback, size: int) -> None:
    answer = fetch_one(server, page(b"x" * size))
    assert answer.outcome == "ok"
    assert answer.body == b"x" * min(size, LIMIT)
    assert answer.truncated is (size > LIMIT)


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
        ("gzip", gzip.compress(TEXT)),
        ("GZIP", gzip.compress(TEXT)),
        ("gzip", gzip.compress(TEXT[:9]) + gzip.compress(TEXT[9:])),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)[2:-4]),  # without its frame, as many servers send it
        ("br", brotli.compress(TEXT)),
        ("gzip, br", brotli.compress(gzip.compress(TEXT))),
        ("utf-8", TEXT),  # no coding at all
    ],
)
def test_content_codings(server: Loopback, coding: str, body: bytes) -> None:
    answer = fetch_one(server, page(body, (f"Content-Encoding: {coding}",)))
    assert (answer.outcome, answer.body) == ("ok", TEXT)
    assert answer.decoded is (coding != "utf-8")


@pytest.mark.parametrize(
    ("coding", "bomb"),
    [
        ("gzip", gzip.compress(bytes(5_000_000))),
        ("deflate", zlib.compress(bytes(5_000_000))),
        ("br", brotli.compress(bytes(5_000_000))),
        ("gzip, gzip", gzip.compress(gzip.compress(bytes(50_000_000)))),
    ],
)
def test_a_bomb_is_cut_at_the_limit(server: Loopback, coding: str, bomb: bytes) -> None:
    answer = fetch_one(server, page(bomb, (f"Content-Encoding: {coding}",)))
    assert (answer.outcome, answer.truncated) == ("ok", True)
    assert answer.body == bytes(len(answer.body))
    assert LIMIT // 2 < len(answer.body) <= LIMIT


@pytest.mark.parametrize("coding", ["gzip", "br", "gzip, gzip, gzip"])
def test_a_body_that_is_not_what_its_coding_says(server: Loopback, coding: str) -> None:
    answer = fetch_one(server, page(TEXT, (f"Content-Encoding: {coding}",)))
    assert (answer.outcome, answer.http_status) == ("broken", 200)
    assert answer.detail


def test_half_of_a_gzip_body_is_better_than_none(server: Loopback) -> None:
    answer = fetch_one(server, page(gzip.compress(TEXT)[:-8], ("Content-Encoding: gzip",)))
    assert (answer.outcome, answer.body) == ("ok", TEXT)


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (RESET, "unreachable"),
        (NOTHING, "broken"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "broken"),
        (b"\x00" * 100, "broken"),
        (page(TEXT, length=len(TEXT) + 1, headers=["Connection: close"]), "broken"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "broken"),
        (page(TEXT, [f"X-Long: {'x' * 20_000}"]), "broken"),
        (page(TEXT, [f"X-{n}: x" for n in range(200)]), "broken"),
    ],
)
def test_what_is_no_answer(server: Loopback, said: bytes, outcome: str) -> None:
    answer = fetch_one(server, said)
    assert answer.outcome == outcome
    assert answer.detail


def test_a_server_that_says_nothing_is_given_up(server: Loopback) -> None:
    answer = fetch_one(server, SILENCE, timeout_s=0.05)
    assert (answer.outcome, answer.http_status) == ("timeout", None)


def test_a_server_that_stops_half_way_is_given_up(server: Loopback) -> None:
    server.answers["/page"] = page(b"half", length=1_000)
    (answer,) = fetch(config(server, timeout_s=0.05), Request("http://a.test/page", LIMIT))
    assert (answer.outcome, answer.http_status, answer.body) == ("timeout", 200, b"")


def test_a_port_that_nobody_listens_on(server: Loopback) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        (answer,) = fetch(config(server), Request(f"http://127.0.0.1:{port}/", LIMIT))
    assert (answer.outcome, answer.http_status) == ("unreachable", None)


def test_tls_that_is_none(server: Loopback) -> None:
    server.answers["/"] = page()
    (answer,) = fetch(config(server, timeout_s=5), Request("https://a.test/", LIMIT))
    assert answer.outcome == "unreachable"


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
    assert retry_after_s(value, now_s=1_000_000) == seconds


def test_retry_after_is_passed_on(server: Loopback) -> None:
    answer = fetch_one(server, page(b"", ("Retry-After: 7",), status="503 Service Unavailable"))
    assert (answer.outcome, answer.retry_after_s) == ("busy", 7)
