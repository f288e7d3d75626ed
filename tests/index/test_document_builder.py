from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

import pytest

from gossamer.index.format.document_builder import (
    MAX_YEAR,
    MIN_YEAR,
    _host_domains,
    _year,
    build_document,
    skip_known,
)


@pytest.mark.parametrize(
    ("year", "has_one"),
    [(MIN_YEAR - 1, False), (MIN_YEAR, True), (MAX_YEAR, True), (MAX_YEAR + 1, False)],
)
def test_a_year_is_one_in_which_pages_are_written(year: int, has_one: bool) -> None:
    for month, day in ((1, 1), (12, 31)):
        date_ms = int(datetime(year, month, day, tzinfo=UTC).timestamp() * 1000)
        assert _year(date_ms) == (year if has_one else None)


@pytest.mark.parametrize("date_ms", [-(2**63), 2**63 - 1])
def test_a_date_beyond_the_calendar_has_no_year(date_ms: int) -> None:
    assert _year(date_ms) is None


def test_a_host_is_in_its_domains() -> None:
    assert [*_host_domains("a.b.org")] == ["a.b.org", "b.org", "org"]
    assert [*_host_domains("b.org:8080")] == ["b.org:8080", "b.org", "org"]
    assert [*_host_domains("localhost")] == ["localhost"]


def test_parts_that_a_text_or_another_part_repeats_are_left_out() -> None:
    parts = ["Roses", "roses", "", "Tulips", "Lilies"]
    assert [*skip_known(parts, ["tulips"])] == ["Roses", "Lilies"]


def fields_of(text: str, language: str = "zh") -> dict[str, list[Any]]:
    """The fields of the document of a page with this text."""
    row = defaultdict[str, Any](lambda: None)
    row |= dict.fromkeys(("title", "description", "inner_boilerplate", "boilerplate"), "")
    row |= {"url": "http://a.example/", "host": "a.example", "text": text, "rank": 0.0}
    row |= {"index_language": language, "language": language, "static_rank": 1.0, "fetched_ms": 0}
    fields: dict[str, list[Any]] = build_document(row).to_dict()
    return fields


def test_chinese_characters_that_have_other_forms_are_found_as_they_are_written() -> None:
    words, variants = fields_of("臺灣的麵")["exact_form"]
    assert {*words.split()} >= {"台", "湾", "面"}
    assert {*variants.split()} == {"臺", "灣", "麵"}
    assert len(fields_of("plain words", "en")["exact_form"]) == 1
