"""What the broker asks of a node, and what a node answers: all of it fits in a message.

A node holds some shards (`node.py`); the broker (`broker.py`) asks several of them and puts their
answers together. What goes between them is data alone: `msgspec` writes it as MessagePack and
reads nothing else from it.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec

from gossamer.config import Profile  # noqa: TC001  # msgspec reads it
from gossamer.serve.answers import Count, Results  # noqa: TC001  # msgspec reads it
from gossamer.serve.query import Query  # noqa: TC001
from gossamer.serve.spelling import Near  # noqa: TC001

MAX_MOST = 1_000
"""Pages or words for one request: tantivy sets memory aside for so many at once."""
Most: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_MOST)]
Counts: TypeAlias = dict[str, dict[str, dict[str, int]]]
"""Pages that have a term: by language, field and term. All pages: field "" and term ""."""


class Question(msgspec.Struct, frozen=True, tag=True):
    """What somebody asks of the whole index."""

    query: str
    offset: int = 0
    limit: int = 10
    by_date: bool = False
    facets: bool = False
    explain: bool = False
    profile: Profile | None = None


class Survey(msgspec.Struct, frozen=True, tag=True):
    """How many pages have the words of a query? Answered with Counts."""

    query: Query


class Find(msgspec.Struct, frozen=True, tag=True):
    """The `most` best pages for a query; `wide`: those with any of its words.

    `first`: of the first tier, where there is one and it may have enough, and what others the query
    names. `counts` are those of all nodes together; without them a node takes its own. `dated`:
    with the dates of the pages.
    """

    query: Query
    most: Most
    first: bool = False
    wide: bool = False
    by_date: bool = False
    facets: bool = False
    counts: Counts | None = None
    dated: bool = False


Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=2**31 - 1)]
"""tantivy's documents have lower ones: asked about higher ones, it may never end."""
Place: TypeAlias = tuple[Number, Number, Number]
"""Of a page in a node: which language, segment and document. Nobody else knows what it means."""


class Candidate(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page that was found: by which value, what else counts, and where it lies.

    `value` is the score of its words, or the date, or the merit, as Found tells. `merit`, `key` and
    `date_ms` are those of the index's format (index/schema.py). By their keys equals have an order
    that all nodes have in common.
    """

    value: float
    merit: float
    key: int
    date_ms: int | None
    place: Place


class Found(msgspec.Struct, frozen=True, tag=True):
    """`total` of the `searched` pages match; the node has `pages`. The best come first.

    `telling`: how many words of the query tell something; where none does, merit decides.
    `closer`: whether Look would add something to their scores.
    """

    state: str
    pages: int
    searched: int
    total: int
    telling: int
    closer: bool
    candidates: list[Candidate]
    facets: dict[str, list[Count]] = {}


class Look(msgspec.Struct, frozen=True, tag=True):
    """What does the second step of the ranking add to these pages? Each with its key."""

    state: str
    find: Find
    pages: list[tuple[Place, int]]


class Looked(msgspec.Struct, frozen=True, tag=True):
    """In the order in which they were asked for."""

    scores: list[float]


class Show(msgspec.Struct, frozen=True, tag=True):
    """What is shown of pages that this node gave, by their places, in that state of its index."""

    state: str
    query: Query
    places: list[Place]


class Sight(msgspec.Struct, frozen=True, array_like=True):
    """What is shown of a page. `snippet` is HTML: escaped, with matches in <b>."""

    url: str
    title: str
    snippet: str
    language: str | None
    kind: str
    image: str | None
    date_ms: int | None
    fetched_ms: int


class Shown(msgspec.Struct, frozen=True, tag=True):
    """In the order in which they were asked for."""

    pages: list[Sight]


class Explain(msgspec.Struct, frozen=True, tag=True):
    """How did the scores of these pages come about?"""

    state: str
    find: Find
    places: list[Place]


class Explained(msgspec.Struct, frozen=True, tag=True):
    """In the order in which they were asked for, tantivy's trees of sums and products."""

    words: list[dict[str, Any]]


class Weigh(msgspec.Struct, frozen=True, tag=True):
    """What is the cosine of these pages with a query? (profiles.py) `counts`: as in Find."""

    state: str
    query: Query
    places: list[Place]
    counts: Counts | None = None


class Weighed(msgspec.Struct, frozen=True, tag=True):
    """In the order in which they were asked for."""

    cosines: list[float]


class Read(msgspec.Struct, frozen=True, tag=True):
    """What does this page say?"""

    url: str


class Said(msgspec.Struct, frozen=True, tag=True):
    """Title and the beginning of the text; empty, in no language, where the node has not the page.

    The language is that of its index.
    """

    language: str = ""
    text: str = ""


class Tally(msgspec.Struct, frozen=True, tag=True):
    """How many pages in a language have these terms?"""

    language: str
    terms: list[str]


class Tallied(msgspec.Struct, frozen=True, tag=True):
    """Of so many pages, by term."""

    pages: int
    counts: dict[str, int]


class Spell(msgspec.Struct, frozen=True, tag=True):
    """How frequent are these words, and the words like them?"""

    words: list[str]


class Spelt(msgspec.Struct, frozen=True, tag=True):
    """By word: how many pages have it, and the words like it with theirs."""

    words: dict[str, Near]


class Complete(msgspec.Struct, frozen=True, tag=True):
    """Words that the last one may become, on pages that have the others."""

    text: str
    limit: Most


class Completed(msgspec.Struct, frozen=True, tag=True):
    """Words, and how many pages have them."""

    words: dict[str, int]


class Surveyed(msgspec.Struct, frozen=True, tag=True):
    counts: Counts


class Answered(msgspec.Struct, frozen=True, tag=True):
    """To a Question, from an index in that state; "" where nodes are in different ones."""

    state: str
    results: Results


class Suggest(msgspec.Struct, frozen=True, tag=True):
    """What may a query that is being typed become, by the whole index?"""

    text: str
    limit: Most


class Suggested(msgspec.Struct, frozen=True, tag=True):
    completions: list[str]


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The node cannot answer this: its index is another one meanwhile, or none."""

    reason: str


Request: TypeAlias = Survey | Find | Look | Show | Explain | Spell | Complete | Weigh | Read | Tally
Reply: TypeAlias = (
    Surveyed
    | Found
    | Looked
    | Shown
    | Explained
    | Spelt
    | Completed
    | Refused
    | Weighed
    | Said
    | Tallied
)
Whole: TypeAlias = Question | Suggest
"""What a process answers that holds the whole index."""
Outcome: TypeAlias = Answered | Suggested | Reply
