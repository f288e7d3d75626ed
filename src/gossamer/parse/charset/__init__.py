"""From bytes to characters: which encoding a page is in.

A byte-order mark decides. Then what the page declares (the Content-Type header before the
page's own XML declaration and meta) is tried in turn, and believed where the bytes bear it out:
servers are configured once and declare their default for every page, so labels are wrong more
often than browsers admit. What declares nothing, or something wrong, is detected.

Facts:

- Text in another encoding that happens to be valid UTF-8 is practically never long.
- Servers that were never told declare ISO-8859-1 (windows-1252), in which all bytes are valid. So
  meta comes before it, and so does the detector where it has enough to go by. Russian ones declare
  windows-1251.
- Bytes of one multi-byte encoding are mostly valid in another one: the detector is right more often
  than such a label, and than either label where header and meta disagree.
- Of few characters the language that the page declares tells more than a detector.

Whether bytes bear a label out, `plausibility.py` says. How often all this is right:
bench/charset.py.
"""

from __future__ import annotations

import codecs
import re

from resiliparse.parse.encoding import detect_encoding

from gossamer.encodings import (
    CYRILLIC,
    LATIN,
    MULTI_BYTE,
    NAMES,
    codec_of,
    encoding_of,
    usual_encoding,
)
from gossamer.parse.charset.plausibility import beyond_ascii, fits, sample

