"""The stored document of a page: the fields of a result. Its main text is in pieces for snippets.

Facts (30 KB of Python's manual): isal compresses it to 25 % in 0.04 ms, and
unpacks it in 0.03 ms; lz4, as tantivy uses it, leaves 36 %. `bytes.lower` takes 0.01 ms and
`bytes.find` 0.02, but `str.lower` takes 0.06 ms if one character is not ASCII. So texts are
searched as UTF-8.

The first piece is not compressed by itself, because most snippets are found in it. Pieces end
between words. They are read as overlapping windows, so that words that are close together are
found together, wherever the pieces end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
from isal import isal_zlib

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import tantivy

FIRST_BYTES = 8_000
PIECE_BYTES = 32_000
MAX_STORED_BYTES = 3_000_000
"""Text beyond this is indexed, but not stored. The longest page of the JDK's manual has 1.7
million bytes, and tantivy keeps the last 100 documents read from each segment in memory."""
OVERLAP_BYTES = 1_200
"""How much of a window is repeated in the next one."""
MAX_WORD_BYTES = 200
"""A piece may end within a longer word."""


class StoredDocument(msgspec.Struct, frozen=True, array_like=True):
    """The fields of a result. `text` holds the pieces of the main text.

    `boilerplate` holds the pieces of its lines that the site repeats. `headings` are those that are
    not in the main text. The page stands for `copies` other pages with the same content, and for
    `versions` older versions of it.
    """

    url: str
    title: str
    description: str
    text: list[bytes]
    headings: list[str]
    language: str | None
    kind: str
    image: str | None
    date_ms: int | None
    fetched_ms: int
    copies: int
    versions: int
    boilerplate: list[bytes]


encode_document = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(StoredDocument).decode


def read_stored_document(stored: tantivy.Document) -> StoredDocument:
    packed: bytes = stored["stored_document"][0]
    return _decode(packed)


class Window(NamedTuple):
    """A part of a text, in UTF-8. `first`, `last`: whether the text begins or ends with it."""

    text: bytes
    first: bool
    last: bool


def pack_text(text: str) -> list[bytes]:
    """The pieces of a text; none if it is empty."""
    whole = text.encode()
    end = _between_words(whole, MAX_STORED_BYTES)
    whole = whole[:end]
    at = _between_words(whole, FIRST_BYTES)
    pieces = [whole[:at]] if whole else []
    while at < len(whole):
        begin, at = at, _between_words(whole, at + PIECE_BYTES)
        pieces.append(isal_zlib.compress(whole[begin:at]))
    return pieces


def text_windows(pieces: Sequence[bytes]) -> Iterator[Window]:
    """The text of some pieces in overlapping windows. Pieces are unpacked when they are needed."""
    before = b""
    for number, piece in enumerate(pieces):
        text = before + _unpack_piece(number, piece)
        yield Window(text, number == 0, number == len(pieces) - 1)
        before = text[_between_words(text, max(len(text) - OVERLAP_BYTES, 0)) :]


def read_beginning(pieces: Sequence[bytes], chars: int) -> str:
    """The first characters of a text."""
    text = ""
    for number, piece in enumerate(pieces):
        text += _unpack_piece(number, piece).decode()
        if len(text) >= chars:
            break
    return text[:chars]


def _unpack_piece(number: int, piece: bytes) -> bytes:
    return isal_zlib.decompress(piece) if number else piece


def _between_words(text: bytes, at: int) -> int:
    """The last place up to `at` where a word or at least a character begins, or the text ends."""
    if at >= len(text):
        return len(text)
    earliest = max(at - MAX_WORD_BYTES, 0)
    place = 1 + max(text.rfind(b" ", earliest, at), text.rfind(b"\n", earliest, at))
    if place:
        return place
    while at and text[at] & 0xC0 == 0x80:  # noqa: PLR2004  # a continuation byte of UTF-8
        at -= 1
    return at
