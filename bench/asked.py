"""How many questions of people and programmers get a good answer? On manuals of Debian.

    python bench/asked.py WEBS CRAWLS [MANUAL ...]

Each line of asked.tsv has a manual of webs.py, a query, and the paths of the pages that answer it.
They were chosen by reading the manuals, before Gossamer was asked. `*` matches any text. An answer
is good if one of these pages is among the first three results. Bad answers are listed with the
place of the first right page among the first ten, and with the first result.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import webs
from rich.console import Console
from rich.table import Table

TOP = 3
DEPTH = 10


class Question(NamedTuple):
    manual: str
    query: str
    pages: tuple[str, ...]
    """Patterns of the paths of good pages."""


def read() -> list[Question]:
    lines = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("# ")]
    return [Question(manual, query, tuple(pages.split())) for manual, query, pages in rows]


def place(question: Question, found: list[str]) -> int:
    """The place of the first good page, 0 if there is none."""
    good = [any(fnmatchcase(path, f"/{page}") for page in question.pages) for path in found]
    return good.index(True) + 1 if any(good) else 0


def main(folder: Path, crawls: Path, *names: str) -> None:
    table = Table("manual", "questions", "first", "top 3", "top 10")
    questions = read()
    places: list[int] = []
    for manual in webs.manuals(folder, names):
        indexed = webs.Indexed(manual, crawls)
        here: list[int] = []
        for question in questions:
            if question.manual != manual.name:
                continue
            found = indexed.found(question.query, DEPTH)
            here.append(place(question, found))
            if here[-1] not in range(1, TOP + 1):
                first = found[0] if found else "nothing"
                print(f"{manual.name}\t{question.query}\t{here[-1] or '-'}\t{first}")
        if here:
            table.add_row(manual.name, *_shares(here))
        places += here
    if places:
        table.add_row("all", *_shares(places))
    Console(width=120).print(table)


def _shares(places: list[int]) -> list[str]:
    shares = (sum(0 < place <= top for place in places) / len(places) for top in (1, TOP, DEPTH))
    return [str(len(places)), *(f"{share:.1%}" for share in shares)]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
