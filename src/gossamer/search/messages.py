"""The messages between the broker and its nodes: requests and replies.

A node holds some shards (`node.py`); the broker (`broker.py`) sends requests to several nodes and
merges their replies. Messages are plain data: `msgspec` encodes them as MessagePack and rejects
anything that is not of these types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import msgspec

from gossamer.config import Profile  # noqa: TC001  # msgspec reads it
from gossamer.search.query import Query  # noqa: TC001
from gossamer.search.results import Count, Results  # noqa: TC001  # msgspec reads it
from gossamer.search.spelling import SimilarWords  # noqa: TC001

if TYPE_CHECKING:
    from collections.abc import Generator

MAX_LIMIT = 10_000
"""Pages or words per request. tantivy allocates memory for this many at once."""
REORDERED = 100
"""The best pages by words, which are reordered by popularity and host. Those behind them keep their
places, so the order does not depend on which part of the results is requested. A request for more
pages begins with the same ones as a request for REORDERED."""
ENOUGH_MATCHES = 50
"""The first tier suffices if this many of its pages have all the words: five pages of results.
Further pages of results come from the other tiers."""
MAX_SHARDS = 2_000
"""`index.shards` allows half of that."""
COUNTED_MATCHES = 20_000
"""If at most this many pages can have any of the words, those that have are counted."""
Limit: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_LIMIT)]
Counts: TypeAlias = dict[str, dict[str, dict[str, int]]]
"""How many pages have a term, by language, field and term. Field "" and term "": all pages."""


class Question(msgspec.Struct, frozen=True, tag=True, gc=False):
    """A query to the whole index, with the options of the API.

    `verbatim`: neither replace words that no page has by similar ones, nor search for synonyms.
    `language`: that of the user, whose pages are preferred. `synonyms`: the version of their file
    that the server has seen, or 0. `among`: only pages with these URLs, if any are given.
    """

    query: str
    offset: int = 0
    limit: int = 10
    by_date: bool = False
    facets: bool = False
    explain: bool = False
    profile: Profile | None = None
    verbatim: bool = False
    language: str = ""
    synonyms: int = 0
    among: tuple[str, ...] = ()


class Survey(msgspec.Struct, frozen=True, tag=True):
    """How many pages have each word of a query? Reply: Surveyed."""

    query: Query


class Find(msgspec.Struct, frozen=True, tag=True):
    """Which are the `limit` best pages with all words of a query, or with `any_term` of them?

    `first`: search only the first tier, if there is one and it may have enough matches, and add
    pages of other tiers whose titles match the query. `counts`: frequencies of all nodes together;
    without them, a node uses its own. `dated`: include the dates of the pages. `counted`: count
    pages with any of the words, if they are not too many. `language`: of the user. Reply: Found.
    """

    query: Query
    limit: Limit
    first: bool = False
    any_term: bool = False
    by_date: bool = False
    facets: bool = False
    counts: Counts | None = None
    dated: bool = False
    counted: bool = True
    language: str = ""


Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=2**31 - 1)]
"""tantivy numbers segments and documents below this. For a higher number it may never return."""
Place: TypeAlias = tuple[Number, Number, Number]
"""Numbers of index, segment and document of a page, which only its node can interpret."""


class Candidate(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page that was found, with the values that order it and its place in the node.

    `value` is the score of its words, its date or its static rank, depending on the request.
    `static_rank`, `key` and `date_ms` are defined by the index format (index/format/schema.py).
    Ties are ordered by `key`, so that their order is the same on all nodes.
    """

    value: float
    static_rank: float
    key: int
    date_ms: int | None
    place: Place


class FoundPages(msgspec.Struct, frozen=True, tag=True):
    """`total` of the `searched` pages match, and the node holds `pages`. The best come first.

    `exact`: whether `total` was counted; otherwise it is a lower bound.
    `content_words`: how many words of the query are not stop words; if there are none, pages are
    ordered by static rank. `rescore`: whether a Rescore would add anything to the scores. `loose`:
    whether pages that lack a word may come before pages that have all of them.
    """

    state: str
    pages: int
    searched: int
    total: int
    content_words: int
    rescore: bool
    loose: bool
    candidates: list[Candidate]
    facets: dict[str, list[Count]] = {}
    exact: bool = True


class Near(msgspec.Struct, frozen=True, tag=True):
    """Which pages mean nearly the same as a text, or as the page of a vector?

    They meet the conditions of `find`. Those that have all of its words are left out, unless there
    is a `vector`, of 8-bit integers (semantic/quantizing.py). At most `limit` of each language.
    `judged`: keys of pages that were found by their words. Reply: Neighbours.
    """

    find: Find
    limit: Limit
    judged: Annotated[list[int], msgspec.Meta(max_length=MAX_LIMIT)] = []
    text: Annotated[str, msgspec.Meta(max_length=10_000)] = ""
    vector: Annotated[bytes, msgspec.Meta(max_length=16_384)] = b""


class Neighbours(msgspec.Struct, frozen=True, tag=True):
    """The pages, whose `value` is the similarity, the best first, and the language of each.

    `judged`: similarity and language of the judged pages, 0 and "" for those not held here.
    """

    state: str
    candidates: list[Candidate]
    languages: list[str]
    judged: list[tuple[float, str]]


class Rescore(msgspec.Struct, frozen=True, tag=True):
    """What does the second step of the ranking add to these pages, given by place and key?"""

    state: str
    find: Find
    pages: list[tuple[Place, int]]


class Rescored(msgspec.Struct, frozen=True, tag=True):
    """The added scores, in the order of the request."""

    scores: list[float]


class Show(msgspec.Struct, frozen=True, tag=True):
    """Which titles and snippets do these pages have? `state`: of the reply that found them."""

    state: str
    query: Query
    places: list[Place]


