r"""How text becomes terms, language by language.

Facts
  * A stemmer is right for one language, and BM25 is meaningful only among pages whose terms were
    made in the same way. So each language is an index of its own (`schema.py`), with its own
    frequencies and mean lengths. tantivy computes the mean length of a field over all documents of
    an index, including those without the field, so with one field per language every page in a rare
    language would count as far too long.
  * All texts are normalised first (`normalization.py`). Where tantivy has a stemmer, its simple
    tokenizer then takes 0.3 µs per word. It keeps a run of Chinese, Japanese or Thai as one word,
    and splits Hindi at its vowel signs. In all other languages, `unspaced.py` finds the words, and
    our stemmers reduce them, each word once. Queries are analysed so; of pages, tantivy gets terms
    (`field_terms.py`).
  * Stemmers need accents: without them, `arrivé` does not lose its ending. So stems are folded to
    similar ASCII letters, not words. But people omit accents when they type, and a stemmer may
    take `arrive` for another word than `arrivé`. So pages also have the terms that such words would
    have without accents, where these differ (`Analyzer.without_accents`). In Vietnamese,
    most words differ by their tone only, so stems keep their accents.
  * A stemmer may leave nothing of a word, such as Greek `όταν`. Such terms are removed.

Stop words stay in the index, because phrases need them. A query leaves them out if it can
(`Analyzer.has_content_word`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import filterfalse, islice, pairwise
from typing import TYPE_CHECKING, TypeAlias

from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

from gossamer.index.format.joined_words import joined_spans
from gossamer.index.format.normalization import Aligned, normalize
from gossamer.index.format.stemmers import LIGHT_STEMMERS
from gossamer.index.format.unspaced import (
    SPLIT,
    UNSPACED_CLASS,
    has_marks,
    pair_spans,
    spaced,
    split_runs,
    word_spans,
    words_of,
)
from gossamer.native import native_text

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from tantivy import TextAnalyzer

MAX_WORD_BYTES = 80
"""UTF-8 bytes of a word; longer ones are not indexed, because they are data, not language."""
MAX_PATTERNS = 10_000
"""Compiled patterns that are cached, by the initials of the words that they find."""
MAX_KEPT = 20_000
"""Words per language whose terms are cached: words recur in texts and in queries."""
MAX_STEMS = 100_000
"""Words per language whose stems are kept by a process."""

SNOWBALL = {
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
"""The Snowball stemmers of tantivy, by ISO 639-1."""
STEMMERS = frozenset((*SNOWBALL, *LIGHT_STEMMERS))
"""The languages that have a stemmer, and so an index of their own."""
ANALYZED_AS = {"bs": "sr", "hr": "sr", "sh": "sr", "ms": "id", "nb": "no", "nn": "no", "prs": "fa"}
"""Languages that are analysed as another one, with whose pages theirs are searched."""
OTHER = "xx"
"""All other languages, and pages without a language: words are not stemmed."""

Span: TypeAlias = tuple[int, int]
"""Start and end of something in a text, in characters."""

Unit: TypeAlias = tuple[str, ...]
"""A term, or several that form a phrase."""

_WITHOUT_ACCENTS = frozenset(
    [
        "ar",
        "be",
        "bg",
        "bn",
        "el",
        "fa",
        "gu",
        "he",
        "hi",
        "hy",
        "mk",
        "mr",
        "ne",
        "pa",
        "ru",
        "ta",
        "uk",
        "ur",
    ]
)
"""Languages in other letters than Latin ones: normalisation has removed what is optional."""
_WITH_VOWEL_SIGNS = frozenset(("ta",))
"""Languages whose words tantivy's simple tokenizer would split at their vowels."""
_TONAL = frozenset(("vi",))
"""Languages in which each accent makes another word."""
_UNLISTED = frozenset(("ar", "el", "ro", "ta", "tr"))
"""Languages for which tantivy has no stop words."""
_FIRST_WORDS = re.compile(rf"[{UNSPACED_CLASS}]|[^\W_{UNSPACED_CLASS}]+")
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


class Terms:
    """Makes the terms of texts that are not normalised yet."""

    def __init__(self, analyzer: TextAnalyzer, in_place: Callable[[str], str]) -> None:
        self.analyzer, self._in_place = analyzer, in_place

    def analyze(self, text: str) -> list[str]:
        return self.analyzer.analyze(self._in_place(normalize(text)))


class Stems(dict[str, str]):
    """The stems of words in small letters, each computed once."""

    def __init__(self, stem: Callable[[str], str]) -> None:
        super().__init__()
        self._stem = stem

    def __missing__(self, word: str) -> str:
        if len(self) >= MAX_STEMS:
            self.clear()
        found = self[word] = self._stem(word) or word
        return found