PRESCAN_BYTES = 8192
"""How far a meta element is looked for. The standard suggests 1,024, and browsers go on."""
DETECT_BYTES = 65_536
START_BYTES, MIN_NULS = 1_024, 4
"""Of what may be UTF-16: of its ASCII every other byte is NUL."""
CERTAIN_BYTES = 16
"""So many continuation bytes in valid UTF-8 overrule any label."""
ENOUGH_CHARS = 64
"""Beyond ASCII, for the detector to be heard against DEFAULT. Of Western texts of so many it
takes 1 in 290 for another; Central European and Turkish ones it tells in 24 of 25."""
DEFAULT = "windows-1252"

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
_XML = re.compile(
    rb"""\s{0,64}<\?xml[^<>]{0,200}?\bencoding\s{0,8}=\s{0,8}["']([A-Za-z0-9_:.-]{1,40})"""
)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META = re.compile(
    rb"""<meta[\s/][^<>]{0,512}?charset\s{0,8}=\s{0,8}["']?\s{0,8}([a-z0-9_:.-]{1,40})""",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(
    rb"""<html\s[^<>]{0,512}?\blang\s{0,8}=\s{0,8}["']?([a-z]{2}(?:-[a-z]{2,4})?)""", re.IGNORECASE
)
_UKRAINIAN = re.compile(rb"[\xa4\xa6\xa7\xad\xb4\xb6\xb7\xbd](?=[\xc0-\xff])")
"""Letters of KOI8-U that KOI8-R has lines for, which uchardet does not know."""
_DOUBTS = {
    DEFAULT: NAMES - {DEFAULT},
    "windows-1251": NAMES - CYRILLIC - LATIN,
    **dict.fromkeys(MULTI_BYTE, MULTI_BYTE),
}
"""What the detector may find against a label that stands alone."""


def decode(body: bytes, declared: str | None) -> tuple[str, str]:
    """A page's characters, and the WHATWG name of their encoding. Never raises.

    `declared` is the label in the Content-Type header, if any.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], name), name
    if (disguised := _like_ascii(body)) is not None:
        return _decoded(body, disguised), disguised
    utf8 = _strict_utf8(body)
    labels = _declared(body, declared)
    if utf8 is not None and (
        len(body) - len(utf8) >= CERTAIN_BYTES
        or labels[:1] in ([], ["utf-8"])
        or _plain_ascii(body)
    ):
        return utf8, "utf-8"
    if (believed := _believed(body, labels)) is not None:
        return believed
    if utf8 is not None:
        return utf8, "utf-8"
    name = _guessed(body) or next((name for name in labels if name != "utf-8"), DEFAULT)
    return _decoded(body, name), name


def _like_ascii(body: bytes) -> str | None:
    """What looks like ASCII and is not: UTF-16 without a mark, and ISO-2022-JP."""
    start = body[:START_BYTES]
    nuls = {"utf-16be": start[::2].count(0), "utf-16le": start[1::2].count(0)}
    fewer, name = sorted(nuls, key=nuls.__getitem__)
    if nuls[name] >= max(MIN_NULS, len(start) / 16, 8 * nuls[fewer]):
        return name
    if b"\x1b" in body and b"\x1b$" in body and body.isascii():  # one is found sooner
        text = _decoded(body, "iso-2022-jp")
        return "iso-2022-jp" if fits(text, "iso-2022-jp") else None
    return None


def _declared(body: bytes, header: str | None) -> list[str]:
    """The encodings that header, XML declaration and meta name, without those unknown."""
    labels = [] if header is None else [encoding_of(header)]
    for found in (_XML.match(body), _META.search(_COMMENT.sub(b"", body[:PRESCAN_BYTES]))):
        if found is not None:
            name = encoding_of(found[1].decode())
            # What was read byte by byte cannot be in UTF-16 (HTML, §13.2.3.2).
            labels.append("utf-8" if name in ("utf-16le", "utf-16be") else name)
    return [name for name in labels if name is not None]


def _believed(body: bytes, labels: list[str]) -> tuple[str, str] | None:
    """The text in the encoding that the page declares, if it can be so."""
    texts = {name: _decoded(body, name) for name in sorted(labels, key=DEFAULT.__eq__)}
    fitting = {codec_of(name): name for name, text in texts.items() if fits(text, name)}
    if not fitting:
        return None
    name = next(iter(fitting.values()))
    enough = beyond_ascii(texts[name]) >= ENOUGH_CHARS
    if len(fitting) > 1:
        likely = sample(_decoded(body, _detected(body) or name))
        name = max(fitting.values(), key=lambda each: _agreement(sample(texts[each]), likely))
    elif enough and name in _DOUBTS:
        found = _guessed(body)
        name = found if found is not None and found in _DOUBTS[name] else name
    elif name == DEFAULT:
        name = _of_language(body) or name
    return texts.get(name) or _decoded(body, name), name


def _guessed(body: bytes) -> str | None:
    """By the detector, or the language of the page where that tells more."""
    found, usual = _detected(body), _of_language(body)
    if usual is None or found is None:
        return usual or found
    if usual == DEFAULT and found in LATIN:
        return usual
    text = _decoded(body, found)
    return found if beyond_ascii(text) >= ENOUGH_CHARS and fits(text, found) else usual


def _of_language(body: bytes) -> str | None:
    """What pages in the language that this one declares were mostly written in, if it can be so."""
    declared = _LANGUAGE.search(body, 0, PRESCAN_BYTES)
    name = usual_encoding(declared[1].decode()) if declared else None
    return name if name is not None and fits(_decoded(body, name), name) else None


def _detected(body: bytes) -> str | None:
    """By uchardet, whose own names are asked for: mapped to the web's, unknown ones are UTF-8."""
    found = detect_encoding(body, max_len=DETECT_BYTES, html5_compatible=False)
    name = encoding_of(found or "")
    return "koi8-u" if name == "koi8-r" and _UKRAINIAN.search(body) else name


def _strict_utf8(body: bytes) -> str | None:
    """None where the body is not UTF-8; a character that was cut at its end is no error."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(body, final=False)
    except UnicodeDecodeError:
        return None


def _plain_ascii(body: bytes) -> bool:
    """The same characters in all encodings but UTF-16 (NUL) and ISO-2022-JP (ESC)."""
    return body.isascii() and b"\0" not in body and b"\x1b" not in body


def _decoded(body: bytes, name: str) -> str:
    return body.decode(codec_of(name), "replace")


def _agreement(text: str, other: str) -> int:
    return sum(map(str.__eq__, text, other))