class HitFields(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The fields of a result. `snippet` is HTML: escaped text with the matches in <b>."""

    url: str
    title: str
    snippet: str
    language: str | None
    kind: str
    image: str | None
    date_ms: int | None
    fetched_ms: int
    copies: int
    versions: int


class Shown(msgspec.Struct, frozen=True, tag=True):
    """The fields of the pages, in the order of the request."""

    pages: list[HitFields]


class Explain(msgspec.Struct, frozen=True, tag=True):
    """How were the scores of these pages computed?"""

    state: str
    find: Find
    places: list[Place]


class Explained(msgspec.Struct, frozen=True, tag=True):
    """tantivy's trees of sums and products, in the order of the request.

    A tree is empty if its page is beyond the limits of `explaining.py`.
    """

    words: list[dict[str, Any]]


class Weigh(msgspec.Struct, frozen=True, tag=True):
    """What are the cosines of these pages with a query (profiles.py)? `counts`: as in Find."""

    state: str
    query: Query
    places: list[Place]
    counts: Counts | None = None


class Weighed(msgspec.Struct, frozen=True, tag=True):
    """The cosines, in the order of the request."""

    cosines: list[float]


class Read(msgspec.Struct, frozen=True, tag=True):
    """What is the text of this page? Reply: DocumentText."""

    url: str


class DocumentText(msgspec.Struct, frozen=True, tag=True):
    """Title and beginning of the text of a page, and the language of the index that holds it.

    Both are empty if the node does not hold the page. `vector`: of its meaning, as in Near, if the
    node has vectors.
    """

    language: str = ""
    text: str = ""
    vector: bytes = b""


class CountTerms(msgspec.Struct, frozen=True, tag=True):
    """How many pages of a language have each of these terms?"""

    language: str
    terms: list[str]


class TermCounts(msgspec.Struct, frozen=True, tag=True):
    """How many of the `pages` have each term."""

    pages: int
    counts: dict[str, int]


class CheckSpelling(msgspec.Struct, frozen=True, tag=True):
    """How frequent are these words, and which similar words are there?"""

    words: list[str]


class CheckedSpelling(msgspec.Struct, frozen=True, tag=True):
    """For each word its frequency, and similar words with theirs."""

    words: dict[str, SimilarWords]


class Complete(msgspec.Struct, frozen=True, tag=True):
    """Which words complete the last word of `text`, on pages that have the others?"""

    text: str
    limit: Limit


class Completed(msgspec.Struct, frozen=True, tag=True):
    """The words, and how many pages have each."""

    words: dict[str, int]


class Surveyed(msgspec.Struct, frozen=True, tag=True):
    counts: Counts


class Answered(msgspec.Struct, frozen=True, tag=True):
    """The results of a Question. `state`: of the index, or "" if the nodes' states differ."""

    state: str
    results: Results


class Suggest(msgspec.Struct, frozen=True, tag=True):
    """How may the last word of a query be completed, by the whole index?"""

    text: str
    limit: Limit


class Suggested(msgspec.Struct, frozen=True, tag=True):
    completions: list[str]


class RequestRefused(msgspec.Struct, frozen=True, tag=True):
    """The node cannot answer: it has opened another index since, or has none."""

    reason: str


Shards: TypeAlias = Annotated[tuple[int, ...], msgspec.Meta(max_length=MAX_SHARDS)]
"""Numbers of shards, in ascending order."""
State: TypeAlias = Annotated[str, msgspec.Meta(max_length=64)]


class Probe(msgspec.Struct, frozen=True, tag=True):
    """Who are you, and what do you hold? Reply: Report."""


class Holding(msgspec.Struct, frozen=True, array_like=True):
    """Shards of one state of the index that a process has opened, as one index.

    `version`: the version of the crawl when they were opened. Those of a later state are higher,
    on every machine. `whole`: all shards of that state. `pages`: in these shards.
    """

    version: int
    state: State
    shards: Shards
    whole: Shards
    pages: int
    languages: Annotated[tuple[str, ...], msgspec.Meta(max_length=1_000)]


class Report(msgspec.Struct, frozen=True, tag=True):
    """What a process has opened, the newest last.

    `name`: of a node, by which it is placed. `share`: the shards that belong to it by its place.
    `target`: version and state of its newest holding, or of the one that it is opening.
    """

    held: Annotated[list[Holding], msgspec.Meta(max_length=16)] = []
    name: Annotated[str, msgspec.Meta(max_length=300)] = ""
    share: Shards = ()
    target: tuple[int, State] = (0, "")


class Directed(msgspec.Struct, frozen=True, tag=True):
    """A request to the holding of these shards in this state of the index."""

    state: str
    shards: Shards
    request: Request | IndexRequest


Request: TypeAlias = (
    Survey
    | Find
    | Near
    | Rescore
    | Show
    | Explain
    | CheckSpelling
    | Complete
    | Weigh
    | Read
    | CountTerms
)
Reply: TypeAlias = (
    Surveyed
    | FoundPages
    | Neighbours
    | Rescored
    | Shown
    | Explained
    | CheckedSpelling
    | Completed
    | RequestRefused
    | Weighed
    | DocumentText
    | TermCounts
)
IndexRequest: TypeAlias = Question | Suggest
"""Requests to a process that holds the whole index and runs its own broker."""
AnyRequest: TypeAlias = Request | IndexRequest | Probe | Directed
"""All that a process may be asked."""
AnyReply: TypeAlias = Answered | Suggested | Report | Reply

_T = TypeVar("_T")
RequestGenerator: TypeAlias = "Generator[dict[int, Request], dict[int, Reply], _T]"
"""A generator that yields requests by number of node, receives the replies of the nodes that
answered, and returns its result."""
