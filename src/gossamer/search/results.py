"""The results of a search, as the API returns them.

The server's cache holds many results. They contain no reference cycles, so the garbage collector
does not track them (`gc=False`): its full passes would stop the server for longer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from gossamer.search.provenance import Provenance  # noqa: TC001  # msgspec reads the annotations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FACETS = ("host", "language", "kind", "year")
FACET_VALUES = 10
"""Values listed per facet, the most frequent ones."""


class Hit(msgspec.Struct, frozen=True, gc=False):
    """A found page. `title` is plain text, `snippet` is HTML: escaped, with matches in <b>.

    `rank` is its PageRank when it was last written to the index.
    `copies`: other addresses with the same content, for which this page stands; `versions`: older
    versions of it. /api/v1/page lists both.
    `partial`: it lacks some words of the query.
    `more`: its host has further results, which come after those of other hosts.
    `near`: how similar its meaning is to that of the query, the cosine of their vectors, if it was
    found by that and not by its words.
    `explanation`: how the score was computed, if requested. `provenance`: where the stored body
    lies, if requested; null: none is stored.
    """

    url: str
    title: str
    snippet: str
    score: float
    host: str
    fetched_ms: int
    rank: float | None
    language: str | None = None
    kind: str = "html"
    image: str | None = None
    date_ms: int | None = None
    copies: int = 0
    versions: int = 0
    partial: bool = False
    more: bool = False
    near: float | None = None
    explanation: dict[str, Any] | None = None
    provenance: Provenance | None = None


class Count(msgspec.Struct, frozen=True, gc=False):
    """The number of matching pages with this value of a facet."""

    value: str
    pages: int


class Completions(msgspec.Struct, frozen=True):
    """A query with its last word completed in several ways, the most frequent first."""

    query: str
    completions: list[str]


class Results(msgspec.Struct, frozen=True, gc=False):
    """`total` pages match, of which `whole` have all the words. `reachable` of them can be listed.

    `relaxed`: no page has all the words, so `hits` have only some of them.
    `facets`: if requested, the most frequent values of host, language, kind and year.
    `suggestion`: the query with rare words replaced by similar ones, if few pages match.
    `corrected`: the query that was searched instead: no page has all the words that were typed, and
    those that no page has at all were replaced by similar ones, or no page has a phrase in quotes
    among them, and the query was searched without quotes.
    `estimated`: `total` was not counted. It is extrapolated if `sampled`, else a lower bound.
    `sampled`: only the most popular pages were searched, because enough of them match, and all
    numbers are extrapolated from them.
    `missing`: the number of groups of nodes of which none answered in time; their pages are left
    out.
    `state`: of the index that answered; "" if its parts were in several states. Answers with the
    same state are parts of one list.
    `synonyms`: words of the user's synonyms that were searched, too.
    `notes`: what of the query was not read as its author may have expected, as sentences.
    """

    total: int
    hits: list[Hit]
    took_ms: float
    whole: int = 0
    relaxed: bool = False
    facets: dict[str, list[Count]] = msgspec.field(default_factory=dict)
    suggestion: str | None = None
    corrected: str | None = None
    estimated: bool = False
    missing: int = 0
    notes: list[str] = []
    reachable: int = 0
    sampled: bool = False
    state: str = ""
    synonyms: list[str] = []


def matches_in_words(found: Results, noun: str) -> str:
    """How many pages match, for people: `12 pages with all words, 34 more with some of them`."""
    if not found.whole or found.whole == found.total or found.sampled:
        return f"{'about ' if found.estimated else ''}{_numbered(found.total, noun)}"
    least = "at least " if found.estimated else ""
    more = f"{least}{found.total - found.whole:,} more with some of them"
    return f"{_numbered(found.whole, noun)} with all words, {more}"


def _numbered(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def most_frequent(values: Counter[str]) -> list[Count]:
    """The most frequent values of a facet, at most FACET_VALUES."""
    return [Count(value, pages) for value, pages in values.most_common(FACET_VALUES)]


def extrapolate_facets(
    counted: Iterable[Mapping[str, Iterable[Count]]], pages: int, searched: int
) -> dict[str, list[Count]]:
    """The facets of several nodes together, extrapolated from the pages searched to all."""
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    for facets in counted:
        for name, values in facets.items():
            totals[name].update({each.value: each.pages for each in values})
    return {
        name: [Count(each.value, each.pages * pages // searched) for each in most_frequent(values)]
        for name, values in totals.items()
    }
