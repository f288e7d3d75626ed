"""The encoding that a page declares in a meta element (HTML, §13.2.3.2, "prescan a byte stream").

The prescan reads tags before there is a tree, since the tree needs the encoding. It knows comments
and attributes, so a declaration in a comment or in another element's attribute does not count. An
unknown label does not end it: the next meta element is read.

Unlike browsers, we accept a quoted value without its second quote.
"""

from __future__ import annotations

import re

from gossamer.web.encodings import encoding_of

PRESCAN_BYTES = 8192
"""Bytes that are searched. The standard suggests 1,024, but browsers read on."""

_ATTRIBUTE_PATTERN = rb"""(?x:
    [\t\n\f\r\ /]*+
    ([^\t\n\f\r\ />][^\t\n\f\r\ />=]*+)
    (?: [\t\n\f\r\ ]*+ = [\t\n\f\r\ ]*+ (?: "([^"]*+)" | '([^']*+)' | ["']?([^\t\n\f\r\ >]*+) ) )?+
)"""
_ATTRIBUTE = re.compile(_ATTRIBUTE_PATTERN)
_TAG = re.compile(
    rb"<!--(?:-?>|.*?-->|.*)"
    rb"|<meta(?=[\t\n\f\r /])(?P<meta>(?:" + _ATTRIBUTE_PATTERN + rb")*+)"
    rb"|</?[a-z][^\t\n\f\r >]*+(?:" + _ATTRIBUTE_PATTERN + rb")*+"
    rb"|<[!/?][^>]*+",
    re.DOTALL | re.IGNORECASE,
)
_CONTENT = re.compile(
    rb"""charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"([^"]*+)"|'([^']*+)'|([^\t\n\f\r ;"']++))""",
    re.IGNORECASE,
)


def declared_in_meta(body: bytes) -> str | None:
    """Return the WHATWG name of the first known encoding that a meta element declares."""
    start = body[:PRESCAN_BYTES]
    if b"charset" not in start.lower():
        return None
    declared = (_encoding_in_attributes(tag["meta"]) for tag in _TAG.finditer(start) if tag["meta"])
    return next(filter(None, declared), None)


def _encoding_in_attributes(attributes: bytes) -> str | None:
    """Return the encoding by the attributes of one meta element. Of equal names the first counts.

    An attribute `charset` takes precedence over `content`, even if its value is unknown.
    """
    found: dict[bytes, bytes] = {}
    for name, *values in _ATTRIBUTE.findall(attributes):
        found.setdefault(name.lower(), b"".join(values))
    label = found.get(b"charset")
    if label is None and found.get(b"http-equiv", b"").lower() == b"content-type":
        content = _CONTENT.search(found.get(b"content", b""))
        label = content and b"".join(content.groups(b""))
    return None if label is None else encoding_of(label.decode("latin-1"))
