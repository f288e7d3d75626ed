"""What a search answers: the structures of the API."""

from __future__ import annotations

from typing import Any

import msgspec


class Hit(msgspec.Struct, frozen=True):
    """A found page. `title` is plain text, `snippet` is HTML: escaped, with matches in <b>.

    `rank` is its PageRank when it was last written into the index.
    `partial`: it has not all the words of the query.
    `more`: its host has further results, which were put behind those of other hosts.
    `explanation`: where it was asked for, how the score came about.
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
    partial: bool = False
    more: bool = False
    explanation: dict[str, Any] | None = None


class Count(msgspec.Struct, frozen=True):
    """So many of the pages found have this value."""

    value: str
    pages: int


class Completions(msgspec.Struct, frozen=True):
    """What a query that is being typed may become, the most frequent first."""

    query: str
    completions: list[str]


class Results(msgspec.Struct, frozen=True):
    """`total` pages matched; `whole` of them have all the words, and come first.

    `relaxed`: none has.

    `facets`: where asked for, the most frequent values of host, language, kind and year.
    `suggestion`: the query with its rare words replaced by like ones, where few pages match.
    `estimated`: only the most popular pages were searched, which have enough; numbers are those of
    all, judged by these.
    `missing`: nodes that did not answer in time; what their pages have is left out.
    """

    total: int
    hits: list[Hit]
    took_ms: float
    whole: int = 0
    relaxed: bool = False
    facets: dict[str, list[Count]] = msgspec.field(default_factory=dict)
    suggestion: str | None = None
    estimated: bool = False
    missing: int = 0
