"""The visible text of titles and descriptions of feeds, whatever they are written in.

An element may contain text, escaped HTML, elements of HTML (Atom's `xhtml`, RFC 4287 §3.1.1.3, and
careless RSS), base64 (`mode` of Atom 0.3), or encoded words of mail (RFC 2047).

Facts: RSS does not define whether a title is text or HTML, so it is read as HTML if it looks like
HTML. The types that Atom feeds declare are wrong as often; we only believe that something is plain
text, or XHTML if it has elements.
"""

from __future__ import annotations

import re
from base64 import b64decode
from contextlib import suppress
from email.errors import MessageError
from email.header import decode_header, make_header
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.listing.xml_reader import fold_xml_text
from gossamer.parse.reading.charset import decode

if TYPE_CHECKING:
    from gossamer.parse.listing.xml_node import Node

MAX_MARKUP_CHARS = 100_000
"""Characters of HTML from which a text is extracted."""

_MARKUP = re.compile(r"<[a-z!/]|&[#a-z]", re.IGNORECASE)
_BLOCKS = r"p|div|br|li|[uod]l|d[dt]|h\d|t[rdh]|table|blockquote|figure|pre|hr"
_BLOCK_TAG = re.compile(rf"(?=</?(?:{_BLOCKS})\b)", re.IGNORECASE)
_BLOCK_NAME = re.compile(_BLOCKS)
_HIDDEN = ["script", "style", "template", "noscript", "iframe"]
_ENCODED_WORD = re.compile(r"=\?[\w-]{1,40}\?[bq]\?[^?\s]{0,1000}\?=", re.IGNORECASE)
_TEXT_TYPES = frozenset(("text", "text/plain"))
_XHTML_TYPES = frozenset(("xhtml", "application/xhtml+xml"))


def text_of(node: Node, limit: int) -> str:
    """Return up to `limit` characters of the visible text of an element."""
    kind = node.attributes.get("type", "text" if node.name.startswith("atom:") else "").lower()
    if node.attributes.get("mode", "").strip().lower() == "base64":
        text, is_markup = _decoded(node.text), kind not in _TEXT_TYPES
    else:
        text = _visible(node)
        xhtml = kind in _XHTML_TYPES and any(node.elements())
        is_markup = not xhtml and kind not in _TEXT_TYPES
    if _ENCODED_WORD.search(text):
        text = _decoded_words(text)
    return plain(text, limit) if is_markup else fold_xml_text(text, limit)


def plain(markup: str, limit: int) -> str:
    """Return up to `limit` characters of the visible text of something that may be HTML."""
    if not _MARKUP.search(markup):
        return fold_xml_text(markup, limit)
    parser = LexborHTMLParser(_BLOCK_TAG.sub(" ", markup[:MAX_MARKUP_CHARS]))
    parser.strip_tags(_HIDDEN)
    return fold_xml_text(parser.body.text() if parser.body else "", limit)


def _visible(node: Node) -> str:
    """Return the text inside an element as browsers show it: only blocks are set off by blanks."""
    pieces = []
    for child in node.children:
        if isinstance(child, str):
            pieces.append(child)
            continue
        name = child.name.rpartition(":")[2]
        if name not in _HIDDEN:
            text = _visible(child)
            pieces.append(f" {text} " if _BLOCK_NAME.fullmatch(name) else text)
    return "".join(pieces)


def _decoded_words(text: str) -> str:
    """Decode the encoded words of mail (RFC 2047), which archives of mailing lists leave."""
    with suppress(LookupError, ValueError, MessageError):
        return str(make_header(decode_header(text[:MAX_MARKUP_CHARS])))
    return text


def _decoded(text: str) -> str:
    """Decode base64, which may be truncated; "" if it is not base64."""
    try:
        return decode(b64decode(text + "=="), None)[0]
    except ValueError:
        return ""
