"""Entities that an XML document declares itself, in the internal subset of its document type.

`<!ENTITY site "https://example.org">` makes `&site;` stand for that URL; generators of sitemaps and
pages in XHTML use it so. Only internal general entities are expanded: nothing is loaded, external
and parameter entities stay as they are written. Their number, the length of each with all that it
contains, and the growth of the document are bounded, so no document becomes much larger (billion
laughs). An entity that contains itself stays as it is written.
"""

from __future__ import annotations

import re
from html import unescape

PROLOG_CHARS = 65_536
"""Start of a document that must contain its document type."""
MAX_ENTITIES = 1_000
MAX_ENTITY_CHARS = 10_000
MAX_DEPTH = 8
"""How deep entities may contain others."""
MAX_GROWTH_CHARS = 1_000_000

_PROLOG = re.compile(
    r"""(?:[\ufeff\s]++|<!--.*?-->|<\?.*?\?>)*+<!DOCTYPE\b [^<>[\]]*+
    (?:\[(?P<subset>(?:<!--.*?(?:-->|\Z)|"[^"]*+"|'[^']*+'|[^]"'])*+)\]\s*+)?+ >""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
"""A document type with its internal subset, which may contain brackets in quotes and comments."""
_DECLARED = re.compile(
    r"""<!--.*?(?:-->|\Z)|<!ENTITY\s++([^\W\d][\w:.-]*+)\s++(?:"([^"]*+)"|'([^']*+)')\s*+>""",
    re.DOTALL,
)
_NUMERIC = re.compile(r"&#(?:\d{1,7}|x[\da-fA-F]{1,6});")
_USED = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|&([^\W\d][\w:.-]{0,99}+);", re.DOTALL
)


def expand_entities(text: str) -> str:
    """Return a document with the entities that it declares replaced, and without its prolog.

    A document that declares none is returned as it is. Never raises.
    """
    if "<!DOCTYPE" not in text[:PROLOG_CHARS]:
        return text
    prolog = _PROLOG.match(text, 0, PROLOG_CHARS)
    if prolog is None or not prolog["subset"]:
        return text
    values: dict[str, str] = {}
    for name, double, single in _DECLARED.findall(prolog["subset"]):
        if name and len(values) < MAX_ENTITIES:  # the first declaration of a name counts
            values.setdefault(name, _NUMERIC.sub(_character, double or single))
    whole: dict[str, str | None] = {}
    for name in values:
        _add_whole(name, values, whole, MAX_DEPTH)
    left = MAX_GROWTH_CHARS

    def replacement(used: re.Match[str]) -> str:
        nonlocal left
        value = whole.get(used[1])
        if value is None or len(value) > left:
            return used[0]
        left -= len(value)
        return value

    return _USED.sub(replacement, text[prolog.end() :])


def _add_whole(
    name: str, values: dict[str, str], whole: dict[str, str | None], depth: int
) -> str | None:
    """Add an entity's text, with that of the entities in it; None if it is too long or too deep."""
    if name in whole:
        return whole[name]
    whole[name] = None  # what it contains cannot contain it
    parts: list[str] = []
    end = length = 0
    value = values[name]
    for used in _USED.finditer(value):
        inner: str | None = used[0]
        if used[1] in values:
            inner = _add_whole(used[1], values, whole, depth - 1) if depth else None
        if inner is None or length > MAX_ENTITY_CHARS:
            return None
        parts += (value[end : used.start()], inner)
        length += len(parts[-1]) + len(parts[-2])
        end = used.end()
    text = "".join((*parts, value[end:]))
    if len(text) <= MAX_ENTITY_CHARS:
        whole[name] = text
    return whole[name]


def _character(reference: re.Match[str]) -> str:
    """Return a character by its number; but `<` and `&` stay references, as they are no markup."""
    character = unescape(reference[0])
    return character if character not in "<&" else reference[0]
