"""Pages that attack their parser, each as large as a fetched body may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.config import FetchConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Made = Mapping[str, Callable[[], bytes]]
    """Descriptions of bodies, and functions that build them."""

MOST_BYTES = FetchConfig().max_body_bytes
SCRIPT = "<script type=application/ld+json>"


def filled(unit: str | bytes, before: str = "", after: str = "") -> bytes:
    """Repeat a unit until the body is as large as permitted."""
    raw = unit.encode() if isinstance(unit, str) else unit
    count = (MOST_BYTES - len(before) - len(after)) // len(raw)
    return before.encode() + raw * count + after.encode()


def numbered(template: str, before: str = "", after: str = "") -> bytes:
    """Like `filled`, with a different number in each unit."""
    count = (MOST_BYTES - len(before) - len(after)) // len(template.format(1_000_000))
    units = [template.format(number) for number in range(1_000_000, 1_000_000 + count)]
    return (before + "".join(units) + after).encode()


def reopened(count: int) -> bytes:
    """Paragraphs that each reopen all b elements, no two of which are equal (HTML, §13.2.4.3)."""
    return filled("<p>x", "<p>" + "".join(f"<b a={number:x}>" for number in range(count)))


HTML: Made = {
    "elements in each other": lambda: filled("<div>"),
    "elements in each other, some with an end": lambda: filled("<i>") + b"</i>" * 9_999,
    "formatting elements, reopened in each paragraph": lambda: reopened(2_000),
    "tables in cells": lambda: filled("<table><tr><td>"),
    "lists in items": lambda: filled("<ul><li>"),
    "anchors in objects": lambda: filled("<a href=/x><object>"),
    "templates in each other": lambda: filled("<template>"),
    "forms, SVG and MathML in each other": lambda: filled("<svg><desc><math><mi><form>"),
    "a million attributes": lambda: filled(" a", "<p", ">x"),
    "attributes of different names": lambda: numbered(" a{}=b", "<p", ">x"),
    "elements of ten attributes": lambda: filled("<p a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 j>"),
    "an attribute without end": lambda: filled("x", "<p title='"),
    "a class of two million words": lambda: filled("a ", "<p class='", "'>y"),
    "a tag without end": lambda: filled("x", "<"),
    "a comment without end": lambda: filled("-", "<!--"),
    "comments": lambda: filled("<!-->"),
    "end tags of nothing": lambda: filled("</p>"),
    "NUL": lambda: filled(b"\0"),
    "NUL in names and values": lambda: filled("<a\0 h\0ref=/\0>\0</a\0>"),
    "references to characters": lambda: filled("&amp;"),
    "references of the longest name": lambda: filled("&CounterClockwiseContourIntegral;"),
    "references to no character": lambda: filled("&#99999999999999999999;"),
    "links to different pages": lambda: numbered("<a href=/{}>x</a>"),
    "links to no page": lambda: numbered("<a href=http://[{}>x</a>"),
    "a link of 4 MB": lambda: filled("../", "<a href='", "'>x</a>"),
    "links of 10 KB": lambda: filled(f"<a href='{'../' * 3_300}x'>x</a>"),
    "links of a thousand parameters": lambda: filled(f"<a href='?{'a&' * 900}'>x</a>"),
    "pictures of a hundred sizes": lambda: filled(f"<img srcset='{'a.jpg 1x, ' * 100}'>"),
    "titles": lambda: filled("<title>x</title>"),
    "headings": lambda: filled("<h1>x"),
    "headings in objects": lambda: filled("<h1><object>"),
    "time elements": lambda: filled("<time>x</time>"),
    "time elements in each other": lambda: filled("<time>x"),
    "line breaks": lambda: filled("x<br>"),
    "meta elements": lambda: filled("<meta name=author content=x>"),
    "robots": lambda: filled("<meta name=robots content='noindex,unavailable_after:1,'>"),
    "items in items": lambda: filled("<b itemscope itemprop=author>"),
    "properties in each other": lambda: filled("<b itemprop=name>x"),
    "JSON-LD: lists in each other": lambda: filled("[", SCRIPT, "</script>"),
    "JSON-LD: objects in each other": lambda: filled('{"@graph":', SCRIPT, "</script>"),
    "JSON-LD: scripts": lambda: filled(SCRIPT + '{"@type":"Article"}</script>'),
    "JSON-LD: comments": lambda: filled("/*", SCRIPT + "{", "</script>"),
    "JSON-LD: a number of 4 MB": lambda: filled("9", SCRIPT + '{"a":', "}</script>"),
    "a word of 4 MB": lambda: filled("x"),
    "words of a letter": lambda: filled("x "),
    "spaces": lambda: filled(" ", "<p>"),
    "combining marks": lambda: filled("\u0301", "<p>a"),
    "right to left marks": lambda: filled("\u202e"),
    "bytes that are no characters": lambda: filled(b"\xff"),
    "halves of characters in Shift_JIS": lambda: filled(b"\x81", "<meta charset=shift_jis>"),
    "escapes of ISO-2022-JP": lambda: filled(b"\x1b$B\x1b(B", "<meta charset=iso-2022-jp>"),
    "four bytes of GB 18030": lambda: filled(b"\x81\x30\x81\x30", "<meta charset=gb18030>"),
    "nothing": lambda: b"",
}
TEXT: Made = {
    "a line": lambda: filled("word "),
    "empty lines": lambda: filled("\n"),
    "lines of a letter": lambda: filled("x\n"),
    "all that ends lines": lambda: filled("\u2028\x85\x0b\x0c"),
    "URLs": lambda: numbered("http://a.example/{}\n"),
}
