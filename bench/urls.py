"""What does it cost to normalise a page's links, beside other crawlers?

    python bench/urls.py FOLDER     # of .html files, such as the documentation of a package

Prints CPU µs per link (best of three, one thread), over all links of the pages, and over each
page's distinct references without fragments, so that no link is answered from a cache.
"""

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import urljoin

import ada_url
from selectolax.lexbor import LexborHTMLParser
from w3lib.url import canonicalize_url

from gossamer.urls import domain_of, host_of, normalize, normalize_all

Page = tuple[str, list[str]]  # URL, references
ROOT = "http://docs.example.org/"


def read_pages(folder: Path) -> list[Page]:
    pages = []
    for file in sorted(folder.rglob("*.html")):
        anchors = LexborHTMLParser(file.read_bytes()).css("a[href]")
        hrefs = [anchor.attributes["href"] or "" for anchor in anchors]
        pages.append((ROOT + file.relative_to(folder).as_posix(), hrefs))
    return pages


def join_with_ada(base: str, hrefs: list[str]) -> list[str | None]:
    joined: list[str | None] = []
    for href in hrefs:
        try:
            joined.append(ada_url.join_url(base, href))
        except ValueError:
            joined.append(None)
    return joined


JOINS: dict[str, Callable[[str, list[str]], object]] = {
    "normalize_all": lambda base, hrefs: normalize_all(hrefs, base),
    "normalize, one by one": lambda base, hrefs: [normalize(href, base) for href in hrefs],
    "ada join only": join_with_ada,
    "urllib join only": lambda base, hrefs: [urljoin(base, href) for href in hrefs],
    "w3lib (Scrapy)": lambda base, hrefs: [canonicalize_url(urljoin(base, href)) for href in hrefs],
}


def best_of_three(run: Callable[[], object]) -> float:
    def timed() -> float:
        start = time.process_time()
        run()
        return time.process_time() - start

    return min(timed() for _ in range(3))


def print_table(title: str, costs: Iterable[tuple[str, float]]) -> None:
    print(f"\n{title:44}{'µs/link':>10}{'ratio':>8}")
    first = 0.0
    for name, microseconds in costs:
        first = first or microseconds
        print(f"{name:44}{microseconds:10.2f}{microseconds / first:8.1f}")


def joins(pages: list[Page]) -> Iterable[tuple[str, float]]:
    links = sum(len(hrefs) for _, hrefs in pages)
    for name, join in JOINS.items():
        elapsed_s = best_of_three(lambda join=join: [join(*page) for page in pages])  # type: ignore[misc]
        yield name, elapsed_s / links * 1e6


def keys(urls: list[str]) -> Iterable[tuple[str, float]]:
    for key in (host_of, domain_of):
        elapsed_s = best_of_three(lambda key=key: [key(url) for url in urls])  # type: ignore[misc]
        yield key.__name__, elapsed_s / len(urls) * 1e6


def main() -> None:
    pages = read_pages(Path(sys.argv[1]))
    if not pages:
        sys.exit(f"{sys.argv[1]} holds no .html files")
    distinct = [
        (base, list(dict.fromkeys(href.partition("#")[0] for href in hrefs)))
        for base, hrefs in pages
    ]
    urls = [url for base, hrefs in distinct for url in normalize_all(hrefs, base) if url]
    dynamic = [(base, [f"{href}?id=3&utm_source=x" for href in hrefs]) for base, hrefs in distinct]
    for title, group in {
        "all links": pages,
        "distinct references": distinct,
        "distinct, each with two parameters": dynamic,
    }.items():
        print_table(f"{title} ({sum(len(hrefs) for _, hrefs in group):,})", joins(group))
    print_table(f"keys of normalised URLs ({len(urls):,})", keys(urls))


if __name__ == "__main__":
    main()
