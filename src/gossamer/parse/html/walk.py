"""One walk over lexbor's tree, for text, headings, links and metadata.

Facts (selectolax 1.0, per page of 77 KB, 1,800 nodes and 100 links): parsing takes 0.23 ms; a walk
over every node from Python 0.3 ms, as nodes are cheap; one CSS query 0.1 ms. lexbor's own text
extraction ignores blocks ("<li>a<li>b" is "ab" or, with a separator, "<b>a</b>b" is "a b"). One
walk that sees where elements start and end gets the text right, and costs less than separate
queries for links, headings and metadata.

Scripting is "enabled", as in browsers: a noscript element is one text node, which is not shown
and does not end the head early.

Bounds: everything here is linear in the page. lexbor itself is quadratic in the depth of open
elements and in the number of attributes of an element, and unbounded where formatting elements are
reconstructed (`guard.py`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.head_metadata import (
    FEED_TYPES,
    JSONLD_TYPE,
    HeadMetadata,
    is_date_abbreviation,
)
from gossamer.parse.page import PERMALINK, fold, short
from gossamer.parse.references import MAX_HREF_CHARS, References

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from selectolax.lexbor import LexborNode

    from gossamer.parse.html.head_metadata import Attributes
    from gossamer.parse.page import Rules

MAX_ANCHOR_CHARS = 200
MAX_HEADINGS = 100
MAX_HEADING_CHARS = 500
MAX_TITLE_CHARS = 1_000
MAX_TIME_CHARS = 100
MAX_SIZES = 20
"""URLs read from one srcset attribute."""
MAX_PHRASE_NODES = 64
"""Text nodes read for an anchor text or a heading, so that nesting stays cheap."""

BREAK = "\0"
"""Separates blocks. No text node contains a NUL (§13.2.5 of HTML)."""
NOFOLLOW = frozenset(("nofollow", "ugc", "sponsored"))
PAGE_TYPES = frozenset(("", "text/html", "application/xhtml+xml"))


class Findings:
    """What the walk has found so far."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.pieces: list[str] = []
        self.refused: Counter[str] = Counter()
        self.references = References(rules.max_links, self.refused)
        self.head_metadata = HeadMetadata(rules.agent)
        self.anchors: list[tuple[Attributes, int]] = []
        """Open anchors: their attributes, and the index of their first piece of text."""
        self.alt = ""
        self.headings: list[tuple[int, str]] = []
        self.heading_starts: list[int] = []
        self.times: list[tuple[Attributes, int]] = []
        self.title = ""
        self.base: str | None = None
        self.language: str | None = None

    def visible(self) -> str:
        """Return the visible text: one line for each block that has any."""
        blocks = "".join(self.pieces).split(BREAK)
        lines = map(" ".join, map(str.split, blocks))
        return "\n".join(filter(None, lines))

    def phrase(self, start: int, limit: int) -> str:
        """Return up to `limit` characters of the folded text from piece `start` on.

        At most MAX_PHRASE_NODES pieces are read, which bounds the cost.
        """
        pieces = self.pieces[start : start + MAX_PHRASE_NODES]
        if len(pieces) == 1:
            return short(pieces[0], limit)
        return fold("".join([piece[:limit] for piece in pieces]).replace(BREAK, " "))[:limit]


def findings(tree: LexborHTMLParser, rules: Rules) -> Findings:
    """Collect the text, headings, references and metadata of a page."""
    found = Findings(rules)
    if tree.root is not None:
        _walk(tree.root, found)
    return found


def _walk(root: LexborNode, found: Findings) -> None:  # noqa: C901, PLR0912  # one hot loop
    """Visit every node in document order, elements at their start and at their end."""
    roles, add = _ROLES, found.pieces.append
    ancestors: list[tuple[LexborNode, _Role | None]] = []
    node = root
    while True:
        tag = node.tag_id
        child = None
        if tag == _TEXT:
            if (text := node.text_content) != PERMALINK:
                add(text or "")
        else:
            role = roles.get(tag)
            if role is None:
                child = node.first_child
            else:
                if role.block:
                    add(BREAK)
                if role.start is not None:
                    role.start(found, node)
                if not role.hidden:
                    child = node.first_child
                    if child is None and role.end is not None:
                        role.end(found)
            if child is not None:
                ancestors.append((node, role))
                node = child
                continue
        while (following := node.next) is None:
            if not ancestors:
                return
            node, role = ancestors.pop()
            if role is not None:
                if role.end is not None:
                    role.end(found)
                if role.block:
                    add(BREAK)
        if not ancestors:
            return  # only comments follow the root
        node = following


