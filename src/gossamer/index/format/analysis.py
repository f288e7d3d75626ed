r"""How text becomes terms, language by language.

Facts
  * A stemmer is right for one language, and BM25 is meaningful only among pages whose terms were
    made in the same way. So each language is an index of its own (`schema.py`), with its own
    frequencies and mean lengths. tantivy computes the mean length of a field over all documents of
    an index, including those without the field, so with one field per language every page in a rare
    language would count as far too long.
  * tantivy's simple tokenizer takes 0.3 µs per word, a regular expression 1.0. The simple one keeps
    a run of Chinese, Japanese or Thai as one word, whose parts are not found, and splits Hindi and
    Tamil at their vowel signs. So it serves languages in Latin, Cyrillic and Greek letters. In
    others, a word is a run of letters, marks and digits (`\w` of UTS #18, without `_`), and each
    character of a script that is written without spaces is a word.
  * Letters are first folded to similar ASCII letters where Unicode has them, because people omit
    accents when they type. This makes Turkish `I`, `ı`, `İ` and `i` one letter, which lower-casing
    does not (`İ` becomes `i` and a combining dot). In Portuguese and Hungarian, endings may differ
    only in accents (`informação`, `informações`), so stems are folded there instead.

Stop words stay in the index, because phrases need them. A query leaves them out if it can
(`Analyzer.has_content_word`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, TypeAlias

from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from tantivy import TextAnalyzer

MAX_WORD_BYTES = 80
"""UTF-8 bytes of a word; longer ones are not indexed, because they are data, not language."""
MAX_PATTERNS = 10_000
"""Compiled patterns that are cached, by the initials of the words that they find."""
MAX_KEPT = 20_000
"""Words per language whose terms are cached: words recur in texts and in queries."""

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
"""Snowball stemmers, by ISO 639-1."""
OTHER = "xx"
"""All other languages, and pages without a language: words are not stemmed."""

Span: TypeAlias = tuple[int, int]
"""Start and end of something in a text, in characters."""

Unit: TypeAlias = tuple[str, ...]
"""A term, or several that form a phrase."""

FIRST_UNSPACED = "\u0e00"
"""The first character of Thai, with which the scripts begin that are written without spaces."""

_BY_PATTERN = frozenset(("ar", "ta", OTHER))
_UNLISTED = frozenset(("ar", "el", "ro", "ta", "tr"))
"""Languages for which tantivy has no stop words."""
_STEM_FIRST = frozenset(("hu", "pt"))
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""A character of these scripts: Thai, Lao, Burmese, Khmer, kana and Chinese."""
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = rf"[\w--[_{_UNSPACED}]]+|[{_UNSPACED}]"
_FIRST_WORDS = re.compile(rf"[{UNSPACED.pattern[1:-1]}]|[^\W_{UNSPACED.pattern[1:-1]}]+")
MAX_CAMEL_CHARS = 80
"""A longer word is data, not CamelCase."""

HUMP = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|[A-Z][a-z])")
"""What texts with CamelCase have. It is found quickly, because it begins with a capital."""
_HUMP = re.compile(r"[a-z][0-9]*[A-Z]|[A-Z]{2}[a-z]{2}")
_HUMPS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_ASCII_WORDS = bytes(byte if chr(byte).isalnum() else ord(" ") for byte in range(256))
"""Replaces what is not part of a word."""
_QUERY_STOP_WORDS = ["versus", "vs"]
"""Words that people write between the things that they look for, and pages do not."""


