from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.errors import ConfigError
from gossamer.schedule import refresh
from gossamer.state import lsm
from gossamer.tables import HOSTS, PAGES
from tests.support.rows import LATER_MS, by_url, put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

HOME = "http://a.example/"


def due_after(work: Workspace, pattern: str) -> set[str]:
    """What is due after a refresh, of pages that were not."""
    put(
        work,
        "pages",
        [
            {
                "url": f"{HOME}{name}",
                "status": status,
                "outcome": outcome,
                "next_fetch_ms": LATER_MS,
            }
            for name, status, outcome in (
                ("docs/a", "fetched", "ok"),
                ("docs/gone", "gone", "not_found"),
                ("blog/b", "fetched", "unchanged"),
                ("blog/late", "unfetched", "timeout"),
                ("docs/new", "unfetched", None),
                ("docs/alias", "alias", "ok"),
            )
        ],
    )
    report = refresh.run(work, pattern)
    pages = by_url(lsm.current(work, PAGES))
    assert len(pages) == 6
    due = {url for url, row in pages.items() if not row["next_fetch_ms"]}
    assert report.counts == {"pages": len(due)}
    assert pages[f"{HOME}docs/gone"]["status"] == "gone"
    return {url.removeprefix(HOME) for url in due}


def test_all_pages_are_due_gone_ones_too(work: Workspace) -> None:
    assert due_after(work, "") == {"docs/a", "docs/gone", "blog/b", "blog/late"}


def test_pages_that_match_are_due(work: Workspace) -> None:
    assert due_after(work, "/docs/") == {"docs/a", "docs/gone"}


def test_a_host_that_failed_need_not_wait_unless_it_asked_to(work: Workspace) -> None:
    outcomes = {"down.example": "unreachable", "busy.example": "busy", "well.example": "ok"}
    waits = {"ready_ms": LATER_MS, "failures": 3}
    put(work, "hosts", [{"host": name, "outcome": how} | waits for name, how in outcomes.items()])
    asked = [
        {"url": f"http://{name}/", "host": name, "outcome": how} for name, how in outcomes.items()
    ]
    put(work, "pages", asked)
    refresh.run(work)
    hosts = by_url(lsm.current(work, HOSTS), "host")
    assert {name: (row["ready_ms"], row["failures"]) for name, row in hosts.items()} == {
        "down.example": (0, 0),
        "busy.example": (LATER_MS, 3),
        "well.example": (LATER_MS, 3),
    }


def test_a_pattern_is_a_regular_expression_of_the_filters(work: Workspace) -> None:
    assert due_after(work, r"/(blog|x)/\w$") == {"blog/b"}


def test_a_pattern_that_is_none_changes_nothing(work: Workspace) -> None:
    with pytest.raises(ConfigError, match="refresh-matching"):
        refresh.run(work, "(")
    assert not work.store.manifest.layers("pages")
