r"""What a page has as it is written: words before stemming, code with its punctuation, CamelCase.

The terms of words cannot tell `C++` from `c`, or `ets` from `et`. Two further analyzers can, which
run natively in tantivy, over texts and queries alike: one keeps the forms of words, the other only
the code around them. What is a term of code:

    name    a word with underscores                  pg_hba.conf    pg_hba
    ended   a word and the operator that ends it     C++11          c++
    led     symbols and the word that they lead to   ~/.bashrc      .bashrc
                                                     std::vec       ::vec
                                                     check --as-cran  --as-cran
    bare    several operators in a row               a ~* b         ~*

So code is also found inside longer code. Brackets and quotation marks lead to no word, and numbers
are led to by none: that is prose. The terms are a set: positions and frequencies are not known.
"""

from __future__ import annotations

import re
from itertools import filterfalse, islice
from typing import TYPE_CHECKING

from gossamer.fulltext.camel_case import camel_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CODE = (
    r"[^\W_]*_\w+"
    r"|\w+(?:\+\+|--|<<|>>|<=|>=|==|!=|->|=>|&&|\|\||\[\]|[+#*%$@=])"
    r"|(?:[/~<]|[!#$%&*+\-.:=?@\\^|~]{1,4}[\[{]?)[^\W\d]\w*(?:-\w+)*"
    r"|[#$%@]?\{\}|[#$]\{|\[\]|<[<>=~@|*\-]{1,3}"
    r"|[!#$%&*+\-/:=>?@\\^|~][!#$%&*+\-/:<=>?@\\^|~]{1,3}"
)
"""The terms of code, as a regular expression of Rust."""
MAX_PIECES = 50_000
"""Different pieces of a page that are read; further ones are left out."""
MAX_CAMEL_CASE = 5_000
"""Different words of a page in CamelCase that are split; further ones are only found as a whole."""

_WORD = re.compile(r"[^\W_]+")


def pieces_of(text: str) -> list[str]:
    """The different pieces of a text between white space: all that its set of terms depends on."""
    return [*islice(dict.fromkeys(text.split()), MAX_PIECES)]


def split_words(pieces: Iterable[str]) -> Iterator[str]:
    """The words in CamelCase, each as its parts: "thread pool executor"."""
    words = dict.fromkeys(_mixed_case(_WORD.findall("\n".join(_mixed_case(pieces)))))
    return islice((" ".join(parts) for parts in map(camel_parts, words) if parts), MAX_CAMEL_CASE)


def _mixed_case(words: Iterable[str]) -> Iterable[str]:
    """The words that are not in one case, as by far the most are."""
    for one_case in (str.islower, str.istitle, str.isupper, str.isdigit):
        words = filterfalse(one_case, words)
    return words
