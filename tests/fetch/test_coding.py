from __future__ import annotations

import gzip
import time
import zlib
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.http.content_coding import Undecodable, decode
from gossamer.web.compressed_streams import MAX_MEMBERS

if TYPE_CHECKING:
    from collections.abc import Callable

ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=5),
    "zstd": zstd.compress,
}
WORDS = b"".join(f"word {number} ".encode() for number in range(100_000))
CODINGS = st.lists(st.sampled_from(sorted(ENCODERS)), max_size=2)


@given(body=st.binary(max_size=500), codings=CODINGS, limit=st.integers(0, 600))
def test_what_was_coded_is_decoded_up_to_the_limit(
    body: bytes, codings: list[str], limit: int
) -> None:
    coded = body
    for coding in codings:
        coded = ENCODERS[coding](coded)
    if len(codings) == 2 and limit < 600:
        limit = 600  # the inner coding would be cut too, and end early
    decoded, cut, any_coding = decode(coded, ", ".join(codings), limit)
    assert any_coding is bool(codings)
    if codings:
        assert decoded == body[:limit]
        assert cut is (len(body) > limit)


@given(
    body=st.binary(max_size=300),
    coding=st.sampled_from(
        ["gzip", "x-gzip", "deflate", "br", "gzip, br", "zstd", "zstd, gzip", ",;="]
    ),
    limit=st.integers(0, 400),
)
def test_no_bytes_get_past_the_limit_or_the_exception(body: bytes, coding: str, limit: int) -> None:
    try:
        decoded, _, any_coding = decode(body, coding, limit)
    except Undecodable:
        return
    assert len(decoded) <= limit or not any_coding


@given(
    body=st.binary(max_size=300),
    at=st.integers(10, 400),
    limit=st.integers(1, 400),
)
def test_what_precedes_an_error_is_kept_up_to_the_limit(body: bytes, at: int, limit: int) -> None:
    coded = bytearray(gzip.compress(body, mtime=0))
    coded[min(at, len(coded) - 9) :] = b"\xff" * 60
    with suppress(Undecodable):
        decoded, _, _ = decode(bytes(coded), "gzip", 400)
        shorter, _, _ = decode(bytes(coded), "gzip", limit)
        assert shorter == decoded[:limit]


def test_a_thousand_members_cost_no_more_than_a_few() -> None:
    member = gzip.compress(b"x")
    started_s = time.process_time()
    decoded, _, _ = decode(member * 200_000, "gzip", 4 << 20)
    assert decoded == b"x" * MAX_MEMBERS
    assert time.process_time() - started_s < 2  # each copies what follows: quadratic without limit


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_all_members_are_decoded(coding: str) -> None:
    encode = ENCODERS[coding]
    assert decode(encode(b"a") + encode(b"b"), coding, 100) == (b"ab", False, True)
    assert decode(encode(b"a") + b"rubbish", coding, 100)[0] == b"a"


def test_a_skippable_frame_is_skipped() -> None:
    frame = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"xyz"  # RFC 8878 §3.1.2
    assert decode(frame + zstd.compress(b"a"), "zstd", 100)[0] == b"a"


