"""Texts of a host without the lines that it repeats."""

from __future__ import annotations

import pytest

from gossamer.web.boilerplate_lines import LINE, BoilerplateLines, line_hash


@pytest.mark.parametrize(
    ("lines", "own", "boilerplate"),
    [
        (["a", "Menu", "b", "Menu", "Imprint"], ["a", "b"], ["Menu", "Menu", "Imprint"]),
        (["Menu"], [], ["Menu"]),
        (["a", "b"], ["a", "b"], []),
        (["menu"], ["menu"], []),
        ([""], [""], []),
    ],
)
def test_a_text_is_split_into_its_own_lines_and_others(
    lines: list[str], own: list[str], boilerplate: list[str]
) -> None:
    repeated = BoilerplateLines(map(line_hash, ("Menu", "Imprint")))
    assert repeated
    for _ in range(2):
        assert repeated.split(LINE.join(lines)) == (LINE.join(own), LINE.join(boilerplate))


@pytest.mark.parametrize("nothing", [None, ()])
def test_without_hashes_all_lines_are_own(nothing: tuple[int, ...] | None) -> None:
    repeated = BoilerplateLines(nothing)
    assert not repeated
    assert repeated.split(f"Menu{LINE}a") == (f"Menu{LINE}a", "")


def test_hashes_are_signed_numbers_of_64_bits() -> None:
    hashes = [line_hash(str(number)) for number in range(100)]
    assert all(-(2**63) <= each < 2**63 for each in hashes)
    assert min(hashes) < 0 < max(hashes)
