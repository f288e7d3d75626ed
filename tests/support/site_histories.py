"""Random histories of a site, as rounds leave them in responses, documents and links."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from gossamer.links import current_links
from gossamer.state import lsm
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import DATASETS, INLINKS
from tests.support.planted_duplicates import document, prose
from tests.support.rows import PLAIN, put
from tests.support.stored_rounds import rows_of

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

    Row = dict[str, Any]

URLS = 40
NAMES = ("responses", "documents", "links")
GROUP_ROWS = 4


class Site:
    """A site whose pages change, fail, redirect, lose their links, or are parsed a round late."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)  # noqa: S311  # reproducible
        self.rows: dict[str, list[Row]] = {name: [] for name in NAMES}
        self.late: list[Row] = []

    def happen(self, work: Workspace, round_: int, pages: int = URLS // 3) -> None:
        made: dict[str, list[Row]] = {name: [] for name in NAMES}
        made["documents"], self.late = self.late, []
        for number in self.draw.sample(range(URLS), pages):
            url, outcome = page(number), self.draw.choice(OUTCOMES)
            made["responses"].append({"url": url, "round": round_, "outcome": outcome})
            if outcome == "ok":
                text = prose(self.draw.randrange(9), self.draw.choice((20, 200)))
                is_late = self.draw.random() < 0.2
                row = document(url, text, round=round_, host="a.example")
                (self.late if is_late else made["documents"]).append(row)
            if outcome in current_links.ANSWERED:
                targets = self.draw.sample(range(URLS), self.draw.choice((0, 1, 6)))
                anchors = self.draw.choice((None, "", "words", f"words of {round_}"))
                links = [
                    {"src": url, "dst": page(each), "round": round_, "anchor": anchors}
                    for each in targets
                ]
                made["links"] += links[:1] if outcome == "redirect" else links
        with work.step("test", round_) as draft:
            for name, rows in made.items():
                self.draw.shuffle(rows)
                self.rows[name] += rows
                draft.append |= layers(work, name, [rows[::2], rows[1::2]], round_)
        states = [{"url": row["url"], "status": "fetched"} for row in made["responses"]]
        put(work, "pages", states, round_)


OUTCOMES = ("ok", "ok", "ok", "redirect", "timeout", "unchanged")


def page(number: int) -> str:
    return f"http://a.example/{number:02}"


def layers(work: Workspace, name: str, files: list[list[Row]], round_: int) -> dict[str, Layer]:
    """A layer of some files, in small row groups."""
    written = []
    for rows in files:
        writer = ParquetWriter(work.root, name, work.store.attempt(name))
        for at in range(0, len(rows), GROUP_ROWS):
            plain = [PLAIN | row for row in rows[at : at + GROUP_ROWS]]
            schema = DATASETS[name].schema
            columns = [{key: row.get(key) for key in schema.names} for row in plain]
            writer.write(rows_of(schema, columns))
        written += writer.close()
    return layers_of(written, round_)


def inlinks(work: Workspace) -> dict[str, tuple[int, list[tuple[str, str]]]]:
    """By page, how many link to it, and the listed ones with their anchors."""
    rows = lsm.current(work, INLINKS).where("count > 0").collect()
    found = {row.dst: (row["count"], [(s.src, s.anchor) for s in row.sources]) for row in rows}
    assert len(found) == len(rows)
    return found
