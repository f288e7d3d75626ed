"""The query of a link in the encoding of its page, as browsers send it.

Source: WHATWG URL, "query state" and "percent-encode after encoding". On a page in windows-1251,
`?q=да` means `?q=%E4%E0`; every other part of a URL is in UTF-8. So is the query on pages in UTF-8
and UTF-16, and that of URLs whose scheme is not special. A character that the encoding lacks
becomes `%26%23`, its number and `%3B`: a percent-encoded HTML reference.

Python's codecs of the same names know fewer characters than the standard's encoders, and some have
others first. Microsoft's codecs are closer; EUC-JP and ISO-2022-JP are built on the rows and cells
of JIS X 0208, which Python has only within cp932. Beside Chromium, on 50,000 characters in each of
38 encodings, what differs are private-use and control characters, and characters that GB18030 moved
after the year 2000.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import product
from unicodedata import normalize as normalize_unicode
from urllib.parse import quote

from gossamer.web.big5 import encode_big5
from gossamer.web.encodings import codec_of

UTF8 = frozenset(
    ("utf-8", "utf-16le", "utf-16be", "iso-2022-kr", "iso-2022-cn", "hz-gb-2312"),
)
"""Encodings of pages whose links have queries in UTF-8 (Encoding, "get an output encoding"). The
last three are "replacement" there."""
SPECIAL = frozenset(("http", "https", "ftp", "file"))
"""Schemes whose queries are in the encoding of the page."""
GBK_BYTES = 2
CELLS = 94
"""Cells of a row of JIS X 0208."""

_CODECS = {"euc-kr": "cp949"}
_SCHEME = re.compile(r"[\0- ]*+([A-Za-z][A-Za-z0-9+.-]*+):")
_IGNORED = str.maketrans("", "", "\t\n\r")
_BLANKS = "".join(map(chr, range(0x21)))
"""Stripped at the end of a URL."""
_SAFE = "!$%&()*+,-./:;=?@[\\]^_`{|}~"
"""ASCII beside letters and digits that is not in the special-query percent-encode set."""
_ASCII, _ROMAN, _KANJI = b"\x1b(B", b"\x1b(J", b"\x1b$B"
"""The escape sequences of ISO-2022-JP for its three sets of characters."""
_ROMAN_BYTES = {"¥": b"\\", "‾": b"~"}
_JIS_SPECIAL = _ROMAN_BYTES | {"\u2212": b"\x81\x7c"}


def encode_query(href: str, base: str, encoding: str) -> str:
    """Return a reference whose query is percent-encoded as on a page in `encoding`.

    `encoding` is a WHATWG name; `base` is a URL, whose scheme counts if the reference has none.
    References that need no encoding are returned unchanged. Never raises.
    """
    if href.isascii() or encoding in UTF8:
        return href
    written, mark, fragment = href.partition("#")
    path, question, query = written.partition("?")
    if query.isascii():
        return href
    scheme = _SCHEME.match(path) or _SCHEME.match(base)
    if scheme is None or scheme[1].lower() not in SPECIAL:
        return href
    query = query.translate(_IGNORED)
    encoded = _encode(query if mark else query.rstrip(_BLANKS), encoding)
    return path + question + encoded + mark + fragment


def _encode(text: str, encoding: str) -> str:
    if encoding == "iso-2022-jp":
        return _encode_iso_2022_jp(text)
    return "".join([char if char in _SAFE else _encode_char(char, encoding) for char in text])


@lru_cache(maxsize=4_096)
def _encode_char(char: str, encoding: str) -> str:
    """Return a character in percent-encoding, or the reference to it."""
    if encoding == "euc-jp":
        found = _euc_jp(char)
    elif encoding == "shift_jis":
        found = _JIS_SPECIAL.get(char) or _ibm_extensions().get(char) or _round_trip(char, "cp932")
    elif encoding == "gbk" and char == "€":
        found = b"\x80"
    elif encoding == "big5":
        found = encode_big5(char)
    else:
        found = _round_trip(char, _CODECS.get(encoding) or codec_of(encoding))
        if encoding == "gbk" and found is not None and len(found) > GBK_BYTES:
            found = None  # the codec is that of gb18030, which has sequences of four bytes
    return _reference(char) if found is None else quote(found, _SAFE)


def _round_trip(char: str, codec: str) -> bytes | None:
    """Encode a character; None if its bytes mean another one, which some codecs take for alike."""
    try:
        found = char.encode(codec)
    except UnicodeEncodeError:
        return None
    return found if found.decode(codec, "replace") == char else None


def _reference(char: str) -> str:
    return f"%26%23{ord(char)}%3B"


def _euc_jp(char: str) -> bytes | None:
    if char.isascii():
        return char.encode()
    if "\uff61" <= char <= "\uff9f":  # half-width katakana
        return bytes((0x8E, ord(char) - 0xFF61 + 0xA1))
    if char in _ROMAN_BYTES:
        return _ROMAN_BYTES[char]
    place = _kanji().get(char)
    return None if place is None else bytes((place[0] | 0x80, place[1] | 0x80))


def _encode_iso_2022_jp(text: str) -> str:
    """Encode with escape sequences between sets of characters (Encoding, §12.2.2)."""
    parts: list[str] = []
    state = _ASCII
    for char in text:
        if "\uff61" <= char <= "\uff9f":
            char = normalize_unicode("NFKC", char)  # noqa: PLW2901  # the standard's table
        place = _kanji().get(char)
        in_state = _ASCII if char.isascii() else _ROMAN if char in _ROMAN_BYTES else _KANJI
        if in_state == _KANJI and place is None:
            in_state = _ASCII
        if in_state != state:
            parts.append(quote(in_state, _SAFE))
            state = in_state
        if char.isascii():
            parts.append(quote(char, _SAFE))
        elif char in _ROMAN_BYTES:
            parts.append(quote(_ROMAN_BYTES[char], _SAFE))
        else:
            parts.append(_reference(char) if place is None else quote(bytes(place), _SAFE))
    if state != _ASCII:
        parts.append(quote(_ASCII, _SAFE))
    return "".join(parts)


@cache
def _ibm_extensions() -> dict[str, bytes]:
    """Return IBM's characters in Shift_JIS. cp932 prefers the places that NEC selected for them."""
    pairs = (bytes((lead, trail)) for lead in range(0xFA, 0xFD) for trail in range(0x40, 0xFD))
    found = {pair.decode("cp932", "replace"): pair for pair in pairs}
    return {
        char: pair
        for char, pair in found.items()
        if len(char) == 1 and char.encode("cp932")[:1] in (b"\xed", b"\xee")
    }


@cache
def _kanji() -> dict[str, tuple[int, int]]:
    """Return the two bytes of each character of JIS X 0208 in ISO-2022-JP.

    With the rows of NEC and IBM that the standard has, each character at its first place.
    """
    leads = (*range(0x81, 0xA0), *range(0xE0, 0xF0))
    trails = (*range(0x40, 0x7F), *range(0x80, 0xFD))
    places: dict[str, tuple[int, int]] = {}
    for number, pair in enumerate(map(bytes, product(leads, trails))):  # a lead has two rows
        row, cell = divmod(number, CELLS)
        char = pair.decode("cp932", "replace")
        if len(char) == 1:  # an undefined pair is a replacement character and one byte
            places.setdefault(char, (row + 0x21, cell + 0x21))
    places["\u2212"] = places["\uff0d"]
    return places
