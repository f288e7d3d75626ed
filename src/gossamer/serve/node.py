"""A node: some shards of the index, opened, and what they answer to the broker's questions.

Facts
  * tantivy's binding holds the GIL while it searches: threads do not add up, processes do.
  * A search costs in proportion to the pages that match, whatever of them is shown; to show one
    costs reading a block of stored cards and making a snippet.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import tantivy
from tantivy import Occur, Query

from gossamer.index import schema
from gossamer.index.analysis import tongue
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
from gossamer.serve.statistics import ALL, Statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from gossamer.config import RankingConfig
    from gossamer.serve.messages import Place, Reply, Request
    from gossamer.serve.profiles import Vector

FACETS = ("host", "language", "kind", "year")
FACET_VALUES = 10
REORDERED = 200
"""So many of the best by words are scored in full. Those behind stay where they are, so that the
order is the same whichever part of it is asked for."""
CLOSER = 1_000
"""Pages that may be in the slots of these, of which the second step scores the best."""
VALUES = ("merit", "host_key", "date_ms", "url_key")
"""Of a candidate, beside its score."""


class _Index(NamedTuple):
    language: str
    searcher: tantivy.Searcher
    ranking: Ranking
    statistics: Statistics


class Node:
    """The parts of some shards. It never sees a change: for a newer index, open another node."""

    def __init__(self, folders: Iterable[Path], weights: RankingConfig, state: str = "") -> None:
        self._form = form = schema.schema()
        self._weights = weights
        self._indexes = []
        for key, searcher, held in assembled(folders):
            statistics = Statistics(searcher, held)
            ranking = Ranking(form, key, weights, statistics)
            self._indexes.append(_Index(key, searcher, ranking, statistics))
        self._spelling = Spelling(form, [each.searcher for each in self._indexes])
        self.state = state
        self.pages = sum(each.searcher.num_docs for each in self._indexes)

    def reply(self, request: Request) -> Reply:
        if isinstance(request, Show | Explain | Weigh) and request.state != self.state:
            return Refused("the index has changed")
        return _REPLIES[type(request)](self, request)

    def survey(self, ask: Survey) -> Surveyed:
        return Surveyed(
            {
                each.language: each.statistics.counts(each.ranking.terms(ask.query))
                for each in self._indexes
            }
        )

    def find(self, ask: Find) -> Found:
        total, telling = 0, 0
        found: list[Candidate] = []
        facets: dict[str, Counter[str]] = {name: Counter() for name in FACETS if ask.facets}
        rankings = [self._ranking(index, ask) for index in self._indexes]
        for number, index in enumerate(self._indexes):
            plan = rankings[number].plan(ask.query)
            telling = max(telling, plan.words)
            query = plan.wide if ask.wide else plan.strict
            if query is None:
                continue
            order = "date_ms" if ask.by_date else None if plan.words else "merit"
            counted = not ask.wide or plan.some < 0 or order is not None
            answer = index.searcher.search(query, ask.most, counted, order)
            # `count` is missing in tantivy's stubs.
            total += answer.count if counted else max(plan.some, len(answer.hits))  # type: ignore[attr-defined]
            found += _candidates(number, index.searcher, answer.hits)
            if ask.facets and answer.hits:
                _count(facets, index.searcher, query)
        best = heapq.nsmallest(ask.most, found, key=in_order)
        if telling and not ask.by_date:
            best[:REORDERED] = self._closer(rankings, ask, best[:REORDERED])
        told = {name: most(counts) for name, counts in facets.items()}
        return Found(self.state, self.pages, total, telling, best, told)

    def _closer(
        self, rankings: Sequence[Ranking], ask: Find, best: Iterable[Candidate]
    ) -> list[Candidate]:
        """The same with what the second step of the ranking adds, in the same order."""
        added: dict[Place, float] = {}
        slots: dict[int, set[str]] = defaultdict(set)
        for each in best:
            slots[each.place[0]].add(schema.slot(each.key))
        for number, some in slots.items():
            query = rankings[number].closer(ask.query, sorted(some), wide=ask.wide)
            if query is None:
                continue
            answer = self._indexes[number].searcher.search(query, CLOSER, count=False)
            for score, at in answer.hits:
                added[number, at.segment_ord, at.doc] = score
        return [msgspec.structs.replace(each, closer=added.get(each.place, 0.0)) for each in best]

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
            index = self._indexes[number]
            ranking = self._ranking(index, ask.find)
            address = tantivy.DocAddress(*at)
            (key,) = index.searcher.fast_field_values("url_key", [address])
            plan = ranking.plan(ask.find.query)
            steps = (
                plan.wide if ask.find.wide else plan.strict,
                ranking.closer(ask.find.query, [schema.slot(int(key or 0))], wide=ask.find.wide),
            )
            query = Query.boolean_query([(Occur.Should, step) for step in steps if step])
            words.append(json.loads(query.explain(index.searcher, address).to_json()))
        return Explained(words)

    def spell(self, ask: Spell) -> Spelt:
        return Spelt({word: self._spelling.like(word) for word in ask.words})

    def complete(self, ask: Complete) -> Completed:
        return Completed(self._spelling.completions(ask.text, ask.limit))

    def weigh(self, ask: Weigh) -> Weighed:
        asked: dict[int, Vector] = {}
        cosines = []
        for number, *at in ask.places:
            key, searcher, _, statistics = self._indexes[number]
            terms = tongue(key).terms
            if number not in asked:
                words = language.shown(ask.query)
                typed = [term for each in words for term in terms.analyze(each.text)]
                counts = ask.counts[key] if ask.counts else statistics.counts(typed)
                asked[number] = ltc(typed, counts["text"], counts[ALL][ALL])
            card = schema.card(searcher.doc(tantivy.DocAddress(*at)))
            cosines.append(cosine(asked[number], lnc(terms.analyze(_said(card)))))
        return Weighed(cosines)

    def read(self, ask: Read) -> Said:
        named = Query.term_query(self._form, "url", ask.url, "basic")
        for index in self._indexes:
            for _, at in index.searcher.search(named, 1).hits:
                return Said(index.language, _said(schema.card(index.searcher.doc(at))))
        return Said()

    def tally(self, ask: Tally) -> Tallied:
        for index in self._indexes:
            if index.language == ask.language:
                pages = index.statistics.pages
                return Tallied(
                    index.searcher.num_docs, {term: pages("text", term) for term in ask.terms}
                )
        return Tallied(0, {})

    def _ranking(self, index: _Index, ask: Find) -> Ranking:
        """That of the index, or one by the counts of all nodes."""
        if ask.counts is None:
            return index.ranking
        lift = index.statistics.lift(ask.counts[index.language])
        return Ranking(self._form, index.language, self._weights, index.statistics, lift)


def _candidates(
    number: int, searcher: tantivy.Searcher, hits: Sequence[tuple[Any, tantivy.DocAddress]]
) -> Iterator[Candidate]:
    addresses = [address for _, address in hits]
    values = (searcher.fast_field_values(name, addresses) for name in VALUES)
    for (value, at), merit, host, date_ms, key in zip(hits, *values, strict=True):
        place = (number, at.segment_ord, at.doc)
        yield Candidate(value or 0.0, 0.0, merit or 0.0, host or 0, date_ms, key, place)


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
    Show: Node.show,
    Explain: Node.explain,
    Spell: Node.spell,
    Complete: Node.complete,
    Weigh: Node.weigh,
    Read: Node.read,
    Tally: Node.tally,
}
