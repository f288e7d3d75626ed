"""Words of any script: runs of letters, marks and digits, and parts of runs without spaces.

Chinese, Japanese kana, Thai, Lao, Khmer and Burmese are written without spaces. Each grapheme
cluster there (a character with its marks, UAX #29) is a term, by which phrases are found, and so
are each two neighbours: pairs tell much more than single letters, and are about as long as words.
In Korean, particles are written with the noun before them (`서울에서`, in Seoul), so each two
neighbouring syllables of a word are terms beside the word.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import chain, pairwise
from operator import add
from typing import TYPE_CHECKING

from gossamer.index.format.normalization import grapheme_end
from gossamer.native import native_text

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

FIRST_UNSPACED = "\u0e00"
"""The first character of Thai, with which the scripts begin that are written without spaces."""
FIRST_IDEOGRAPHIC = "\u3000"
"""Before kana and ideographs; the letters of Thai, Lao, Khmer and Burmese are below."""
UNSPACED_CLASS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
HANGUL_CLASS = "\uac00-\ud7a3"
UNSPACED = re.compile(f"[{UNSPACED_CLASS}]")
"""A character of these scripts: Thai, Lao, Burmese, Khmer, kana and Chinese."""
SPLIT = re.compile(f"[{UNSPACED_CLASS}{HANGUL_CLASS}]")
"""A character of a word that has parts: also of Korean."""
_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059"
    "\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d"
    "\u17b4-\u17d3\u17dd\u3099\u309a"
)
_LETTERS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf\u1000-\u1049\u1050-\u109d"
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""The same characters without the signs and the punctuation among them."""
_STACKED = "\u1039\u17d2"
"""What joins the next consonant to a cluster: the virama of Burmese, and Khmer coeng."""
_STACKABLE = "\u1000-\u102a\u1780-\u17b3"
_CLUSTER = rf"[{_LETTERS}](?:[{_STACKED}][{_STACKABLE}]|[{_MARKS}])*"
_CLUSTERS = re.compile(_CLUSTER)
_RUNS = re.compile(rf"[{_LETTERS}]{{2,}}|[{HANGUL_CLASS}]{{2,}}")
_HAS_MARKS = re.compile(f"[{_MARKS}]")
_SPACED = (range(0x80, 0x3400), range(0xA000, 0xAC00), range(0xFB00, 0x10000))
"""Codes among which all scripts with spaces are, but ASCII and those beyond the BMP."""
MAX_KEPT = 20_000


def clusters(run: str) -> Sequence[str]:
    """The grapheme clusters of a run without spaces; Korean syllables are one character each."""
    return _CLUSTERS.findall(run) if _HAS_MARKS.search(run) else run


def split_runs(text: str) -> Sequence[str]:
    """Each two neighbouring clusters of a text, as terms."""
    return () if text.isascii() else pair_clusters(text, _classes()).split()


@native_text
def pair_clusters(text: str, classes: bytes) -> str:  # noqa: ARG001  # of the function in C
    """Each two neighbouring clusters of a text, with spaces between."""
    parts = map(clusters, _RUNS.findall(text) if SPLIT.search(text) else ())
    return " ".join([pair for each in parts for pair in map(add, each, each[1:])])


def is_unspaced(term: str) -> bool:
    """Whether a term is a part of a run in a script that is written without spaces."""
    return term >= FIRST_UNSPACED and UNSPACED.match(term) is not None


def is_korean(term: str) -> bool:
    return "\uac00" <= term[0] <= "\ud7a3"


@lru_cache(MAX_KEPT)
def is_pair(term: str) -> bool:
    """Whether a term is two neighbouring clusters of a script without spaces."""
    return is_unspaced(term) and len(term) > 1 and len(clusters(term)) > 1


def is_ideographic_pair(term: str) -> bool:
    """Whether a term is two neighbouring kana or ideographs."""
    return term >= FIRST_IDEOGRAPHIC and is_pair(term)


