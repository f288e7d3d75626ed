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
piece of a text between white space once, and of a long text only those that may have something to
be found (`marked.py`).
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from gossamer.index.format.analysis import UNSPACED, plain
from gossamer.index.format.camel_case import HUMP, camel_parts

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


def pieces_of(text: str) -> str:
    """The different pieces of a text between white space, each in a line."""
    return "\n".join(dict.fromkeys(text.split()))


def code_in(pieces: str) -> str:
    """The terms of code in some pieces, between spaces."""
    terms, done = [], 0
    ended = _found(_END, pieces) if "#" in pieces or "++" in pieces else ()
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
    humped = "\n".join(pieces[start:end] for start, end in _found(HUMP, pieces))
    parts = map(camel_parts, dict.fromkeys(_WORD.findall(humped)))
    return islice((" ".join(each) for each in parts if each), MAX_CAMEL_CASE)


def split_unspaced(pieces: str) -> Iterator[str]:
    """The words of each piece in which a script is written without spaces, one per character."""
    if not pieces.isascii():
        for start, end in _found(UNSPACED, pieces):
            yield " ".join(plain().analyze(pieces[start:end]))


def _found(pattern: re.Pattern[str], pieces: str) -> Iterator[tuple[int, int]]:
    """Start and end of each piece in which a pattern is found."""
    end = 0
    while match := pattern.search(pieces, end):
        start = pieces.rfind("\n", end, match.start()) + 1
        end = pieces.find("\n", match.end())
        end = end if end >= 0 else len(pieces)
        yield start, end
