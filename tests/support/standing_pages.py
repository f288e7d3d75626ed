"""A page that stands for others: its row of dispositions, and their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.state.workspace import Workspace

NEW, OLD, COPY = (f"http://a.example/{path}" for path in ("3.13/re", "3.9/re", "re?print"))


def standing(url: str, **more: Any) -> dict[str, Any]:
    plain = {"url": url, "disposition": "indexed", "copy_count": 0, "version_count": 0}
    return plain | more


def put_standing(work: Workspace, copies: Sequence[tuple[str, str, float | None]]) -> None:
    """NEW stands for these pages, and has one more than are named."""
    named = [{"url": url, "reason": why, "similarity": alike} for url, why, alike in copies]
    put_rows(
        work,
        "dispositions",
        [
            standing(
                NEW,
                copies=named,
                copy_count=1 + len(copies),
                version_count=sum(why == "version" for _, why, _ in copies),
            ),
            *(
                standing(
                    url,
                    disposition="dropped_duplicate",
                    survivor=NEW,
                    reason=why,
                    similarity=alike,
                )
                for url, why, alike in copies
            ),
        ],
    )
