"""A few pages that change from harvest to harvest, each of which a test describes by its texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.state import lsm
from gossamer.tables import PAGES
from tests.support.harvest_steps import run_index
from tests.support.rows import frame, put

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.state.workspace import Workspace

HOST = "a.example"
GONE = None
"""The text of a page that is gone."""
HARVESTS: tuple[dict[str, str | None], ...] = (
    {"a": "red apples", "b": "green pears", "c": "dry plums"},
    {"a": "green apples", "b": GONE, "d": "green tea"},
)
"""The texts of two harvests: a page changes, one is gone, and one is new."""


def harvest_pages(work: Workspace, round_: int, texts: Mapping[str, str | None]) -> None:
    """Harvest a round in which pages get these texts, by the names of the pages."""
    urls = {f"http://{HOST}/{name}": text for name, text in texts.items()}
    states = [
        {"url": url, "status": "fetched", "fetched_ms": 0}
        if text is not GONE
        else {"url": url, "status": "gone", "outcome": "not_found", "fetched_ms": 0}
        for url, text in urls.items()
    ]
    with work.step("test", round_) as draft:
        known, _ = work.scratch(frame(work, PAGES.name, states))
        draft.replace[PAGES.name] = lsm.append_layer(work, PAGES, known, len(states), round_)
    rows = [page_row(url, text, round_) for url, text in urls.items() if text is not GONE]
    put(work, "documents", rows, round_)
    if round_ == 1:
        put(work, "ranks", [{"url": url, "rank": 1.0} for url in urls])
    run_index(work)


def page_row(url: str, text: str, round_: int) -> dict[str, Any]:
    """A row of documents, of a page whose title is its text."""
    return {
        "url": url,
        "round": round_,
        "host": HOST,
        "outcome": "parsed",
        "noindex": False,
        "title": text,
        "main_text": text,
        "headings": [],
        "digest": f"{url} {text}",
        "fetched_ms": round_,
    }
