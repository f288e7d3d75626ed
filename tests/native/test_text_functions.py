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

DEFINED_IN = (lines, threads)
compiled_only = pytest.mark.skipif(TEXTS is None, reason="not compiled")


def both(name: str, argument: Any) -> Any:
    found = getattr(TEXTS, name)(argument)
    assert found == TEXT_DEFINITIONS[name](argument)
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
@pytest.mark.parametrize(
    ("name", "argument"), [("fold_lines", b"a"), ("find_stamps", "a"), ("find_stamps", [b"a"])]
)
def test_other_types_are_refused(name: str, argument: Any) -> None:
    with pytest.raises(TypeError, match=name):
        getattr(TEXTS, name)(argument)