def has_marks(text: str) -> bool:
    r"""Whether words of a text have marks that `\w` is without, such as the vowels of Hindi."""
    return not text.isascii() and _word_marks().search(text) is not None


def words_of(text: str) -> Sequence[str]:
    """The words of a text, and the clusters of its runs without spaces, in order."""
    return spaced(text).split()


def spaced(text: str) -> str:
    """`words_of` with spaces between them."""
    return space_words(text, _classes())


@native_text
def space_words(text: str, classes: bytes) -> str:  # noqa: ARG001  # of the function in C
    """The words of a text and the clusters of its runs, with spaces between."""
    if not UNSPACED.search(text):
        return " ".join(_word().findall(text))
    words = _word_or_run().findall(text)
    return " ".join([" ".join(clusters(word)) if is_unspaced(word) else word for word in words])


def word_spans(text: str) -> Iterator[re.Match[str]]:
    """As `words_of`, with their places."""
    return (_token() if UNSPACED.search(text) else _word()).finditer(text)


def pair_spans(text: str, terms: Container[str]) -> Iterator[tuple[int, int]]:
    """Where pairs of clusters stand in a text that are among the terms."""
    for run in _RUNS.finditer(text):
        at = run.start()
        for first, second in pairwise(clusters(run[0])):
            if first + second in terms:
                yield at, at + len(first) + len(second)
            at += len(first)


def grapheme_start(text: str, at: int) -> int:
    """The first place from `at` on where a letter begins, and not a mark that belongs to one."""
    while (end := grapheme_end(text, at)) < len(text) and (
        text[end] >= "\u0300" and unicodedata.category(text[end])[0] == "M"
    ):
        at = end + 1
    return end


@cache
def _word() -> re.Pattern[str]:
    return re.compile(f"[{_word_class()}]+")


@cache
def _word_marks() -> re.Pattern[str]:
    marks = (c for c in map(chr, chain(*_SPACED)) if unicodedata.category(c)[0] == "M")
    return re.compile(f"[{''.join(mark for mark in marks if not UNSPACED.match(mark))}]")


@cache
def _word_or_run() -> re.Pattern[str]:
    return re.compile(f"[{_word_class()}]+|[{_LETTERS}]+")


@cache
def _token() -> re.Pattern[str]:
    return re.compile(f"[{_word_class()}]+|{_CLUSTER}")


@cache
def _classes() -> bytes:
    """By character of the first plane, and then by plane, the sum of the classes it is in.

    In words 1, letters of runs 2, their marks 4, what joins the next consonant 8, such consonants
    16, Korean syllables 32.
    """
    members = (_word_class(), _LETTERS, _MARKS, _STACKED, _STACKABLE, HANGUL_CLASS)
    first_plane = "".join(map(chr, range(0x10000)))
    classes = bytearray(0x10000 + 0x11)
    for place, each in enumerate(members):
        for match in re.finditer(f"[{each}]", first_plane):
            classes[match.start()] += 1 << place
        for plane in range(1, 0x11):
            classes[0x10000 + plane] += bool(re.match(f"[{each}]", chr(plane << 16))) << place
    return bytes(classes)


@cache
def _word_class() -> str:
    r"""Letters, digits and marks (`\w` of UTS #18, without `_`) of scripts that have spaces.

    Python's `\w` has no marks, which are the vowels of India's scripts. Characters beyond the BMP
    are few here, so that the class is fast.
    """
    ranges = [f"0-9A-Za-z{HANGUL_CLASS}\U00010000-\U0001ffff"]
    begin = 0
    for code in chain(*_SPACED):
        char = chr(code)
        if not (char.isalnum() or unicodedata.category(char)[0] == "M") or UNSPACED.match(char):
            begin = 0
        elif begin and ord(ranges[-1][-1]) == code - 1:
            ranges[-1] = f"{chr(begin)}-{char}"
        else:
            begin = code
            ranges.append(char)
    return "".join(ranges)