def _start_anchor(found: Findings, node: LexborNode) -> None:
    found.alt = ""
    found.anchors.append((node.attributes, len(found.pieces)))


def _end_anchor(found: Findings) -> None:
    attributes, start = found.anchors.pop()
    href, rel = attributes.get("href"), attributes.get("rel")
    if href or rel:
        anchor = found.phrase(start, MAX_ANCHOR_CHARS)
        unwanted = False
        if rel:
            relations = _words(rel)
            unwanted = not NOFOLLOW.isdisjoint(relations)
            if "author" in relations:
                found.head_metadata.add_author(anchor)
        found.references.add(href, anchor or found.alt, "a", nofollow=unwanted)


def _start_image(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    alt = short(attributes.get("alt"), MAX_ANCHOR_CHARS)
    if found.anchors and not found.alt:
        found.alt = alt
    found.head_metadata.add_image(attributes)
    if found.rules.media:
        _add_picture(found, attributes.get("src"), alt, "img")
        _add_sizes(found, attributes, alt)


def _start_source(found: Findings, node: LexborNode) -> None:
    if found.rules.media:
        _add_sizes(found, node.attributes, "")


def _add_sizes(found: Findings, attributes: Attributes, alt: str) -> None:
    if srcset := attributes.get("srcset"):
        for href in islice(_candidates(srcset[:MAX_HREF_CHARS]), MAX_SIZES):
            _add_picture(found, href, alt, "srcset")


def _candidates(srcset: str) -> Iterator[str]:
    """Yield the URLs of a srcset attribute (§4.8.4.3.10 of HTML).

    They may contain commas, but neither begin nor end with one.
    """
    in_size = False
    for token in srcset.split():
        if in_size:
            _, comma, token = token.partition(",")  # noqa: PLW2901  # the rest is a URL
            in_size = not comma
        if not in_size and (href := token.lstrip(",")):
            yield href.rstrip(",")
            in_size = not href.endswith(",")


def _add_picture(found: Findings, href: str | None, alt: str, relation: str) -> None:
    if href and href.lstrip()[:5].lower() != "data:":
        found.references.add(href, alt, relation)


def _start_area(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    alt = short(attributes.get("alt"), MAX_ANCHOR_CHARS)
    unwanted = not NOFOLLOW.isdisjoint(_words(attributes.get("rel")))
    found.references.add(attributes.get("href"), alt, "area", nofollow=unwanted)


def _start_frame(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    name = short(attributes.get("title"), MAX_ANCHOR_CHARS)
    found.references.add(attributes.get("src"), name, node.tag or "frame")


def _start_heading(found: Findings, _: LexborNode) -> None:
    found.heading_starts.append(len(found.pieces))


def _start_h1(found: Findings, node: LexborNode) -> None:
    found.head_metadata.add_h1(len(found.pieces))
    _start_heading(found, node)


def _end_heading(level: int) -> Callable[[Findings], None]:
    def end(found: Findings) -> None:
        start = found.heading_starts.pop()
        if len(found.headings) < MAX_HEADINGS and (
            heading := found.phrase(start, MAX_HEADING_CHARS)
        ):
            found.headings.append((level, heading))

    return end


def _start_title(found: Findings, node: LexborNode) -> None:
    found.title = found.title or short(node.text(), MAX_TITLE_CHARS)


def _start_html(found: Findings, node: LexborNode) -> None:
    found.language = node.attributes.get("lang") or node.attributes.get("xml:lang")


def _start_base(found: Findings, node: LexborNode) -> None:
    if found.base is None:  # the first that has a href (§4.2.3 of HTML)
        found.base = node.attributes.get("href")


def _start_time(found: Findings, node: LexborNode) -> None:
    found.times.append((node.attributes, len(found.pieces)))


def _end_time(found: Findings) -> None:
    attributes, start = found.times.pop()
    found.head_metadata.add_time(attributes, found.phrase(start, MAX_TIME_CHARS), start)


def _start_abbreviation(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    if is_date_abbreviation(attributes):
        found.head_metadata.add_time(attributes, "", len(found.pieces))


def _start_script(found: Findings, node: LexborNode) -> None:
    if (node.attributes.get("type") or "").strip().lower() == JSONLD_TYPE:
        found.head_metadata.add_script(node.text())


def _start_link_element(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    found.head_metadata.add_link(attributes)
    name = short(attributes.get("title"), MAX_ANCHOR_CHARS)
    for relation in _link_relations(attributes):
        found.references.add(attributes.get("href"), name, relation)


def _link_relations(attributes: Attributes) -> Iterator[str]:
    """Yield the values of `page.Link.relation` for a link element that leads to a page or feed."""
    for word in _words(attributes.get("rel")):
        if word in ("canonical", "amphtml", "next", "prev"):
            yield word
        elif word == "alternate":
            kind = (attributes.get("type") or "").partition(";")[0].strip().lower()
            if kind in FEED_TYPES:
                yield "feed"
            elif kind in PAGE_TYPES:
                yield word


def _start_meta(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    found.head_metadata.add_meta(attributes)
    if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
        content = attributes.get("content") or ""
        found.references.add(_refresh_target(content[:MAX_HREF_CHARS]), "", "refresh")


def _refresh_target(content: str) -> str | None:
    """Return the URL in a refresh such as `5; url='/there'`, if any (§4.2.5.3 of HTML)."""
    seconds, separator, target = content.replace(",", ";", 1).partition(";")
    if not separator or not seconds.strip().replace(".", "").isdigit():
        return None
    target = target.strip()
    if target[:3].lower() == "url" and target[3:].lstrip()[:1] == "=":
        target = target[3:].lstrip()[1:].lstrip()
    if target[:1] in ("'", '"'):
        target = target[1:].partition(target[0])[0]
    return target or None


def _words(rel: str | None) -> list[str]:
    return (rel or "")[:1_000].lower().split()


@dataclass(frozen=True, slots=True)
class _Role:
    """How the walk treats an element. The content of a `hidden` one is not shown."""

    start: Callable[[Findings, LexborNode], None] | None = None
    end: Callable[[Findings], None] | None = None
    block: bool = False
    hidden: bool = False


_BLOCKS = """address article aside blockquote br button caption center dd details dialog dir div
    dl dt fieldset figcaption figure footer form h4 h5 h6 header hgroup hr legend li main menu nav
    ol p pre search section summary table tbody td tfoot th thead tr ul"""
_HIDDEN = """audio canvas datalist math noembed noframes noscript object select style svg
    template textarea video"""
_ELEMENTS = {
    **dict.fromkeys(_BLOCKS.split(), _Role(block=True)),
    **dict.fromkeys(_HIDDEN.split(), _Role(hidden=True)),
    "a": _Role(_start_anchor, _end_anchor),
    "abbr": _Role(_start_abbreviation),
    "area": _Role(_start_area),
    "base": _Role(_start_base),
    "frame": _Role(_start_frame),
    "h1": _Role(_start_h1, _end_heading(1), block=True),
    "h2": _Role(_start_heading, _end_heading(2), block=True),
    "h3": _Role(_start_heading, _end_heading(3), block=True),
    "html": _Role(_start_html),
    "iframe": _Role(_start_frame, hidden=True),
    "img": _Role(_start_image),
    "link": _Role(_start_link_element),
    "meta": _Role(_start_meta),
    "script": _Role(_start_script, hidden=True),
    "source": _Role(_start_source),
    "time": _Role(_start_time, _end_time),
    "title": _Role(_start_title, hidden=True),
}

_any = LexborHTMLParser("<p>")
_ROLES = {_any.create_node(name).tag_id: role for name, role in _ELEMENTS.items()}
_TEXT = 2
"""lexbor's LXB_TAG__TEXT."""
