"""What a query asks for as it is written: forms of words, and code (`index/format/exact_form.py`).

`C++` has the word `c`, and `ets` the same stem as `et`. A page that has a word of the query as it
was typed gets a bonus: the idf of this form in the text, and that of the form in the title, each
times the weight `ranking.exact_form`. In a query of n words, the weight of forms is divided by n²,
and that of code that says no more than its words (`std::vec`, unlike `C++`) by n, because the
longer a query is, the more likely it is prose. A form of Chinese characters counts only if there
are pages with another one: otherwise it tells nothing that the characters do not.

Code counts if a page has all its parts. So does a page whose title has one word of the code, and
whose text has the others: the page about `Optional` explains `Optional.orElseThrow` without calling
it so. Of `@Override`, that is the page about `Override`: the sign only marks a name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tantivy import Query

from gossamer.index.format.analysis import MAX_KEPT, whitespace_analyzer
from gossamer.index.format.exact_form import code_in, pieces_of
from gossamer.index.format.normalization import normalize, variant_forms
from gossamer.search.query_clauses import all_of, any_of
from gossamer.search.statistics import idf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tantivy import Schema

    from gossamer.index.format.analysis import Analyzer, Unit
    from gossamer.search.query import Words
    from gossamer.search.statistics import Frequencies

TEXT, TITLE = "", "title_"
"""Prefixes of the fields `exact_form` and `code`: in all text about a page, and in its title."""
MAX_FORMS = 8
"""In a query of more words, only code counts."""
MAX_FORM_PAGES = 20_000
"""A form on more pages than this does not count: it tells little, and its list is long to read."""
MAX_NAMES = 5
"""In code of more words, pages about one of them do not count."""

_NAME = re.compile(r"\w+")
_SYMBOL = re.compile(r"[!-/:-@\[-`{-~]")
_HYPHENED = re.compile(r"[^\W_](?:[^\W_]|-)*")
"""Words of natural language that are joined, as in `data-source` (`query_units.joined_phrases`)."""
_INNER = re.compile(r"[^\W_].*[\w.,:;!?)}\]]")
"""Code that differs from its words only inside, such as `std::vec`, unlike `C++` and `__new__`."""


class TypedWord(NamedTuple):
    """The terms that a page has if it has a word as it was typed, and the words in its code."""

    terms: Unit
    names: Unit
    share: float
    is_name: bool = False


@lru_cache(MAX_KEPT)
def code_of(typed: str) -> Unit:
    """The terms of a typed word that is more than a word; none of another."""
    return tuple(dict.fromkeys(whitespace_analyzer().analyze(code_in(pieces_of(normalize(typed))))))


@lru_cache(MAX_KEPT)
def is_more_than_words(typed: str) -> bool:
    """Whether a typed word is code that its words do not stand for, such as `C++` and `~*`."""
    only_words = _INNER.fullmatch(typed) or _HYPHENED.fullmatch(typed)
    return not only_words and bool(code_of(typed))


def forms_of(typed: str, analyzer: Analyzer) -> Unit:
    """The words of a typed text as they stand, without stop words, if they have other forms."""
    words = analyzer.exact_form.analyze(typed) if analyzer.has_forms else ()
    return (*words, *_typed_variants(typed))


def _typed_variants(typed: str) -> Unit:
    """How its Chinese characters are written."""
    return tuple(sorted(variant_forms(typed)))


def symbols_of(words: Iterable[Words], analyzer: Analyzer) -> Iterator[Unit]:
    """The words that consist of several symbols, such as `~*`. Single ones often are decoration."""
    for each in words:
        if len(each.text) > 1 and not analyzer.terms_of(each.text):
            yield code_of(each.text)


def typed_words(
    words: Sequence[str], analyzer: Analyzer, pages: Frequencies
) -> Sequence[TypedWord]:
    """The words as they were typed. Code that no page has counts by the forms of its words."""
    found: dict[str, TypedWord] = {}
    forms: set[str] = set()
    for word in words:
        terms = code_of(word)
        names = tuple(name for each in _NAME.findall(word) for name in _name_term(each, analyzer))
        if terms and len(names) > 1:
            terms = tuple(dict.fromkeys((*terms, *names)))
        if not terms or _HYPHENED.fullmatch(word) or not _has_pages(terms, TEXT, pages):
            forms.update(forms_of(word, analyzer))
            forms.difference_update(_only_forms(word, pages))
        else:
            share = 1 / len(words) if _INNER.fullmatch(word) else 1.0
            found[word] = TypedWord(terms, names, share, is_name=word.startswith("@"))
    number = len(forms) + len(found)
    share = 1 / number**2 if 0 < number <= MAX_FORMS else 0
    telling = [
        TypedWord((form,), (), share)
        for form in sorted(forms)
        if share and pages.pages(field_of(form), form) <= MAX_FORM_PAGES
    ]
    return [*found.values(), *telling]


def typed_terms(words: Iterable[Words], analyzer: Analyzer) -> Iterator[str]:
    """All terms of words as they were typed."""
    for each in words:
        yield from code_of(each.text)
        yield from forms_of(each.text, analyzer)


def _only_forms(word: str, pages: Frequencies) -> Iterator[str]:
    """The forms of Chinese characters that stand on all pages which have the characters."""
    for form in _typed_variants(word):
        having = pages.pages("text", normalize(form))
        if 0 < having <= pages.pages(field_of(form), form):
            yield form


def bonus_queries(
    typed: Iterable[TypedWord], schema: Schema, pages: Frequencies, weight: float
) -> Iterator[Query]:
    """The queries that give the pages which have a word as it was typed their bonus."""
    for each in typed:
        for part in (TEXT, TITLE):
            if _has_pages(each.terms, part, pages):
                found = [pages_having(each.terms, schema, part)]
                if part == TEXT:
                    found += _explaining(each, schema, pages)
                telling = [term for term in each.terms if _SYMBOL.search(term)] or each.terms
                score = sum(idf(term, field_of(term, part), pages) for term in telling)
                yield Query.const_score_query(any_of(found), weight * each.share * score)


def pages_having(terms: Unit, schema: Schema, part: str = TEXT) -> Query:
    """Pages that have all the terms in a part."""
    return all_of([Query.term_query(schema, field_of(term, part), term, "basic") for term in terms])


def field_of(term: str, part: str = TEXT) -> str:
    """The field that has a form, or code, which has symbols in it."""
    return f"{part}code" if _SYMBOL.search(term) else f"{part}exact_form"


def _explaining(typed: TypedWord, schema: Schema, pages: Frequencies) -> Iterator[Query]:
    """Pages that have one of the names in the title, and the others in the text."""
    names = [name for name in typed.names if len(name) > 1]  # a letter names nothing
    if not typed.is_name and not 1 < len(names) <= MAX_NAMES:
        return
    for name in names:
        others = tuple(other for other in names if other != name)
        if _has_pages((name,), TITLE, pages) and _has_pages(others, TEXT, pages):
            found = [pages_having((name,), schema, TITLE)]
            yield all_of([*found, pages_having(others, schema)] if others else found)


def _name_term(word: str, analyzer: Analyzer) -> Iterator[str]:
    """The term of a word in code, unless it is a stop word."""
    terms = code_of(word) or forms_of(word, analyzer)
    yield from terms[:1]


def _has_pages(terms: Unit, part: str, pages: Frequencies) -> bool:
    """Whether there are pages with each of the terms."""
    return all(pages.pages(field_of(term, part), term) for term in terms)
