"""Pages with a known main text, from manuals whose generators mark it reliably.

The expected text is the element that the generator marks as the text, without its navigation.
Titles and tables of contents are *open*: including them is neither right nor wrong. Extractors may
know the generators' names for these elements, so each page is measured twice: unchanged, and
`nameless`, without classes, ids and roles, and with each semantic element replaced by a `div`.
"""

from __future__ import annotations

import html
import random
import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.parse.charset import decode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHINGLE_WORDS = 4
MIN_EXPECTED_CHARS = 80
MAX_BYTES = 3_000_000

Shingles = Counter[tuple[str, ...]]


class Generator(NamedTuple):
    name: str
    sign: str
    """A selector that matches if the generator wrote the page."""
    content: str
    """A selector for the element with the text."""
    navigation: str = ""
    """A selector for navigation in that element."""
    open: str = ""
    """A selector for elements that may be included or left out."""


class Page(NamedTuple):
    name: str
    html: str
    expected: Shingles
    open: Shingles


class Manual(NamedTuple):
    generators: str
    pages: list[Page]
    nameless: list[Page]


DOCBOOK_NAVIGATION = """.navheader, .navfooter, .docnav, table.navigation, .spirit-nav, .footer,
    #breadcrumbs, #banner, .producttitle, #title, .documentation, .copyright-footer, body > table"""
DOCBOOK_CONTENTS = ".toc, .title, .list-of-tables, .list-of-figures, .legalnotice"
TEXINFO_NAVIGATION = ".header, .nav-panel, .nav_table, .footer, #footer, .shortcontents, #languages"
TEXINFO_CONTENTS = ".contents, .section-toc, .mini-toc, table.menu, ul.menu"
GENERATORS = (
    Generator("mdBook", "#content main", "#content main"),
    Generator(
        "rustdoc",
        "meta[name=generator][content=rustdoc]",
        "#main-content",
        ".sidebar, .srclink, .sub-menu, .notable-traits, .notable-traits-tooltip",
        ".out-of-band",
    ),
    Generator("Javadoc", "meta[name=generator][content^=javadoc]", "main", "", "ul.sub-nav-list"),
    Generator("Doxygen", "meta[name=generator][content^=Doxygen]", "div.contents", ".ttc"),
    Generator("gi-docgen", "section#main.content", "section#main.content"),
    Generator(
        "GTK-Doc",
        "meta[name=generator][content^=GTK-Doc]",
        "body",
        DOCBOOK_NAVIGATION,
        DOCBOOK_CONTENTS,
    ),
    Generator(
        "DocBook",
        ".navheader, .docnav, .spirit-nav",
        "body",
        DOCBOOK_NAVIGATION,
        DOCBOOK_CONTENTS,
    ),
    Generator(
        "makeinfo",
        "meta[name=Generator][content*=makeinfo], meta[name=Generator][content*=texi2any]",
        "body",
        TEXINFO_NAVIGATION,
        TEXINFO_CONTENTS,
    ),
    Generator(
        "texi2html",
        "meta[name=Generator][content^=texi2html]",
        "#main",
        TEXINFO_NAVIGATION,
        TEXINFO_CONTENTS,
    ),
    Generator(
        "AsciiDoc",
        "meta[name=generator][content^=Asciidoc], meta[name=generator][content^=AsciiDoc]",
        "#content",
        "",
        "#toc",
    ),
    Generator(
        "MediaWiki",
        "#mw-content-text",
        "#mw-content-text",
        ".editsection, .mw-editsection, .navbox, .t-navbar",
        "#toc",
    ),
    Generator("Erlang", "#container #content", "#content", "", "ul.toc"),
    Generator("FPDoc", "table.bar", "body", "table.bar"),
    Generator("QDoc", "#qtdocheader", "div.content > .line", "", ".toc, .sidebar"),
    Generator("Node.js", "#apicontent", "#apicontent", ".mark"),
    Generator("Apache", "#page-content", "#page-content", ".up, #comments_section", "#quickview"),
    Generator(
        "Sphinx",
        "div.documentwrapper div.body, div[role=main] [itemprop=articleBody], #docs-body",
        "div.documentwrapper div.body, div[role=main] [itemprop=articleBody], #docs-body",
        ".rst-footer-buttons",
        ".contents",
    ),
    Generator("Sphinx, YUI", "#yui-main .yui-g", "#yui-main .yui-g", ".nav", ".contents"),
    Generator("MkDocs", "div[role=main]", "div[role=main]"),
)

