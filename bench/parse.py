"""What parsing costs: `python bench/parse.py FOLDER` of .html (or .html.gz) files.

Each stage alone, and beside it what others need for the same pages: Scrapy's selectors (parsel,
on lxml) for links with their words and the visible text, and resiliparse's plain text.
Processor time of one core, in ms a page; the best of three runs.
"""

from __future__ import annotations

import gzip
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from parsel import Selector
from resiliparse.extract.html2text import extract_plain_text
from rich.console import Console
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser
from w3lib.url import safe_url_string

from gossamer.config import FilterConfig
from gossamer.filters import Filters
from gossamer.parse.charset import decode
from gossamer.parse.content import parse_page
from gossamer.parse.guard import GuardedParser
from gossamer.parse.html import _Findings, _visible, _walk
from gossamer.parse.page import Page, Rules
from gossamer.urls import normalize_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


URL = "https://example.org/dir/page.html"
RUNS = 3
MIN_BYTES, MAX_BYTES, MAX_PAGES = 20_000, 400_000, 500


def pages_of(folder: Path) -> list[bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.name.endswith((".html", ".html.gz")))
    bodies = (
        gzip.decompress(p.read_bytes()) if p.suffix == ".gz" else p.read_bytes() for p in paths
    )
    return [body for body in bodies if MIN_BYTES <= len(body) <= MAX_BYTES][:MAX_PAGES]


def cost_ms(work: Callable[[Any], object], inputs: Sequence[Any]) -> float:
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        for each in inputs:
            work(each)
        best = min(best, time.process_time() - start)
    return best / len(inputs) * 1000


def wall_ms(work: Callable[[Any], object], inputs: Sequence[Any]) -> float:
    start = time.perf_counter()
    for each in inputs:
        work(each)
    return (time.perf_counter() - start) / len(inputs) * 1000


def walked(text: str, rules: Rules) -> _Findings:
    found = _Findings(rules)
    root = LexborHTMLParser(text, scripting=True, options=1).root
    assert root is not None
    _walk(root, found)
    return found


def scrapy_like(text: str) -> tuple[str, list[tuple[str, str]]]:
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


def main(folder: Path) -> None:
    rules = Rules()
    bodies = pages_of(folder)
    pages = [Page(URL, {"content-type": "text/html"}, body) for body in bodies]
    texts = [decode(body, None)[0] for body in bodies]
    trees = [LexborHTMLParser(text, scripting=True, options=1) for text in texts]
    found = [walked(text, rules) for text in texts]
    hrefs = [[link.href for link in each.links.values()] for each in found]
    targets = [[link.dst for link in parse_page(page, rules).links] for page in pages]
    filters = Filters.from_config(FilterConfig(deny=(r"\?replytocom=",)), ["example.org"], {})

    def walk(tree: LexborHTMLParser) -> None:
        assert tree.root is not None
        _walk(tree.root, _Findings(rules))

    table = Table("stage", "ms a page", title=f"{len(pages)} pages of {folder}")

    def row(stage: str, ms: float) -> None:
        table.add_row(stage, f"{ms:.3f}")

    row("charset", cost_ms(lambda body: decode(body, None), bodies))
    row("tree (lexbor)", cost_ms(lambda text: LexborHTMLParser(text, scripting=True), texts))
    row("walk: text, links, metadata", cost_ms(walk, trees))
    row("text put together", cost_ms(lambda f: _visible(f.pieces, 200_000), found))
    row("URLs normalised", cost_ms(lambda urls: normalize_all(urls, URL), hrefs))
    row("filters", cost_ms(lambda urls: filters.reject_all(urls, 1), targets))
    table.add_section()
    row("Gossamer: parse_page, all of the above", cost_ms(lambda p: parse_page(p, rules), pages))
    with GuardedParser(rules) as parser:
        parser.parse(pages[0])
        row("… in its guarded process (elapsed)", wall_ms(parser.parse, pages))
    row("parsel: links, anchors, text", cost_ms(scrapy_like, texts))
    row("resiliparse: plain text alone", cost_ms(extract_plain_text, texts))
    Console().print(table)
    links = sum(map(len, hrefs))
    size = sum(map(len, bodies))
    print(
        f"{size / len(bodies) / 1000:.0f} KB and {links / len(bodies):.0f} links a page; ", end=""
    )
    each_us = cost_ms(lambda urls: filters.reject_all(urls, 1), targets) * 1000
    print(f"filters {each_us * len(targets) / max(1, sum(map(len, targets))):.2f} µs a link")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
