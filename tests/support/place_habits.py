"""A page that a listing dates, and what its visits tell of its host and folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.schedule import update
from gossamer.schedule.due import habits, recrawl
from gossamer.state import lsm
from gossamer.tables import HABITS, PAGES
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

    Row = dict[str, Any]

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
    answers = [{"url": LISTING, "fetched_ms": NOW, "outcome": "ok", "digest": f"{round_}"}]
    if answer is not None:
        answers.append({"url": A, "fetched_ms": VISITED + DAY_MS, "outcome": "ok", **answer})
    put(work, "responses", [row | {"round": round_} for row in answers], round_)
    links = [{"src": LISTING, "dst": A, "relation": "entry", "dated_ms": dated_ms}]
    put(work, "links", [row | {"round": round_} for row in links], round_)
    texts = [{"url": row["url"], "outcome": "parsed", "round": round_} for row in answers]
    text_hash = (answer or {}).get("text")
    put(work, "documents", [row | {"text_hash": text_hash} for row in texts], round_)
    with work.step("parse", round_):
        pass
    update.run(work)
    return by_url(lsm.current(work, PAGES))[A]


def places(work: Workspace) -> dict[str, Row]:
    return by_url(lsm.current(work, HABITS), "place")
