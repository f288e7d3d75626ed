"""How likely is a text in each of 60 languages, by n-grams of its words?

Facts. The model is that of eldc 0.4 (Nito T.M., Apache-2.0), with its scores rounded to a byte:
1.2 million n-grams, each with its log-likelihood in the languages that have it. A word is hashed
whole if it has at most six bytes of UTF-8, else in pieces of six. Chinese characters, kana and
syllables of Korean are words. Each n-gram of a text counts once.

`ngrams.bin` is written by `release/language_model.py` while the package is built, and mapped into
memory, so that all processes share one copy. Its parts are little-endian:

    kinds     65,536 bytes    what the characters of Unicode's first plane are: see below
    starts    65,537 uint32   by the upper 16 bits of a hash, where its rows begin
    rows      uint32, sorted  the lower 16 bits of a hash, a language (8 bits), a score (8 bits)

Rows of equal hashes follow each other. Of a text's n-grams that the model does not have, 3 in
10,000 have a hash that it has.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from functools import cache, lru_cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.native import native

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableSequence, Sequence

_CODES = """
am ar az be bg bn ca cs da de el en es et eu fa fi fr gu he hi hr hu hy is it ja ka kn ko ku lo lt
lv ml mr id nl no or pa pl pt ro ru sk sl sq sr sv ta te th tl tr uk ur vi yo zh
"""
LANGUAGES = _CODES.split()
"""In the order of the model. What it calls Malay (ms) is mostly Indonesian."""
UNITS = 45
"""Of the scores, in a natural logarithm."""
LETTER, IDEOGRAPH, JOINER = 1, 2, 3
"""Kinds of characters. A joiner belongs to a word between two letters; all others end it."""
KINDS = BUCKETS = 1 << 16
IDEOGRAPHS = range(0x20000, 0x2FA20)
"""The only words beyond Unicode's first plane."""
NGRAM_BYTES = 6
MAX_TEXT_BYTES = 4096
KNOWN = 1 << 14
"""Words, and as many n-grams, that are remembered without a compiler: texts repeat their own."""
MODEL = Path(__file__).with_name("ngrams.bin")

_ZEROS = bytes(array("q").itemsize * len(LANGUAGES))
_WORD = re.compile(rb"[\x02]|\x01+(?:\x03\x01+)*")
_SPAN = re.Match[bytes].span
_NEITHER = b"\0"
"""In place of joiners, and of whatever `bytes.split` would not treat as `_WORD` does."""


def score_languages(text: str) -> tuple[array[int], int]:
    """Score a text in each of LANGUAGES. Returns the scores and their unit.

    Their ratio is the mean log-likelihood of the text's n-grams plus a constant: 0 where the model
    has none of them, and at most 5.6. `text` has no surrogates, and at most MAX_TEXT_BYTES in small
    letters.
    """
    scores = array("q", _ZEROS)
    count = _add_ngram_scores(text.lower().encode(), *map_model(), scores)
    return scores, UNITS * max(count, 1)


@cache
def map_model() -> tuple[memoryview, memoryview, memoryview]:
    """The model's kinds, starts and rows."""
    with MODEL.open("rb") as file:
        model = memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
    numbers = model[KINDS:].cast("I")
    return model[:KINDS], numbers[: BUCKETS + 1], numbers[BUCKETS + 1 :]


@native
def _add_ngram_scores(
    text: bytes,
    kinds: Sequence[int],
    starts: Sequence[int],
    rows: Sequence[int],
    sums: MutableSequence[int],
) -> int:
    """Add the scores of a text's n-grams to those of their languages; return their number."""
    if len(kinds) != KINDS or len(starts) != BUCKETS + 1:
        raise ValueError("arrays of no model")
    if len(text) > MAX_TEXT_BYTES:
        raise ValueError("a text that is too long")
    scores = _scores_of(starts, rows, len(sums))
    ngrams = frozenset[bytes]().union(*map(_ngrams, _words(text, kinds)))
    packed = sum(map(scores.__getitem__, ngrams))
    for language, score in enumerate(array("I", packed.to_bytes(4 * len(sums), "little"))):
        sums[language] += score
    return len(ngrams)


class _Scores(dict[bytes, int]):
    """The scores of n-grams that a process met, with 32 bits for each language."""

    def __init__(self, starts: Sequence[int], rows: Sequence[int], languages: int) -> None:
        self.model = starts, rows, languages

    def __missing__(self, ngram: bytes) -> int:
        starts, rows, languages = self.model
        key, packed = _hash_of(ngram), 0
        begin, end = starts[key >> 16], starts[(key >> 16) + 1]
        if not begin <= end <= len(rows):
            raise ValueError("arrays of no model")
        wanted = key & 0xFFFF
        for place in range(bisect_left(rows, wanted << 16, begin, end), end):
            row = rows[place]
            if row >> 16 != wanted:
                break
            if row >> 8 & 0xFF >= languages:
                raise ValueError("arrays of no model")
            packed += (row & 0xFF) << 32 * (row >> 8 & 0xFF)
        if len(self) >= KNOWN:
            self.clear()
        self[ngram] = packed
        return packed


_LAST = [_Scores((), (), 0)]


def _scores_of(starts: Sequence[int], rows: Sequence[int], languages: int) -> _Scores:
    """Those of a model; there is hardly ever another one than before."""
    model = starts, rows, languages
    if any(one is not other for one, other in zip(_LAST[0].model, model, strict=True)):
        _LAST[0] = _Scores(*model)
    return _LAST[0]


def _words(text: bytes, kinds: Sequence[int]) -> Iterable[bytes]:
    """The words of a text, each at least once."""
    if text.isascii():
        in_ascii = bytes(kinds[:256])
        spaced = text.translate(_letters_alone(in_ascii))
        if _NEITHER not in spaced:  # as in most samples, which takes a third of the time
            return {*spaced.split()}
        marks = text.translate(in_ascii)
        return (text[begin:end] for begin, end in map(_SPAN, _WORD.finditer(marks)))
    decoded = text.decode("utf-8", "replace")
    marks = bytes(
        [
            kinds[code] if code < KINDS else IDEOGRAPH * (code in IDEOGRAPHS)
            for code in map(ord, decoded)
        ]
    )
    return (decoded[begin:end].encode() for begin, end in map(_SPAN, _WORD.finditer(marks)))


@lru_cache(1)
def _letters_alone(kinds: bytes) -> bytes:
    """By byte: itself if it is a letter, a space if it ends a word, or _NEITHER."""
    table = bytearray(_NEITHER * len(kinds))
    for byte, kind in enumerate(kinds):
        if kind == LETTER and not chr(byte).isspace():
            table[byte] = byte
        elif not kind:
            table[byte] = ord(" ")
    return bytes(table)


@lru_cache(KNOWN)
def _ngrams(word: bytes) -> tuple[bytes, ...]:
    if len(word) <= NGRAM_BYTES:
        return (b" %b " % word,)
    inner = range(NGRAM_BYTES, len(word) - NGRAM_BYTES, NGRAM_BYTES)
    return (
        b" " + word[:NGRAM_BYTES],
        *(word[at : at + NGRAM_BYTES] for at in inner),
        word[-NGRAM_BYTES:] + b" ",
    )


def _hash_of(ngram: bytes) -> int:
    """The upper half of a part of SplitMix64; never 0."""
    word = int.from_bytes(ngram, "little")
    word ^= word >> 30
    word = word * 0xBF58476D1CE4E5B9 & 0xFFFF_FFFF_FFFF_FFFF
    return (word ^ word >> 27) >> 32 or 1
