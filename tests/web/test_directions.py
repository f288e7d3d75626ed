"""Marks that change the direction of what follows them (Unicode TR 36 §2.6)."""

from __future__ import annotations

import pytest

from gossamer.web.directions import has_overrides, without_overrides

MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize("mark", [*MARKS, MARKS])
def test_a_mark_is_removed_wherever_it_is(mark: str) -> None:
    for text in (mark, f"{mark}exe.fdp", f"é{mark}", f"a{mark}b{mark}c"):
        assert has_overrides(text)
        assert without_overrides(text) == text.translate(dict.fromkeys(map(ord, mark)))


@pytest.mark.parametrize("text", ["", "a", "é", "שלום", "\u200e\u200f\u2065\u206a\u2029"])
def test_other_texts_have_none(text: str) -> None:
    assert not has_overrides(text)
    assert without_overrides(text) == text
