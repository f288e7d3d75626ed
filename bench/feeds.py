"""What do feeds and sitemaps cost, beside other parsers? And what do broken ones lose?

    python bench/feeds.py

Prints CPU ms per document (best of five, one thread) for a feed of 100 entries with 3 KB of HTML
each, and for sitemaps of 10,000 URLs with dates, without and with alternates in six languages; then
how many of their entries each parser finds after damage. Parsers that are not installed
(feedparser, fastfeedparser, ultimate-sitemap-parser, lxml) have no row. expat and lxml are the
lower bound: they see the elements but do not interpret them.
"""

import io
import time
from collections.abc import Callable, Sequence
from html import escape
from importlib import import_module
from types import ModuleType
from xml.parsers import expat

from gossamer.parse.dates import parse_date
from gossamer.parse.listing.feed import parse_feed
from gossamer.parse.listing.sitemap import parse_sitemap

ENTRIES, URLS = 100, 10_000
LANGUAGES = ("en-GB", "de-DE", "fr-FR", "it-IT", "es-ES", "pl-PL")
HTML = "<p>Some words about <a href='http://a.example/knots'>knots</a> &amp; ropes.</p>\n" * 40

Parser = Callable[[bytes], int]  # returns the number of entries


def installed(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


def feed() -> str:
    items = "".join(
        f"<item><title>Entry {n} &amp; more</title><link>http://a.example/{n}?a=1&amp;b=2</link>"
        f"<guid>http://a.example/{n}</guid>"
        f"<pubDate>Wed, 01 May 2024 10:20:{n % 60:02} GMT</pubDate>"
        f"<dc:creator>Ann</dc:creator><description>{escape(HTML)}</description></item>\n"
        for n in range(ENTRIES)
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>T</title>'
        f"<link>http://a.example/</link><description>D</description>{items}</channel></rss>"
    )


def sitemap(languages: Sequence[str] = ()) -> str:
    """Return a sitemap in which each URL lists alternates in these languages."""
    urls = "".join(
        f"<url><loc>http://a.example/section/{n}/a-page-with-a-long-name.html</loc>"
        + "".join(
            f'<xhtml:link rel="alternate" hreflang="{language}"'
            f' href="http://a.example/{language}/section/{n}/a-page-with-a-long-name.html"/>'
            for language in languages
        )
        + f"<lastmod>2024-05-{n % 28 + 1:02}T10:20:30+02:00</lastmod><changefreq>daily</changefreq>"
        f"<priority>0.{n % 10}</priority></url>\n"
        for n in range(URLS)
    )
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    xhtml = "http://www.w3.org/1999/xhtml"
    return (
        '<?xml version="1.0" encoding="utf-8"?>'
        f'<urlset xmlns="{space}" xmlns:xhtml="{xhtml}">{urls}</urlset>'
    )


DAMAGE: dict[str, Callable[[str], str]] = {
    "whole": lambda text: text,
    "white space first": lambda text: "\n\n" + text,
    "a bare &": lambda text: text.replace("&amp;b=", "&b=").replace("long-name", "long&name"),
    "&nbsp;": lambda text: text.replace("more<", "&nbsp;more<").replace("a-page", "&nbsp;page"),
    "HTML unescaped": lambda text: text.replace("Entry 50", "<p>Entry<br>").replace(
        "section/50/", "<br>/"
    ),
    "an extra end tag": lambda text: text.replace("<title>Entry 50", "</b><title>Entry 50").replace(
        "<loc>http://a.example/section/50/", "</b><loc>http://a.example/section/50/"
    ),
    "a control character": lambda text: text.replace("Entry 50", "\x08").replace("/50/", "\x08"),
    "cut in the middle": lambda text: text[: len(text) // 2],
}


def with_expat(body: bytes) -> int:
    names: list[str] = []
    pieces: list[str] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, _: names.append(name)
    parser.CharacterDataHandler = pieces.append
    try:
        parser.Parse(body, True)
    except expat.ExpatError:
        return 0
    return names.count("item") + names.count("url")


def feed_parsers() -> dict[str, Parser]:
    parsers: dict[str, Parser] = {
        "gossamer": lambda body: len(found.entries) if (found := parse_feed(body)) else 0
    }
    if fast := installed("fastfeedparser"):
        parsers["fastfeedparser"] = lambda body: len(fast.parse(body).entries)
    if slow := installed("feedparser"):
        parsers["feedparser"] = lambda body: len(slow.parse(body).entries)
    return {**parsers, "expat only": with_expat, **with_lxml("item")}


def sitemap_parsers() -> dict[str, Parser]:
    parsers: dict[str, Parser] = {
        "gossamer": lambda body: len(found.entries) if (found := parse_sitemap(body)) else 0
    }
    if usp := installed("usp.tree"):

        def ultimate(body: bytes) -> int:
            tree = usp.sitemap_from_str(body.decode())
            return sum(1 for _ in tree.all_pages())

        parsers["ultimate-sitemap-parser"] = ultimate
    return {**parsers, "expat only": with_expat, **with_lxml("url")}


def with_lxml(name: str) -> dict[str, Parser]:
    """lxml with recovery and without resolving entities; an entry counts if it has its URL."""
    if not (etree := installed("lxml.etree")):
        return {}

    def count(body: bytes) -> int:
        options = {"recover": True, "resolve_entities": False, "no_network": True}
        nodes = etree.iterparse(io.BytesIO(body), tag=f"{{*}}{name}", **options)
        return sum(
            any(etree.QName(child).localname in ("link", "loc") and child.text for child in node)
            for _, node in nodes
        )

    return {"lxml with recovery only": count}


def cost_ms(run: Callable[[], object]) -> float:
    def timed() -> float:
        start = time.process_time()
        run()
        return time.process_time() - start

    return 1_000 * min(timed() for _ in range(5))


def survived(parser: Parser, text: str) -> str:
    try:
        return str(parser(text.encode()))
    except Exception as error:  # noqa: BLE001  # the table shows how parsers fail
        return type(error).__name__[:12]


def table(title: str, text: str, parsers: dict[str, Parser]) -> None:
    body = text.encode()
    print(f"\n{title}, {len(body) / 1_000:.0f} KB{'':12}{'ms':>8}{'MB/s':>8}{'ratio':>8}")
    first = 0.0
    for name, parser in parsers.items():
        took_ms = cost_ms(lambda parser=parser: parser(body))
        first = first or took_ms
        speed = len(body) / 1_000 / took_ms
        print(f"{name:40}{took_ms:8.1f}{speed:8.1f}{took_ms / first:8.1f}")
    print(f"\n{'entries found: ':24}" + "".join(f"{name[:14]:>16}" for name in parsers))
    for name, damage in DAMAGE.items():
        found = (survived(parser, damage(text)) for parser in parsers.values())
        print(f"{name:24}" + "".join(f"{each:>16}" for each in found))


def main() -> None:
    table(f"a feed of {ENTRIES} entries", feed(), feed_parsers())
    table(f"a sitemap of {URLS:,} URLs", sitemap(), sitemap_parsers())
    table(f"the same in {len(LANGUAGES)} languages", sitemap(LANGUAGES), sitemap_parsers())
    print(f"\n{'dates':40}{'µs':>8}")
    for text in ("2024-05-01T10:20:30+02:00", "Wed, 01 May 2024 10:20:30 GMT", "no date"):
        took_ms = cost_ms(lambda text=text: [parse_date(text) for _ in range(10_000)])
        print(f"{text:40}{took_ms / 10:8.2f}")


if __name__ == "__main__":
    main()
