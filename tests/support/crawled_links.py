"""A crawl of which only the links are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.state.workspace import Workspace


def crawl(work: Workspace, links: Iterable[tuple[str, str]], **more: object) -> None:
    rows = [
        {"src": src, "dst": dst, "round": 1, "relation": "a", "nofollow": False} | more
        for src, dst in links
    ]
    put(work, "links", rows)
    answers = [{"url": src, "round": 1, "outcome": "ok"} for src in {src for src, _ in links}]
    put(work, "responses", answers)