class Analyzer:
    """Splits text in one language into words.

    `terms` makes the terms of a text, and `exact_form` its words without stemming.
    """

    def __init__(self, language: str) -> None:
        stemmer = STEMMERS.get(language)
        fold, lower = Filter.ascii_fold(), Filter.lowercase()
        stem = [Filter.stemmer(stemmer)] if stemmer else []
        # The stop words are in lower case, with accents, so they are removed before folding.
        stop = [] if stemmer is None or language in _UNLISTED else [Filter.stopword(stemmer)]
        folded_last = language in _STEM_FIRST
        self.terms = _text_analyzer(
            language, [lower, *stem, fold] if folded_last else [fold, lower, *stem]
        )
        self._content_words = _text_analyzer(
            language, [lower, *stop, Filter.custom_stopword(_QUERY_STOP_WORDS)]
        )
        self.splits_unspaced = self._by_pattern = language in _BY_PATTERN
        # Words that are not stemmed, and those of scripts with marks, have no second form.
        none = [Filter.remove_long(1)] if self._by_pattern else []
        self.exact_form = _build_analyzer(Tokenizer.simple(), [*none, lower, *stop, fold])
        self.terms_of = lru_cache(MAX_KEPT)(self._terms_of)
        self.has_content_word = lru_cache(MAX_KEPT)(self._has_content_word)
        self._stem = lru_cache(MAX_KEPT)(self._stem_word)

    def words(self, text: str) -> list[tuple[str, Span]]:
        """The terms of a text, each with its span.

        Runs of scripts without spaces are split in any language (`exact_form.split_unspaced`).
        """
        if self._by_pattern:
            return _tokens(self.terms, text)
        found: list[tuple[str, Span]] = []
        for match in _beginning_with("").finditer(text):
            if match[0].isascii() or not UNSPACED.search(match[0]):
                found.append((self._stem(match[0]), match.span()))
            else:
                found += _tokens(plain_analyzer(), match[0], match.start())
        return found

    def spans(self, text: str, terms: Container[str], initials: str = "") -> list[Span]:
        """The spans of these terms in a text, and of words in CamelCase with one of them.

        `initials`: ASCII letters and digits; words that begin with any other ASCII character may be
        skipped.
        """
        stem = self._stem
        if self._by_pattern:
            spans = [span for term, span in self.words(text) if term in terms]
        else:
            words = _beginning_with(initials).finditer(text)
            spans = [match.span() for match in words if stem(match[0]) in terms]
        joined = [
            (start, end)
            for start, end in _camel_case(text)
            if any(stem(part) in terms for part in camel_parts(text[start:end]))
        ]
        return sorted({*spans, *joined}) if joined else spans

    def _terms_of(self, typed: str) -> tuple[str, ...]:
        """The terms of a word or phrase that was typed."""
        return tuple(self.terms.analyze(typed))

    def _stem_word(self, word: str) -> str:
        return "".join(self.terms.analyze(word))

    def content_words(self, text: str) -> list[str]:
        """The words of a text that are not stop words, in lower case, not stemmed."""
        return self._content_words.analyze(text)

    def _has_content_word(self, typed: str) -> bool:
        """Whether the text has a word that is not a stop word."""
        return bool(self.content_words(typed))


def compose_characters(text: str | None) -> str:
    """Compose the letters of a text (NFC), as the index does, so that equal letters are equal."""
    if not text or text.isascii():
        return text or ""
    return unicodedata.normalize("NFC", text)


def compose_each(texts: Sequence[str]) -> Sequence[str]:
    if "".join(texts).isascii():
        return texts
    return [compose_characters(text) for text in texts]


@cache
def analyzer_for(language: str) -> Analyzer:
    """The analyzer of a language: a key of STEMMERS, or OTHER."""
    return Analyzer(language)


@cache
def plain_analyzer() -> TextAnalyzer:
    """Words that are not stemmed, in any language: for names, addresses and spelling."""
    return analyzer_for(OTHER).terms


@cache
def _unfiltered_analyzer() -> TextAnalyzer:
    return TextAnalyzerBuilder(Tokenizer.regex(_WORD)).build()


def plain_words(text: str) -> str:
    """The words of a text between spaces, for `whitespace_analyzer`: the terms of `plain_analyzer`.

    Of ASCII, this is several times as fast as the regular expression.
    """
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode()
    return " ".join(_unfiltered_analyzer().analyze(text))


def plain_words_of(texts: Sequence[str]) -> str:
    """The words of several texts, as `plain_words`, first those of the texts that are ASCII."""
    in_ascii = plain_words("\n".join([text for text in texts if text.isascii()]))
    others = plain_words("\n".join([text for text in texts if not text.isascii()]))
    return f"{in_ascii} {others}" if others else in_ascii


