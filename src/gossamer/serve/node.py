"""A node: some shards of the index, opened, and what they answer to the broker's questions.

Facts
  * tantivy's binding lets go of the GIL while it searches, but much of an answer's time is
    Python's: processes add up, threads less.
  * A search costs in proportion to the pages that match, whatever of them is shown; to show one
    costs reading a block of stored cards and making a snippet.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import tantivy
from tantivy import Occur, Query

from gossamer.index import schema
from gossamer.index.analysis import tongue
from gossamer.index.layout import FIRST, shard_of
from gossamer.serve import query as language
from gossamer.serve.answers import Count
from gossamer.serve.assembly import assembled
from gossamer.serve.messages import (
    Candidate,
    Complete,
    Completed,
    Explain,
    Explained,
    Find,
    Found,
    Look,
    Looked,
    Read,
    Refused,
    Said,
    Show,
    Shown,
    Sight,
    Spell,
    Spelt,
    Survey,
    Surveyed,
    Tallied,
    Tally,
    Weigh,
    Weighed,
)
from gossamer.serve.profiles import cosine, lnc, ltc
from gossamer.serve.ranking import Ranking
from gossamer.serve.snippets import Snippets
from gossamer.serve.spelling import Spelling
from gossamer.serve.statistics import Statistics, Summed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path, PurePath

    from gossamer.config import RankingConfig
    from gossamer.serve.messages import Counts, Place, Reply, Request
    from gossamer.serve.profiles import Vector
    from gossamer.serve.ranking import Sought
    from gossamer.serve.statistics import Frequencies

FACETS = ("host", "language", "kind", "year")
FACET_VALUES = 10
REORDERED = 100
"""So many of the best by words are reordered by popularity and by host. Those behind stay where
they are, so that the order is the same whichever part of it is asked for."""
NAMED = 50
"""Pages outside of the first tier that a query may name."""
IN_SLOTS = 500
"""Pages that may be in the slots of those that are looked at."""
ENOUGH = 50
"""The first tier is enough where it has so many pages with all the words, five pages of answers.
Whoever goes on after these, gets the others behind them."""


class _Index(NamedTuple):
    language: str
    searcher: tantivy.Searcher
    ranking: Ranking
    statistics: Statistics
    whole: Statistics | None = None
    """Of an index of the first tier: those of the whole one."""


class _Asked(NamedTuple):
    """What was sought last, by the number of the index. Whoever holds it may use it."""

    query: language.Query | None
    counts: Counts | None
    sought: dict[int, Sought]


class Node:
    """The parts of some shards. It never sees a change: for a newer index, open another node."""

    def __init__(
        self,
        folders: Iterable[Path],
        weights: RankingConfig,
        state: str = "",
        *,
        tiered: bool | None = None,
    ) -> None:
        """`tiered`: whether the index has a first tier; None: it has if these folders do."""
        self._form = schema.schema()
        self._weights = weights
        folders = list(folders)
        first = [folder for folder in folders if is_first(folder)]
        whole = list(self._opened(folders, {}))
        self._indexes = [
            *whole,
            *self._opened(first, {each.language: each.statistics for each in whole}),
        ]
        self._whole = range(len(whole))
        self._first = range(len(whole), len(self._indexes))
        self._tiered = bool(first) if tiered is None else tiered
        self._spelling = Spelling(self._form, [each.searcher for each in whole])
        self._last = _Asked(None, None, {})
        self.state = state
        self.pages = sum(each.searcher.num_docs for each in whole)

    def _opened(self, folders: Iterable[Path], whole: Mapping[str, Statistics]) -> Iterator[_Index]:
        for key, searcher, held in assembled(folders):
            statistics = Statistics(searcher, held)
            ranking = Ranking(self._form, key, self._weights, statistics)
            yield _Index(key, searcher, ranking, statistics, whole.get(key))

    def reply(self, request: Request) -> Reply:
        if isinstance(request, Show | Explain | Weigh | Look) and request.state != self.state:
            return Refused("the index has changed")
        return _REPLIES[type(request)](self, request)

    def survey(self, ask: Survey) -> Surveyed:
        whole = (self._indexes[number] for number in self._whole)
        return Surveyed(
            {each.language: each.statistics.counts(each.ranking.terms(ask.query)) for each in whole}
        )

    def find(self, ask: Find) -> Found:
        whole = [self._sought(number, ask) for number in self._whole]
        # The first tier is asked where so many pages may have the words that it has enough.
        tier = ask.first and self._tiered and sum(each.bound for each in whole) >= ENOUGH
        asked = [self._sought(number, ask) for number in self._first] if tier else whole
        total, telling, searched, closer = 0, 0, 0, False
        found: list[Candidate] = []
        facets: dict[str, Counter[str]] = {name: Counter() for name in FACETS if ask.facets}
        for number, sought in zip(self._first if tier else self._whole, asked, strict=True):
            searcher = self._indexes[number].searcher
            searched += searcher.num_docs
            plan = sought.wide() if ask.wide else sought.strict()
            telling = max(telling, plan.words)
            closer = closer or (plan.closer and not ask.by_date)
            query = plan.found
            if query is None:
                continue
            order = "date_ms" if ask.by_date else None if plan.words else "merit"
            counted = plan.some < 0 or order is not None
            answer = searcher.search(query, ask.most, counted, order)
            # `count` is missing in tantivy's stubs.
            total += answer.count if counted else max(plan.some, len(answer.hits))  # type: ignore[attr-defined]
            found += _candidates(number, searcher, answer.hits, dated=ask.dated)
            if ask.facets and answer.hits:
                _count(facets, searcher, query)
        if tier and self._first and total < ENOUGH:
            return Found(self.state, self.pages, searched, total, telling, closer, [])
        named = [*self._named(ask, whole, {each.key for each in found})] if tier else []
        if named or len(asked) > 1:  # tantivy has ordered those of one index
            found = sorted([*found, *named], key=in_order)[: ask.most]
        told = {name: most(counts) for name, counts in facets.items()}
        return Found(
            self.state, self.pages, searched, total, telling, closer and telling > 0, found, told
        )

    def _named(
        self, ask: Find, whole: Iterable[Sought], known: Collection[int]
    ) -> Iterator[Candidate]:
        """Pages of all tiers whose titles the query names, but for the known ones."""
        for number, sought in enumerate(whole):
            if (query := sought.named()) is not None:
                searcher = self._indexes[number].searcher
                answer = searcher.search(query, NAMED, count=False)
                named = _candidates(number, searcher, answer.hits, dated=ask.dated)
                yield from (each for each in named if each.key not in known)

    def look(self, ask: Look) -> Looked:
        added: dict[Place, float] = {}
        slots: dict[int, set[str]] = defaultdict(set)
        for place, key in ask.pages:
            slots[place[0]].add(schema.slot(key))
        for number, some in slots.items():
            query = self._sought(number, ask.find).closer(sorted(some), wide=ask.find.wide)
            if query is not None:
                answer = self._indexes[number].searcher.search(query, IN_SLOTS, count=False)
                for score, at in answer.hits:
                    added[number, at.segment_ord, at.doc] = score
        return Looked([added.get(place, 0.0) for place, _ in ask.pages])

    def show(self, ask: Show) -> Shown:
        wanted = language.shown(ask.query)
        snippets: dict[str, Snippets] = {}
        pages = []
        for number, *at in ask.places:
            key, searcher, *_ = self._indexes[number]
            if key not in snippets:
                snippets[key] = Snippets(wanted, key)
            card = schema.card(searcher.doc(tantivy.DocAddress(*at)))
            snippet = snippets[key].of(card.excerpt, card.description)
            pages.append(
                Sight(
                    card.url,
                    card.title,
                    snippet,
                    card.language,
                    card.kind,
                    card.image,
                    card.date_ms,
                    card.fetched_ms,
                )
            )
        return Shown(pages)

    def explain(self, ask: Explain) -> Explained:
        words = []
        for number, *at in ask.places:
            searcher, sought = self._indexes[number].searcher, self._sought(number, ask.find)
            address = tantivy.DocAddress(*at)
            (key,) = searcher.fast_field_values("key", [address])
            plan = sought.wide() if ask.find.wide else sought.strict()
            steps = (plan.found, sought.closer([schema.slot(int(key or 0))], wide=ask.find.wide))
            query = Query.boolean_query([(Occur.Should, step) for step in steps if step])
            words.append(json.loads(query.explain(searcher, address).to_json()))
        return Explained(words)

    def spell(self, ask: Spell) -> Spelt:
        return Spelt({word: self._spelling.like(word) for word in ask.words})

    def complete(self, ask: Complete) -> Completed:
        return Completed(self._spelling.completions(ask.text, ask.limit))

    def weigh(self, ask: Weigh) -> Weighed:
        asked: dict[int, Vector] = {}
        cosines = []
        for number, *at in ask.places:
            key, searcher, _, statistics, whole = self._indexes[number]
            spoken = tongue(key)
            if number not in asked:
                words = language.shown(ask.query)
                typed = [term for each in words for term in spoken.analyzed(each.text)]
                among = _among(ask.counts, key) or whole or statistics
                pages = {term: among.pages("text", term) for term in typed}
                asked[number] = ltc(typed, pages, among.held)
            card = schema.card(searcher.doc(tantivy.DocAddress(*at)))
            cosines.append(cosine(asked[number], lnc(spoken.terms.analyze(_said(card)))))
        return Weighed(cosines)

    def read(self, ask: Read) -> Said:
        named = Query.term_query(self._form, "url", ask.url, "basic")
        for index in self._indexes[: len(self._whole)]:
            for _, at in index.searcher.search(named, 1).hits:
                return Said(index.language, _said(schema.card(index.searcher.doc(at))))
        return Said()

    def tally(self, ask: Tally) -> Tallied:
        for index in self._indexes[: len(self._whole)]:
            if index.language == ask.language:
                pages = index.statistics.pages
                return Tallied(
                    index.searcher.num_docs, {term: pages("text", term) for term in ask.terms}
                )
        return Tallied(0, {})

    def _sought(self, number: int, ask: Find) -> Sought:
        """By the counts of all nodes, or of this one. Kept, as a query is asked about in steps."""
        last = self._last
        if ask.query is not last.query or ask.counts is not last.counts:
            last = self._last = _Asked(ask.query, ask.counts, {})
        if number not in last.sought:
            index = self._indexes[number]
            whole = _among(ask.counts, index.language) or index.whole
            last.sought[number] = index.ranking.sought(ask.query, whole)
        return last.sought[number]


def _among(counts: Counts | None, key: str) -> Frequencies | None:
    """What all nodes have counted in a language."""
    counted = (counts or {}).get(key)
    return Summed(counted) if counted else None


def is_first(folder: PurePath) -> bool:
    """Whether it is a folder of the first tier."""
    return shard_of(folder) == FIRST


def _candidates(
    number: int,
    searcher: tantivy.Searcher,
    hits: Sequence[tuple[Any, tantivy.DocAddress]],
    *,
    dated: bool,
) -> list[Candidate]:
    addresses = [address for _, address in hits]
    values: Callable[[str], Any] = partial(searcher.fast_field_values, doc_addresses=addresses)
    dates = values("date_ms") if dated else repeat(None, len(hits))
    return [
        Candidate(value or 0.0, merit or 0.0, key, date_ms, (number, at.segment_ord, at.doc))
        for (value, at), merit, key, date_ms in zip(
            hits, values("merit"), values("key"), dates, strict=True
        )
    ]


def in_order(candidate: Candidate) -> tuple[float, Place]:
    """As tantivy orders: what is equal, as it lies in the index. So fewer are the first of more."""
    return -candidate.value, candidate.place


def _said(card: schema.Card) -> str:
    return f"{card.title}\n{card.excerpt}"


def _count(facets: Mapping[str, Counter[str]], searcher: tantivy.Searcher, query: Query) -> None:
    """Add the most frequent values of each facet among all pages that match."""
    wanted = {name: {"terms": {"field": name, "size": FACET_VALUES}} for name in FACETS}
    found = searcher.aggregate(query, wanted)
    for name in FACETS:
        for bucket in found[name]["buckets"]:
            value = bucket["key"]
            text = str(int(value)) if isinstance(value, float) else str(value)
            facets[name][text] += bucket["doc_count"]


def most(counts: Counter[str]) -> list[Count]:
    return [Count(value, pages) for value, pages in counts.most_common(FACET_VALUES)]


_REPLIES: Mapping[type[Request], Callable[[Node, Any], Reply]] = {
    Survey: Node.survey,
    Find: Node.find,
    Look: Node.look,
    Show: Node.show,
    Explain: Node.explain,
    Spell: Node.spell,
    Complete: Node.complete,
    Weigh: Node.weigh,
    Read: Node.read,
    Tally: Node.tally,
}
