"""Strings as arrays, and the search for many among sorted ones."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.links.graph import name_arrays, string_arrays
from gossamer.links.graph.names import name_of
from gossamer.links.graph.string_arrays import find_places, strings_of, text_of
from gossamer.native import DEFINITIONS

STRINGS = st.lists(st.text("aäb\U0001f600", max_size=4), max_size=9)


def strings(items: list[str]) -> pa.LargeStringArray:
    """As a slice of a larger array."""
    whole = pa.array(["z", *items, "a"], pa.large_string())
    return whole.slice(1, len(items))


@pytest.mark.parametrize("is_defined", [True, False])
@given(wanted=STRINGS, others=STRINGS)
def test_places_are_those_of_bisection(
    is_defined: bool, wanted: list[str], others: list[str]
) -> None:
    wanted, others = sorted(wanted), sorted(set(others))
    expected = [
        place if text in others else ~place
        for text in wanted
        for place in (bisect_left(others, text),)
    ]
    search = string_arrays.search_ascending
    with pytest.MonkeyPatch.context() as patch:
        run = DEFINITIONS["search_ascending"] if is_defined else search
        patch.setattr(string_arrays, "search_ascending", run)
        assert find_places(strings(wanted), strings(others)).tolist() == expected


@given(STRINGS)
def test_what_becomes_arrays_becomes_the_same_strings(items: list[str]) -> None:
    offsets, data = text_of(strings(items))
    assert strings_of(offsets, data).to_pylist() == items


def test_runs_of_names_with_the_same_host() -> None:
    urls = ["http://a.org/1", "https://a.org/2", "http://a.org:81/", "http://b.a.org/", "file:///x"]
    names = pa.array([name_of(url) for url in urls], pa.large_string())
    assert name_arrays.names_of(pa.array(urls, pa.large_string())).to_pylist() == names.to_pylist()
    runs = name_arrays.split_by_host(names)
    assert runs.hosts == ["a.org", "a.org:81", "b.a.org", "localhost"]
    assert runs.starts.tolist() == [0, 2, 3, 4]
    assert runs.spread(np.array([5, 6, 7, 8])).tolist() == [5, 5, 6, 7, 8]
