"""Whatever bytes a server sends, in whatever pieces: a fetch ends as an answer, and bounded."""

from __future__ import annotations

import asyncio
import gzip
from contextlib import AsyncExitStack
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.exchange import DETAIL_CHARS, Request
from gossamer.fetch.http.fetcher import DRAIN_BYTES
from gossamer.tables.outcomes import OUTCOMES
from tests.support.loopback import loopback, page
from tests.support.loopback_fetches import LIMIT, config, http_fetcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.fetch.exchange import FetchResult
    from gossamer.fetch.http.fetcher import HttpFetcher
    from tests.support.loopback import Loopback

pytestmark = pytest.mark.server

VALID = [
    page(b"<p>words", ["Content-Type: text/html", 'ETag: "v1"']),
    page(gzip.compress(b"words" * 9, mtime=0), ["Content-Encoding: gzip"]),
    page(b"", ["Location: http://b.test/"], status="301 Moved"),
    page(b"busy", ["Retry-After: 7"], status="429 Too Many Requests"),
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + page(b"words"),
    b"HTTP/1.0 200 OK\n\nwords until the end",
]
SCRAPS = [
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b"\r",
    b"\0",
    b":",
    b" ",
    b"\xff",
    b"-1",
    b"HTTP/1.1 ",
    b"9" * 30,
]


class Mutation(NamedTuple):
    start: int
    length: int
    scrap: bytes


MUTATIONS = st.builds(
    Mutation,
    st.integers(0, 120),
    st.integers(0, 12),
    st.sampled_from(SCRAPS) | st.binary(max_size=6),
)


def mutated(said: bytes, mutations: Sequence[Mutation]) -> bytes:
    for start, length, scrap in mutations:
        said = said[:start] + scrap + said[start + length :]
    return said


SAID = st.binary(max_size=200) | st.builds(
    mutated,
    st.sampled_from(VALID),
    st.lists(MUTATIONS, max_size=3),
)


class Line(NamedTuple):
    """A fetcher, and the server that it asks."""

    runner: asyncio.Runner
    fetcher: HttpFetcher
    server: Loopback

    def fetch(self, pieces: Sequence[bytes]) -> FetchResult:
        async def say(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()

        self.server.answers["/page"] = say
        return self.runner.run(
            self.fetcher.fetch(Request("http://a.test/page", LIMIT, etag='"v1"'))
        )


@pytest.fixture(scope="module", params=[uvloop.new_event_loop, asyncio.new_event_loop])
def line(request: pytest.FixtureRequest) -> Iterator[Line]:
    stack = AsyncExitStack()
    with loopback() as server, asyncio.Runner(loop_factory=request.param) as runner:
        fetcher = runner.run(stack.enter_async_context(http_fetcher(config(server))))
        yield Line(runner, fetcher, server)
        runner.run(stack.aclose())


@given(said=SAID, cuts=st.lists(st.integers(0, 200), max_size=4))
def test_whatever_is_said_is_an_answer(line: Line, said: bytes, cuts: list[int]) -> None:
    bounds = [0, *sorted(cuts), len(said)]
    answer = line.fetch([said[a:b] for a, b in pairwise(bounds)])
    assert answer.outcome in OUTCOMES
    assert answer.outcome != "timeout"  # the server closes when it has said all
    assert answer.outcome in {"ok", "unchanged", "redirect"} or answer.detail
    assert len(answer.body) <= (LIMIT if answer.outcome == "ok" else DRAIN_BYTES)
    assert len(answer.detail or "") <= DETAIL_CHARS
    for text in (
        answer.detail,
        answer.reason,
        answer.content_type,
        answer.etag,
        answer.last_modified,
        answer.redirect_url,
    ):
        assert text is None or text.encode() is not None
        assert text is None or "\n" not in text
    for name, value in answer.headers:
        assert not {b"\n", b"\0"} & {bytes([byte]) for byte in name + value}


@pytest.mark.parametrize("said", VALID)
def test_pieces_make_no_difference(line: Line, said: bytes) -> None:
    whole = line.fetch([said])
    split = line.fetch([said[i : i + 1] for i in range(len(said))])
    assert (whole.outcome, whole.body) == (split.outcome, split.body)
    assert whole.outcome in {"ok", "redirect", "busy"}
