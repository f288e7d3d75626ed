r"""How text becomes terms, language by language.

Facts
  * A stemmer is right for one language, and BM25 compares a page with pages that were made into
    terms alike: so each language is an index of its own (`schema.py`), with its own frequencies
    and mean lengths. tantivy takes the mean length of a field over all documents of an index,
    those without the field too: a field per language would tell every page of a rare language
    that it is far too long.
  * tantivy's own tokenizer takes 0.3 µs a word and a regular expression 1.0. It keeps a run of
    Chinese, Japanese or Thai as one word, so that a part of it is not found, and cuts Hindi and
    Tamil at their vowel signs. So it serves the languages of Latin, Cyrillic and Greek letters.
    For others a word is a run of letters, marks and digits (`\w` of UTS #18, without `_`), and
    each character of a script that is written without spaces stands for itself.
  * Letters are folded to ASCII first, where Unicode has a like one: people leave accents out when
    they type. Turkish `I`, `ı`, `İ` and `i` are one letter then, as lower case alone would not
    make them (`İ` is `i` and a combining dot). In Portuguese and Hungarian endings differ by
    accents alone (`informação`, `informações`), so stems are folded there.

Stop words stay in the index, for phrases; a query leaves them out where it can (`Tongue.tells`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from tantivy import TextAnalyzer

MAX_WORD_BYTES = 80
"""Words are shorter; longer ones are data, not language."""
MAX_PATTERNS = 10_000
MAX_KEPT = 20_000
"""Words of a language whose terms are kept at hand: they repeat, in texts as in queries."""

STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Snowball's, by ISO 639-1."""
OTHER = "xx"
"""All other languages, and pages in none: words as they are."""

Span: TypeAlias = tuple[int, int]
"""From where to where something stands in a text, by its characters."""

FIRST_UNSPACED = "\u0e00"
"""Scripts that are written without spaces begin with Thai."""

_BY_PATTERN = frozenset(("ar", "ta", OTHER))
_UNLISTED = frozenset(("ar", "el", "ro", "ta", "tr"))
"""tantivy has no stop words for them."""
_STEM_FIRST = frozenset(("hu", "pt"))
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = rf"[\w--[_{_UNSPACED}]]+|[{_UNSPACED}]"


class Tongue:
    """The words of a language: `terms` of all of a text."""

    def __init__(self, language: str) -> None:
        stemmer = STEMMERS.get(language)
        fold, lower = Filter.ascii_fold(), Filter.lowercase()
        stem = [Filter.stemmer(stemmer)] if stemmer else []
        # The lists of stop words are in lower case, with their accents.
        stop = [] if stemmer is None or language in _UNLISTED else [Filter.stopword(stemmer)]
        folded_last = language in _STEM_FIRST
        self.terms = _analyzer(
            language, [lower, *stem, fold] if folded_last else [fold, lower, *stem]
        )
        self._telling = _analyzer(language, [lower, *stop])
        self._by_pattern = language in _BY_PATTERN
        self.analyzed = lru_cache(MAX_KEPT)(self._analyzed)
        self.tells = lru_cache(MAX_KEPT)(self._tells)
        self._stem = lru_cache(MAX_KEPT)(self._stemmed)

    def words(self, text: str) -> list[tuple[str, Span]]:
        """The terms of a text, and from where to where each stands in it."""
        if self._by_pattern:
            tokens = self.terms.pre_tokenize(text).tokens
            return [(each.text, (each.char_offset_from, each.char_offset_to)) for each in tokens]
        return [
            (self._stem(match[0]), match.span()) for match in _beginning_with("").finditer(text)
        ]

    def spans(self, text: str, terms: Container[str], initials: str = "") -> list[Span]:
        """Where a text has one of these terms.

        `initials`: letters of ASCII; words that begin with others of these may be left out.
        """
        if self._by_pattern:
            return [span for term, span in self.words(text) if term in terms]
        words, stem = _beginning_with(initials).finditer(text), self._stem
        return [match.span() for match in words if stem(match[0]) in terms]

    def _analyzed(self, typed: str) -> tuple[str, ...]:
        """The terms of what somebody typed: a word, or a phrase."""
        return tuple(self.terms.analyze(typed))

    def _stemmed(self, word: str) -> str:
        return "".join(self.terms.analyze(word))

    def telling(self, text: str) -> list[str]:
        """Its words that are no stop words, as they are written, but in lower case."""
        return self._telling.analyze(text)

    def _tells(self, typed: str) -> bool:
        """Whether it has a word that is no stop word."""
        return bool(self.telling(typed))


@cache
def tongue(language: str) -> Tongue:
    """Of a key of STEMMERS, or OTHER."""
    return Tongue(language)


@cache
def plain() -> TextAnalyzer:
    """Words as they are, of any language: for names, addresses and spelling."""
    return tongue(OTHER).terms


@cache
def whole() -> TextAnalyzer:
    """For texts that are compared as a whole: it may cut words anywhere, if always alike.

    `plain` tells words better, by a regular expression, which takes several times as long.
    """
    filters = (Filter.ascii_fold(), Filter.lowercase())
    return _built(Tokenizer.simple(), filters)


@lru_cache(MAX_PATTERNS)
def _beginning_with(initials: str) -> re.Pattern[str]:
    """Words of the simple tokenizer. Folding makes ASCII of other letters, so these all count.

    A place is passed over at once that has none of the letters that the pattern begins with: so
    these come first, told by those that are none, and what must stand before them is asked then.
    """
    if not initials:
        return re.compile(r"[^\W_]+")
    codes = [-1, *sorted(map(ord, {*initials, *initials.upper()})), 128]
    others = (rf"\x{a + 1:02x}-\x{b - 1:02x}" for a, b in pairwise(codes) if b - a > 1)
    first = f"[^{''.join(others)}]"
    return re.compile(rf"{first}(?<=[^\W_])(?<![^\W_]{first})[^\W_]*")


def is_unspaced(term: str) -> bool:
    """Whether it is a character of a script that is written without spaces.

    Or a word of one letter of another such alphabet, which does no harm.
    """
    return len(term) == 1 and term >= FIRST_UNSPACED


def _analyzer(language: str, filters: Iterable[Filter]) -> TextAnalyzer:
    by_pattern = language in _BY_PATTERN
    return _built(Tokenizer.regex(_WORD) if by_pattern else Tokenizer.simple(), filters)


def _built(tokenizer: Tokenizer, filters: Iterable[Filter]) -> TextAnalyzer:
    builder = TextAnalyzerBuilder(tokenizer)
    for each in (Filter.remove_long(MAX_WORD_BYTES), *filters):
        builder = builder.filter(each)
    return builder.build()
