"""The lines of `gossamer sections`."""

from __future__ import annotations

import pytest

from gossamer.cli.sections_command import WIDTH, section_line
from gossamer.schedule.order.sections.step import Section


def line(name: str, level: int = 2) -> str:
    counts = {"known": 12_345, "fetched": 2_000, "asked": 7, "changed": 30, "fit": 400}
    return section_line(Section(name, "a.test", level, **counts, worth=0.5, trial=0.0))


@pytest.mark.parametrize(
    ("section", "level", "shown"),
    [
        ("a.test/", 1, "a.test/"),
        ("a.test/news/", 2, "  news/"),
        ("a.test/news/2026/", 3, "    2026/"),
        ("a.test/%C3%BCber/", 2, "  über/"),
        ("a.test/%E6%97%A5%E6%9C%AC/?%E8%AA%9E=", 3, "    ?語="),
        ("a.test/a%0Ab%1B[2J%E2%80%AEc/", 2, "  a\ufffdb\ufffd[2J\ufffdc/"),
        ("a.test/%FF/", 2, "  \ufffd/"),
    ],
)
def test_names_are_indented_and_decoded(section: str, level: int, shown: str) -> None:
    assert line(section, level)[:WIDTH].rstrip().startswith(shown)


def test_columns_stand_below_each_other_whatever_the_width_of_a_name() -> None:
    plain, wide = line("a.test/ab/"), line("a.test/%E8%AA%9E/")
    assert plain.removeprefix("  ab/") == wide.removeprefix("  語/")
    assert plain.split()[1:] == ["12,345", "2,000", "400", "30", "0.50"]
    assert len(plain) == WIDTH + 5 * 9
