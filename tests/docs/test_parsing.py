"""docs/parsing.md is complete, and its examples are right."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import msgspec

from gossamer.parse import Link, ParsedPage, Rules, parse_response
from gossamer.parse.html.css_selectors import COMPARING, COUNTING, OF_LISTS, SIMPLE
from gossamer.parse.html.site_rules import read_site_rules
from gossamer.parse.parsed_page import SiteRule
from gossamer.parse.reading.directives import Wishes
from tests.support.code_blocks import blocks
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = (ROOT / "docs" / "parsing.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> set[str]:
    """The names in the first column of a table."""
    rows = re.findall(r"^\| (.*?) \|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_every_field_is_documented() -> None:
    assert first_cells(section("What is extracted")) == set(ParsedPage.__struct_fields__)
    for name in (*Link._fields, *Wishes._fields):
        assert f"`{name}`" in section("What is extracted")


def test_every_outcome_is_documented() -> None:
    module = (ROOT / "src/gossamer/parse/__init__.py").read_text()
    listed = re.findall(r"^    (\w+)  +\w", module.partition('"""\n\nfrom')[0], re.MULTILINE)
    assert first_cells(section("Outcomes")) == set(listed)


def test_every_key_and_pseudo_class_of_a_rule_is_documented() -> None:
    rules = section("Rules for single sites")
    assert first_cells(rules) == set(SiteRule.__struct_fields__)
    for name in OF_LISTS:
        assert f"`:{name}()`" in rules
    for name in SIMPLE:
        assert f"`:{name}`" in rules
    assert all("of-type" in name or name.startswith("nth-") for name in COUNTING | COMPARING)


def test_the_rule_shown_gives_what_is_shown(tmp_path: Path) -> None:
    (rule,) = (block for block in blocks(PAGE, "toml") if block.startswith("[[rule]]"))
    (html,) = blocks(PAGE, "html")
    (given,) = map(json.loads, blocks(PAGE, "json"))
    (tmp_path / "rules.toml").write_text(rule)
    rules = Rules(sites=read_site_rules(tmp_path / "rules.toml"))
    headers = {"Content-Type": "text/html"}
    for name, found in (("with", rules), ("without", Rules())):
        page = parse_response("https://gazette.example/news/7", headers, html.encode(), found)
        fields = json.loads(msgspec.json.encode(page))
        same = [key for key, value in given.items() if fields[key] == value]
        assert same == (list(given) if name == "with" else [])
        assert page.unmatched == ()


def test_the_python_shown_prints_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks(PAGE, "python")
    exec(compile(code, "parsing.md", "exec"), {})  # noqa: S102  # our own words
    assert capsys.readouterr().out in blocks(PAGE, "")
