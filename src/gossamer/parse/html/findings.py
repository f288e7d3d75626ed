"""What a page contains besides text: headings, references and raw metadata.

The walk (`walk.py`) calls a function of this module at the start or end of each element that may
have any of these.

Bounds: each function takes time linear in the element's attributes; a phrase reads at most
MAX_PHRASE_NODES pieces of text.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Final

from gossamer.parse.html.embedded_links import (
    MAX_ANCHOR_CHARS,
    MAX_PHRASE_NODES,
    NOFOLLOW,
    EmbeddedLinks,
)
from gossamer.parse.html.head_metadata import (
    JSONLD_TYPE,
    HeadMetadata,
    is_date_abbreviation,
)
from gossamer.parse.html.lines import BREAK, SEAM, Lines
from gossamer.parse.html.shadow_roots import SHADOW_ROOT
from gossamer.parse.parsed_page import fold, short
from gossamer.parse.reading.link_relations import link_relations
from gossamer.parse.reading.references import MAX_HREF_CHARS, References
from gossamer.parse.reading.refresh import refresh_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from selectolax.lexbor import LexborNode

    from gossamer.parse.html.head_metadata import Attributes
    from gossamer.parse.parsed_page import Rules

MAX_HEADINGS: Final = 100
MAX_HEADING_CHARS: Final = 500
MAX_TITLE_CHARS: Final = 1_000
MAX_TIME_CHARS: Final = 100
MAX_SIZES: Final = 20
"""URLs read from one srcset attribute."""


class Findings:
    """What the walk has found so far."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.lines = Lines()
        self.pieces = self.lines.pieces
        self.refused: Counter[str] = Counter()
        self.references = References(rules.max_links, self.refused)
        self.embedded = EmbeddedLinks()
        self.head_metadata = HeadMetadata(rules.agent)
        self.anchors: list[tuple[str | None, str | None, int]] = []
        """Open anchors: their `href` and `rel`, and the index of their first piece of text."""
        self.alt = ""
        self.headings: list[tuple[int, str]] = []
        self.heading_starts: list[int] = []
        self.times: list[tuple[Attributes, int, int]] = []
        """Open time elements: their attributes, first piece of text, and line."""
        self.title = ""
        self.base: str | None = None
        self.has_shadow_roots = False
        self.language: str | None = None

    def phrase(self, start: int, limit: int) -> str:
        """Return up to `limit` characters of the folded text from piece `start` on.

        At most MAX_PHRASE_NODES pieces are read, which bounds the cost.
        """
        pieces = self.pieces
        if len(pieces) == start + 1:
            text = pieces[start][: 4 * limit]
        else:
            text = "".join([piece[:limit] for piece in pieces[start : start + MAX_PHRASE_NODES]])
        if BREAK in text:
            text = text.replace(SEAM, "").replace(BREAK, " ")
        return fold(text)[:limit]


def end_anchor(found: Findings) -> None:
    href, rel, start = found.anchors.pop()
    if rel or (href and href[0] != "#"):
        anchor = found.phrase(start, MAX_ANCHOR_CHARS)
        unwanted = False
        if rel:
            relations = _words(rel)
            unwanted = not NOFOLLOW.isdisjoint(relations)
            if "author" in relations:
                found.head_metadata.add_author(anchor)
        found.references.add(href, anchor or found.alt, "a", nofollow=unwanted)


def start_image(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    alt = short(attributes.get("alt"), MAX_ANCHOR_CHARS)
    if found.anchors and not found.alt:
        found.alt = alt
    found.head_metadata.add_image(attributes)
    if found.rules.media:
        _add_picture(found, attributes.get("src"), alt, "img")
        _add_sizes(found, attributes, alt)


def start_source(found: Findings, node: LexborNode) -> None:
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


def start_area(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    alt = short(attributes.get("alt"), MAX_ANCHOR_CHARS)
    unwanted = not NOFOLLOW.isdisjoint(_words(attributes.get("rel")))
    found.references.add(attributes.get("href"), alt, "area", nofollow=unwanted)


def start_frame(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    name = short(attributes.get("title"), MAX_ANCHOR_CHARS)
    found.references.add(attributes.get("src"), name, node.tag or "frame")
    found.embedded.keep_markup("srcdoc", attributes.get("srcdoc"))


def start_noscript(found: Findings, node: LexborNode) -> None:
    found.embedded.keep_markup("noscript", node.text())


def start_player(found: Findings, node: LexborNode) -> None:
    found.embedded.keep_fallback(node)


def start_object(found: Findings, node: LexborNode) -> None:
    found.embedded.keep_document("object", node.attributes.get("data"), node)
    found.embedded.keep_fallback(node)


def start_embed(found: Findings, node: LexborNode) -> None:
    found.embedded.keep_document("embed", node.attributes.get("src"), node)


def start_drawing(found: Findings, node: LexborNode) -> None:
    found.embedded.keep_drawing(node)


def start_heading(found: Findings, _: LexborNode) -> None:
    found.heading_starts.append(len(found.pieces))


def start_h1(found: Findings, node: LexborNode) -> None:
    found.head_metadata.add_h1(len(found.lines.ends))
    start_heading(found, node)


def end_heading(level: int) -> Callable[[Findings], None]:
    def end(found: Findings) -> None:
        start = found.heading_starts.pop()
        if len(found.headings) < MAX_HEADINGS and (
            heading := found.phrase(start, MAX_HEADING_CHARS)
        ):
            found.headings.append((level, heading))

    return end


def start_template(found: Findings, node: LexborNode) -> None:
    if SHADOW_ROOT in node.attributes:
        found.has_shadow_roots = True


def start_title(found: Findings, node: LexborNode) -> None:
    found.title = found.title or short(node.text(), MAX_TITLE_CHARS)


def start_html(found: Findings, node: LexborNode) -> None:
    found.language = node.attributes.get("lang") or node.attributes.get("xml:lang")


def start_base(found: Findings, node: LexborNode) -> None:
    if found.base is None:  # the first that has a href (§4.2.3 of HTML)
        found.base = node.attributes.get("href")


def start_time(found: Findings, node: LexborNode) -> None:
    found.times.append((node.attributes, len(found.pieces), len(found.lines.ends)))


def end_time(found: Findings) -> None:
    attributes, start, line = found.times.pop()
    found.head_metadata.add_time(attributes, found.phrase(start, MAX_TIME_CHARS), line)


def start_abbreviation(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    if is_date_abbreviation(attributes):
        found.head_metadata.add_time(attributes, "", len(found.lines.ends))


def start_script(found: Findings, node: LexborNode) -> None:
    if (node.attributes.get("type") or "").strip().lower() == JSONLD_TYPE:
        found.head_metadata.add_script(node.text())


def start_link_element(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    found.head_metadata.add_link(attributes)
    name = short(attributes.get("title"), MAX_ANCHOR_CHARS)
    for relation in link_relations(attributes):
        found.references.add(attributes.get("href"), name, relation)


def start_meta(found: Findings, node: LexborNode) -> None:
    attributes = node.attributes
    found.head_metadata.add_meta(attributes)
    if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
        content = attributes.get("content") or ""
        found.references.add(refresh_target(content[:MAX_HREF_CHARS]), "", "refresh")


def _words(rel: str | None) -> list[str]:
    return (rel or "")[:1_000].lower().split()
