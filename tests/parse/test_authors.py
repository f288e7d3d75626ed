from __future__ import annotations

import time

import pytest

from gossamer.parse.reading.authors import MAX_FIELD_CHARS, split_authors


@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("Ann Lee", ["Ann Lee"]),
        ("Ann Lee, Bob Ray", ["Ann Lee", "Bob Ray"]),
        ("Ann Lee, Bob Ray, and Eve Fox", ["Ann Lee", "Bob Ray", "Eve Fox"]),
        ("Ann Lee and Bob Ray", ["Ann Lee", "Bob Ray"]),
        ("Ann Lee & Bob Ray", ["Ann Lee", "Bob Ray"]),
        ("Ann Lee und Ludwig van Beethoven", ["Ann Lee", "Ludwig van Beethoven"]),
        ("Ann Lee/Bob Ray", ["Ann Lee", "Bob Ray"]),
        ("Ann Lee; Bob Ray", ["Ann Lee", "Bob Ray"]),
        ("Lee, Ann; Ray, Bob", ["Lee, Ann", "Ray, Bob"]),
        ("Lee, Ann Eve", ["Lee, Ann Eve"]),
        ("Ann Eve, Lee", ["Ann Eve, Lee"]),
        ("Ann Lee\nBob Ray\nAnn Lee", ["Ann Lee", "Bob Ray"]),
        ("Ann | Bob", ["Ann", "Bob"]),
        ("夏目漱石、森鷗外", ["夏目漱石", "森鷗外"]),
        ("Lee, Ann", ["Lee, Ann"]),
        ("García Márquez, Gabriel", ["García Márquez, Gabriel"]),
        ("Santiago Ramón y Cajal", ["Santiago Ramón y Cajal"]),
        ("Ann Lee, Jr., Bob Ray, Ph.D.", ["Ann Lee, Jr.", "Bob Ray, Ph.D."]),
        ("Ann Lee, Editor, Bob Ray", ["Ann Lee", "Bob Ray"]),
        ("Ann Lee, Editor, news", ["Ann Lee, Editor, news"]),
        ("Acme, Inc.", ["Acme, Inc."]),
        ("Ministry of Trade and Industry", ["Ministry of Trade and Industry"]),
        ("Bureau of Land Management, Oregon", ["Bureau of Land Management, Oregon"]),
        ("Ann Lee <ann@example.org>", ["Ann Lee"]),
        ("ann@example.org (Ann Lee)", ["Ann Lee"]),
        ("ann@example.org", []),
        ("openpyxl", []),
        ("Microsoft Office User", []),
        ("(anonymous)", []),
        ("Administrator; Ann Lee", ["Ann Lee"]),
        ("", []),
    ],
)
def test_authors_are_split_as_people_write_them(field: str, names: list[str]) -> None:
    assert list(split_authors(field)) == names


def test_their_number_is_bounded() -> None:
    assert len(split_authors(";".join(f"Ann{n}" for n in range(1_000)))) == 100


@pytest.mark.parametrize("piece", [" ", "a", "\n", " \n", "(a", "a,", "a and ", "\u00a0|", "<"])
def test_a_field_costs_no_more_than_its_characters(piece: str) -> None:
    started_s = time.process_time()
    split_authors(piece * (MAX_FIELD_CHARS // len(piece)))
    assert time.process_time() - started_s < 1
