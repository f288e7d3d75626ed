"""What a query asks for as it is written: forms of words, and code (`fulltext/written.py`).

`C++` has the word `c`, and `ets` the same stem as `et`. A page that has a word of the query as it
was typed gets a bonus: the idf of this form in the text, and that of the form in the title, each
times the weight `written`. Code counts if a page has all its parts. The forms of n words have the
weight divided by n², because the longer a query is, the more likely it is prose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tantivy import Query

from gossamer.fulltext.written import Written
from gossamer.search.clauses import all_of
from gossamer.search.statistics import idf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tantivy import Schema

    from gossamer.fulltext.analysis import Analyzer, Unit
    from gossamer.search.query import Words
    from gossamer.search.statistics import Frequencies

FIELDS = ("written", "title_written")
MAX_FORMS = 3
"""In a query of more words, only code counts."""


def code_of(typed: str, analyzer: Analyzer) -> Unit:
    """The terms of a typed word that is more than a word; none of another."""
    return tuple(analyzer.written.analyze("\n".join(Written.of(typed).code_terms())))


def forms_of(typed: str, analyzer: Analyzer) -> Sequence[str]:
    """The words of a typed text as they stand, without stop words."""
    forms: Sequence[str] = analyzer.written.analyze("\n".join(Written.of(typed).words))
    return forms


def typed_units(
    words: Sequence[str], analyzer: Analyzer, pages: Frequencies
) -> Mapping[Unit, float]:
    """The terms that a page must have to have a word as it was typed, with their share.

    A word with code that no page has counts by the forms of its words.
    """
    code: dict[Unit, float] = {}
    forms: dict[Unit, float] = {}
    for word in words:
        unit = code_of(word, analyzer)
        if unit and all(pages.pages("written", term) for term in unit):
            code[unit] = 1
        else:
            forms |= {(form,): 1 for form in forms_of(word, analyzer)}
    if len(forms) > MAX_FORMS:
        return code
    return code | dict.fromkeys(forms, 1 / max(len(forms), 1) ** 2)


def typed_terms(words: Iterable[Words], analyzer: Analyzer) -> Iterator[str]:
    """All terms of words as they were typed."""
    for each in words:
        yield from code_of(each.text, analyzer)
        yield from forms_of(each.text, analyzer)


def bonus(
    units: Mapping[Unit, float], schema: Schema, pages: Frequencies, weight: float
) -> Iterator[Query]:
    """For each unit and field, the pages that have it get its idf; none if there are no pages."""
    for unit, share in units.items():
        for field in FIELDS:
            if all(pages.pages(field, term) for term in unit):
                score = weight * share * sum(idf(term, field, pages) for term in unit)
                yield Query.const_score_query(pages_having(unit, field, schema), score)


def pages_having(unit: Unit, field: str, schema: Schema) -> Query:
    """Pages that have all terms of a unit in a field."""
    return all_of([Query.term_query(schema, field, term, "basic") for term in unit])
