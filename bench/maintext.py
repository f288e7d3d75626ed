"""How good is the main text, and what does it cost, beside other extractors?

    python bench/maintext.py --collections FOLDER [--worst N]

FOLDER/maintext holds pages as NAME.html.gz or NAME.html, each with its expected text as NAME.txt.
Precision and recall are over the multiset of word 4-shingles, averaged over the pages; F1 is
computed from these averages, as in scrapinghub's article-extraction-benchmark. The interval is the
95 % bootstrap interval from 1,000 draws. The cost is CPU ms per page on one core, with parsing, the
best of three runs. Extractors that are not installed are left out.
"""

from __future__ import annotations

import gzip
import math
import random
import re
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness import Options, collection, generate_text, report
from rich.console import Console
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.html_page import article
from gossamer.parse.html.walk import findings
from gossamer.parse.parsed_page import Rules
from gossamer.parse.reading.charset import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Extractor = Callable[[str], str]

RUNS = 3
DRAWS = 1_000
SHINGLE_WORDS = 4
WORD = re.compile(r"\w+")

Shingles = Counter[tuple[str, ...]]


class Page(NamedTuple):
    name: str
    html: str
    expected: Shingles


class Score(NamedTuple):
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def shingles(text: str) -> Shingles:
    words = WORD.findall(text)
    starts = range(max(1, len(words) - SHINGLE_WORDS + 1))
    return Counter(tuple(words[start : start + SHINGLE_WORDS]) for start in starts)


def score(page: Page, text: str) -> Score:
    found = shingles(text)
    right = (found & page.expected).total()
    wrong = (found - page.expected).total()
    return Score(right / (right + wrong) if right else 0.0, right / page.expected.total())


def mean(scores: Sequence[Score]) -> Score:
    precisions, recalls = zip(*scores, strict=True)
    return Score(sum(precisions) / len(scores), sum(recalls) / len(scores))


def interval(scores: Sequence[Score]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of F1."""
    draw = random.Random(0)  # noqa: S311  # reproducible
    values = sorted(mean(draw.choices(scores, k=len(scores))).f1 for _ in range(DRAWS))
    return values[DRAWS // 40], values[-DRAWS // 40]


def pages_of(folder: Path) -> list[Page]:
    pages = []
    for path in sorted(folder.rglob("*")):
        name = path.name.removesuffix(".gz")
        expected = path.with_name(name.removesuffix(".html") + ".txt")
        if name.endswith(".html") and expected.exists():
            body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            text = expected.read_text(encoding="utf-8")
            page = decode(body, None)[0]
            pages.append(Page(name.removesuffix(".html"), page, shingles(text)))
    return pages


def ours(html: str) -> str:
    tree = LexborHTMLParser(html, scripting=True, options=1)
    return article(tree, findings(tree, Rules())).text


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


def generate(folder: Path) -> Path:
    """Write pages whose text stands between menus."""
    folder.mkdir()
    menu = "".join(f"<li><a href=/{word}>{word}</a></li>" for word in ("News", "Shop", "Contact"))
    for name in ("one", "two"):
        text = generate_text("en", name, 30)
        paragraphs = "".join(f"<p>{line}</p>" for line in text.splitlines())
        page = f"<title>{name}</title><ul>{menu}</ul><article>{paragraphs}</article><ul>{menu}</ul>"
        (folder / f"{name}.html").write_text(page)
        (folder / f"{name}.txt").write_text(text)
    return folder


def print_worst(pages: Sequence[Page], most: int) -> None:
    scores = sorted((score(page, ours(page.html)), page.name) for page in pages)
    for each, name in sorted(scores, key=lambda row: row[0].f1)[:most]:
        print(f"{each.f1:.2f}  P {each.precision:.2f}  R {each.recall:.2f}  {name}")


def main() -> None:
    parser = Options(__doc__)
    parser.add_argument("--worst", type=int, default=0, help="print Gossamer's N worst pages")
    options = parser.read()
    with tempfile.TemporaryDirectory() as scratch:
        folder = collection(options, "maintext") or generate(Path(scratch, "maintext"))
        pages = pages_of(folder)
    size = sum(len(page.html) for page in pages) / len(pages) / 1000
    table = Table(
        *("extractor", "precision", "recall", "F1", "95 % of draws", "ms per page"),
        title=f"{len(pages)} pages of {size:.0f} thousand characters",
    )
    found: dict[str, tuple[float, float]] = {}
    for name, extract in extractors():
        scores = [score(page, extract(page.html)) for page in pages]
        whole, ms = mean(scores), cost_ms(extract, pages)
        found[name] = whole.f1, ms
        table.add_row(
            name,
            *(f"{value:.3f}" for value in (*whole, whole.f1)),
            "{:.3f} to {:.3f}".format(*interval(scores)),
            f"{ms:.2f}",
        )
    Console().print(table)
    print_worst(pages, options.worst)
    (f1, ms), (their_f1, their_ms) = found["Gossamer"], found.get("trafilatura", (math.nan,) * 2)
    report(f"F1 {f1:.3f}; trafilatura {their_f1:.3f}, in {their_ms / ms:.0f} × the time")


if __name__ == "__main__":
    main()
