"""All pairs of bytes in the encodings of several bytes, beside Chromium's TextDecoder.

Where Chromium has characters, so have we, and the same. What is an error there may be a character
here in ISO-2022-JP only, whose older and wider forms are read (`legacy_decoding.py`).
"""

from __future__ import annotations

import base64
from itertools import product
from typing import TYPE_CHECKING

import pytest

from gossamer.web.encodings import decode_as

if TYPE_CHECKING:
    from collections.abc import Iterable

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

DECODE = """([label, written]) => {
    const bytes = Uint8Array.from(atob(written), char => char.charCodeAt(0));
    const text = new TextDecoder(label, {ignoreBOM: true}).decode(bytes);
    return [...text].map(char => char.codePointAt(0)).join(" ");
}"""
"""JavaScript: code points in a string; halves of some cannot be sent, and arrays are slow."""
GRAPHIC = range(0x21, 0x7F)
HIGH = range(0x80, 0x100)
THREE = 0x8F
FOUR = [(0x81, 0x84), (0x30, 0x39), (0x81, 0xFE), (0x30, 0x39)]
"""Sequences of gb18030 for the Basic Multilingual Plane; the others are a formula."""
PAIRS = list(map(bytes, product(HIGH, range(0x20, 0x100))))
SEQUENCES = {
    "big5": PAIRS,
    "shift_jis": PAIRS,
    "euc-kr": PAIRS,
    "gbk": PAIRS,
    # After a cut sequence of three, Chromium takes the next pair for the end of another one.
    "euc-jp": [
        *(pair for pair in PAIRS if pair[0] != THREE),
        *(bytes((THREE, *pair)) for pair in product(HIGH, HIGH)),
    ],
    "gb18030": [*PAIRS, *map(bytes, product(*(range(a, b + 1) for a, b in FOUR)))],
    "iso-2022-jp": [
        *(b"\x1b$B" + bytes(pair) + b"\x1b(B" for pair in product(GRAPHIC, GRAPHIC)),
        *(escape + bytes((b,)) + b"\x1b(B" for escape in (b"\x1b(I", b"\x1b(J") for b in GRAPHIC),
    ],
}
ARGUED = {
    # Two code points each, as in the standard; Chromium halves a number of 32 bits.
    "big5": {b"\x88\x62", b"\x88\x64", b"\x88\xa3", b"\x88\xa5"},
    # Of private use in Chromium; the pair 0xA8BC has the same letter.
    "gb18030": {b"\x81\x35\xf4\x37"},
}


def decoded_by(page: Page, name: str, sequences: Iterable[bytes]) -> list[str]:
    written = base64.b64encode(b"\n".join(sequences)).decode()
    codes: str = page.evaluate(DECODE, [name, written])
    return "".join(map(chr, map(int, codes.split()))).split("\n")


@pytest.mark.parametrize("name", SEQUENCES)
def test_characters_are_those_of_chromium(page: Page, name: str) -> None:
    sequences = SEQUENCES[name]
    theirs = decoded_by(page, name, sequences)
    assert len(theirs) == len(sequences)
    wrong = {
        sequence: (ours, shown)
        for sequence, shown in zip(sequences, theirs, strict=True)
        if (ours := decode_as(sequence, name)) != shown
        and not ("\ufffd" in shown and ("\ufffd" in ours or name == "iso-2022-jp"))
    }
    assert wrong.keys() == ARGUED.get(name, set()), wrong
