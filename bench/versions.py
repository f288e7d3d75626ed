"""Does an answer show two versions of a page? Three manuals in four versions each, 50 queries.

    python bench/versions.py FOLDER FOLDER FOLDER

The folders hold the HTML of the Debian packages python3.11-doc, git-doc and postgresql-doc-15. As
Debian has one version of each, older ones are derived: per step back, one page in twelve is
missing, one in thirty was dropped later, one line in 25 is missing and one word in 100 is another
one, and version numbers in titles and texts are those of the version. The main texts are indexed as
a crawl leaves them, once with `dedup.versions` and once without. Of 50 queries, the table has the
number of answers whose first ten results contain two versions of a page, and the share of the older
pages that are named among the `copies` of their newest version, or of the page that stands for it.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from corpus import crawl
from parse import RULES
from rich.console import Console
from rich.table import Table

from gossamer import dedup, index
from gossamer.config import EngineConfig
from gossamer.engine import Engine
from gossamer.parse.content import parse_page
from gossamer.parse.page import Page
from gossamer.sketches import described

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.api import Crawl

PAGES = 250
"""Pages of a manual, at most."""
MISSING, DROPPED, LINES, WORDS = 1 / 12, 1 / 30, 1 / 25, 1 / 100
SETTINGS = "index.shards = 1\ndedup.versions = {}\n"


class Manual(NamedTuple):
    base: str
    versions: tuple[str, ...]
    """The newest first; it is the one that the pages are of."""
    number: str
    """How the pages write the newest one, as a regular expression."""


MANUALS = (
    Manual("https://docs.python.example/{}/", ("3.11", "3.10", "3.9", "3.8"), r"3\.11(\.\d+)?"),
    Manual(
        "https://git.example/docs/{}/", ("latest", "v2.38.1", "v2.30.0", "v2.9.5"), r"2\.39\.\d"
    ),
    Manual("https://postgres.example/docs/{}/en/", ("15", "14", "13", "12"), r"15(\.\d+)?"),
)
QUERIES = """
python regular expressions; python list comprehension; open a file in python; asyncio event loop;
python dictionary methods; json dumps; how to sort a list; subprocess run; python logging;
datetime strftime format; python unittest assert; argparse positional arguments; pickle protocol;
python decimal; socket timeout python; string formatting; python glossary; built-in exceptions;
git rebase interactive; git cherry-pick; undo a commit in git; git stash; git bisect run;
git submodule update; git merge conflict; gitignore patterns; git log format; git worktree;
git hooks; git config user.name; git fetch prune; git reset hard; git blame; git push force;
create table; create index concurrently; postgres window functions; full text search; vacuum;
postgres json functions; pg_dump; streaming replication; postgres data types; explain analyze;
create role; alter table add column; select distinct; postgres transaction isolation; triggers;
date and time functions
"""


def derived(manual: Manual, folder: Path) -> Iterator[dict[str, Any]]:
    """The documents of all versions."""
    paths = sorted(path for path in folder.rglob("*.html") if path.stat().st_size > 5_000)
    if not paths:
        raise SystemExit(f"{folder}: has no HTML pages: unpack the packages named above")
    for number, path in enumerate(paths[:: -(-len(paths) // PAGES)]):
        name = str(path.relative_to(folder))
        page = parse_page(
            Page(f"https://a.example/{name}", {"content-type": "text/html"}, path.read_bytes()),
            RULES,
        )
        text, title = page.main_text or page.text or "", page.title or name
        draw = random.Random(number)  # noqa: S311  # reproducible
        present = True
        for age, version in enumerate(manual.versions):
            if age:
                text = older(text, draw)
                present = present and draw.random() > MISSING
            if present:
                yield document(manual, version, name, title, text)
            if age and draw.random() < DROPPED:
                dropped = "\n".join(draw.sample(text.split("\n"), len(text.split("\n"))))
                yield document(manual, version, f"dropped-{number}-{age}.html", "Dropped", dropped)


def older(text: str, draw: random.Random) -> str:
    lines = [line for line in text.split("\n") if draw.random() > LINES]
    return "\n".join(
        " ".join(
            f"older{draw.getrandbits(12)}" if draw.random() < WORDS else word
            for word in line.split(" ")
        )
        for line in lines
    )


def document(manual: Manual, version: str, name: str, title: str, text: str) -> dict[str, Any]:
    number = re.sub("^[a-z]+", "", version) or "2.39.5"
    title, text = (re.sub(rf"\b{manual.number}\b", number, each) for each in (title, text))
    text_hash, sketch = described(text, title)
    url = manual.base.format(version) + name
    return {
        "url": url,
        "host": url.split("/")[2],
        "rank": 1e-4,
        "anchors": [title],
        "title": title,
        "text": text,
        "main_text": text,
        "language": "en",
        "fetched_ms": 0,
        "content_type": "text/html",
        "text_hash": text_hash,
        "sketch": sketch,
    }


def page_of(url: str) -> str:
    """The URL without its version."""
    for manual in MANUALS:
        for version in manual.versions:
            url = url.replace(manual.base.format(version), manual.base)
    return url


def repeating(made: Crawl, queries: Sequence[str]) -> list[str]:
    """The queries whose answers show two versions of a page."""
    found = []
    for query in queries:
        pages = Counter(page_of(hit.url) for hit in made.search(query).hits)
        if any(count > 1 for count in pages.values()):
            found.append(query)
    return found


def named(made: Crawl, urls: Sequence[str]) -> float:
    """The share of the older pages that the newest one names, or what stands for it."""
    rows = made.dataset("dispositions").collect()
    copies = {(row["url"], copy["url"]) for row in rows for copy in row["copies"] or ()}
    stands = {row["url"]: row["survivor"] or row["url"] for row in rows}
    newest: dict[str, str] = {}
    for url in urls:  # the newest version of each page comes first
        newest.setdefault(page_of(url), url)
    older = [(stands[newest[page_of(url)]], url) for url in urls if newest[page_of(url)] != url]
    return sum(first == url or (first, url) in copies for first, url in older) / len(older)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs=3, metavar="FOLDER")
    options = parser.parse_args()
    documents = [
        row
        for manual, folder in zip(MANUALS, options.folders, strict=True)
        for row in derived(manual, folder)
    ]
    queries = [" ".join(query.split()) for query in QUERIES.split(";")]
    table = Table(
        *("dedup.versions", "documents", "indexed", "answers with two versions", "older named"),
        title=f"{len(queries)} queries",
    )
    for setting in ("false", "true"):
        with tempfile.TemporaryDirectory() as folder, Engine(EngineConfig(workers=2)) as engine:
            made = crawl(Path(folder, "crawl"), documents, engine, SETTINGS.format(setting))
            dedup.run(made.work)
            indexed = index.run(made.work).counts["indexed"]
            repeats = repeating(made, queries)
            share = named(made, [row["url"] for row in documents])
        table.add_row(
            setting, str(len(documents)), str(indexed), str(len(repeats)), f"{100 * share:.1f} %"
        )
    Console().print(table)


if __name__ == "__main__":
    main()
