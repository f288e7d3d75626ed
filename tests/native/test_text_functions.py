"""Functions in C find in texts what their definitions in Python find.

To watch each access, as `test_loops.py` says, compile `native/texts/*.c` to `_texts` with -O1.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.native import TEXT_DEFINITIONS, TEXTS
from gossamer.parse.html import lines
from gossamer.parse.maintext import threads
from gossamer.parse.step import page_writer
from gossamer.web import directions

DEFINED_IN = (directions, lines, page_writer, threads)
compiled_only = pytest.mark.skipif(TEXTS is None, reason="not compiled")


def both(name: str, *arguments: Any) -> Any:
    found = getattr(TEXTS, name)(*arguments)
    assert found == TEXT_DEFINITIONS[name](*arguments)
    return found


@compiled_only
def test_each_definition_is_a_function_in_c() -> None:
    assert {name for name in vars(TEXTS) if not name.startswith("__")} == TEXT_DEFINITIONS.keys()


@compiled_only
@given(st.text("a é\0\n\t\x1f\x85\xa0\u2003\u3000あ\U0001f600\ud800") | st.text())
@example("")
@example(" a  \n b\0\0c\xa0")
def test_folded_lines(text: str) -> None:
    found = both("fold_lines", text)
    assert found == [" ".join(line.split()) for line in text.split("\0")]


STAMPS = st.text("0129:h./-é३ a", max_size=14)


@compiled_only
@given(st.lists(STAMPS | st.text(max_size=8)))
@example(["2024", "in 2024", "2024 was", "12024 x", "x 12024", "1899", "٢٠:٣٠", "a" * 96 + "9:15"])
@example(["3 hours", "3", "3000 hours", "a" * 97 + "9:15", "5h30", "5h300", "1.2.3", "1-2"])
def test_stamps(texts: list[str]) -> None:
    both("find_stamps", texts)


@compiled_only
@given(st.text("a\xe9\u2029\u202a\u202e\u202f\u2065\u2066\u2069\u206a\U0001202a"))
def test_overrides(text: str) -> None:
    both("has_overrides", text)


LINES = st.lists(st.sampled_from(["", "a", "b", "ab", "é", "あ", "\0", "😀"])).map("\n".join)


@compiled_only
@given(LINES, LINES)
@example("", "")
@example("a\nb\na\n\nc", "b\n")
def test_lines_outside(text: str, other: str) -> None:
    both("lines_outside", text, other)


@compiled_only
@pytest.mark.parametrize("texts", [("a\ud800", "a"), ("a", "\udfff")])
def test_lines_with_surrogates_are_refused(texts: tuple[str, str]) -> None:
    with pytest.raises(UnicodeEncodeError):
        getattr(TEXTS, "lines_outside")(*texts)  # noqa: B009  # it may be None


@compiled_only
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("fold_lines", (b"a",)),
        ("find_stamps", ("a",)),
        ("find_stamps", ([b"a"],)),
        ("has_overrides", (b"a",)),
        ("lines_outside", ("a",)),
        ("lines_outside", ("a", b"a")),
    ],
)
def test_other_types_are_refused(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=name):
        getattr(TEXTS, name)(*arguments)
