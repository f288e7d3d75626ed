"""Responses are compressed as the client accepts, once, and not where their size says too much."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from gossamer.serve.web.app import STATIC
from gossamer.serve.web.compression import (
    LEAST_BYTES,
    MOST_BYTES,
    PIECE_BYTES,
    Compression,
    choose_coding,
)
from tests.support.asgi_requests import application, get
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from pathlib import Path

    import httpx
    from starlette.types import ASGIApp

TEXT = b"<p>A spider's web is a net. " * 200
BOTH = {"accept-encoding": "gzip, deflate, br"}


def sent(response: Response, headers: dict[str, str] | None = None) -> httpx.Response:
    return get(Compression(response), "/", BOTH if headers is None else headers)


def raw(response: Response, headers: dict[str, str]) -> bytes:
    """The body as it is sent."""
    pieces: list[bytes] = []
    scope = {"type": "http", "method": "GET", "path": "/"}
    scope["headers"] = [(name.encode(), value.encode()) for name, value in headers.items()]  # type: ignore[assignment]

    async def send(message: dict[str, bytes]) -> None:  # ASGI
        pieces.append(message.get("body", b""))

    asyncio.run(Compression(response)(scope, None, send))  # type: ignore[arg-type]
    return b"".join(pieces)


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("", None),
        ("gzip", "gzip"),
        ("gzip, br", "br"),
        ("GZIP", "gzip"),
        ("gzip;q=1.0, br;q=0.5", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("br ; q=0.001", "br"),
        ("*", "br"),
        ("*;q=0", None),
        ("br;q=0, *", "gzip"),
        ("identity", None),
        ("identity, gzip;q=0.5", None),
        ("identity;q=0.5, gzip", "gzip"),
        ("identity;q=0", None),
        ("deflate, zstd, x-gzip", None),
        ("gzip;q=2", None),
        ("gzip;q=nan", None),
        ("gzip;q=0.1234", None),
        ("gzip;q=1;q=1", None),
        ("gzip;;", None),
        (",,gzip,", "gzip"),
        ("gzipper, brr", None),
    ],
)
def test_the_coding_that_a_client_prefers(accepted: str, coding: str | None) -> None:
    """RFC 9110, sections 12.4.2 and 12.5.3."""
    assert choose_coding(accepted) == coding


@given(st.text(alphabet="brgzip*;q=01.,identy \x00é", max_size=60))
def test_no_accept_encoding_is_an_error(accepted: str) -> None:
    assert choose_coding(accepted) in (None, "br", "gzip")


@pytest.mark.parametrize("length", [len(TEXT), PIECE_BYTES, 3 * PIECE_BYTES + 1, MOST_BYTES])
def test_the_body_is_the_same(length: int) -> None:
    body = (TEXT * (length // len(TEXT) + 1))[:length]
    response = Response(body, media_type="text/html")
    compressed = raw(response, {"accept-encoding": "br"})
    assert brotli.decompress(compressed) == body
    assert len(compressed) < length / 10
    assert gzip.decompress(raw(response, {"accept-encoding": "gzip"})) == body
    assert raw(response, {}) == body


@pytest.mark.parametrize("coding", ["br", "gzip"])
def test_headers_describe_what_is_sent(coding: str) -> None:
    response = Response(TEXT, media_type="text/html", headers={"etag": '"1"', "vary": "Cookie"})
    answer = sent(response, {"accept-encoding": coding})
    assert answer.headers["content-encoding"] == coding
    assert int(answer.headers["content-length"]) == len(raw(response, {"accept-encoding": coding}))
    assert answer.headers["vary"] == "Cookie, Accept-Encoding"
    assert answer.headers["etag"] == 'W/"1"'
    assert answer.content == TEXT


def test_what_is_not_compressed_says_what_it_depends_on() -> None:
    plain = sent(Response(TEXT, media_type="text/html", headers={"etag": '"1"'}), {})
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "Accept-Encoding"
    assert plain.headers["etag"] == 'W/"1"'  # the same as that of the compressed one


@pytest.mark.parametrize(
    "response",
    [
        Response(TEXT[: LEAST_BYTES - 1], media_type="text/html"),
        Response(TEXT * (MOST_BYTES // len(TEXT) + 1), media_type="text/html"),
        Response(TEXT, media_type="image/png"),
        Response(TEXT, media_type="application/octet-stream"),
        Response(TEXT),
        Response(TEXT, media_type="text/html", headers={"cache-control": "no-transform"}),
        Response(TEXT, 206, media_type="text/html", headers={"content-range": "bytes 0-5599/9999"}),
        StreamingResponse(iter([TEXT, TEXT]), media_type="text/html"),
    ],
    ids=["tiny", "huge", "image", "file", "untyped", "no-transform", "partial", "stream"],
)
def test_what_is_sent_as_it_is(response: Response) -> None:
    assert "content-encoding" not in sent(response).headers


def test_nothing_is_compressed_twice() -> None:
    once = Response(
        gzip.compress(TEXT), media_type="text/html", headers={"content-encoding": "gzip"}
    )
    assert sent(once).content == TEXT
    compressed = Compression(Response(TEXT, media_type="text/html"))
    assert get(Compression(compressed), "/", BOTH).content == TEXT


def test_a_response_that_is_sent_again_is_as_before() -> None:
    """A kept response is the same object each time (expensive_responses.py)."""
    response = Response(TEXT, media_type="text/html")
    for headers in (BOTH, {}, {"accept-encoding": "gzip"}, {}):
        answer = sent(response, headers)
        assert answer.content == TEXT
        assert ("content-encoding" in answer.headers) == bool(headers)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "Cross-Site", "new-word"])
def test_no_foreign_page_learns_from_the_size_what_a_page_of_results_holds(site: str) -> None:
    """BREACH: the query stands beside the text, and a right guess makes the response smaller."""

    def size(guess: str, headers: dict[str, str]) -> int:
        body = b"<input value='%s'> the password is hunter2 " % guess.encode() + bytes(2_000)
        return len(raw(Response(body, media_type="text/html"), headers))

    right, wrong = "password is hunter2", "password is xq7kz9w"
    assert size(right, BOTH) < size(wrong, BOTH)  # what is to be prevented
    foreign = BOTH | {"sec-fetch-site": site}
    assert size(right, foreign) == size(wrong, foreign)


def test_our_own_pages_and_typed_addresses_get_compressed_responses() -> None:
    for site in ("same-origin", "none"):
        answer = sent(Response(TEXT, media_type="text/html"), BOTH | {"sec-fetch-site": site})
        assert answer.headers["content-encoding"] == "br"


@pytest.fixture(scope="module")
def files() -> ASGIApp:
    return Compression(Starlette(routes=[Mount("/static", StaticFiles(directory=STATIC))]))


def test_a_file_that_has_not_changed_is_not_sent_again(files: ASGIApp) -> None:
    """RFC 9110, section 15.4.5: a 304 has the ETag and Vary that the response would have."""
    path = "/static/gossamer.css"
    first, plain = get(files, path, BOTH), get(files, path)
    assert first.content == plain.content == (STATIC / "gossamer.css").read_bytes()
    tag = first.headers["etag"]
    assert tag == plain.headers["etag"]
    assert tag.startswith("W/")
    for headers in (BOTH, {}):
        again = get(files, path, {**headers, "if-none-match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert (again.headers["etag"], again.headers["vary"]) == (tag, "Accept-Encoding")


def test_ranges_are_those_of_the_plain_file(files: ASGIApp) -> None:
    path, whole = "/static/gossamer.css", (STATIC / "gossamer.css").read_bytes()
    first = get(files, path, BOTH)
    assert "accept-ranges" not in first.headers  # of what was sent, no part can be had
    part = get(files, path, {**BOTH, "range": "bytes=0-999"})
    assert (part.status_code, part.content) == (206, whole[:1000])
    assert "content-encoding" not in part.headers
    # A part of the plain file does not continue a compressed one.
    stale = get(files, path, {**BOTH, "range": "bytes=9-", "if-range": first.headers["etag"]})
    assert (stale.status_code, stale.content) == (200, whole)


def test_pages_and_answers_of_a_server_are_compressed(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    put_index(work, [{"url": f"http://a.example/{n}", "text": "a red apple"} for n in range(20)])
    site = application(work)
    paths = ["/", "/search?q=apple", "/api/v1/search?q=apple", "/status", "/api/v1/openapi.json"]
    paths += ["/metrics", "/static/gossamer.css", "/static/complete.js"]
    for path in paths:
        answer = get(site, path, BOTH)
        assert answer.headers["content-encoding"] == "br", path
        assert answer.headers["vary"] == "Accept-Encoding"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "content-encoding" not in get(site, "/health", BOTH).headers
    problem = get(site, "/none", BOTH)
    assert (problem.status_code, problem.headers["content-encoding"]) == (404, "br")
