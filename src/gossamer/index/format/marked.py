"""Which pieces of a text, between white space, may have code, words in CamelCase, or unspaced text.

Most of a text is prose. Pairs of neighbouring bytes tell it apart, with numpy: 11 ns per character,
where reading all of it with the regular expressions takes 31. The pairs
include all that `written.py` looks for, and more. Non-ASCII bytes count as letters in code.
"""

from __future__ import annotations

import string
from itertools import islice

import numpy as np

from gossamer.index.format.written import pieces_of

MAX_PIECES = 50_000
"""Different pieces of a page that are marked; further ones are left out."""

_SPACES = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "
_SMALL = (string.ascii_lowercase + string.digits).encode()
_CAPITAL = string.ascii_uppercase.encode()
_ANY = frozenset(range(256))

_SYMBOL, _SIGN, _HUMP, _LAST, _UNSPACED = 1, 2, 4, 8, 16
_PAIRS = {
    _SYMBOL: (b"!#$%&*+-./:<=>?@[\\^{|~", _ANY - {*_SPACES, *b"0123456789,;)'\""}),
    _SIGN: (b"_#~^", _ANY),
    _HUMP: (_SMALL, _CAPITAL),
    _LAST: (_CAPITAL, _CAPITAL),  # and a small letter, as in `XMLHttp`
    _UNSPACED: ({0xE0, 0xE1, *range(0xE3, 0xF5)}, _ANY),  # Thai, Chinese, … begin with these
}
"""The first and the second byte of each kind of pair."""
_FIRST, _SECOND = (
    bytes(sum(kind for kind, pair in _PAIRS.items() if byte in pair[place]) for byte in range(256))
    for place in (0, 1)
)
_BEFORE_SMALL = bytes(255 if byte in _SMALL else 255 - _LAST for byte in range(256))
_IS_SPACE = bytes(byte in _SPACES for byte in range(256))


def marked_pieces(text: str) -> str:
    """The different pieces of a text of which `written.py` may make terms, each in a line."""
    raw = text.encode() + b" "  # so that the last byte is the first of a pair, too
    first, second, third = (
        np.frombuffer(raw.translate(table), np.uint8) for table in (_FIRST, _SECOND, _BEFORE_SMALL)
    )
    pairs = first[:-1] & second[1:]
    pairs[:-1] &= third[2:]
    (places,) = pairs.astype(bool).nonzero()
    if not len(places):
        return ""
    (spaces,) = np.frombuffer(raw.translate(_IS_SPACE), bool).nonzero()
    bounds = np.concatenate(((-1,), spaces))
    ends = bounds.searchsorted(places)
    found = dict(zip(bounds[ends - 1].tolist(), bounds[ends].tolist(), strict=True))
    pieces = dict.fromkeys([raw[start + 1 : end] for start, end in found.items()])
    marked = b"\n".join(islice(pieces, MAX_PIECES)).decode()
    return marked if marked.isascii() else pieces_of(marked)  # some have other white space
