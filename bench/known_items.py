"""Does a page's title find it, also with a word too many? On manuals that Debian packages.

    python bench/known_items.py WEBS CRAWLS [MANUAL ...]

Known-item search as in TREC's web track (Craswell and Hawking, TREC 2002). For each manual of
webs.py, at most TITLES titles are asked whose words no other title has. Then HEADS of them are
asked without the ending that many titles of the site have (" — Python 3.11.2 documentation"), once
more with the site's own name appended, and once more with a filler word appended: how many of the
pages that were among the first three stay there? Samples are the same on each run. Pages that were
not found are listed.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import webs
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

TITLES = 300
HEADS = 20
TOP = 3
SHARED = 0.1
"""The part of the titles that must have an ending before it is removed."""
ENDING = re.compile(r" +[-—–|:·(]")


class Item(NamedTuple):
    query: str
    path: str


class Asked(NamedTuple):
    """The items whose page was the first result, among the first three, and not among them."""

    first: list[Item]
    top: list[Item]
    missed: list[Item]

    @property
    def share_first(self) -> str:
        return f"{len(self.first) / max(1, len(self.top) + len(self.missed)):.1%}"

    @property
    def share_top(self) -> str:
        return f"{len(self.top) / max(1, len(self.top) + len(self.missed)):.1%}"


def ask(indexed: webs.Indexed, items: Sequence[Item]) -> Asked:
    asked = Asked([], [], [])
    for item in items:
        found = indexed.found(item.query, TOP)
        (asked.top if item.path in found else asked.missed).append(item)
        if found[:1] == [item.path]:
            asked.first.append(item)
    return asked


def unique(items: Sequence[Item]) -> list[Item]:
    """The items whose words no other item has."""
    owners = Counter(tuple(webs.words(item.query)) for item in items)
    return [item for item in items if owners[tuple(webs.words(item.query))] == 1]


def heads(titles: Sequence[Item]) -> list[Item]:
    """The titles without the endings that many of them share."""
    endings = Counter(ending for title, _ in titles for ending in _endings(title))
    common = {ending for ending, count in endings.items() if count > SHARED * len(titles)}

    def head(title: str) -> str:
        ending = next((ending for ending in _endings(title) if ending in common), "")
        return title.removesuffix(ending)

    return [Item(head(title), path) for title, path in titles]


def _endings(title: str) -> list[str]:
    return [title[match.start() :] for match in ENDING.finditer(title)]


def sample(items: Sequence[Item], most: int) -> list[Item]:
    draw = random.Random(0)  # noqa: S311  # reproducible
    return draw.sample(items, min(most, len(items)))


def main(folder: Path, crawls: Path, *names: str) -> None:
    table = Table("manual", "pages", "titles", "first", "top 3", "heads", "top 3")
    for column in ("+ name", "stay", "+ filler", "stay"):
        table.add_column(column)
    total = Counter[str]()
    for manual in webs.manuals(folder, names):
        indexed = webs.Indexed(manual, crawls)
        pages = [Item(page.title, page.path) for page in indexed.pages if page.title]
        full = ask(indexed, sample(unique(pages), TITLES))
        short = ask(indexed, sample(unique(heads(pages)), HEADS))
        named = ask(
            indexed, [item._replace(query=f"{item.query} {manual.own}") for item in short.top]
        )
        filled = ask(
            indexed,
            [
                item._replace(query=f"{item.query} {manual.filler[number % len(manual.filler)]}")
                for number, item in enumerate(short.top)
            ],
        )
        table.add_row(
            manual.name,
            f"{len(indexed.pages):,}",
            str(len(full.top) + len(full.missed)),
            full.share_first,
            full.share_top,
            str(len(short.top) + len(short.missed)),
            short.share_top,
            str(len(short.top)),
            named.share_top,
            str(len(short.top)),
            filled.share_top,
        )
        for what, asked in (("title", full), ("head", short), ("name", named), ("filler", filled)):
            total[f"{what} asked"] += len(asked.top) + len(asked.missed)
            total[f"{what} first"] += len(asked.first)
            total[f"{what} top"] += len(asked.top)
            for query, path in asked.missed:
                print(f"{manual.name}\t{what}\t{query}\t{path}")
    Console(width=120).print(table)
    for what in ("title", "head", "name", "filler"):
        asked, first, top = (total[f"{what} {count}"] for count in ("asked", "first", "top"))
        print(
            f"{what}: {asked} asked, {first / asked:.1%} first, {top / asked:.1%} in the top {TOP}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
