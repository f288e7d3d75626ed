"""Which pages are fit: by their length, and by rules. See gossamer.schedule.focus.fitness."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pytest

from gossamer.errors import ConfigError
from gossamer.schedule import generate, update
from gossamer.schedule.focus import fitness
from gossamer.state import lsm
from gossamer.tables import PAGES
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.state.workspace import Workspace

SHORT, LONG = b"", b"sketch"
RULES = (
    "allow prefix http://a.example/videos/",
    "deny prefix http://a.example/forum/",
    "deny type application/pdf",
    "deny language de",
)
VIDEO, FORUM, OLD = (f"http://a.example/{path}" for path in ("videos/1", "forum/1", "forum/old"))
HTML = "text/html"
PAGES_ASKED = {
    VIDEO: (SHORT, HTML, None, True),
    FORUM: (LONG, HTML, "en", False),
    OLD: (LONG, HTML, "en", False),
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


class Judged(NamedTuple):
    """Which pages are fit after a round without rules, and after one with them, without OLD."""

    before: dict[str, bool | None]
    after: dict[str, bool | None]


@pytest.fixture(scope="module")
def judged(new_work: Callable[[], Workspace]) -> Judged:
    work = new_work()
    before = answered(work, [*PAGES_ASKED])
    with_rules(work, *RULES)
    return Judged(before, answered(work, [url for url in PAGES_ASKED if url != OLD]))


def test_without_rules_pages_with_a_text_are_fit(judged: Judged) -> None:
    expected = {url: sketch == LONG for url, (sketch, *_) in PAGES_ASKED.items()}
    assert judged.before == expected


def test_the_first_rule_that_matches_decides(judged: Judged) -> None:
    expected = {url: fit for url, (_, _, _, fit) in PAGES_ASKED.items()}
    assert judged.after == expected | {OLD: judged.after[OLD]}


def test_new_rules_hold_for_pages_that_are_fetched_later(judged: Judged) -> None:
    assert (judged.before[OLD], judged.after[OLD], judged.after[FORUM]) == (True, True, False)
    assert (judged.before[VIDEO], judged.after[VIDEO]) == (False, True)


def test_a_rule_that_cannot_be_used_is_named_before_a_round(work: Workspace) -> None:
    with_rules(work, RULES[0], "refuse everything")
    with pytest.raises(ConfigError, match=r"update\.fit_rules, rule 2: 'refuse' is neither allow"):
        generate.run(work)
    with pytest.raises(ConfigError):
        fitness.check(work)
