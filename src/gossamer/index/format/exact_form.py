r"""What a page has as it is written: words before stemming, code with its punctuation, CamelCase.

The terms of words cannot tell `C++` from `c`, or `ets` from `et`. Two further fields can, for texts
and queries alike: one keeps the forms of words, the other only the code around them. What is a term
of code:

    led     symbols and the word that they lead to   ~/.bashrc      .bashrc
                                                     std::vec       ::vec
                                                     pg_hba.conf    .conf
                                                     check --as-cran  --as-cran
    ended   a word and the operator that ends it     C++11          c++
    joined  words with underscores                   a.pg_hba_file  .pg_hba_file, pg_hba_file
    raised  a number behind `~` or `^` and a word    HEAD~3         ~3
    bare    several operators in a row               a ~* b         ~*

Characters of Chinese that have other forms (`normalization.variant_forms`) are kept as they are
written, too.

So code is also found inside longer code. Brackets and quotation marks lead to no word, and other
symbols to no number: that is prose. The terms are a set: positions and frequencies are not known.

tantivy's regular expressions are slow (`analysis.py`), so these are Python's. They read each
piece of a text between white space once, and of a long text only the pieces that may contain code,
words in CamelCase, or unspaced text (`marked_pieces`). Most of a text is prose. Pairs of
neighbouring bytes distinguish it. The pairs include everything that the expressions match, and
more. Non-ASCII bytes count as letters in code.

Three loops are in C (`native/code.c`), which take a quarter of their definitions' time: to find the
pieces takes 4 ns per character of a text, the code in those that are ASCII 2 ns, and the different
words 5 ns. A word that is listed once costs tantivy half of the time: only its pages are known.
"""

from __future__ import annotations

import re
import secrets
import string
from itertools import filterfalse, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gossamer.index.format.analysis import HUMP, camel_parts
from gossamer.index.format.term_table import SMALL_WORDS
from gossamer.index.format.unspaced import SPLIT, split_runs, words_of
from gossamer.native import native

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

MAX_CAMEL_CASE = 5_000
"""Different words of a page in CamelCase that are split; further ones are only found as a whole."""

_LEADING = r"!#$%&*+\-.:=?@\\^|~"
_WORDS = r"_*[^\W\d_]\w*(?:-\w+)*"
_LED_OR_BARE = (
    r"[!#$%&*+\-./:<=>?@\[\\^{|~](?![\s\d,;)'\"])(?:"
    rf"(?<=[/~<]){_WORDS}|(?<=[{_LEADING}])[{_LEADING}]{{0,3}}[\[{{]?{_WORDS}"
    r"|(?<=\{)\}|(?<=\[)\]|(?<=<)[<>=~@|*\-]{1,3}"
    r"|(?<=[!#$%&*+\-/:=>?@\\^|~])[!#$%&*+\-/:<=>?@\\^{|~]{1,3})"
)
_CODE = re.compile(_LED_OR_BARE)
_CODE_WITH_ENDED = re.compile(rf"(?<![A-Za-z0-9])[A-Za-z0-9]++(?:\+\+|#)|{_LED_OR_BARE}")
_END = re.compile(r"[+#](?:(?<=[A-Za-z0-9]\+)\+|(?<=[A-Za-z0-9]#))")
_RAISED = re.compile(r"[~^](?<=[^\W_][~^])[0-9]+(?!\w)")
_NAME = re.compile(r"\w+")
_WORD = re.compile(r"[^\W_]+")

MAX_PIECES = 50_000
"""Different pieces of a page that are marked; further ones are left out."""
CODE_ROOM = 5
"""Bytes that the code in a byte may have: a piece is read three times, and terms have two bytes."""

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
MARK_TABLES = _FIRST, _SECOND, _BEFORE_SMALL, _IS_SPACE
"""By byte: the kinds of pairs that begin and end with it, or that may be before it, and space."""
SECTION_KINDS = bytes((_SYMBOL | _SIGN, _HUMP | _LAST, _UNSPACED))
SECTIONS = len(SECTION_KINDS) + 1
_TABLE_BYTES = 256
_KEY = secrets.randbits(63)
"""Nobody can write a text whose pieces have equal hashes."""


