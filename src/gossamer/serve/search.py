"""From a query to answers: the best of every shard and language, merged, with snippets.

Facts
  * An opened index is mapped into memory, so a search goes on after its files were deleted.
  * tantivy's binding holds the GIL while it searches: threads do not add up, processes do.
  * Each index scores by its own document frequencies. URLs are spread by hash, so these differ
    little between shards of many pages; with few pages, scores of two shards are not exactly
    comparable.
"""

from __future__ import annotations

import heapq
import json
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gossamer.index import schema
from gossamer.serve import query as language
from gossamer.serve.answers import Count, Hit, Results
from gossamer.serve.ranking import Plan, Ranking, popularity
from gossamer.serve.snippets import Snippets
from gossamer.serve.spelling import Spelling
from gossamer.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

    import tantivy
    from tantivy import Query

    from gossamer.config import RankingConfig
    from gossamer.workspace import Workspace

MAX_QUERY_CHARS = 1_000
MAX_RESULTS = 1_000
"""Answers that can be paged through."""
REORDERED = 200
"""So many of the best by words are reordered by popularity and by host. Those behind stay where
they are, so that the order is the same whichever part of it is asked for."""
HOST_RESULTS = 2
CROWDED = 0.5
"""What a host's results beyond these count: those of others come first that are half as good."""
FACETS = ("host", "language", "kind", "year")
FACET_VALUES = 10
MIN_WHOLE = 10
MIN_LOOSE_WORDS = 3
"""With fewer pages that have all of at least so many words, those with some of them follow. Of two
words, who gets pages with both does not want those with one."""


class _Part(NamedTuple):
    """The index of a shard and a language."""

    language: str
    searcher: tantivy.Searcher


class _Candidate(NamedTuple):
    """A page by where it lies: in which part, segment and document."""

    place: tuple[int, int, int]
    address: tantivy.DocAddress
    score: float
    merit: float
    host: float | None
    more: bool = False
    partial: bool = False


_Place = tuple[float, tuple[int, int, int], "tantivy.DocAddress"]
"""What tantivy finds: the score, negative so that the best sort first, and where it is."""


