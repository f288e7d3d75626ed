"""Binary search in indexes finds what a pass over their lines finds."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from gossamer.storage.warc.cdxj_search import lines_with_prefix

KEYS = st.text("ab,)", max_size=5)


@given(st.lists(KEYS, max_size=30), KEYS)
def test_the_lines_with_a_prefix_are_found(keys: list[str], prefix: str) -> None:
    lines = sorted(f"{key} {number}\n".encode() for number, key in enumerate(keys))
    found = list(lines_with_prefix(io.BytesIO(b"".join(lines)), prefix.encode()))
    assert found == [line for line in lines if line.startswith(prefix.encode())]


def test_a_large_index_is_read_at_few_places() -> None:
    lines = b"".join(b"key%07d x\n" % number for number in range(100_000))
    index = io.BytesIO(lines)
    asked: list[int] = []
    seek = index.seek
    index.seek = lambda *given: asked.append(1) or seek(*given)  # type: ignore[method-assign, func-returns-value]
    assert list(lines_with_prefix(index, b"key0054321 ")) == [b"key0054321 x\n"]
    assert len(asked) < 30
