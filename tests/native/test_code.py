from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.index.format import exact_form
from gossamer.native import DEFINITIONS, LOOPS
from tests.support.native_loops import both, compiled_only

CODE = st.text("aB1_.,:;-+#*&<>[]{}'/~^=@|!?$%\\\n") | st.text(st.characters(codec="ascii"))
TABLES = (*exact_form.MARK_TABLES, exact_form.SECTION_KINDS)


@compiled_only
@given(
    st.lists(CODE | st.text("é中\u00a0 aB_")).map(" ".join), st.integers(0, 9), st.integers(0, 9)
)
def test_pieces_of_a_text(text: str, most: int, key: int) -> None:
    raw = f"{text} ".encode()
    sections = np.zeros(4 * len(raw), np.uint8), np.zeros(4, np.int64)
    both("write_pieces", raw, *TABLES, most, key, *sections)


@compiled_only
def test_many_different_pieces() -> None:
    raw = "".join(f"a_{n % 3_000} " for n in range(4_000)).encode()
    sections = np.zeros(4 * len(raw), np.uint8), np.zeros(4, np.int64)
    both("write_pieces", raw, *TABLES, 2_500, -1, *sections)
    assert bytes(sections[0][: sections[1][0]]).split() == [b"a_%d" % n for n in range(2_500)]


@compiled_only
@given(st.lists(CODE.map(exact_form.pieces_of)).map("\n".join))
@example('"<?{ <a <=>- <_ a++b# #{a-b_c ..[_-a {} [] x^2 ^2 a~3_ ~_a __ _1 -.:=[b b~10')
def test_code(pieces: str) -> None:
    room = exact_form.CODE_ROOM * len(pieces)
    both("write_code", pieces.encode(), np.zeros(room, np.uint8))


def words_of(text: bytes) -> bytes:
    """The words of a text, which both loops agree about. What is behind them is of no interest."""
    found = []
    for run in (DEFINITIONS["write_words"], LOOPS.write_words):  # type: ignore[union-attr]
        words = bytearray(len(text))
        size = run(text, 5, words)
        found.append(bytes(words[:size]))
    assert found[0] == found[1]
    return found[0]


@compiled_only
@given(st.binary() | st.lists(CODE | st.text("é中\u00a0 aBaB_")).map(" ".join).map(str.encode))
def test_words(text: bytes) -> None:
    words_of(text)


@compiled_only
def test_many_different_words() -> None:
    words = words_of(" ".join(f"A{n % 3_000}" for n in range(4_000)).encode())
    assert words.split() == [b"a%d" % n for n in range(3_000)]
