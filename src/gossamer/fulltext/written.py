r"""What a page has as it is written: words before stemming, code with its punctuation, CamelCase.

The terms of words cannot tell `C++` from `c`, or `ets` from `et`. Two further analyzers can, which
run natively in tantivy, over texts and queries alike: one keeps the forms of words, the other only
the code around them. What is a term of code:

    led     symbols and the word that they lead to   ~/.bashrc      .bashrc
                                                     std::vec       ::vec
                                                     pg_hba.conf    _hba, .conf
                                                     check --as-cran  --as-cran
    ended   a word and the operator that ends it     C++11          c++
    bare    several operators in a row               a ~* b         ~*

So code is also found inside longer code. Brackets and quotation marks lead to no word, and symbols
to no number: that is prose. The terms are a set: positions and frequencies are not known.

tantivy's regular expressions take 0.2 µs per character (bench/text_costs.py), so they only get the
pieces of a text that may have code.
"""

from __future__ import annotations

import re
from itertools import filterfalse, islice
from typing import TYPE_CHECKING

from gossamer.fulltext.camel_case import camel_parts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

CODE = (
    r"[A-Za-z0-9]+(?:\+\+|#)"
    r"|(?:[/~<]|[!#$%&*+\-.:=?@\\^_|~]{1,4}[\[{]?)[^\W\d_]\w*(?:-\w+)*"
    r"|\{\}|\[\]|<[<>=~@|*\-]{1,3}"
    r"|[!#$%&*+\-/:=>?@\\^|~][!#$%&*+\-/:<=>?@\\^{|~]{1,3}"
)
"""The terms of code, as a regular expression of Rust."""
MAX_PIECES = 50_000
"""Different pieces of a page that are read; further ones are left out."""
MAX_CAMEL_CASE = 5_000
"""Different words of a page in CamelCase that are split; further ones are only found as a whole."""

_WORD = re.compile(r"[^\W_]+")


def pieces_of(text: str) -> Collection[str]:
    """The different pieces of a text between white space: all that its set of terms depends on."""
    pieces = dict.fromkeys(text.split())
    return pieces if len(pieces) <= MAX_PIECES else [*islice(pieces, MAX_PIECES)]


def code_in(pieces: Iterable[str]) -> str:
    """The pieces that may have code: more than a word with or without a mark behind it."""
    others = filterfalse(str.isalnum, pieces)
    return "\n".join(each for each in others if not each[:-1].isalnum() or each[-1] in "+#")


def split_words(pieces: Iterable[str]) -> Iterator[str]:
    """The words in CamelCase, each as its parts: "thread pool executor"."""
    words = dict.fromkeys(_WORD.findall("\n".join(_mixed_case(pieces))))
    parts = map(camel_parts, _mixed_case(words))
    return islice((" ".join(each) for each in parts if each), MAX_CAMEL_CASE)


def _mixed_case(words: Iterable[str]) -> Iterable[str]:
    """The words that are not in one case, as by far the most are."""
    for one_case in (str.islower, str.istitle, str.isupper, str.isdigit):
        words = filterfalse(one_case, words)
    return words
