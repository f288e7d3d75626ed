"""Which pages are fit: by their length, and by rules. See gossamer.schedule.focus.fitness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from gossamer.errors import ConfigError
from gossamer.schedule import generate, update
from gossamer.schedule.focus import fitness
from gossamer.state import lsm
from gossamer.tables import PAGES
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

SHORT, LONG = b"", b"sketch"
RULES = (
    "allow prefix http://a.example/videos/",
    "deny prefix http://a.example/forum/",
    "deny type application/pdf",
    "deny language de",
)
VIDEO, FORUM = "http://a.example/videos/1", "http://a.example/forum/1"
HTML = "text/html"
PAGES_ASKED = {
    VIDEO: (SHORT, HTML, None, True),
    FORUM: (LONG, HTML, "en", False),
    "http://a.example/1.pdf": (LONG, "application/pdf", "en", False),
    "http://a.example/de": (LONG, "text/html; charset=utf-8", "de", False),
    "http://a.example/long": (LONG, HTML, "en", True),
    "http://a.example/short": (SHORT, HTML, None, False),
}
"""Of each page: its sketch, its type, its language, and whether it is fit by these rules."""


def with_rules(work: Workspace, *rules: str) -> None:
    config = msgspec.structs.replace(work.config.update, fit_rules=rules)
    work.config = msgspec.structs.replace(work.config, update=config)


def answered(work: Workspace, urls: list[str]) -> dict[str, bool | None]:
    """Pages answer; returns which of all pages are fit."""
    round_ = work.round + 1
    with work.step("test", round_):
        pass
    put(work, "responses", [{"url": url, "outcome": "ok"} for url in urls], round_)
    documents = [
        {"url": url, "sketch": sketch or None, "content_type": type_, "language": language}
        for url, (sketch, type_, language, _) in PAGES_ASKED.items()
        if url in urls
    ]
    put(work, "documents", [{"round": round_} | each for each in documents], round_)
    with work.step("parse", round_):
        pass
    update.run(work)
    rows = by_url(lsm.current(work, PAGES))
    return {url: row["fit"] for url, row in rows.items()}


def test_the_first_rule_that_matches_decides(work: Workspace) -> None:
    with_rules(work, *RULES)
    expected = {url: fit for url, (_, _, _, fit) in PAGES_ASKED.items()}
    assert answered(work, [*PAGES_ASKED]) == expected


def test_without_rules_pages_with_a_text_are_fit(work: Workspace) -> None:
    expected = {url: sketch == LONG for url, (sketch, *_) in PAGES_ASKED.items()}
    assert answered(work, [*PAGES_ASKED]) == expected


def test_new_rules_hold_for_pages_that_are_fetched_later(work: Workspace) -> None:
    assert answered(work, [FORUM, VIDEO]) == {FORUM: True, VIDEO: False}
    with_rules(work, *RULES)
    assert answered(work, [VIDEO]) == {FORUM: True, VIDEO: True}


def test_a_rule_that_cannot_be_used_is_named_before_a_round(work: Workspace) -> None:
    with_rules(work, RULES[0], "refuse everything")
    with pytest.raises(ConfigError, match=r"update\.fit_rules, rule 2: 'refuse' is neither allow"):
        generate.run(work)
    with pytest.raises(ConfigError):
        fitness.check(work)
