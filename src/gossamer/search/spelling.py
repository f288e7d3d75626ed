"""Spelling suggestions and completions, from the words of the index.

Words are replaced by words of titles, headings and anchors (the field `vocabulary`), which are not
stemmed. A word is only compared with words of the same first letter, which most people get right
(Kukich, "Techniques for automatically correcting words in text", ACM Computing Surveys 1992).

A word of a title, heading or anchor is right, and so is one that more than MAX_RARE_PAGES pages
have in their text. Parts of code and of joined words (`io_uring`, `orElseThrow`) are names, and are
not checked. Replacements come from the languages that have most of the query's words.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.distance import DamerauLevenshtein
from rapidfuzz.process import extract
from tantivy import Occur, Query

from gossamer.index.format.analysis import analyzer_for, camel_parts, plain_analyzer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tantivy import Schema, Searcher

FIELD = "vocabulary"
MAX_RARE_PAGES = 2
"""A word on at most this many pages may be misspelt."""
MIN_RATIO = 50
"""A suggestion is at least this many times as frequent as the word that it replaces."""
MIN_CHARS, LONG_CHARS = 4, 8
"""From MIN_CHARS characters one edit is tried, from LONG_CHARS two."""
MAX_WORDS = 20_000
"""Words per index and initial that are compared, the most frequent ones."""
MAX_INITIALS = 32
"""Initials of a language whose words are cached."""
MAX_NEAR = 50
"""Similar words per language, the most similar ones."""
MAX_CHECKED = 8
"""Words of a query that are checked."""
MAX_BEFORE = 8
"""Words before the one that is being typed which pages must have."""
_JOINT = r"[-./:#@&=~$+*%\\]"
_WORD = re.compile(rf"(?<!\w)(?<!{_JOINT})[^\W\d_]+(?!\w)(?!{_JOINT}\w)")
"""A run of letters that is not joined with other characters."""
_LAST = re.compile(r"[^\W_]+$")
_QUOTED = re.compile(r'("[^"]*"?)')


class SimilarWords(NamedTuple):
    """How many `pages` have a word, and how many have each of the similar `words`."""

    pages: int
    words: dict[str, int]


def words_to_check(text: str) -> list[str]:
    """The words of a query that may be misspelt."""
    words = dict.fromkeys(match[0] for match in _WORD.finditer(text))
    return [word for word in words if not camel_parts(word)][:MAX_CHECKED]


def suggestion(text: str, known: Mapping[str, SimilarWords]) -> str | None:
    """The query with its rare words replaced; None if there is nothing better."""
    better = {word: found for word, near in known.items() if (found := _best_spelling(word, near))}
    changed = _WORD.sub(lambda match: better.get(match[0], match[0]), text)
    return changed if changed != text else None


def correction(text: str, known: Mapping[str, SimilarWords]) -> str | None:
    """The query with the words that no page has replaced; None if there are none.

    What is in quotes is meant as it was typed.
    """
    unknown = {word: near for word, near in known.items() if not near.pages}
    pieces = _QUOTED.split(text)
    pieces[::2] = [suggestion(piece, unknown) or piece for piece in pieces[::2]]
    changed = "".join(pieces)
    return changed if changed != text else None


def complete_text(text: str, counts: Mapping[str, int], limit: int) -> list[str]:
    """The text with its last word completed in `limit` ways, the most frequent first."""
    before, _ = _split_last_word(text)
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return [before + term for term, _ in ordered[:limit]]


def _best_spelling(word: str, near: SimilarWords) -> str | None:
    """The replacement of a rare word: the nearest similar word, of several the most frequent."""
    if near.pages > MAX_RARE_PAGES:
        return None
    term = plain_analyzer().analyze(word)[0]
    ranked = sorted(
        (DamerauLevenshtein.distance(term, found), -pages, found)
        for found, pages in near.words.items()
        if pages >= max(MIN_RATIO * near.pages, 1)
    )
    if not ranked:
        return None
    better = ranked[0][2]
    return better.upper() if word.isupper() else better


def _split_last_word(text: str) -> tuple[str, str]:
    """A query without its last word, and that word, which is being typed."""
    last = _LAST.search(text)
    return (text[: last.start()], last[0]) if last else (text, "")


class Spelling:
    """The vocabulary of some indexes, by language."""

    def __init__(self, schema: Schema, searchers: Mapping[str, Searcher]) -> None:
        self._schema = schema
        self._searchers = searchers
        # Cached because terms are counted in each segment, and there are few initials.
        self._words_with_initial = lru_cache(MAX_INITIALS)(self._read_words)

    def similar_words(self, words: Sequence[str]) -> dict[str, SimilarWords]:
        """The frequency of each word of a query and, if it is rare, similar words with theirs."""
        known = {
            language: sum(self._pages(language, word) > 0 for word in words)
            for language in self._searchers
        }
        most = max(known.values(), default=0)
        likely = [language for language, count in known.items() if count == most]
        return {word: self._similar_words(word, likely) for word in words}

    def _similar_words(self, word: str, languages: Iterable[str]) -> SimilarWords:
        terms = plain_analyzer().analyze(word)
        right = SimilarWords(MAX_RARE_PAGES + 1, {})
        if len(terms) != 1 or len(terms[0]) < MIN_CHARS:
            return right
        term = terms[0]
        if any(searcher.doc_freq(FIELD, term) for searcher in self._searchers.values()):
            return right
        pages = sum(self._pages(language, word) for language in self._searchers)
        if pages > MAX_RARE_PAGES:
            return right
        distance = 1 if len(term) < LONG_CHARS else 2
        near: Counter[str] = Counter()
        for language in languages:
            named = extract(
                term,
                self._words_with_initial(language, term[0]),
                scorer=DamerauLevenshtein.distance,
                score_cutoff=distance,
                limit=MAX_NEAR,
            )
            for found, _, _ in named:
                near[found] += self._pages(language, found)
        return SimilarWords(pages, dict(near))

    def _pages(self, language: str, word: str) -> int:
        """How many pages of a language have a word, or another form of it: at least this many."""
        terms = analyzer_for(language).terms_of(word)
        pages = self._searchers[language].doc_freq
        fields = ("text", "boilerplate")
        return max(min((pages(field, term) for term in terms), default=0) for field in fields)

    def completions(self, text: str, limit: int) -> dict[str, int]:
        """Words that complete the last one, with the number of pages that have those before it."""
        before, last = _split_last_word(text)
        terms = plain_analyzer().analyze(last)
        if len(terms) != 1:
            return {}
        others = plain_analyzer().analyze(before)[-MAX_BEFORE:]
        having = [
            (Occur.Must, Query.term_query(self._schema, FIELD, term, "basic")) for term in others
        ]
        query = Query.boolean_query(having) if having else None
        counts: Counter[str] = Counter()
        for searcher in self._searchers.values():
            counts.update(dict(searcher.terms_with_prefix(FIELD, terms[0], query, limit + 1)))
        return {term: pages for term, pages in counts.items() if term != terms[0]}

    def _read_words(self, language: str, initial: str) -> list[str]:
        found = self._searchers[language].terms_with_prefix(FIELD, initial, None, MAX_WORDS)
        return [term for term, _ in found]
