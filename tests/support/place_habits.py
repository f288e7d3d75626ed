"""A page that a listing dates, and what its visits tell of its host and folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.schedule import update
from gossamer.schedule.due import habits, recrawl
from gossamer.state import lsm
from gossamer.tables import HABITS, PAGES
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.state.workspace import Workspace

    Row = dict[str, Any]
    Rows = dict[str, Row]

DAY_MS = recrawl.DAY_MS
HOUR_MS = DAY_MS // 24
A, LISTING = "http://a.example/news/1", "http://a.example/sitemap.xml"
HOST, FOLDER = "a.example", "a.example/news/"
VISITED = 100 * DAY_MS + 10 * HOUR_MS
NOW = VISITED + 5 * DAY_MS
STORED: Row = {
    "url": A,
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
    "place": HOST,
    "told": 99 * habits.UNIT,
    "untold": habits.UNIT,
    "met": 99,
    "dates": 99,
    "listed_ms": 1_000 * DAY_MS,
}


def place(name: str = HOST, **sums: int) -> Row:
    return dict.fromkeys(HABITS.column_names[1:], 0) | {"place": name} | sums


def updated(
    work: Workspace,
    dated_ms: int | None,
    *,
    page: Row | None = None,
    answer: Row | None = None,
    known: tuple[Row, ...] = (),
    round_: int = 1,
) -> Row:
    """The row of A after a round that read a listing which gives this date.

    `page`: what is different in its row before, if that is not of a former round; `answer`: what A
    answered in the same round, if it was asked, a day later unless it says otherwise.
    """
    work.clock_ms = NOW
    if round_ == 1:
        put(work, "pages", [STORED | (page or {}), {"url": LISTING}], round_=0)
        if known:
            put(work, "habits", [place() | row for row in known], round_=0)
    answers = [] if answer is None else [answer]
    return _update(work, {A: dated_ms}, answers, round_)[A]


def updated_pages(work: Workspace, pages: dict[str, Row], dated: dict[str, int | None]) -> Rows:
    """The rows of pages, each of another host, after a round that read a listing with dates."""
    work.clock_ms = NOW
    stored = [STORED | {"url": url} | changed for url, changed in pages.items()]
    put(work, "pages", [*stored, {"url": LISTING}], round_=0)
    return _update(work, dated, [], 1)


def _update(
    work: Workspace, dated: dict[str, int | None], of_a: Sequence[Row], round_: int
) -> Rows:
    answers = [{"url": LISTING, "fetched_ms": NOW, "outcome": "ok", "digest": f"{round_}"}]
    visited = {"url": A, "fetched_ms": VISITED + DAY_MS, "outcome": "ok"}
    answers.extend(visited | answer for answer in of_a)
    put(work, "responses", [row | {"round": round_} for row in answers], round_)
    links = [
        {"src": LISTING, "dst": url, "relation": "entry", "dated_ms": dated_ms}
        for url, dated_ms in dated.items()
    ]
    put(work, "links", [row | {"round": round_} for row in links], round_)
    texts = [{"url": row["url"], "outcome": "parsed", "round": round_} for row in answers]
    text_hash = of_a[0].get("text") if of_a else None
    put(work, "documents", [row | {"text_hash": text_hash} for row in texts], round_)
    with work.step("parse", round_):
        pass
    update.run(work)
    return by_url(lsm.current(work, PAGES))


def places(work: Workspace) -> dict[str, Row]:
    return by_url(lsm.current(work, HABITS), "place")
