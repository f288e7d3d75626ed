"""Big5 as browsers read and write it: the index of the WHATWG (Encoding, §12.1).

Facts, by comparison of all pairs of bytes with Chromium's TextDecoder
  * Python's big5hkscs lacks 192 of its characters: the row that HKSCS-2008 added, pictures of
    control characters and the euro (ETEN), and the second places of characters that moved when
    Unicode got them ("compatibility points").
  * Eleven symbols of row A1 and A2 are others: Microsoft's full-width and small forms.
  * The vowels at 0x8862, 0x8864, 0x88A3 and 0x88A5 are two code points each, in Python and in the
    standard.
"""

from __future__ import annotations

import codecs
import re
from functools import cache
from itertools import product

_HKSCS_2008 = (
    "㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏"
    "䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋"
)
"""From 0x877A on."""
_CONTROLS = "".join(map(chr, (*range(0x2400, 0x2420), 0x2421))) + "€"
"""From 0xA3C0 on."""
_MOVED = """
9244蔃 9447浧 9644靝 8e69箸 8e6f簆 8e7e糎 8eab緒 8eb4縝 8ecd者 8ed0耨 8f57菁 8f69蒨 8f6e萏
8fcb覦 8fcc覩 8ffe起 906d都 907a銹 90dc靜 90f1響 91bf鼖 92af兙 92b0兛 92b1兝 92b2兞 92c8鍮
92d1瑹 94ca禛 95d9邗 96ed瀞 96fc嬨 9b76爁 9b78矗 9b7b纇 9bc6駖 9bde釔 9bec惞 9bf6澶 9c42輶
9c53侻 9c62營 9c68鄄 9c6b鷰 9c77菏 9cbc尐 9cbd秣 9cd0婧 9d57輋 9d5a筑 9dc4拐 9ea9恢 9eef痹
9efd汊 9f60鬮 9f66鼗 9fcb僭 9fd8弌 a063蠏 a077拎 a0d5瑨 a0df煢 a0e4牐 c6cf廴 c6d3无 c6d5癶
c6d7隶 c6de〃 c6df仝 fa5f倩 fa66偽 fabd包 fac5卄 fad5卿 fb48嘅 fbb8婷 fbf3幵 fbf9廐 fc4f彘
fc6c悤 fcb9撐 fce2晴 fcf1杞 fdb7沜 fdb8渝 fdbb港 fdf1煮 fe52猪 fe6f瑜 feaa瓩 fedd砉
"""
_SYMBOLS = (
    ("•", "‧"),
    ("､", "﹑"),
    ("‾", "¯"),
    ("∼", "～"),
    ("♁", "⊕"),
    ("☉", "⊙"),
    ("¥", "￥"),
    ("¢", "￠"),
    ("£", "￡"),
)
"""Symbols that the codec has in one place only, and those of the standard."""
_SLASHES = {b"\xa2A": "∕", b"\xa2B": "﹨"}
"""Here the codec repeats the full-width slashes of 0xA1FE and 0xA240."""
_UNIT = re.compile(rb"[\x81-\xfe][\x40-\x7e\xa1-\xfe]|.", re.DOTALL)
_TRAILS = (*range(0x40, 0x7F), *range(0xA1, 0xFF))
_ENCODED_LEADS = range(0xA1, 0xFF)
"""What HKSCS has before them is read only."""
_LAST_PLACES = frozenset("═╞╡╪卅十")
"""Characters that the standard writes at the last of their places, not at the first."""
_MISSING = "gossamer.big5"


def _pairs_from(lead: int, trail: int) -> list[bytes]:
    """Return the pairs of bytes from one to the end of its row."""
    return [bytes((lead, each)) for each in _TRAILS if each >= trail]


_ADDED = (
    dict(zip(_pairs_from(0x87, 0x7A), _HKSCS_2008, strict=False))
    | dict(zip(_pairs_from(0xA3, 0xC0), _CONTROLS, strict=False))
    | {bytes.fromhex(each[:4]): each[4:] for each in _MOVED.split()}
)


def decode_big5(body: bytes) -> str:
    """Decode Big5, with U+FFFD for errors."""
    if b"\xa2A" in body or b"\xa2B" in body:  # maybe a trail and a letter
        return "".join([_SLASHES.get(unit) or _decode(unit) for unit in _UNIT.findall(body)])
    return _decode(body)


def _decode(body: bytes) -> str:
    text = body.decode("big5hkscs", _MISSING)
    if not text.isascii():
        for old, new in _SYMBOLS:
            text = text.replace(old, new)
    return text


def encode_big5(char: str) -> bytes | None:
    """Encode a character; None if Big5 lacks it."""
    return char.encode() if char.isascii() else _places().get(char)


@cache
def _places() -> dict[str, bytes]:
    places: dict[str, bytes] = {}
    for pair in map(bytes, product(_ENCODED_LEADS, _TRAILS)):
        char = decode_big5(pair)
        if char in _LAST_PLACES:
            places[char] = pair
        elif len(char) == 1:  # an error and a byte, or the vowels, are longer
            places.setdefault(char, pair)
    return places


def _replace_missing(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101  # registered for decoding
    added = _ADDED.get(error.object[error.start : error.start + 2])
    return ("\ufffd", error.end) if added is None else (added, error.start + 2)


codecs.register_error(_MISSING, _replace_missing)
