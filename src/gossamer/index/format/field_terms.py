"""What tantivy gets of the texts of pages: terms between spaces, which it only has to take apart.

Its filters (`analysis.py`) take 0.2 µs for each word of a text in English, and to look up the terms
of a word that was met before takes 0.04. The terms are those that the filters make.
"""

from __future__ import annotations

from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING

from tantivy import TextAnalyzerBuilder, Tokenizer

from gossamer.index.format.analysis import analyzer_for
from gossamer.index.format.stemmers import LIGHT_STEMMERS
from gossamer.index.format.term_table import TermTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tantivy import TextAnalyzer

MAX_WORDS = 100_000
"""Words of a language whose terms a process knows."""
GAP = "\n"
"""Stands for a word without a term, such as one that is too long: phrases may not leave it out."""


class FieldTerms:
    """Makes the values of fields from texts of pages in one language, which are normalised."""

    def __init__(self, language: str) -> None:
        self._analyzer = analyzer_for(language)
        self._stem = LIGHT_STEMMERS.get(language)
        self._tokenize = _tokenizer(is_spaced=self._analyzer.splits_unspaced).analyze
        self._terms, self._forms = TermTable(MAX_WORDS), TermTable(MAX_WORDS)

    def of_texts(self, texts: Iterable[str]) -> tuple[list[str], str]:
        """The terms of texts, as values of a field, and the different words of the texts."""
        return self._write([part for text in texts for part in self._parts(text)])

    def _parts(self, text: str) -> Iterator[str]:
        """What the terms of a text are made of: its words, and pairs of characters."""
        yield self._analyzer.words_in(text)
        if further := self._analyzer.further_terms(text):
            yield further

    def of_words(self, words: str) -> list[str]:
        """The terms of words without their pairs of characters."""
        return self._write([self._analyzer.words_in(words)])[0]

    def without_accents(self, different: str) -> list[str]:
        """The terms of different words, as they are without accents, if they differ then."""
        other = self._analyzer.without_accents(different)
        return self._write([other])[0] if other else []

    def _write(self, words: list[str]) -> tuple[list[str], str]:
        terms, different = self._terms.write(words, self._make_terms)
        return [value for each in terms for value in _values_of(each)], different

    def forms(self, different: str) -> str:
        """The exact forms of different words."""
        (forms,), _ = self._forms.write([self._analyzer.forms(different)], self._make_forms)
        return forms

    def _make_terms(self, words: list[str]) -> list[str]:
        stem = self._stem
        stems = [stem(word) or word for word in words] if stem else words
        return self._make(self._analyzer.terms.analyzer.analyze, stems, GAP)

    def _make_forms(self, words: list[str]) -> list[str]:
        return self._make(self._analyzer.exact_form.analyzer.analyze, words, "")

    def _make(self, analyze: Callable[[str], list[str]], words: list[str], gap: str) -> list[str]:
        """What an analyzer makes of each word. Only words of letters and digits are one token."""
        if self._analyzer.splits_unspaced or all(map(str.isalnum, words)):
            return self._each(analyze, words, gap)
        tokens = [[word] if word.isalnum() else self._tokenize(word) for word in words]
        made = iter(self._each(analyze, list(chain.from_iterable(tokens)), gap))
        return [" ".join(islice(made, len(each))) for each in tokens]

    def _each(self, analyze: Callable[[str], list[str]], tokens: list[str], gap: str) -> list[str]:
        """What an analyzer makes of each token; it takes less for many at once."""
        whole = " ".join(tokens)
        found = analyze(whole)
        if len(found) == len(tokens) and (whole.isascii() or self._tokenize(whole) == tokens):
            return found
        return [" ".join(analyze(token)) or gap for token in tokens]


def _values_of(terms: str) -> Sequence[str]:
    """Terms as values of a field, between which phrases have a gap."""
    return terms.rstrip(GAP + " ").split(GAP) if GAP in terms else (terms,)


@cache
def field_terms(language: str) -> FieldTerms:
    """Those of a language of the index: a member of STEMMERS, or OTHER."""
    return FieldTerms(language)


@cache
def spaces_analyzer() -> TextAnalyzer:
    """Takes apart what `FieldTerms` makes."""
    return TextAnalyzerBuilder(Tokenizer.whitespace()).build()


def _tokenizer(*, is_spaced: bool) -> TextAnalyzer:
    tokenizer = Tokenizer.whitespace() if is_spaced else Tokenizer.simple()
    return TextAnalyzerBuilder(tokenizer).build()
