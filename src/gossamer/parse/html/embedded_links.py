"""Links that are not part of the page's text: in fallbacks, drawings and embedded documents.

    noscript    what browsers show without scripts (noscript), frames (noframes, noembed), or a
                player (the content of audio, canvas, object, video)
    svg         links in a drawing
    object      the document in an object element
    embed       the same in an embed element
    srcdoc      links in the document that an iframe has as an attribute

The walk (`walk.py`) only remembers these elements; `add_embedded_links` reads them afterwards, so
that other links to the same page precede. The links are followed but are not votes
(gossamer.links): nobody sees most of them, and what nobody sees is where spam is hidden. Frames
that are hidden even there, which only count visits, and files of a declared type that is an image
or the like are left out.

Bounds: MAX_MARKUP_CHARS of markup are parsed per page, MAX_EMBEDDED_LINKS links are read, and
MAX_PHRASE_NODES nodes for each one's text.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.parsed_page import short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

    from gossamer.parse.reading.references import References

    Attributes = dict[str, str | None]

MAX_MARKUP_CHARS: Final = 200_000
MAX_EMBEDDED_LINKS: Final = 1_000
MAX_PHRASE_NODES: Final = 64
"""Text nodes read for an anchor text or a heading, so that nesting stays cheap."""
MAX_ANCHOR_CHARS: Final = 200
MAX_STYLE_CHARS: Final = 1_000
NOFOLLOW: Final = frozenset(("nofollow", "ugc", "sponsored"))

_LINKS: Final = "a[href], area[href], iframe[src], frame[src], embed[src], object[data]"
_A: Final = LexborHTMLParser("<p>").create_node("a").tag_id
_LINKING: Final = re.compile(r"<(?:a|area|embed|object)[\s/]", re.IGNORECASE)
_FRAME: Final = re.compile(r"<i?frame[\s/]", re.IGNORECASE)
_UNSEEN: Final = re.compile(r"display:\s?none|visibility:\s?hidden", re.IGNORECASE)
_PLAYED: Final = ("image/", "audio/", "video/", "font/", "application/x-shockwave-flash")


class EmbeddedLinks:
    """The elements of a page that may have such links, in the order of the walk."""

    def __init__(self) -> None:
        self._markup: list[tuple[str, str]] = []
        self._nodes: list[tuple[str, LexborNode]] = []
        self._left = MAX_MARKUP_CHARS

    def keep_markup(self, relation: str, markup: str | None) -> None:
        """Keep HTML that the tree has only as text."""
        if markup and self._left > 0 and _has_links(markup):
            self._markup.append((relation, markup[: self._left]))
            self._left -= len(markup)

    def keep_fallback(self, node: LexborNode) -> None:
        """Keep an element whose content is only shown if something else is not."""
        if node.first_child is not None:
            self._nodes.append(("noscript", node))

    def keep_document(self, relation: str, href: str | None, node: LexborNode) -> None:
        """Keep an element that shows the document at `href`."""
        if href and not is_played(node.attributes.get("type")):
            self._nodes.append((relation, node))

    def keep_drawing(self, node: LexborNode) -> None:
        """Keep the links of an svg element."""
        for each in node.traverse():
            if each.tag_id == _A and len(self._nodes) < MAX_EMBEDDED_LINKS:
                self._nodes.append(("svg", each))

    def add_to(self, references: References) -> None:
        for relation, href, anchor, nofollow in islice(self._read(), MAX_EMBEDDED_LINKS):
            references.add(href, anchor, relation, nofollow=nofollow)

    def _read(self) -> Iterator[tuple[str, str | None, str, bool]]:
        for relation, node in self._nodes:
            if relation == "noscript":
                for each in node.css(_LINKS):
                    if each.mem_id != node.mem_id:  # css() finds the element itself, too
                        yield from _link_of(relation, each)
            else:
                yield from _link_of(relation, node)
        for relation, markup in self._markup:
            for each in LexborHTMLParser(markup, scripting=True).css(_LINKS):
                yield from _link_of(relation, each)


def _has_links(markup: str) -> bool:
    """Whether HTML may have links. Most noscript elements have a hidden frame or a picture only."""
    if _LINKING.search(markup):
        return True
    return _FRAME.search(markup) is not None and not _UNSEEN.search(markup)


def _link_of(relation: str, node: LexborNode) -> Iterator[tuple[str, str | None, str, bool]]:
    """Yield the link that an element is: at most one."""
    attributes = node.attributes
    href = next(filter(None, map(attributes.get, ("href", "xlink:href", "src", "data"))), None)
    hidden = _UNSEEN.search((attributes.get("style") or "")[:MAX_STYLE_CHARS])
    if href is None or hidden or is_played(attributes.get("type")):
        return
    nofollow = not NOFOLLOW.isdisjoint((attributes.get("rel") or "")[:1_000].lower().split())
    yield relation, href, _text_of(node, attributes), nofollow


def _text_of(node: LexborNode, attributes: Attributes) -> str:
    if node.tag_id != _A:
        return short(attributes.get("alt") or attributes.get("title"), MAX_ANCHOR_CHARS)
    texts = (each.text_content for each in node.traverse(include_text=True))
    return short("".join(filter(None, islice(texts, MAX_PHRASE_NODES))), MAX_ANCHOR_CHARS)


def is_played(media_type: str | None) -> bool:
    """Whether a declared type is that of a file without text, such as an image."""
    return (media_type or "").strip().lower().startswith(_PLAYED)
