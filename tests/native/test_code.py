from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.index.format import exact_form
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