def first_words(lines: Iterable[str], number: int) -> str:
    """The first `number` words of some lines; a character without spaces counts as one."""
    found: list[str] = []
    for line in lines:
        ends = [match.end() for match in islice(_FIRST_WORDS.finditer(line), number)]
        number -= len(ends)
        if ends:
            found.append(line if number else line[: ends[-1]])
        if not number:
            break
    return "\n".join(found)


def number_of_words(text: str) -> int:
    """How many words a text has, with the parts of CamelCase; as `first_words` counts them."""
    return sum(max(len(camel_parts(word)), 1) for word in _FIRST_WORDS.findall(text))


@cache
def whitespace_analyzer() -> TextAnalyzer:
    """What stands between spaces, in lower case: words, and code (`exact_form.code_in`)."""
    return _build_analyzer(Tokenizer.whitespace(), (Filter.ascii_fold(), Filter.lowercase()))


@cache
def title_analyzer() -> TextAnalyzer:
    """For texts that are compared as a whole, so it does not matter where words are split.

    `plain_analyzer` splits better, with a regular expression, which takes several times as long.
    Long words are kept: a title in a script without spaces may be one.
    """
    builder = TextAnalyzerBuilder(Tokenizer.simple())
    return builder.filter(Filter.ascii_fold()).filter(Filter.lowercase()).build()


@lru_cache(MAX_PATTERNS)
def _beginning_with(initials: str) -> re.Pattern[str]:
    """A pattern of the simple tokenizer's words that begin with these initials.

    Words that begin with a non-ASCII letter match too, because folding may turn it into any ASCII
    letter. The regular expression engine skips text fast only if the pattern begins with a set of
    characters. So that set comes first, written as the complement of the ASCII characters that are
    not initials, and a look-behind checks that it is a letter at the beginning of a word.
    """
    if not initials:
        return re.compile(r"[^\W_]+")
    codes = [-1, *sorted(map(ord, {*initials, *initials.upper()})), 128]
    others = (rf"\x{a + 1:02x}-\x{b - 1:02x}" for a, b in pairwise(codes) if b - a > 1)
    first = f"[^{''.join(others)}]"
    return re.compile(rf"{first}(?<=[^\W_])(?<![^\W_]{first})[^\W_]*")


def camel_parts(word: str) -> Sequence[str]:
    """The parts of a word in CamelCase; none of another word."""
    if word.islower() or len(word) > MAX_CAMEL_CHARS or not word.isascii():
        return ()
    return _HUMPS.findall(word) if _HUMP.search(word) else ()


def _camel_case(text: str) -> Iterator[Span]:
    """The spans of the words that may be in CamelCase."""
    end = 0
    for hump in HUMP.finditer(text):
        start = hump.start()
        if start >= end:
            while start and text[start - 1].isalnum():
                start -= 1
            end = hump.end()
            while end < len(text) and text[end].isalnum():
                end += 1
            yield start, end


def is_unspaced(term: str) -> bool:
    """Whether a term is one character of a script that is written without spaces.

    Also true of one-letter words in any alphabet after Thai, which does no harm.
    """
    return len(term) == 1 and term >= FIRST_UNSPACED


def _tokens(analyzer: TextAnalyzer, text: str, at: int = 0) -> list[tuple[str, Span]]:
    """The terms of a text that begins `at` a place, each with its span."""
    return [
        (each.text, (at + each.char_offset_from, at + each.char_offset_to))
        for each in analyzer.pre_tokenize(text).tokens
    ]


def _text_analyzer(language: str, filters: Iterable[Filter]) -> TextAnalyzer:
    by_pattern = language in _BY_PATTERN
    return _build_analyzer(Tokenizer.regex(_WORD) if by_pattern else Tokenizer.simple(), filters)


def _build_analyzer(tokenizer: Tokenizer, filters: Iterable[Filter]) -> TextAnalyzer:
    builder = TextAnalyzerBuilder(tokenizer)
    for each in (Filter.remove_long(MAX_WORD_BYTES), *filters):
        builder = builder.filter(each)
    return builder.build()
