from __future__ import annotations

from itertools import pairwise

import pytest
from aiohttp.http_exceptions import TransferEncodingError
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.http.chunked_body import MAX_LINE_BYTES, ChunkedBody


def read(sent: bytes, cuts: tuple[int, ...] = ()) -> tuple[bytes, int]:
    """The body, and the offset after it."""
    received: list[bytes] = []
    body = ChunkedBody(received.append)
    bounds = [0, *sorted(cuts), len(sent)]
    for start, end in pairwise(bounds):
        if (after := body.feed(sent[start:end])) >= 0:
            return b"".join(received), start + after
    return b"".join(received), -1


@pytest.mark.parametrize(
    "sent",
    [
        b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        b"3\nabc\n2\nde\n0\n\n",
        b"3  \r\nabc\r\n2;a=b;c\r\nde\r\n0\r\n\r\n",
        b'003 ;x="\r"\r\nabc\r\n2\r\nde\r\n000\r\n\r\n',
        b"5\r\nabcde\r\n0\r\nX: y\r\nno colon\r\n z\r\n\r\n",
    ],
)
def test_a_body(sent: bytes) -> None:
    assert read(sent + b"more") == (b"abcde", len(sent))
    assert read(sent, tuple(range(len(sent)))) == (b"abcde", len(sent))


@pytest.mark.parametrize(
    "rest",
    [
        *(b"\r\n", b"zz\r\n", b"-1\r\n", b"+1\r\n", b"0x1\r\n", b" 1\r\n", b"1\t\r\n", b"1 1\r\n"),
        *(b"F" * 17 + b"\r\n", b"1\r\nab\r\n", b"1" * (MAX_LINE_BYTES + 1)),
    ],
)
def test_what_is_no_chunk(rest: bytes) -> None:
    received: list[bytes] = []
    with pytest.raises(TransferEncodingError):
        ChunkedBody(received.append).feed(b"3\r\nabc\r\n" + rest)
    assert received[0] == b"abc"


@given(
    chunks=st.lists(st.binary(min_size=1, max_size=40), max_size=5),
    end=st.sampled_from([b"\r\n", b"\n"]),
    cuts=st.lists(st.integers(0, 200), max_size=5),
)
def test_pieces_make_no_difference(chunks: list[bytes], end: bytes, cuts: list[int]) -> None:
    sent = b"".join(b"%x%b%b%b" % (len(chunk), end, chunk, end) for chunk in chunks) + b"0"
    sent += end + end
    assert read(sent, tuple(min(cut, len(sent)) for cut in cuts)) == (b"".join(chunks), len(sent))


def test_a_line_has_a_limit() -> None:
    longest = b"1;" + b"x" * (MAX_LINE_BYTES - 2)
    assert read(longest + b"\na\n0\n\n", (len(longest),))[0] == b"a"
    with pytest.raises(TransferEncodingError, match="a line of more than"):
        read(longest + b"x")
