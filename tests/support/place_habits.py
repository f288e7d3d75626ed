"""A page that a listing dates, and what its visits tell of its host and folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.schedule.due import change_habits, change_rates
from gossamer.tables import HABITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.support.shared_rounds import Found, Site

    Row = dict[str, Any]

DAY_MS = change_rates.DAY_MS
HOUR_MS = DAY_MS // 24
PAGE, LISTING = "/news/1", "/sitemap.xml"
VISITED = 100 * DAY_MS + 10 * HOUR_MS
NOW = VISITED + 5 * DAY_MS
STORED: Row = {
    "status": "fetched",
    "outcome": "ok",
    "fetches": 1,
    "fetched_ms": VISITED,
    "stored_ms": VISITED,
    "next_fetch_ms": VISITED + 30 * DAY_MS,
    "digest": "old",
    "main_text": 1,
}
TRUTHFUL = {
    "told": 99 * change_habits.UNIT,
    "untold": change_habits.UNIT,
    "met": 99,
    "dates": 99,
    "listed_ms": 1_000 * DAY_MS,
}


def folder(site: Site) -> str:
    """The folder of the page, as a place."""
    return f"{site.host()}/news/"


def place(name: str, sums: Mapping[str, int]) -> Row:
    return {**dict.fromkeys(HABITS.column_names, 0), "place": name, **sums}


def places(site: Site) -> dict[str, Row]:
    return {row["place"]: row for row in site.rows("habits")}


def first_round(
    site: Site,
    dated_ms: int | None,
    *,
    page: Row | None = None,
    answer: Row | None = None,
    known: Iterable[Row] = (),
) -> Found:
    """A round that reads a listing which gives this date of a page that is known.

    `page`: what is different in its row before; `answer`: what it answers in the same round, if it
    is asked, a day later unless it says otherwise; `known`: what is known of places.
    """
    stored = {"url": site.url(PAGE)} | STORED | (page or {})
    pages = [stored, {"url": site.url(LISTING)}]
    return {**next_round(site, {PAGE: dated_ms}, answer), "pages": pages, "habits": known}


def next_round(
    site: Site, dates: Mapping[str, int | None], answer: Mapping[str, Any] | None = None
) -> Found:
    """A round that reads a listing with dates of these paths."""
    listing, digest = site.url(LISTING), f"{site.work.round}"
    answers = [{"url": listing, "fetched_ms": NOW, "outcome": "ok", "digest": digest}]
    visited = {"url": site.url(PAGE), "fetched_ms": VISITED + DAY_MS, "outcome": "ok"}
    answers += [] if answer is None else [visited | {**answer}]
    link = {"src": listing, "relation": "entry"}
    text_hash = None if answer is None else answer.get("text")
    return {
        "responses": answers,
        "documents": [
            {"url": row["url"], "outcome": "parsed", "text_hash": text_hash} for row in answers
        ],
        "links": [
            link | {"dst": site.url(path), "dated_ms": dated_ms} for path, dated_ms in dates.items()
        ],
    }
