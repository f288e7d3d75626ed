"""From a query to answers: every shard's best, merged, reordered by popularity, with snippets.

Facts
  * An opened index is mapped into memory, so a search goes on after its files were deleted.
  * tantivy's binding holds the GIL while it searches: threads do not add up, processes do.
  * Each shard scores by its own document frequencies. URLs are spread by hash, so these differ
    little between shards of many pages; with few pages, scores of two shards are not exactly
    comparable.
"""

from __future__ import annotations

import heapq
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gossamer.index import schema
from gossamer.serve import query as language
from gossamer.serve.ranking import Ranking, popularity
from gossamer.serve.snippets import Snippets
from gossamer.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    import tantivy

    from gossamer.workspace import Workspace

MAX_QUERY_CHARS = 1_000
MAX_RESULTS = 1_000
"""Answers that can be paged through; so many of each shard are reordered by popularity."""


class Hit(msgspec.Struct, frozen=True):
    """A found page. `title` is plain text, `snippet` is HTML: escaped, with matches in <b>."""

    url: str
    title: str
    snippet: str
    score: float
    host: str
    fetched_ms: int
    rank: float | None


class Results(msgspec.Struct, frozen=True):
    """`total` pages matched. `relaxed`: none had all the words, these have half of them."""

    total: int
    hits: list[Hit]
    took_ms: float
    relaxed: bool = False


class _Candidate(NamedTuple):
    """Where a page lies. Sorts the best first, equals as they lie in the index: by URL."""

    negative_score: float
    shard: int
    segment: int
    doc: int
    rank: float | None
    address: tantivy.DocAddress


class Searcher:
    """The shards of one index, opened. It never sees a change: for a newer index, open another."""

    @classmethod
    def open(cls, work: Workspace) -> Self:
        """The index that the crawl's manifest names, as last read. Raises MissingFile."""
        named = (Path(path) for path in work.paths("index"))
        folders = sorted(path.parent for path in named if path.name == "meta.json")
        return cls(folders, work.config.serve.rank_weight)

    def __init__(self, folders: Sequence[Path], rank_weight: float) -> None:
        self._shards = [schema.open_index(folder).searcher() for folder in folders]
        self._rank_weight = rank_weight
        self._words = schema.analyzer()
        self._ranking = Ranking(schema.schema(), self._words)
        self.pages = sum(shard.num_docs for shard in self._shards)

    def search(self, query: str, offset: int = 0, limit: int = 10) -> Results:
        """The pages for a query, from `offset`; at most MAX_RESULTS can be reached."""
        started = time.perf_counter()
        text = schema.composed(query[:MAX_QUERY_CHARS].encode("utf-8", "replace").decode())
        tree = language.parse(text)
        total, best = self._best(self._ranking.strict(text, tree))
        relaxed = total == 0
        if relaxed:
            total, best = self._best(self._ranking.relaxed(tree))
        hits = self._hits(tree, best[offset : offset + limit])
        took_ms = round((time.perf_counter() - started) * 1000, 1)
        return Results(total, hits, took_ms, relaxed=relaxed and total > 0)

    def _best(self, query: tantivy.Query) -> tuple[int, list[_Candidate]]:
        """How many pages match, and the best of them, by words and popularity."""
        total, found = 0, []
        for number, shard in enumerate(self._shards):
            answer = shard.search(query, limit=MAX_RESULTS)
            total += answer.count  # type: ignore[attr-defined]  # missing in tantivy's stubs
            addresses = [address for _, address in answer.hits]
            ranks = shard.fast_field_values("rank", addresses)
            found += [
                _Candidate(
                    -(score + self._rank_weight * popularity(rank, self.pages)),
                    number,
                    address.segment_ord,
                    address.doc,
                    rank,
                    address,
                )
                for (score, address), rank in zip(answer.hits, ranks, strict=True)
            ]
        return total, heapq.nsmallest(MAX_RESULTS, found)

    def _hits(self, tree: language.Query, candidates: Sequence[_Candidate]) -> list[Hit]:
        snippets = Snippets(language.typed(tree), self._words)
        hits = []
        for candidate in candidates:
            shard = self._shards[candidate.shard]
            stored = shard.doc(candidate.address).to_dict()
            url, title, description = (stored[name][0] for name in ("url", "title", "description"))
            text = stored["excerpt"][0].decode()
            hits.append(
                Hit(
                    url,
                    title,
                    snippets.of(text, description),
                    -candidate.negative_score,
                    host_of(url),
                    stored["fetched_ms"][0],
                    candidate.rank,
                )
            )
        return hits