@pytest.mark.parametrize("coding", sorted(ENCODERS))
def test_a_stream_that_breaks_off_is_taken_as_far_as_it_goes(coding: str) -> None:
    coded = ENCODERS[coding](WORDS)
    decoded, cut, _ = decode(coded[: len(coded) // 2], coding, len(WORDS))
    assert WORDS.startswith(decoded)
    assert len(decoded) > len(WORDS) // 10
    assert not cut


def test_a_window_larger_than_a_decoder_must_have_is_refused() -> None:
    options: dict[int, int] = {
        zstd.CompressionParameter.window_log: 24,
        zstd.CompressionParameter.content_size_flag: 0,
    }
    large = zstd.ZstdCompressor(options=options)
    coded = large.compress(bytes(20 << 20)) + large.flush()
    with pytest.raises(Undecodable, match="zstd"):
        decode(coded, "zstd", 1 << 20)


def test_many_small_blocks_cost_little() -> None:
    text = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    block = text.compress(WORDS[:200]) + text.flush(zlib.Z_FULL_FLUSH)
    coded = block * ((4 << 20) // len(block))
    started_s = time.process_time()
    decode(coded, "deflate", 4 << 20)
    assert time.process_time() - started_s < 2


@pytest.mark.parametrize("coding", ["", "identity", "utf-8", "none", " , "])
def test_a_name_that_is_no_coding_changes_nothing(coding: str) -> None:
    assert decode(b"body", coding, 100) == (b"body", False, False)


def damaged(coding: str) -> bytes:
    """A stream with a wrong checksum, which is its last four bytes before any length."""
    if coding == "zstd":
        options: dict[int, int] = {zstd.CompressionParameter.checksum_flag: 1}
        return zstd.compress(WORDS, options=options)[:-4] + bytes(4)
    coded = ENCODERS[coding](WORDS)
    return coded[:-8] + bytes(8) if coding == "gzip" else coded[:-4] + bytes(4)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd"])
def test_a_wrong_checksum_costs_nothing(coding: str) -> None:
    assert decode(damaged(coding), coding, len(WORDS)) == (WORDS, False, True)
    assert decode(damaged(coding), coding, 1_000)[:2] == (WORDS[:1_000], True)


def test_what_follows_a_raw_stream_is_not_decoded() -> None:
    raw = zlib.compress(WORDS)[2:-4]
    for rest in (b"rubbish", bytes(range(99)), raw):
        assert decode(raw + rest, "deflate", 2 * len(WORDS)).body == WORDS


def test_a_wrong_length_costs_nothing() -> None:
    assert decode(gzip.compress(WORDS)[:-4] + bytes(4), "gzip", len(WORDS)).body == WORDS


def test_a_wrong_checksum_of_a_second_member() -> None:
    coded = gzip.compress(b"one ") + gzip.compress(b"two")[:-8] + bytes(8)
    assert decode(coded, "gzip", 100) == (b"one two", False, True)


@pytest.mark.parametrize("coding", sorted(ENCODERS))
def test_what_precedes_an_error_is_kept(coding: str) -> None:
    coded = bytearray(ENCODERS[coding](WORDS))
    middle = len(coded) // 2
    coded[middle : middle + 64] = bytes(64)
    decoded, is_cut, was_coded = decode(bytes(coded), coding, len(WORDS))
    assert was_coded
    assert is_cut or len(decoded) == len(WORDS)
    assert decoded[:10_000] == WORDS[:10_000]


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
def test_text_that_was_never_coded(coding: str) -> None:
    text = b"<!doctype html><p>" + WORDS[:500]
    assert decode(text, coding, 10_000) == (text, False, False)


def test_a_coding_that_is_named_twice_and_applied_once() -> None:
    assert decode(gzip.compress(b"<p>once"), "gzip, gzip", 100) == (b"<p>once", False, True)


@pytest.mark.parametrize("coding", ["br", "zstd", "deflate"])
def test_gzip_is_known_by_its_bytes(coding: str) -> None:
    assert decode(gzip.compress(WORDS), coding, len(WORDS)) == (WORDS, False, True)


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_binary_data_in_no_coding(coding: str) -> None:
    with pytest.raises(Undecodable, match=coding):
        decode(bytes(range(256)), coding, 100)


@pytest.mark.parametrize("coding", sorted(ENCODERS))
def test_an_error_costs_little(coding: str) -> None:
    coded = bytearray(ENCODERS[coding](bytes(1 << 20) + WORDS * 4))
    coded[-20:-12] = bytes(8)
    started_s = time.process_time()
    decode(bytes(coded), coding, 10 << 20)
    assert time.process_time() - started_s < 2


@pytest.mark.parametrize(
    "fields", [b"\x02", b"\x06\x03\0abc", b"\x0ename\0", b"\x1e\x01\0ananame\0note\0"]
)
def test_a_wrong_checksum_of_a_header_costs_nothing(fields: bytes) -> None:
    coded = gzip.compress(WORDS)
    flags, rest = fields[:1], fields[1:]
    if flags == b"\x0e":
        rest = b"\0\0" + rest
    coded = coded[:3] + flags + coded[4:10] + rest + b"xx" + coded[10:]
    assert decode(coded, "gzip", 2 * len(WORDS)) == (WORDS, False, True)
    for end in range(3, 30):  # a header that breaks off
        with suppress(Undecodable):
            decode(coded[:end], "gzip", 100)
