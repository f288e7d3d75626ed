"""What a query means on pages of several languages.

Each language is an index with frequencies of its own (`index/format/analysis.py`), so the scores of
its pages must be made comparable with those of others. The language of the query is that in which
its words are most likely: those of a language are on many of its pages, and only quoted elsewhere.
That a word is on a fifth of the pages of a language, and on a hundredth of another one's, says what
the pages are about, so it counts little, and the user's language decides. It has three effects:

  * A word is rare, and so telling, in languages that merely borrow it: on a site in eight
    languages, `install a package` would count for more on Norwegian pages, where even `a` is no
    stop word, than on English ones. So no word counts for more than in the language of the query.
  * Pages in other languages quote it, and share names with it. So they are searched for its stems,
    too (`Reading.stems`): `previews` finds `preview` on Chinese pages, whose words are not stemmed.
  * Pages in the language of the query get a bonus (`ranking.language`), times the probability of
    the language: names and code are in all of them.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from gossamer.index.format.analysis import OTHER, analyzer_for, index_language_of
from gossamer.parse.reading.language import language_of
from gossamer.search.query import wanted_words
from gossamer.search.statistics import TOGETHER

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from gossamer.search.query import Query, Words
    from gossamer.search.statistics import Frequencies

MAX_WORDS = 16
"""Words of a query by which its language is determined, the first ones."""
SMOOTHING = 50
"""This many pages, in which words are as frequent as in all languages together, are added to those
of each: few pages say little about a language (Zhai and Lafferty, "A Study of Smoothing Methods for
Language Models Applied to Ad Hoc Information Retrieval", SIGIR 2001, §3)."""

BOUND_SMOOTHING = 10
"""The same where frequencies of a language bound those of another one: a single page would make
each of its words as frequent as stop words."""
LANGUAGE_PREFERENCE = 2.0
"""The logarithm of how much likelier users ask in their language than in all others together."""
DETECTED = 4.0
"""The same for the language of the query's letters, if they tell."""
COMMON = 0.01
"""The share of pages from which on a word is one of their language. How much larger the share is
tells what these pages are about."""
COMMON_WEIGHT = 0.25
"""How much of the logarithm of a share counts beyond COMMON."""
NEARLY_ALL = 0.9
"""The share of an index of several languages from which on one is taken for that of all pages. A
clause for some pages costs tantivy what it saves by skipping others."""
STEMMED = {"exact_form": "text", "title_exact_form": "title"}
"""By field without stemming and without stop words, the field that has the stop words."""


class LanguageReading(NamedTuple):
    """How a language reads a query: by which frequencies, and the probability that it is in it.

    `stems`: by term of the language, the term of the same word in the language of the query.
    `within`: the language of which the query is, in an index of several; "" if none of them, or
    if NEARLY_ALL pages are in it.
    """

    frequencies: Frequencies
    probability: float
    stems: Mapping[str, str]
    within: str = ""


class BoundedFrequencies:
    """The frequencies of a language whose terms are no more telling than those of another one.

    `translated`: the other language's terms of words whose terms differ. `stop_words`: its terms of
    the words that are stop words there.
    """

    def __init__(
        self,
        mine: Frequencies,
        theirs: Frequencies,
        translated: Mapping[str, str],
        stop_words: Mapping[str, str],
    ) -> None:
        self._theirs, self._translated, self._stop_words = theirs, translated, stop_words
        self.documents = mine.documents
        self.pages = mine.pages

    def pages_for_weight(self, field: str, term: str) -> int:
        if field not in STEMMED:
            theirs = self._theirs.pages(field, self._translated.get(term, term))
        elif term in self._stop_words:
            theirs = self._theirs.pages(STEMMED[field], self._stop_words[term])
        else:
            theirs = self._theirs.pages(field, term)
        mine = self.pages(field, term)
        smoothed = theirs * self.documents + BOUND_SMOOTHING * mine
        return max(mine, smoothed // (self._theirs.documents + BOUND_SMOOTHING))


def preferable(language: str, indexes: Container[str]) -> str:
    """The language of a user if pages in it may be in these indexes; "" if it makes no difference.

    Languages are told apart where an index has several (`statistics.TOGETHER`).
    """
    index = index_language_of(language) if language else ""
    if index not in indexes:
        return ""
    return index if index != OTHER else language * (language in TOGETHER)


def read_by_language(
    tree: Query, whole: Mapping[str, Frequencies], preferred: str = ""
) -> Mapping[str, LanguageReading]:
    """How each language reads a query.

    `whole`: the frequencies of all pages, by language. `preferred`: the language of the user.
    """
    words = [*islice(wanted_words(tree), MAX_WORDS)]
    detected = language_of(" ".join(word.text for word in words)) or ""
    indexes = {each: _index_of(each, whole) for each in (detected, preferred)}
    within = next((each for each, index in indexes.items() if index == OTHER), "")
    if within and whole[OTHER].pages("language", within) >= NEARLY_ALL * whole[OTHER].documents:
        within = ""
    if len(whole) == 1:
        ((language, only),) = whole.items()
        return {language: LanguageReading(only, float(bool(within)), {}, within)}
    likelihoods = _likelihoods(words, whole, indexes[preferred], indexes[detected])
    spoken = max(likelihoods, key=likelihoods.__getitem__)

    def reading(language: str, mine: Frequencies) -> LanguageReading:
        probability = likelihoods[language] / sum(likelihoods.values())
        if language == spoken:
            return LanguageReading(mine, probability, {}, within * (language == OTHER))
        translated = _translate_terms(words, language, spoken)
        stop_words = _stop_words(words, language, spoken)
        bounded = BoundedFrequencies(mine, whole[spoken], translated, stop_words)
        return LanguageReading(bounded, probability, translated, within * (language == OTHER))

    return {language: reading(language, mine) for language, mine in whole.items()}


def _index_of(language: str, whole: Mapping[str, Frequencies]) -> str:
    """The index that has pages in a language; "" if none has."""
    known = preferable(language, whole)
    if known not in TOGETHER:
        return known
    return OTHER if whole[OTHER].pages("language", known) else ""


def smoothed_idf(
    words: Iterable[Words], language: str, whole: Mapping[str, Frequencies]
) -> Callable[[str], float]:
    """The idf of terms of the text in a language, which may have few pages.

    Without SMOOTHING, all words would be equally telling on the only page of a language.
    """
    mine, held = whole[language], sum(each.documents for each in whole.values())
    elsewhere: Counter[str] = Counter()
    words = list(words)
    for other, theirs in whole.items():
        if other != language:
            for term, translated in _translate_terms(words, language, other).items():
                elsewhere[term] += theirs.pages("text", translated)

    def idf(term: str) -> float:
        here = mine.pages("text", term)
        having = here + SMOOTHING * (here + elsewhere[term]) / max(held, 1)
        return math.log(1 + (mine.documents + SMOOTHING - having + 0.5) / (having + 0.5))

    return idf


def _likelihoods(
    words: Sequence[Words], whole: Mapping[str, Frequencies], preferred: str, detected: str
) -> Mapping[str, float]:
    """How likely the query is in the language of each index, over that in the likeliest."""
    others = math.log(max(len(whole) - 1, 1))
    logarithms = {
        language: (LANGUAGE_PREFERENCE + others) * (language == preferred)
        + (DETECTED + others) * (language == detected)
        for language in whole
    }
    held = sum(each.documents for each in whole.values())
    for word in words:
        having = {
            language: min(
                (each.pages("text", term) for term in analyzer_for(language).terms_of(word.text)),
                default=0,
            )
            for language, each in whole.items()
        }
        share = sum(having.values()) / max(held, 1)
        for language, pages in having.items() if share else ():
            smooth = (pages + SMOOTHING * share) / (whole[language].documents + SMOOTHING)
            logarithms[language] += math.log(min(smooth, COMMON))
            logarithms[language] += COMMON_WEIGHT * math.log(max(smooth / COMMON, 1))
    most = max(logarithms.values())
    return {language: math.exp(each - most) for language, each in logarithms.items()}


def _translate_terms(words: Sequence[Words], language: str, other: str) -> dict[str, str]:
    """The terms of words in a language, each with the term of the same word in another one."""
    pairs: dict[str, str] = {}
    for word in words:
        mine, theirs = (analyzer_for(each).terms_of(word.text) for each in (language, other))
        if len(mine) == len(theirs):
            pairs.update(zip(mine, theirs, strict=True))
    return pairs


def _stop_words(words: Sequence[Words], language: str, other: str) -> dict[str, str]:
    """The forms of words that are stop words in another language, each with its term there."""
    found: dict[str, str] = {}
    for word in words:
        mine = analyzer_for(language)
        forms = mine.exact_form.analyze(word.text) if mine.has_forms else ()
        terms = analyzer_for(other).terms_of(word.text)
        if len(forms) == len(terms) and not analyzer_for(other).has_content_word(word.text):
            found.update(zip(forms, terms, strict=True))
    return found