class Searcher:
    """The shards of one index, opened. It never sees a change: for a newer index, open another."""

    @classmethod
    def open(cls, work: Workspace) -> Self:
        """The index that the crawl's manifest names, as last read. Raises MissingFile."""
        named = (Path(path) for path in work.paths("index"))
        folders = sorted(path.parent for path in named if path.name == "meta.json")
        return cls(folders, work.config.ranking)

    def __init__(self, folders: Sequence[Path], weights: RankingConfig) -> None:
        self._parts = [
            _Part(folder.name, schema.open_index(folder).searcher()) for folder in folders
        ]
        self._weights = weights
        form = schema.schema()
        self._rankings = {
            key: Ranking(form, key, weights) for key in {part.language for part in self._parts}
        }
        self._spelling = Spelling(form, [part.searcher for part in self._parts])
        self.pages = sum(part.searcher.num_docs for part in self._parts)

    def search(
        self,
        query: str,
        offset: int = 0,
        limit: int = 10,
        *,
        by_date: bool = False,
        facets: bool = False,
        explain: bool = False,
    ) -> Results:
        """The pages for a query, from `offset`; at most MAX_RESULTS can be reached."""
        started = time.perf_counter()
        text = schema.composed(query[:MAX_QUERY_CHARS].encode("utf-8", "replace").decode())
        tree = language.parse(text)
        plans = {key: ranking.plan(tree) for key, ranking in self._rankings.items()}
        most = min(MAX_RESULTS, max(REORDERED, offset + limit))
        asked = {key: plan.strict for key, plan in plans.items()}
        total, best = self._best(asked, most, by_date=by_date)
        whole = total
        if not by_date and not language.names_host(tree):
            best = [*_spread(best[:REORDERED]), *best[REORDERED:]]
        words = max((plan.words for plan in plans.values()), default=0)
        few = MIN_WHOLE if words >= MIN_LOOSE_WORDS else 1
        if whole < few and any(plan.wide for plan in plans.values()):
            asked = {key: plan.wide for key, plan in plans.items()}
            total, more = self._best(asked, most, by_date=by_date)
            places = {candidate.place for candidate in best}
            best += [
                candidate._replace(partial=True)
                for candidate in more
                if candidate.place not in places
            ]
        hits = self._hits(tree, best[offset : offset + limit], plans if explain else None)
        return Results(
            total,
            hits,
            round((time.perf_counter() - started) * 1000, 1),
            whole=whole,
            relaxed=whole == 0 < total,
            facets=self._facets(asked) if facets else {},
            suggestion=self._spelling.suggestion(text) if whole < MIN_WHOLE else None,
        )

    def complete(self, text: str, limit: int = 8) -> list[str]:
        """What a query that is being typed may become: its last word completed."""
        return self._spelling.completions(schema.composed(text[:MAX_QUERY_CHARS]), limit)

    def _best(
        self, queries: Mapping[str, Query | None], most: int, *, by_date: bool
    ) -> tuple[int, list[_Candidate]]:
        """How many pages match, and the best of them, by words and popularity, or by date."""
        total, found = 0, []
        for number, (key, searcher) in enumerate(self._parts):
            query = queries[key]
            if query is None:
                continue
            field = "date_ms" if by_date else None
            answer = searcher.search(query, limit=most, order_by_field=field)
            total += answer.count  # type: ignore[attr-defined]  # missing in tantivy's stubs
            # Equals are in the order in which they lie in the index: by URL.
            found += [
                (-(score or 0), (number, address.segment_ord, address.doc), address)
                for score, address in answer.hits
            ]
        best = heapq.nsmallest(most, found)
        if by_date:
            return total, [_Candidate(place, at, -score, 0, None) for score, place, at in best]
        behind = [_Candidate(place, at, -score, 0, None) for score, place, at in best[REORDERED:]]
        return total, [*self._by_popularity(best[:REORDERED]), *behind]

    def _by_popularity(self, best: Sequence[_Place]) -> list[_Candidate]:
        """Candidates with their popularity added to their score, the best first."""
        weight = self._weights.popularity
        of_part: dict[int, list[_Place]] = defaultdict(list)
        for each in best:
            of_part[each[1][0]].append(each)
        candidates = []
        for number, ours in of_part.items():
            searcher = self._parts[number].searcher
            addresses = [address for *_, address in ours]
            merits = searcher.fast_field_values("merit", addresses)
            hosts = searcher.fast_field_values("host_key", addresses)
            for (negative, place, address), merit, host in zip(ours, merits, hosts, strict=True):
                score = weight * popularity(merit or 0) - negative
                candidates.append(_Candidate(place, address, score, merit or 0, host))
        return sorted(candidates, key=lambda each: (-each.score, each.place))

    def _hits(
        self,
        tree: language.Query,
        candidates: Iterable[_Candidate],
        explained: Mapping[str, Plan] | None,
    ) -> list[Hit]:
        wanted = language.typed(tree)
        snippets: dict[str, Snippets] = {}
        hits = []
        for candidate in candidates:
            key, searcher = self._parts[candidate.place[0]]
            if key not in snippets:
                snippets[key] = Snippets(wanted, key)
            card = schema.card(searcher.doc(candidate.address))
            explanation = None
            if explained is not None and (query := explained[key].found(candidate.partial)):
                words = json.loads(query.explain(searcher, candidate.address).to_json())
                explanation = {
                    "words": words,
                    "popularity": popularity(candidate.merit),
                    "weight": self._weights.popularity,
                }
            hits.append(
                Hit(
                    url=card.url,
                    title=card.title,
                    snippet=snippets[key].of(card.excerpt, card.description),
                    score=candidate.score,
                    host=host_of(card.url),
                    fetched_ms=card.fetched_ms,
                    rank=candidate.merit / self.pages if candidate.merit else None,
                    language=card.language,
                    kind=card.kind,
                    image=card.image,
                    date_ms=card.date_ms,
                    partial=candidate.partial,
                    more=candidate.more,
                    explanation=explanation,
                )
            )
        return hits

    def _facets(self, queries: Mapping[str, Query | None]) -> dict[str, list[Count]]:
        """The most frequent values of each facet among all pages that match."""
        wanted = {name: {"terms": {"field": name, "size": FACET_VALUES}} for name in FACETS}
        counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
        for key, searcher in self._parts:
            query = queries[key]
            if query is None:
                continue
            found = searcher.aggregate(query, wanted)
            for name in FACETS:
                for bucket in found[name]["buckets"]:
                    value = bucket["key"]
                    text = str(int(value)) if isinstance(value, float) else str(value)
                    counts[name][text] += bucket["doc_count"]
        return {
            name: [Count(value, pages) for value, pages in found.most_common(FACET_VALUES)]
            for name, found in counts.items()
        }


def _spread(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The same in an order where a host's further results count CROWDED of their score.

    So page one shows many hosts, where they have something to say. The last of HOST_RESULTS tells
    that its host has more.
    """
    of_host = Counter(candidate.host for candidate in candidates)
    seen: Counter[float | None] = Counter()
    placed = []
    for candidate in candidates:
        seen[candidate.host] += 1
        nth = seen[candidate.host]
        more = nth == HOST_RESULTS < of_host[candidate.host]
        worth = candidate.score * (CROWDED if nth > HOST_RESULTS else 1)
        placed.append((worth, candidate._replace(more=more)))
    return [candidate for _, candidate in sorted(placed, key=lambda each: -each[0])]
