"""What does it cost to parse a page, stage by stage, beside other libraries?

    python bench/parse.py [--manual FOLDER] [--pages N]

Of the pages in FOLDER (.html or .html.gz), N with 20 to 400 KB are taken, evenly spread.
Prints CPU ms per page on one core, the best of five runs for each page, and the same scaled to
95 KB. The goal is 6 ms for 95 KB, including main text and links. Other libraries get the same
decoded text: Scrapy's selectors (parsel, on lxml) extract links with anchors and the visible text,
resiliparse and trafilatura the main text. Libraries that are not installed are left out.
"""

from __future__ import annotations

import gzip
import tempfile
import time
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from harness import Options, manual, report, skip
from rich.console import Console
from rich.table import Table
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from gossamer.config import FilterConfig
from gossamer.parse.html.html_page import article
from gossamer.parse.html.page_metadata import metadata
from gossamer.parse.html.walk import findings
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, Rules
from gossamer.parse.process.guarded_parser import GuardedParser
from gossamer.parse.reading.charset import decode
from gossamer.parse.reading.language import language_of
from gossamer.rules.filters import Filters
from gossamer.web.sketches import hash_and_sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

URL = "https://example.org/dir/page.html"
RULES = Rules()
RUNS, MAX_S = 5, 20.0
"""Runs of each stage; no further run starts after MAX_S seconds."""
MIN_BYTES, MAX_BYTES = 20_000, 400_000
STANDARD_BYTES = 95_000
WHOLE = "parse_page: all of the above"
PARSEL = "parsel: links, anchors, text"


def pages_of(folder: Path, most: int) -> list[bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.name.endswith((".html", ".html.gz")))
    bodies = [
        gzip.decompress(p.read_bytes()) if p.suffix == ".gz" else p.read_bytes() for p in paths
    ]
    fit = [body for body in bodies if MIN_BYTES <= len(body) <= MAX_BYTES]
    return fit[:: -(-len(fit) // most) or 1]


def cost_ms(
    work: Callable[[Any], object],
    inputs: Sequence[Any],
    clock: Callable[[], float] = time.process_time,
) -> float:
    best = [float("inf")] * len(inputs)
    start = time.perf_counter()
    for _ in range(RUNS):
        for number, each in enumerate(inputs):
            before = clock()
            work(each)
            best[number] = min(best[number], clock() - before)
        if time.perf_counter() - start > MAX_S:
            break
    return sum(best) / len(inputs) * 1000


def tree_of(text: str) -> LexborHTMLParser:
    return LexborHTMLParser(text, scripting=True, options=LexborDocumentOptions.WO_EVENTS)


def stages(bodies: Sequence[bytes]) -> Iterator[tuple[str, float]]:
    texts = [decode(body, None)[0] for body in bodies]
    trees = [tree_of(text) for text in texts]
    found = [findings(tree, RULES) for tree in trees]
    mains = [article(*each)[0] for each in zip(trees, found, strict=True)]
    yield "decode", cost_ms(lambda body: decode(body, None), bodies)
    yield "tree (lexbor)", cost_ms(tree_of, texts)
    yield "walk: text, links, metadata", cost_ms(lambda tree: findings(tree, RULES), trees)
    yield "visible text", cost_ms(lambda each: each.lines.visible(), found)
    yield (
        "metadata",
        cost_ms(lambda each: metadata(each.head_metadata, URL, title=each.title), found),
    )
    yield (
        "links normalised",
        cost_ms(lambda each: each.references.links(URL, URL, RULES.urls), found),
    )
    yield "main text", cost_ms(lambda pair: article(*pair), list(zip(trees, found, strict=True)))
    yield "language", cost_ms(language_of, mains)
    yield "sketch, after parse_page", cost_ms(lambda main: hash_and_sketch(main, None), mains)


def whole(pages: Sequence[Page]) -> Iterator[tuple[str, float]]:
    targets = [[link.dst for link in parse_page(page, RULES).links] for page in pages]
    filters = Filters.from_config(FilterConfig(deny=(r"\?replytocom=",)), ["example.org"], {})
    yield WHOLE, cost_ms(lambda page: parse_page(page, RULES), pages)
    with GuardedParser(RULES) as parser:
        parser.parse(pages[0])
        yield "… in its guarded process (elapsed)", cost_ms(parser.parse, pages, time.perf_counter)
    yield "filters applied to its links", cost_ms(lambda urls: filters.reject_all(urls, 1), targets)


def peers(texts: Sequence[str]) -> Iterator[tuple[str, float]]:
    if find_spec("parsel") and find_spec("w3lib"):
        yield PARSEL, cost_ms(scrapy_like, texts)
    if find_spec("resiliparse"):
        extract = import_module("resiliparse.extract.html2text").extract_plain_text
        yield "resiliparse: main text", cost_ms(lambda t: extract(t, main_content=True), texts)
    if find_spec("trafilatura"):
        trafilatura = import_module("trafilatura")
        yield "trafilatura: main text", cost_ms(trafilatura.extract, texts)


def scrapy_like(text: str) -> tuple[str, list[tuple[str, str]]]:
    from parsel import Selector
    from w3lib.url import safe_url_string

    page = Selector(text=text)
    links = [
        (
            safe_url_string(urljoin(URL, a.attrib["href"].strip())),
            " ".join("".join(a.xpath(".//text()").getall()).split()),
        )
        for a in page.xpath("//a[@href]")
    ]
    visible = page.xpath("//body//text()[not(parent::script or parent::style)]").getall()
    return " ".join(" ".join(visible).split()), links


def main() -> None:
    options = Options(__doc__, pages=(100, 3)).read()
    with tempfile.TemporaryDirectory() as scratch:
        folder = manual(options, scratch)
        bodies = pages_of(folder, options.pages)
    if not bodies:
        skip(f"no page of {MIN_BYTES:,} to {MAX_BYTES:,} bytes in {folder}")
    pages = [Page(URL, {"content-type": "text/html"}, body) for body in bodies]
    size = sum(map(len, bodies)) / len(bodies)
    links = sum(len(parse_page(page, RULES).links) for page in pages) / len(pages)
    table = Table(
        *("stage", "ms per page", f"for {STANDARD_BYTES // 1000} KB"),
        title=f"{len(pages)} pages of {size / 1000:.0f} KB and {links:.0f} links",
    )
    found: dict[str, float] = {}
    for rows in (stages(bodies), whole(pages), peers([decode(body, None)[0] for body in bodies])):
        for stage, ms in rows:
            found[stage] = ms
            table.add_row(stage, f"{ms:.3f}", f"{ms * STANDARD_BYTES / size:.3f}")
        table.add_section()
    Console().print(table)
    ours = found[WHOLE]
    beside = f", {found[PARSEL] / ours:.1f} × faster than parsel" if PARSEL in found else ""
    report(f"{ours * STANDARD_BYTES / size:.1f} ms for 95 KB{beside}")


if __name__ == "__main__":
    main()