class Pieces(NamedTuple):
    """The pieces of a text that may contain code, words in CamelCase, and unspaced text.

    Different pieces, each in a line. Those with code may be apart by whether they are ASCII.
    """

    code: Sequence[str]
    camel_case: str
    unspaced: str


def pieces_of(text: str) -> str:
    """The different pieces of a text between white space, each in a line."""
    return "\n".join(dict.fromkeys(text.split()))


def all_pieces(text: str) -> Pieces:
    """All pieces of a short text, in which a search for pairs would not pay."""
    pieces = pieces_of(text)
    return Pieces((pieces,), pieces, pieces)


def join_texts(texts: Sequence[str]) -> bytes:
    """Texts in UTF-8, with a space behind each."""
    return b" ".join([*map(str.encode, texts), b""])


def different_words(raw: bytes) -> str:
    """The words of `join_texts`, each once, with small letters where they are ASCII.

    Their terms are those of the texts: characters of ASCII that are no part of a word are no part
    of one in tantivy either. In other characters, a word may have several terms.
    """
    words = np.empty(len(raw), np.uint8)
    size = _write_words(raw, _KEY, words)
    return words[:size].tobytes().decode()


@native
def _write_words(text: bytes, key: int, words: NDArray[np.uint8]) -> int:  # noqa: ARG001  # as below
    """Write the different words of a text, with spaces between; return how many bytes they have."""
    if len(words) < len(text):
        raise ValueError("more than there is room for")
    found = b" ".join(dict.fromkeys(bytes(text).translate(SMALL_WORDS).split()))
    words[: len(found)] = found
    return len(found)


def marked_pieces(raw: bytes) -> Pieces:
    """The pieces of `join_texts` of which terms may be made."""
    found, sizes = np.empty(SECTIONS * len(raw), np.uint8), np.empty(SECTIONS, np.int64)
    _write_pieces(raw, *MARK_TABLES, SECTION_KINDS, MAX_PIECES, _KEY, found, sizes)
    sections = [
        found[start : start + size].tobytes().decode()
        for start, size in zip(range(0, len(found), len(raw)), sizes.tolist(), strict=True)
    ]
    in_ascii, *others = sections
    # Some have white space that is not ASCII. Of these, parts may be pieces that are known.
    other, camel_case, unspaced = (
        section if section.isascii() else pieces_of(section) for section in others
    )
    if other and any(map(str.isascii, other.split("\n"))):
        known = {*in_ascii.split("\n")}
        other = "\n".join([piece for piece in other.split("\n") if piece not in known])
    return Pieces([code for code in (in_ascii, other) if code], camel_case, unspaced)


@native
def _write_pieces(
    text: bytes,
    first: bytes,
    second: bytes,
    third: bytes,
    is_space: bytes,
    kinds: bytes,
    most: int,
    key: int,  # noqa: ARG001  # of the hashes in C
    found: NDArray[np.uint8],
    sizes: NDArray[np.int64],
) -> None:
    """Write the different pieces of a text that have pairs, at most `most`, to four sections.

    A pair counts if the byte behind it, if any, may be there. The text ends with a space. `kinds`
    are those of three groups; the first has a section for ASCII and one for other pieces. A section
    begins every `len(text)` bytes of `found`, and has a piece in each line; `sizes` are written,
    too.
    """
    if {*map(len, (first, second, third, is_space))} != {_TABLE_BYTES}:
        raise ValueError("tables of other sizes")
    if text and not is_space[text[-1]]:
        raise ValueError("a text that does not end with a space")
    if len(kinds) != SECTIONS - 1 or len(sizes) != SECTIONS or len(found) != SECTIONS * len(text):
        raise ValueError("arrays of other sizes")
    raw = bytes(text)
    pieces = _marked_pieces(raw, first, second, third, is_space)
    code, *others = (
        [piece for piece, marks in islice(pieces.items(), most) if marks & wanted]
        for wanted in kinds
    )
    in_ascii = [*filter(bytes.isascii, code)]
    other_code = [*filterfalse(bytes.isascii, code)]
    for section, listed in enumerate((in_ascii, other_code, *others)):
        joined, start = b"\n".join(listed), section * len(raw)
        found[start : start + len(joined)] = joined
        sizes[section] = len(joined)


