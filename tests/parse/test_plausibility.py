"""Do bytes seem to be in the encoding that decodes them? Shares, and where these are crossed."""

from __future__ import annotations

import pytest

from gossamer.parse.reading.charset.plausibility import (
    ERRORS_PER_CHARACTER,
    MANY_CAPITALS,
    ROW_CHARS,
    SAMPLE_CHARS,
    fits,
    sample,
)

ROW = "é" * ROW_CHARS
MOSTLY_CAPITALS = "А" * (2 * MANY_CAPITALS)


@pytest.mark.parametrize(
    ("name", "text", "is_plausible"),
    [
        ("windows-1252", f"{ROW}{' é' * ROW_CHARS}", True),
        ("windows-1252", f"{ROW}{' é' * (ROW_CHARS - 1)}", False),
        ("windows-1252", "é" * (ROW_CHARS - 1), True),
        ("windows-1252", f"a¡a{' é' * 9}", True),
        ("windows-1252", f"a¡a{' é' * 8}", False),
        ("windows-1252", "a¡ é", True),
        ("windows-1251", f"аБ{'а' * 8}", True),
        ("windows-1251", f"аБ{'а' * 7}", False),
        ("windows-1251", f"{MOSTLY_CAPITALS} {'а' * MANY_CAPITALS}", True),
        ("windows-1251", f"{MOSTLY_CAPITALS}А {'а' * MANY_CAPITALS}", False),
        ("windows-1251", "А" * MANY_CAPITALS, True),
        ("windows-1251", "А" * (MANY_CAPITALS + 1), False),
        ("shift_jis", "ｱ中", True),
        ("shift_jis", "ｱｱ中", False),
        ("gbk", "a中 b 中", True),
        ("gbk", "a中", False),
        ("gbk", "中a", False),
        ("gbk", "a中中", True),
        ("utf-8", "a中", True),
        ("gbk", "plain", True),
    ],
)
def test_a_script_is_written_in_its_own_way(name: str, text: str, is_plausible: bool) -> None:
    assert fits(text, name) is is_plausible


@pytest.mark.parametrize(("more", "is_plausible"), [(0, True), (1, False)])
def test_few_bytes_may_be_wrong(more: int, is_plausible: bool) -> None:
    """Errors count among the characters beyond ASCII, too."""
    characters = 1_000
    errors = int(ERRORS_PER_CHARACTER * characters) + more
    text = "\ufffd" * errors + "中" * (characters - errors)
    assert fits(text, "utf-8") is is_plausible
    assert not fits("\ufffd", "utf-8")


def test_a_sample_begins_before_the_first_character_beyond_ascii() -> None:
    assert sample("plain") == ""
    assert sample("é") == "é"
    assert sample("plain é") == " é"
    assert sample(f"x{'é' * SAMPLE_CHARS}") == f"x{'é' * (SAMPLE_CHARS - 1)}"
