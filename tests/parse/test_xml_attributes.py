"""The attributes of many XML tags at once, where they are written alike."""

from __future__ import annotations

import pytest

from gossamer.parse.listing.xml_node import MAX_LAYOUT_CHARS, attributes_of, regular_attributes


@pytest.mark.parametrize(
    "raws",
    [
        [""],
        [' a="1"', "", ' B="2" c="&lt;&amp;x"'],
        [' a="" b=""'] * 3,
    ],
)
def test_regular_ones_are_those_of_each_tag(raws: list[str]) -> None:
    assert regular_attributes(raws) == [attributes_of(raw) for raw in raws]


@pytest.mark.parametrize(
    "raws",
    [
        [" a='1'"],
        [" a=1"],
        [" a"],
        [' xmlns="x"'],
        [' xmlns:a="x"'],
        [' xml:base="/"'],
        [' a="1"', " b='2'"],
    ],
)
def test_others_are_parsed_one_by_one(raws: list[str]) -> None:
    assert regular_attributes(raws) is None


@pytest.mark.parametrize(("more", "is_regular"), [(0, True), (1, False)])
def test_what_is_remembered_of_their_forms_is_bounded(more: int, is_regular: bool) -> None:
    raw = f' {"a" * (MAX_LAYOUT_CHARS - 3 + more)}=""'
    assert (regular_attributes([raw]) is not None) == is_regular