NEVER = """script, style, noscript, template, button, select, svg, iframe, [hidden], a.headerlink,
    a.anchor, [style*="display:none"], [style*="display: none"]"""
INLINE = re.compile(
    r"</?(?:a|abbr|b|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub"
    r"|sup|tt|u|var|wbr)\b[^>]*>|<!--.*?-->",
    re.DOTALL | re.IGNORECASE,
)
TAG = re.compile(r"<[^>]*>")
WITH_MEANING = re.compile(r"<(/?)(?:main|article|nav|aside|header|footer|section)\b", re.IGNORECASE)
WORD = re.compile(r"\w+")


def shingles(text: str) -> Shingles:
    words = WORD.findall(text)
    starts = range(max(1, len(words) - SHINGLE_WORDS + 1))
    return Counter(tuple(words[start : start + SHINGLE_WORDS]) for start in starts)


def manual(folder: Path, most: int) -> Manual:
    """Return at most `most` random pages of a folder, the same on each run."""
    found = list(islice(marked_pages(folder), most))
    return Manual(
        ", ".join(sorted({generator.name for generator, _ in found})),
        [page for _, page in found],
        [page._replace(html=nameless(page.html)) for _, page in found],
    )


def marked_pages(folder: Path) -> Iterator[tuple[Generator, Page]]:
    files = {path.resolve() for path in folder.rglob("*.htm*") if path.suffix != ".gz"}
    paths = sorted(path for path in files if path.is_file() and path.stat().st_size < MAX_BYTES)
    for path in random.Random(0).sample(paths, len(paths)):  # noqa: S311  # reproducible
        text = decode(path.read_bytes(), None)[0]
        tree = LexborHTMLParser(text, scripting=True, options=1)
        for generator in GENERATORS:
            if tree.css_first(generator.sign) is not None:
                expected, left_open = marked(tree, generator)
                if len(expected) >= MIN_EXPECTED_CHARS:
                    yield generator, Page(str(path), text, shingles(expected), left_open)
                break


def marked(tree: LexborHTMLParser, generator: Generator) -> tuple[str, Shingles]:
    """Return the text that the generator marks, and the shingles that are open.

    Removes elements from the tree.
    """
    title = tree.css_first("title")
    head = title.text() if title is not None else ""
    left_open = shingles(head)
    content = tree.css_first(generator.content)
    if content is None:
        return "", left_open
    for element in content.css(
        f"{NEVER}, {generator.navigation}" if generator.navigation else NEVER
    ):
        element.decompose()
    for element in content.css(f"h1, {generator.open}" if generator.open else "h1"):
        left_open |= shingles(written(element))
        element.decompose()
    for heading in content.css("h2, h3, h4")[:2]:
        words = WORD.findall(written(heading).lower())
        if words and " ".join(words) in " ".join(WORD.findall(head.lower())):
            left_open |= shingles(written(heading))
            heading.decompose()
    return written(content), left_open


def written(element: LexborNode) -> str:
    text = html.unescape(TAG.sub(" ", INLINE.sub("", element.html or "")))
    return " ".join(text.split())


def nameless(page: str) -> str:
    tree = LexborHTMLParser(page, scripting=True, options=1)
    for node in tree.root.traverse() if tree.root is not None else ():
        for name in {"class", "id", "role", "itemprop"}.intersection(node.attributes):
            del node.attrs[name]
    return WITH_MEANING.sub(r"<\1div", tree.html or "")
