from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from gossamer.schedule import found_links
from gossamer.schedule.due.listing_polls import ENTRY, NEWS_MS
from gossamer.tables import LINKS
from tests.support.rows import NOW_MS, by_url, frame

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

A, B = "http://a.example/", "http://b.example/"
DAY_MS = 86_400_000


def targets(work: Workspace, *links: dict[str, Any]) -> dict[str, dict[str, Any]]:
    rows = ({"src": A, "dst": B, "depth": 1, "announced": False} | link for link in links)
    found = found_links.link_targets(frame(work, "links", rows), NOW_MS)
    return {
        url: {name.removeprefix("found_"): value for name, value in row.items()}
        for url, row in by_url(found).items()
    }


def test_only_pages_of_earlier_rounds_are_late(work: Workspace) -> None:
    rounds = {"earlier": work.round - 1, "now": work.round}
    links = frame(work, "links", [{"src": f"{A}{n}", "round": r} for n, r in rounds.items()] * 2)
    late = found_links.late_found_sources(work, links)
    assert late is not None
    assert [row.url for row in late.collect()] == [f"{A}earlier"]
    assert found_links.late_found_sources(work, links.where(F.col("round") == work.round)) is None


def test_a_target_is_as_near_as_its_nearest_link_and_has_the_votes_of_new_pages(
    work: Workspace,
) -> None:
    found = targets(
        work,
        {"depth": 3, "hops": 0, "dated_ms": 5},
        {"depth": 2, "hops": 1, "relation": "canonical", "dated_ms": 7, "announced": True},
        {"depth": 9, "hops": 9, "relation": "img"},
        {"depth": 9, "hops": 9, "first": False},
        {"depth": 0, "hops": 0, "nofollow": True, "dated_ms": 9},
        {"dst": A, "relation": "img", "nofollow": True},
    )
    assert found == {
        B: {
            "url": B,
            "depth": 2,
            "hops": 0,
            "inlinks": 2,
            "source": "link",
            "dated_ms": 7,
            "announced": True,
            "spelling": "#",
        }
    }


@pytest.mark.parametrize(
    ("links", "source"),
    [
        ([{}], "link"),
        ([{}, {"relation": "redirect"}], "link"),
        ([{"relation": "redirect"}], "redirect"),
        ([{}, {"relation": "entry", "dated_ms": NOW_MS - NEWS_MS}], ENTRY),
        ([{"relation": "entry", "dated_ms": NOW_MS - NEWS_MS - 1}], "link"),
        ([{"relation": "entry"}], "link"),
        ([{"relation": "entry", "first": False}], ENTRY),
        ([{"first": False, "dated_ms": NOW_MS}], "link"),
    ],
)
def test_how_a_target_was_met(work: Workspace, links: list[dict[str, Any]], source: str) -> None:
    assert targets(work, *links)[B]["source"] == source


@pytest.mark.parametrize(
    ("ahead_ms", "is_believed"), [(-1, True), (DAY_MS, True), (DAY_MS + 1, False)]
)
def test_dates_of_coming_events_are_not_believed(
    work: Workspace, ahead_ms: int, is_believed: bool
) -> None:
    dated_ms = NOW_MS + ahead_ms
    found = targets(work, {"dated_ms": dated_ms})[B]["dated_ms"]
    assert found == (dated_ms if is_believed else None)


def test_a_listing_dates_pages_of_its_host_and_of_hosts_that_name_it(work: Workspace) -> None:
    listing = {"src": f"{A}feeds/x.xml", "dated_ms": 1}
    links = frame(
        work,
        "links",
        [
            listing | {"dst": f"{A}p"},
            listing | {"dst": f"{B}p"},
            {"src": f"{A}p", "dst": f"{A}undated"},
        ],
    )
    found = found_links.believe_dates(work, links)
    assert found.columns == list(LINKS.column_names)
    assert {row.dst: row.dated_ms for row in found.collect()} == {
        f"{A}p": 1,
        f"{B}p": None,
        f"{A}undated": None,
    }
