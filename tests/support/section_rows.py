"""Pages in folders, and the rows of their sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gossamer.schedule.order.sections.step import write_sections
from gossamer.state.workspace import Workspace
from gossamer.storage import parquet
from gossamer.tables import SECTIONS
from tests.support.rows import LATER_MS
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.state.workspace import Workspace

URLS = (
    "http://a.example/",
    "http://a.example/one",
    "https://a.example/one/",
    "http://a.example:8080/one/two.html",
    "http://a.example/one/two/?x=1&y=2",
    "http://a.example/view?id=3",
    "http://a.example/view?flag",
    "http://a.example/?",
    "http://a.example/?a/b=c?d",
    "http://a.example/2024/http://b.example/x/y?z=http://c.example/",
    "http://a.example/1/2/3/4/5/6/7/8/9.html",
    "http://a.example/1/2/3/4/5/6/7/8?q=1",
    f"http://a.example/{'x' * 300}?{'y' * 300}=1",
    "http://b.example/ä/ü/%20?ö=1",
)


def folder_of(url: str) -> str:
    """By definition."""
    parts = urlsplit(url)
    path = parts.netloc + parts.path
    if "?" not in url:
        return path[: path.rindex("/") + 1]
    query = url.partition("?")[2].partition("?")[0]
    return f"{path}?{query.partition('&')[0].partition('=')[0][:50]}"


def put_pages(work: Workspace, rows: list[dict[str, Any]]) -> None:
    put_rows(work, "pages", rows)
    put_rows(work, "virtual_page", [{"pages": len(rows)}])


def page(url: str, *, asked: bool = True, fit: bool = False) -> dict[str, Any]:
    state: dict[str, Any] = {"outcome": None}
    if asked:
        state = {"status": "fetched", "outcome": "ok", "fit": fit, "next_fetch_ms": LATER_MS}
    return {"url": url, "host": urlsplit(url).netloc, "changes": 0.0, **state}


def count_now(work: Workspace) -> dict[str, dict[str, Any]]:
    with work.step("sections", work.round) as draft:
        draft.replace |= write_sections(work)
    counted = parquet.read_table(work.paths(SECTIONS.name))
    return {row["section"]: row for row in counted.to_pylist()}


def put_sections(work: Workspace, known: Mapping[str, int]) -> Workspace:
    """Sections with so many known pages."""
    rows: list[dict[str, Any]] = [
        {
            "section": section,
            "domain": section.partition("/")[0],
            "level": section.partition("?")[0].count("/") + ("?" in section),
            **dict.fromkeys(("fetched", "asked", "changed", "fit"), 0),
            "known": pages,
        }
        for section, pages in known.items()
    ]
    put_rows(work, "sections", rows, group_rows=2_000)
    return work
