r"""What a page has as it is written: words before stemming, code with its punctuation, CamelCase.

The terms of words cannot tell `C++` from `c`, or `ets` from `et`. Those of this module can. A text
is cut at white space, and punctuation around a piece is removed. A word is a term as it stands. A
piece that is more than a word is taken apart at its symbols, so that code is also found inside
longer code; each part overlaps the next:

    name    a word with underscores                     pg_hba
    joined  two words and the symbols between           std::vec::Vec  std::vec, vec::Vec
    led     symbols and the word that they lead to      ~/.bashrc      ~/.bashrc, /.bashrc, .bashrc
    ended   a word and the operator that ends it        C++11          c++
    bare    symbols on their own                        ~*

An apostrophe joins no words, and in front of a word, hyphens may begin an option (`--as-cran`).
Texts and queries are taken apart by the same functions. The terms are a set: neither positions nor
frequencies are known.
"""

from __future__ import annotations

import re
from itertools import chain, filterfalse, islice
from typing import TYPE_CHECKING, NamedTuple

from gossamer.fulltext.camel_case import camel_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_TERMS = 50_000
"""Terms of a page; further ones are left out."""
MAX_CAMEL_CASE = 5_000
"""Different words of a page in CamelCase that are split; further ones are only found as a whole."""

_BEFORE, _AFTER = "([{<\"'`“”‘’«»„¡¿", ".,;:!?()[]{}\"'`“”‘’«»…"
"""Punctuation that may stand before and after a piece of text."""
_SYMBOL = r"[!-/:-@\[-^`{-~]"
"""ASCII punctuation, without the underscore."""
_WORD = re.compile(r"[^\W_]+")
# Each pattern is anchored at the beginning of a word or of symbols, so it takes linear time.
_NAME = re.compile(r"(?<!\w)[^\W_]*_\w+")
_JOINED = re.compile(rf"(?<!\w)(?=(?!\d+[.,:/]\d) (\w++ (?!'\w){_SYMBOL}{{1,4}} \w+))", re.VERBOSE)
_LED = re.compile(rf"(?<!\w)(?=((?![()\[\]{{}}\"'`,;]){_SYMBOL}{{1,4}} \w+ (?:-\w+)*))", re.VERBOSE)
_ENDED = re.compile(
    r"(?<!\w)(?=(\w++ (?:[+#*&|~^%$@=<>!-]{2,3} | [+#*&|~^%$@=](?!\w))))", re.VERBOSE
)
_BARE = re.compile(
    rf"(?<!\S)(?! (?:[.,;:!?'\"()\[\]{{}}] | [.]+ | -+) (?!\S)) ({_SYMBOL}{{1,4}}) (?!\S)",
    re.VERBOSE,
)


class Written(NamedTuple):
    """The different words of a text, and its other pieces on lines of their own."""

    words: Sequence[str]
    code: str

    @classmethod
    def of(cls, text: str) -> Written:
        pieces = dict.fromkeys(text.split())
        around = filterfalse(str.isalnum, pieces)
        bare = dict.fromkeys(each.lstrip(_BEFORE).rstrip(_AFTER) or each for each in around)
        code = "\n".join(filterfalse(str.isalnum, bare))
        words = chain(filter(str.isalnum, chain(pieces, bare)), _WORD.findall(code))
        return cls([*dict.fromkeys(words)], code)

    def terms(self) -> Iterator[str]:
        """The terms, at most MAX_TERMS. They are not yet folded to lower case."""
        return islice(chain(self.words, self.code_terms()), MAX_TERMS)

    def code_terms(self) -> Iterator[str]:
        """The terms of pieces that are more than a word."""
        if "_" in self.code:
            yield from _NAME.findall(self.code)
        yield from _JOINED.findall(self.code)
        yield from self.edge_terms()
        yield from _BARE.findall(self.code)

    def edge_terms(self) -> Iterator[str]:
        """The terms with symbols at one end, such as `.NET` and `C++`."""
        yield from _LED.findall(self.code)
        yield from _ENDED.findall(self.code)

    def split_words(self) -> Iterator[str]:
        """The words in CamelCase, each as its parts: "thread pool executor"."""
        mixed = filterfalse(str.islower, self.words)
        found = (" ".join(parts) for word in mixed if len(parts := camel_parts(word)) > 1)
        return islice(found, MAX_CAMEL_CASE)
