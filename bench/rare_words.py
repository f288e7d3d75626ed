"""Is every word of a page searched, and do snippets show the words of the query?

    python bench/rare_words.py WEBS CRAWLS [MANUAL ...]

For each manual of webs.py, WORDS words are asked that at most RARE pages show: one of these pages
must be among the first ten results. Then the questions of asked.tsv and QUERIES titles are asked. A
snippet of the first five results fails if the page shows a word of the query and the snippet
neither has one nor marks a form of one, a number of the query, or two different words. Otherwise,
words that more than half of the site's pages show do not count. Words are compared as they are
written, except for case. Failures are listed.
"""

from __future__ import annotations

import random
import re
import sys
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import asked
import webs
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

RARE = 3
WORDS = 300
QUERIES = 30
SHOWN = 5
LENGTHS = range(3, 41)
CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\u3040-\u30ff]")
"""Scripts without spaces between words."""
NUMBER = re.compile(r"\b\d+\b")
MARKED = re.compile(r"<b>(.*?)</b>")


def rare(indexed: webs.Indexed) -> list[str]:
    words = sorted(
        word
        for word, pages in indexed.frequencies.items()
        if pages <= RARE and len(word) in LENGTHS and not CJK.search(word)
    )
    draw = random.Random(0)  # noqa: S311  # reproducible
    return draw.sample(words, min(WORDS, len(words)))


def lost(indexed: webs.Indexed, words: Sequence[str]) -> list[tuple[str, str]]:
    """The words that find none of their pages, with one of these."""
    failed = []
    for word in words:
        owners = {page.path for page in indexed.pages if word in page.words}
        if not owners.intersection(indexed.found(word, 10)):
            failed.append((word, min(owners)))
    return failed


def unmarked(indexed: webs.Indexed, query: str) -> tuple[int, list[tuple[str, str]]]:
    """Return the number of snippets, and the query and page of each that fails."""
    half = len(indexed.pages) / 2
    telling = {word for word in webs.words(query) if indexed.frequencies[word] <= half}
    hits = indexed.searcher.search(query, limit=SHOWN).hits
    failed = []
    for hit in hits:
        page = indexed.page_of.get(webs.path_of(hit.url))
        snippet = set(webs.words(unescape(re.sub(r"<[^>]*>", "", hit.snippet))))
        marks = unescape(" ".join(MARKED.findall(hit.snippet))).lower()
        marked = set(webs.words(marks))
        shows = (
            telling & snippet
            or len(marked) > 1
            or NUMBER.search(marks)
            or any(indexed.frequencies[word] <= half for word in marked)
        )
        if page and telling & page.words and not shows:
            failed.append((query, page.path))
    return len(hits), failed


def main(folder: Path, crawls: Path, *names: str) -> None:
    table = Table("manual", "rare words", "found", "snippets", "without a word")
    questions = asked.read()
    for manual in webs.manuals(folder, names):
        indexed = webs.Indexed(manual, crawls)
        words = rare(indexed)
        losses = lost(indexed, words)
        draw = random.Random(0)  # noqa: S311  # reproducible
        titles = sorted(page.title for page in indexed.pages)
        queries = [each.query for each in questions if each.manual == manual.name]
        queries += draw.sample(titles, min(QUERIES, len(titles)))
        results = [unmarked(indexed, query) for query in queries]
        bare = [each for _, failed in results for each in failed]
        table.add_row(
            manual.name,
            str(len(words)),
            f"{1 - len(losses) / max(1, len(words)):.1%}",
            str(sum(count for count, _ in results)),
            str(len(bare)),
        )
        for what, failed in (("word", losses), ("snippet", bare)):
            for query, path in failed:
                print(f"{manual.name}\t{what}\t{query}\t{path}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