class Analyzer:
    """Splits text in one language into words.

    `terms` makes the terms of a text, and `exact_form` its words without stemming. Both normalise
    it. tantivy's analyzers in them get what `in_place` makes of a text that is normalised.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        snowball = SNOWBALL.get(language)
        fold, lower = Filter.ascii_fold(), Filter.lowercase()
        no_empty = Filter.custom_stopword([""])
        self.splits_unspaced = snowball is None or language in _WITH_VOWEL_SIGNS
        self.has_forms = language != OTHER
        self._has_accents = self.has_forms and language not in _WITHOUT_ACCENTS
        light = LIGHT_STEMMERS.get(language)
        self._light = Stems(light) if light else None
        tokenizer = Tokenizer.whitespace() if self.splits_unspaced else Tokenizer.simple()
        stem = [Filter.stemmer(snowball)] if snowball else []
        # The stop words are in lower case, with accents, so they are removed before folding.
        stop = [Filter.stopword(snowball)] if snowball and language not in _UNLISTED else []
        build = _build_analyzer
        folded = [no_empty] if language in _TONAL else [fold, no_empty]
        self.terms = Terms(build(tokenizer, [lower, *stem, *folded]), self.in_place)
        words = self._words_in_place
        self.exact_form = Terms(build(tokenizer, [lower, *stop, *folded]), words)
        query_stop = [*stop, Filter.custom_stopword(_QUERY_STOP_WORDS)]
        self._content_words = Terms(build(tokenizer, [lower, *query_stop]), words)
        self.terms_of = lru_cache(MAX_KEPT)(self._terms_of)
        self.has_content_word = lru_cache(MAX_KEPT)(self._has_content_word)
        self._stem = lru_cache(MAX_KEPT)(self._stem_word)
        self._unaccented_stem = lru_cache(MAX_KEPT)(self._stem_without_accents)
        self._unaccented = Stems(self._unaccented_form)

    def in_place(self, normal: str) -> str:
        """What tantivy's tokenizer gets of a normalised text: this, or terms between spaces."""
        words = self.words_in(normal)
        if self._light is None:
            return words
        return " ".join(map(self._light.__getitem__, words.split()))

    def words_in(self, normal: str) -> str:
        """A normalised text, or its words between spaces if tantivy would not find them."""
        if not self.splits_unspaced:
            return normal
        return spaced(normal if self._light is None else normal.lower())

    def _words_in_place(self, normal: str) -> str:
        return spaced(normal) if self.splits_unspaced else normal

    def further_terms(self, normal: str) -> str:
        """Terms that a normalised text has beside those `in_place`: pairs of characters."""
        return " ".join(split_runs(normal)) if self.splits_unspaced else ""

    def forms(self, different: str) -> str:
        """What `exact_form` gets of a text with these different words."""
        return " ".join({*words_of(different.lower())}) if self.splits_unspaced else different

    def without_accents(self, different: str) -> str:
        """Of different words those whose terms differ without accents, as they are without."""
        if not self._has_accents:
            return ""
        known = self._unaccented
        found = {known[word] for word in words_beyond_ascii(different)}
        return " ".join(found - {" "})

    def _unaccented_form(self, word: str) -> str:
        """What a word is without accents if its terms differ then; otherwise a space."""
        folded = " ".join(_folding().analyze(word))
        if not folded.isascii() or self.terms.analyze(folded) == self.terms.analyze(word):
            return " "
        return folded

    def words(self, text: str) -> list[tuple[str, Span]]:
        """The terms of a text, each with its span.

        Runs of scripts without spaces are split in any language (`exact_form.split_unspaced`). A
        word with marks, as of Hindi, has several terms if the language's own words have none.
        """
        aligned = Aligned(text)
        return [
            (term, span)
            for match in word_spans(aligned.text)
            for span in [aligned.span(*match.span())]
            for term in self.terms_of(match[0])
        ]

    def spans(self, text: str, terms: Container[str], initials: str = "") -> list[Span]:
        """The spans of these terms in a text, and of words in CamelCase with one of them.

        `initials`: ASCII letters and digits; words that begin with any other ASCII character may be
        skipped. Pairs of characters that overlap are one span.
        """
        stem = self._stem
        aligned = Aligned(text)
        if not self.splits_unspaced and has_marks(aligned.text):
            spans = [span for term, span in self.words(text) if term in terms]
        else:
            spans = self._spans_of_words(aligned, terms, initials)
        if not text.isascii() and (aligned.text != text or SPLIT.search(aligned.text)):
            pairs = [aligned.span(*span) for span in pair_spans(aligned.text, terms)]
            spans = list(merge_spans(sorted([*spans, *pairs])))
        joined = [
            (start, end)
            for start, end in _camel_case(text)
            if any(stem(part) in terms for part in camel_parts(text[start:end]))
        ]
        apart = [span for word, span in joined_spans(aligned.text) if stem(word) in terms]
        if apart:
            apart = [aligned.span(*span) for span in apart]
            spans = list(merge_spans(sorted([*spans, *apart])))
        return sorted({*spans, *joined}) if joined else spans

    def _spans_of_words(self, aligned: Aligned, terms: Container[str], initials: str) -> list[Span]:
        stem, unaccented = self._stem, self._unaccented_stem
        if self.splits_unspaced:
            matches: Iterable[re.Match[str]] = word_spans(aligned.text)
        else:
            matches = _beginning_with(initials).finditer(aligned.text)
        return [
            aligned.span(*match.span())
            for match in matches
            if stem(word := match[0]) in terms or (not word.isascii() and unaccented(word) in terms)
        ]

    def _terms_of(self, typed: str) -> tuple[str, ...]:
        """The terms of a word or phrase that was typed."""
        return tuple(self.terms.analyze(typed))

    def _stem_word(self, word: str) -> str:
        return "".join(self.terms_of(word))

    def _stem_without_accents(self, word: str) -> str:
        """The term that a word also has in an index; "" if it has one only."""
        return self._stem(self._unaccented[word].strip()) if self._has_accents else ""

    def stems_of(self, word: str) -> tuple[str, str]:
        """The term of a word, and the one that it has without accents, if that is another one."""
        return self._stem(word), "" if word.isascii() else self._unaccented_stem(normalize(word))

    def known_terms(self, text: str) -> set[str]:
        """The terms of a text, among them those without accents, and pairs of characters."""
        normal = normalize(text)
        found = {*self.terms.analyzer.analyze(self.in_place(normal)), *split_runs(normal)}
        found.update(self.joined_terms(normal))
        if self._has_accents:
            found.update(map(self._unaccented_stem, {*words_of(normal)}))
        return found

    def joined_terms(self, normal: str) -> set[str]:
        """The terms of words that a normalised text has apart: with a hyphen, or in groups."""
        return {self._stem(word) for word, _ in joined_spans(normal)}

    def content_words(self, text: str) -> list[str]:
        """The words of a text that are not stop words, in lower case, not stemmed."""
        return self._content_words.analyze(text)

    def _has_content_word(self, typed: str) -> bool:
        """Whether the text has a word that is not a stop word."""
        return bool(self.content_words(typed))


