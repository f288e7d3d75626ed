from __future__ import annotations

import gzip
import time
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.coding import MAX_MEMBERS, Undecodable, decode

ENCODERS = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}
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
    coding=st.sampled_from(["gzip", "x-gzip", "deflate", "br", "gzip, br", "zstd", ",;="]),
    limit=st.integers(0, 400),
)
def test_no_bytes_get_past_the_limit_or_the_exception(body: bytes, coding: str, limit: int) -> None:
    try:
        decoded, _, any_coding = decode(body, coding, limit)
    except Undecodable:
        return
    assert len(decoded) <= limit or not any_coding


def test_a_thousand_members_cost_no_more_than_a_few() -> None:
    member = gzip.compress(b"x")
    started_s = time.process_time()
    decoded, _, _ = decode(member * 200_000, "gzip", 4 << 20)
    assert decoded == b"x" * MAX_MEMBERS
    assert time.process_time() - started_s < 2  # each copies what follows: quadratic without limit


def test_what_follows_a_gzip_body_is_left() -> None:
    assert decode(gzip.compress(b"x") + b"rubbish", "gzip", 100)[0] == b"x"


@pytest.mark.parametrize("coding", ["", "identity", "utf-8", "none", " , "])
def test_a_name_that_is_no_coding_changes_nothing(coding: str) -> None:
    assert decode(b"body", coding, 100) == (b"body", False, False)
