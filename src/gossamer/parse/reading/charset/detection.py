"""From bytes to characters: which encoding a page is in.

A byte-order mark decides. Otherwise we try the declared encodings (the Content-Type header, then
the page's XML declaration and meta element) and use the first that the bytes support: servers are
configured once and declare their default for every page, so labels are wrong more often than
browsers admit. If nothing is declared, or nothing that fits, the encoding is detected.

Facts:

- Text in another encoding that happens to be valid UTF-8 is practically never long.
- Servers with a default configuration declare ISO-8859-1 (windows-1252), in which all bytes are
  valid. So meta precedes it, and so does the detector if it has enough text. Russian servers
  declare windows-1251.
- Bytes of one multi-byte encoding are mostly valid in another one. The detector is right more often
  than such a label, and than either label if header and meta disagree.
- For few characters, the language that the page declares is better evidence than a detector.

`plausibility.py` decides whether the bytes support a label. bench/charset.py measures how
often the result is right.
"""

from __future__ import annotations

import codecs
import re

from resiliparse.parse.encoding import detect_encoding

from gossamer.parse.reading.charset.plausibility import beyond_ascii, fits, sample
from gossamer.web.encodings import (
    CYRILLIC,
    LATIN,
    MULTI_BYTE,
    NAMES,
    SEVEN_BIT,
    codec_of,
    decode_as,
    encoding_of,
    usual_encoding,
)

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

DETECT_BYTES = 65_536
START_BYTES, MIN_NULS = 1_024, 4
"""To recognise UTF-16, in which every other byte of ASCII is NUL: how many bytes are examined, and
how many of them must be NUL."""
CERTAIN_BYTES = 16
"""Number of continuation bytes from which on valid UTF-8 overrides any label."""
ENOUGH_CHARS = 64
"""Number of characters beyond ASCII from which on the detector may override DEFAULT. Of Western
texts with that many it misjudges 1 in 290; Central European and Turkish ones it recognises in 24 of
25 cases."""
DEFAULT = "windows-1252"

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
_ESCAPES = (
    (b"\x1b$)C", "iso-2022-kr"),
    (b"\x1b$)A", "iso-2022-cn"),
    (b"\x1b$", "iso-2022-jp"),
    (b"\x1b(I", "iso-2022-jp"),
)
"""Escape sequences, and the encodings that they begin in."""
_HZ_RUN = re.compile(rb"~\{(?:[\x21-\x77][\x21-\x7e]){2,200}~\}")
"""Characters of HZ between its marks. Code has the first mark, too."""
_XML = re.compile(
    rb"""\s{0,64}<\?xml[^<>]{0,200}?\bencoding\s{0,8}=\s{0,8}["']([A-Za-z0-9_:.-]{1,40})"""
)
_LANGUAGE = re.compile(
    rb"""<html\s[^<>]{0,512}?\blang\s{0,8}=\s{0,8}["']?([a-z]{2}(?:-[a-z]{2,4})?)""", re.IGNORECASE
)
_UKRAINIAN = re.compile(rb"[\xa4\xa6\xa7\xad\xb4\xb6\xb7\xbd](?=[\xc0-\xff])")
"""Letters of KOI8-U where KOI8-R has box-drawing lines. uchardet does not distinguish the two."""
_DOUBTS = {
    DEFAULT: NAMES - {DEFAULT},
    "windows-1251": NAMES - CYRILLIC - LATIN,
    **dict.fromkeys(MULTI_BYTE, MULTI_BYTE),
}
"""Encodings that the detector may choose against each label, if it is the only one that fits."""