def _marked_pieces(raw: bytes, *tables: bytes) -> dict[bytes, int]:
    """The different pieces that have pairs, and the kinds of these."""
    first, second, third, spaces = (
        np.frombuffer(raw.translate(bytes(table)), np.uint8) for table in tables
    )
    pairs = first[:-1] & second[1:]
    pairs[:-1] &= third[2:]
    (ends,) = spaces.nonzero()
    if not len(pairs):
        return {}
    pairs[ends[:-1]] = 0
    starts = np.concatenate(((0,), ends[:-1] + 1))
    marks = np.bitwise_or.reduceat(np.append(pairs, np.uint8(0)), starts)
    (places,) = marks.nonzero()
    spans = zip(starts[places].tolist(), ends[places].tolist(), strict=True)
    pieces = [raw[start:end] for start, end in spans]
    return dict(zip(pieces, marks[places].tolist(), strict=True))


def code_in(pieces: str) -> str:
    """The terms of code in some pieces, between spaces."""
    if not pieces.isascii():
        return _match_code(pieces)
    terms = bytearray(CODE_ROOM * len(pieces))
    size = _write_code(pieces.encode(), terms)
    return terms[:size].decode()


@native
def _write_code(pieces: bytes, terms: bytearray) -> int:
    """Write the terms of code in some pieces, which are ASCII; return how many bytes they have."""
    found = _match_code(bytes(pieces).decode("ascii")).encode()
    if len(found) > len(terms):
        raise ValueError("more than there is room for")
    terms[: len(found)] = found
    return len(found)


def _match_code(pieces: str) -> str:
    terms, done = [], 0
    ended = _pieces_with(_END, pieces) if "#" in pieces or "++" in pieces else ()
    for start, end in ended:
        terms += _CODE.findall(pieces, done, start)
        terms += _CODE_WITH_ENDED.findall(pieces, start, end)
        done = end
    terms += _CODE.findall(pieces, done)
    if "_" in pieces:
        joined = "\n".join([piece for piece in pieces.split("\n") if "_" in piece])
        terms += [name for name in _NAME.findall(joined) if "_" in name and name.strip("_")]
    if "~" in pieces or "^" in pieces:
        terms += _RAISED.findall(pieces)
    return " ".join(terms)


def split_parts(pieces: Pieces, *, splits_unspaced: bool) -> Iterator[str]:
    """The parts of the words in CamelCase, and of runs without spaces.

    `splits_unspaced`: whether the field splits these runs by itself.
    """
    yield from split_words(pieces.camel_case)
    if not splits_unspaced:
        yield from split_unspaced(pieces.unspaced)


def split_words(pieces: str) -> Iterator[str]:
    """The different words in CamelCase, each as its parts: "Thread Pool Executor"."""
    words = dict.fromkeys(_WORD.findall(pieces)) if HUMP.search(pieces) else ()
    parts = map(camel_parts, words)
    return islice((" ".join(each) for each in parts if each), MAX_CAMEL_CASE)


def split_unspaced(pieces: str) -> Iterator[str]:
    """The words of each piece with a script that has no spaces, one per character, and pairs."""
    if not pieces.isascii():
        for start, end in _pieces_with(SPLIT, pieces):
            piece = pieces[start:end]
            yield " ".join((*words_of(piece), *split_runs(piece)))


def _pieces_with(pattern: re.Pattern[str], pieces: str) -> Iterator[tuple[int, int]]:
    """Start and end of each piece in which a pattern is found."""
    end = 0
    while match := pattern.search(pieces, end):
        start = pieces.rfind("\n", end, match.start()) + 1
        end = pieces.find("\n", match.end())
        end = end if end >= 0 else len(pieces)
        yield start, end
