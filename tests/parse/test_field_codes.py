r"""Targets of HYPERLINK fields (ISO/IEC 29500-1 §17.16.5.25)."""

from __future__ import annotations

import pytest

from gossamer.parse.documents.field_codes import hyperlink_target


@pytest.mark.parametrize(
    ("instruction", "url"),
    [
        (' HYPERLINK "https://a.example/" ', "https://a.example/"),
        ("hyperlink https://a.example/ ", "https://a.example/"),
        (r'HYPERLINK "https://a.example/" \l "place"', "https://a.example/#place"),
        (r"HYPERLINK https://a.example/ \o tip \l place", "https://a.example/#place"),
        (r'HYPERLINK "https://a.example/#b" \l "place"', "https://a.example/#b"),
        (r'HYPERLINK "" \l "place"', None),
        (r'HYPERLINK \l "place"', None),
        ('HYPERLINK ""', None),
        ("PAGEREF https://a.example/", None),
        ("", None),
    ],
)
def test_the_target_of_a_field(instruction: str, url: str | None) -> None:
    assert hyperlink_target(instruction) == url
