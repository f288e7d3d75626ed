"""How good the main text is, and what it costs: `python bench/maintext.py FOLDER [--worst N]`.

FOLDER has pages as NAME.html.gz or NAME.html, and the text expected of each as NAME.txt. Precision
and recall are over word 4-shingles, counted, and averaged over the pages; F1 is theirs, as in
scrapinghub's article-extraction-benchmark. The halves are every other page: what is tuned to
pages shows there. Processor time of one core, in ms a page, with parsing; the best of three runs.
Extractors that are not installed are left out.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.charset import decode
from gossamer.parse.maintext import main_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Extractor = Callable[[str], str]

RUNS = 3
SHINGLE_WORDS = 4
WORD = re.compile(r"\w+")


class Page(NamedTuple):
    name: str
    html: str
    expected: Counter[tuple[str, ...]]


class Score(NamedTuple):
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def shingles(text: str) -> Counter[tuple[str, ...]]:
    words = WORD.findall(text)
    starts = range(max(1, len(words) - SHINGLE_WORDS + 1))
    return Counter(tuple(words[start : start + SHINGLE_WORDS]) for start in starts)


def score(page: Page, text: str) -> Score:
    found = shingles(text)
    right = (found & page.expected).total()
    return Score(right / found.total(), right / page.expected.total())


def mean(scores: Sequence[Score]) -> Score:
    precisions, recalls = zip(*scores, strict=True)
    return Score(sum(precisions) / len(scores), sum(recalls) / len(scores))


def pages_of(folder: Path) -> list[Page]:
    pages = []
    for path in sorted(folder.rglob("*")):
        name = path.name.removesuffix(".gz")
        expected = path.with_name(name.removesuffix(".html") + ".txt")
        if name.endswith(".html") and expected.exists():
            body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            text = expected.read_text(encoding="utf-8")
            pages.append(Page(name.removesuffix(".html"), decode(body, None)[0], shingles(text)))
    return pages


def ours(html: str) -> str:
    return main_text(LexborHTMLParser(html, scripting=True, options=1))


def extractors() -> Iterator[tuple[str, Extractor]]:
    yield "Gossamer", ours
    try:
        from resiliparse.extract.html2text import extract_plain_text
    except ImportError:
        pass
    else:
        yield (
            "resiliparse",
            lambda html: extract_plain_text(html, main_content=True, alt_texts=False),
        )
        yield "resiliparse, plain text", extract_plain_text
    try:
        from trafilatura import extract
    except ImportError:
        pass
    else:
        yield "trafilatura", lambda html: extract(html, include_comments=False) or ""
        yield (
            "trafilatura, fast",
            lambda html: extract(html, include_comments=False, fast=True) or "",
        )


def cost_ms(extract: Extractor, pages: Sequence[Page]) -> float:
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        for page in pages:
            extract(page.html)
        best = min(best, time.process_time() - start)
    return best / len(pages) * 1000


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--worst", type=int, default=0, help="print the worst pages of ours")
    options = parser.parse_args(arguments)
    pages = pages_of(options.folder)
    if not pages:
        sys.exit(f"no NAME.html(.gz) beside a NAME.txt in {options.folder}")
    size = sum(len(page.html) for page in pages) / len(pages) / 1000
    table = Table(
        *("extractor", "precision", "recall", "F1", "F1 of the halves", "ms a page"),
        title=f"{len(pages)} pages of {size:.0f} thousand characters",
    )
    for name, extract in extractors():
        scores = [score(page, extract(page.html)) for page in pages]
        whole, *halves = (mean(part) for part in (scores, scores[::2], scores[1::2] or scores))
        table.add_row(
            name,
            *(f"{value:.3f}" for value in (*whole, whole.f1)),
            "  ".join(f"{half.f1:.3f}" for half in halves),
            f"{cost_ms(extract, pages):.2f}",
        )
    Console().print(table)
    worst = sorted((score(page, ours(page.html)), page.name) for page in pages)
    for each, name in sorted(worst, key=lambda row: row[0].f1)[: options.worst]:
        print(f"{each.f1:.2f}  P {each.precision:.2f}  R {each.recall:.2f}  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
