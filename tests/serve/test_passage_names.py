"""The names of a passage's items, and lists of links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.serve.passage_names import MAX_NAME_CHARS, is_list_of_links, names_of

LINES = st.lists(
    st.sampled_from(
        ["", "- one(x)", "  - two", "    text", "  text", "text", "```", "  ```", "- [a](b)", "*"]
    ),
    max_size=20,
)


@pytest.mark.parametrize(
    ("markdown", "names"),
    [
        ("stat(*path*)\n\nGet the status.", ["stat"]),
        ("*class* Box: a thing", ["class* Box"]),
        ("`--level`=N sets it", ["level`"]),
        ("See [open()](https://a.test/x(y))", ["See [open"]),
        ("[`open()`](https://a.test/x) – a function", ["`open"]),
        ("In short.\n\n- a\n\n- b", ["In short."]),
        ("In short.\n\n- a\n\n  About it.\n\n- b\n\n  More.", ["In short.", "a", "b"]),
        ("In short.\n\n- vars()\n\n- vars(x)\n\n  About.", ["In short.", "vars", "vars"]),
        ("Top\n\n- a\n\n  - b\n\n    About it.", ["Top", "a", "b"]),
        ("Top\n\n- [a](/a)\n  - [b](/b)\n- c\n  - [d](/d)", ["Top", "c"]),
        ("Top\n\n- a\n\nText.\n\n  Indented.", ["Top"]),
        ("Top\n\n```\n- a\n\n  b\n```", ["Top"]),
        ("[Open](/open)", []),
        ("", [""]),
    ],
)
def test_names_of_items(markdown: str, names: list[str]) -> None:
    assert [*names_of(markdown)] == names


@given(LINES)
def test_a_name_is_short_and_stands_in_its_passage(lines: list[str]) -> None:
    for name in names_of("\n".join(lines)):
        assert len(name) <= MAX_NAME_CHARS
        assert all(word in "\n".join(lines) for word in name.split())


@given(st.text())
def test_any_text_has_names_that_are_short(markdown: str) -> None:
    assert all(len(name) <= MAX_NAME_CHARS for name in names_of(markdown))
    assert not is_list_of_links(markdown) or "](" in markdown


@pytest.mark.parametrize(
    ("markdown", "is_list"),
    [
        ("- [Harbour](/a)\n- [Bay](/b)", True),
        ("- [`harbour`](/a) [— where ships stay](/a)\n\n- [Bay](/b), [Quay](/c)", True),
        ("The [harbour](https://a.test/far/away/from/all) of a town", False),
        ("[Harbour](/a): where ships stay", False),
        ("No link", False),
        ("", False),
    ],
)
def test_lists_of_links(markdown: str, is_list: bool) -> None:
    assert is_list_of_links(markdown) is is_list
