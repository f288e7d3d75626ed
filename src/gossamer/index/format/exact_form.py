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

So code is also found inside longer code. Brackets and quotation marks lead to no word, and other
symbols to no number: that is prose. The terms are a set: positions and frequencies are not known.

tantivy's regular expressions are slow (`analysis.py`), so these are Python's. They read each
piece of a text between white space once, and of a long text only the pieces that may contain code,
words in CamelCase, or unspaced text (`marked_pieces`). Most of a text is prose. Pairs of
neighbouring bytes distinguish it, with numpy: 11 ns per character, where reading all of it with the
regular expressions takes 31. The pairs include everything that the
expressions match, and more. Non-ASCII bytes count as letters in code.
"""

from __future__ import annotations

import re
import string
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from gossamer.index.format.analysis import HUMP, UNSPACED, camel_parts, plain_analyzer

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def pieces_of(text: str) -> str:
    """The different pieces of a text between white space, each in a line."""
    return "\n".join(dict.fromkeys(text.split()))


def marked_pieces(text: str) -> str:
    """The different pieces of a text of which terms may be made, each in a line."""
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


def code_in(pieces: str) -> str:
    """The terms of code in some pieces, between spaces."""
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


def split_parts(pieces: str, *, splits_unspaced: bool) -> Iterator[str]:
    """The parts of the words in CamelCase, and of runs without spaces.

    `splits_unspaced`: whether the field splits these runs by itself.
    """
    yield from split_words(pieces)
    if not splits_unspaced:
        yield from split_unspaced(pieces)


def split_words(pieces: str) -> Iterator[str]:
    """The different words in CamelCase, each as its parts: "Thread Pool Executor"."""
    humped = "\n".join(pieces[start:end] for start, end in _pieces_with(HUMP, pieces))
    parts = map(camel_parts, dict.fromkeys(_WORD.findall(humped)))
    return islice((" ".join(each) for each in parts if each), MAX_CAMEL_CASE)


def split_unspaced(pieces: str) -> Iterator[str]:
    """The words of each piece in which a script is written without spaces, one per character."""
    if not pieces.isascii():
        for start, end in _pieces_with(UNSPACED, pieces):
            yield " ".join(plain_analyzer().analyze(pieces[start:end]))


def _pieces_with(pattern: re.Pattern[str], pieces: str) -> Iterator[tuple[int, int]]:
    """Start and end of each piece in which a pattern is found."""
    end = 0
    while match := pattern.search(pieces, end):
        start = pieces.rfind("\n", end, match.start()) + 1
        end = pieces.find("\n", match.end())
        end = end if end >= 0 else len(pieces)
        yield start, end