def decode(body: bytes, declared: str | None) -> tuple[str, str]:
    """Return the page as text, and the WHATWG name of its encoding. Never raises.

    `declared` is the label in the Content-Type header, if any.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return decode_as(body[len(mark) :], name), name
    labels = _declared_encodings(body, declared)
    if (disguised := _detect_like_ascii(body, labels)) is not None:
        return decode_as(body, disguised), disguised
    utf8 = _strict_utf8(body)
    if utf8 is not None and (
        len(body) - len(utf8) >= CERTAIN_BYTES
        or labels[:1] in ([], ["utf-8"])
        or _plain_ascii(body)
    ):
        return utf8, "utf-8"
    if (believed := _decode_as_declared(body, labels)) is not None:
        return believed
    if utf8 is not None:
        return utf8, "utf-8"
    name = _guess_encoding(body) or next((name for name in labels if name != "utf-8"), DEFAULT)
    return decode_as(body, name), name


def _detect_like_ascii(body: bytes, labels: list[str]) -> str | None:
    """Detect encodings that look like ASCII: UTF-16 without a byte-order mark, and SEVEN_BIT."""
    start = body[:START_BYTES]
    nuls = {"utf-16be": start[::2].count(0), "utf-16le": start[1::2].count(0)}
    fewer, name = sorted(nuls, key=nuls.__getitem__)
    if nuls[name] >= max(MIN_NULS, len(start) / 16, 8 * nuls[fewer]):
        return name
    if labels and labels[0] in SEVEN_BIT and body.isascii():
        return labels[0]
    if b"\x1b" in body and body.isascii():
        for escape, name in _ESCAPES:
            if escape in body:
                return name if fits(decode_as(body, name), name) else None
    if b"~" in body and body.isascii() and b"~{" in body and _HZ_RUN.search(body):  # the fast first
        return "hz-gb-2312" if _detect_encoding(body) == "hz-gb-2312" else None
    return None


def _declared_encodings(body: bytes, header: str | None) -> list[str]:
    """Return the known encodings that header, XML declaration and meta declare."""
    xml = _XML.match(body)
    written = (xml and encoding_of(xml[1].decode()), declared_in_meta(body))
    # A declaration found byte by byte cannot be in UTF-16 (HTML, §13.2.3.2).
    ascii_like = ("utf-8" if name in ("utf-16le", "utf-16be") else name for name in written)
    labels = (None if header is None else encoding_of(header), *ascii_like)
    return [name for name in labels if name is not None]


def declared_in_meta(body: bytes) -> str | None:
    """Return the WHATWG name of the first known encoding that a meta element declares.

    This is HTML's "prescan a byte stream" (§13.2.3.2). It reads tags before there is a tree, since
    the tree needs the encoding. It knows comments and attributes, so a declaration in a comment or
    in another element's attribute does not count. An unknown label does not end it: the next meta
    element is read. Unlike browsers, we accept a quoted value without its second quote.
    """
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


def _decode_as_declared(body: bytes, labels: list[str]) -> tuple[str, str] | None:
    """Return the text in a declared encoding and that encoding; None if the bytes support none."""
    texts = {name: decode_as(body, name) for name in sorted(labels, key=DEFAULT.__eq__)}
    fitting = {codec_of(name): name for name, text in texts.items() if fits(text, name)}
    if not fitting:
        return None
    name = next(iter(fitting.values()))
    enough = beyond_ascii(texts[name]) >= ENOUGH_CHARS
    if len(fitting) > 1:
        likely = sample(decode_as(body, _detect_encoding(body) or name))
        name = max(fitting.values(), key=lambda each: _agreement(sample(texts[each]), likely))
    elif enough and name in _DOUBTS:
        found = _guess_encoding(body)
        name = found if found is not None and found in _DOUBTS[name] else name
    elif name == DEFAULT:
        name = _encoding_of_language(body) or name
    return texts.get(name) or decode_as(body, name), name


def _guess_encoding(body: bytes) -> str | None:
    """Return the encoding by the detector, or by the page's language if that is more reliable."""
    found, usual = _detect_encoding(body), _encoding_of_language(body)
    if usual is None or found is None:
        return usual or found
    if usual == DEFAULT and found in LATIN:
        return usual
    text = decode_as(body, found)
    return found if beyond_ascii(text) >= ENOUGH_CHARS and fits(text, found) else usual


def _encoding_of_language(body: bytes) -> str | None:
    """Return the usual encoding of the language that the page declares, if the bytes support it."""
    declared = _LANGUAGE.search(body[:PRESCAN_BYTES])
    name = usual_encoding(declared[1].decode()) if declared else None
    return name if name is not None and fits(decode_as(body, name), name) else None


def _detect_encoding(body: bytes) -> str | None:
    """Detect the encoding by uchardet, in its own names: resiliparse maps unknown ones to UTF-8."""
    found = detect_encoding(body, max_len=DETECT_BYTES, html5_compatible=False)
    name = encoding_of(found or "")
    return "koi8-u" if name == "koi8-r" and _UKRAINIAN.search(body) else name


def _strict_utf8(body: bytes) -> str | None:
    """Decode UTF-8; None if the body is not UTF-8. A truncated last character is not an error."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(body, final=False)
    except UnicodeDecodeError:
        return None


def _plain_ascii(body: bytes) -> bool:
    """Whether the text is the same in all encodings except UTF-16 (NUL) and ISO-2022-JP (ESC)."""
    return body.isascii() and b"\0" not in body and b"\x1b" not in body


def _agreement(text: str, other: str) -> int:
    return sum(map(str.__eq__, text, other))
