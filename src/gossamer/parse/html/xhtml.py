"""XHTML as HTML, so that lexbor builds the tree that browsers build from XML.

In XML, `<script/>`, `<title/>` and `<a id="top"/>` are whole elements. An HTML parser ignores the
slash, and takes everything that follows for the content of a script or a title, or for a link. So
each empty element gets an end tag, and what else XML has and HTML lacks is rewritten:

    <p/>                          <p></p>
    <br></br>                     <br>
    <![CDATA[a < b]]>             a &lt; b
    <x:p> in XHTML's namespace    <p>
    &site; declared by the page   what it stands for
    <?php ?>, comments, DOCTYPE   nothing (HTML ends some of them at the first >)

Sources: XML 1.0 §3.1, §2.7 and §4.4; HTML §13.2.5, §14. Browsers show an error for a page that is
not well-formed; we read it as well as we can. Time is linear: the tokens of the one expression are
possessive or run to the end of the text.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING

from gossamer.parse.reading.xml_entities import expand_entities

if TYPE_CHECKING:
    from re import Match

VOID = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
        *("source", "track", "wbr", "basefont", "bgsound", "frame", "keygen"),
    )
)
"""Elements that never have an end tag in HTML (§13.1.2, §13.2.6.4.7)."""
MAX_NAMESPACES = 16
NAMESPACE_CHARS = 65_536
"""Start of a page in which namespaces are declared."""

_NAMESPACE = re.compile(
    r"""\sxmlns:([A-Za-z_][\w.-]{0,40}+)\s*+=\s*+["']\s*+http://www\.w3\.org/
    (?:1999/xhtml|2000/svg|1998/Math/MathML)/?\s*+["']""",
    re.VERBOSE,
)
_TAG = r"""[A-Za-z_][\w:.-]*+"""
_ATTRIBUTES = r"""(?:\s++[^\s=<>/"']++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'))*+"""
_RAW = re.compile(r"<!--.*?(?:-->|\Z)|<!\[CDATA\[(.*?)(?:\]\]>|\Z)|([^<]++|<)", re.DOTALL)
_TOKEN = re.compile(
    rf"""<!--.*?(?:-->|\Z) | <\?.*?(?:\?>|\Z) | <![A-Za-z][^<>]*+>
    | <!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)
    | <(?P<empty>{_TAG})(?P<attributes>{_ATTRIBUTES})\s*+/>
    | <(?P<raw>script|style)(?P<own>{_ATTRIBUTES})\s*+>
        (?P<content>(?:[^<]++|<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<(?!/(?P=raw)\s*+>))*+)
        (?:</(?P=raw)\s*+>|\Z)
    | </(?P<ended>{"|".join(sorted(VOID))})\s*+>""",
    re.VERBOSE | re.DOTALL,
)


def html_of(text: str) -> str:
    """Return a page in XHTML as HTML. Never raises."""
    text = expand_entities(text)
    prefixes = _NAMESPACE.findall(text[:NAMESPACE_CHARS])[:MAX_NAMESPACES]
    if prefixes:
        names = "|".join(map(re.escape, sorted(set(prefixes))))
        text = re.sub(rf"(</?)(?:{names}):(?=[A-Za-z])", r"\1", text)
    return _TOKEN.sub(_rewritten, text)


def _rewritten(token: Match[str]) -> str:
    if (name := token["empty"]) is not None:
        return f"<{name}{token['attributes']}>" + ("" if name in VOID else f"</{name}>")
    if (cdata := token["cdata"]) is not None:
        return escape(cdata, quote=False)
    if (name := token["raw"]) is not None:
        content = "".join(map(_characters, _RAW.finditer(token["content"])))
        content = content.replace("</", "<\\/")  # the same in JSON and in JavaScript
        return f"<{name}{token['own']}>{content}</{name}>"
    return ""


def _characters(part: Match[str]) -> str:
    """Return the characters of a part of a script, in which XML has references and comments."""
    return (part[1] or "") if part[2] is None else unescape(part[2])