@native_text
def words_beyond_ascii(words: str) -> list[str]:
    """Those of some words, with a space between each, that have a character beyond ASCII."""
    return [*filterfalse(str.isascii, words.split(" "))]


def index_language_of(language: str | None) -> str:
    """The language of the index for pages in a language: a member of STEMMERS, or OTHER."""
    known = ANALYZED_AS.get(language or "", language)
    return known if known in STEMMERS else OTHER


@cache
def analyzer_for(language: str) -> Analyzer:
    """The analyzer of a language: a member of STEMMERS, or OTHER."""
    return Analyzer(language)


@cache
def plain_analyzer() -> Terms:
    """Words that are not stemmed, in any language: for names, addresses and spelling."""
    return analyzer_for(OTHER).terms


@cache
def _folding() -> TextAnalyzer:
    return _build_analyzer(Tokenizer.whitespace(), (Filter.lowercase(), Filter.ascii_fold()))


def plain_words(text: str) -> str:
    """The words of a text between spaces, for `whitespace_analyzer`: the terms of `plain_analyzer`.

    Of ASCII, this is several times as fast as the regular expression.
    """
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode()
    return spaced(normalize(text))


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


def merge_spans(spans: Sequence[Span]) -> Iterator[Span]:
    """Spans in order, those that touch or overlap as one."""
    start, end = 0, 0
    for span in spans:
        if span[0] > end:
            if end:
                yield start, end
            start = span[0]
        end = max(end, span[1])
    if end:
        yield start, end


def _build_analyzer(tokenizer: Tokenizer, filters: Iterable[Filter]) -> TextAnalyzer:
    builder = TextAnalyzerBuilder(tokenizer)
    for each in (Filter.remove_long(MAX_WORD_BYTES), *filters):
        builder = builder.filter(each)
    return builder.build()
