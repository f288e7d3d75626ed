"""Queries on postings: which partitions take part, and how many bytes they would send.

A query goes only to the partitions of its terms, and each merges its own terms into a part. There
are two ways to merge the parts, and the traffic of both is counted:

    at the broker   every partition sends its part, and the broker merges them;
    in a pipeline   the smallest part goes to the partition of the next larger one, is merged there,
                    and so on; only the last partition sends its best documents to the broker
                    (Moffat, Webber, Zobel and Baeza-Yates, "A pipelined architecture for
                    distributed text query evaluation", Information Retrieval 10, 2007).

Here the partitions are files on one machine, and both ways compute the same; the bytes are those
that would cross the network. Document frequencies (df), 4 bytes per term, go first, because the
weights of all terms depend on them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from gossamer.index.format.analysis import plain_analyzer
from gossamer.index.format.normalization import compose_characters
from gossamer.index.postings.blocks import NO_POSTINGS, Partition, open_mapped, partition_of
from gossamer.index.postings.retrieval import (
    NO_DOCUMENTS,
    Scored,
    best_documents,
    intersect,
    query_weight,
    unite,
    weigh_postings,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

    from gossamer.index.postings.blocks import Postings
    from gossamer.state.workspace import Workspace

DF_BYTES = 4
"""Bytes of one document frequency."""


@dataclass(frozen=True)
class Hit:
    """A found page; `score` is the cosine."""

    url: str
    score: float


@dataclass(frozen=True)
class Matches:
    """`total` documents match; `best` holds the numbers and cosines of the best of them.

    `postings`: how many were read, by partition. The bytes are those that either way of merging
    would send.
    """

    total: int
    best: Scored
    postings: Mapping[int, int]
    broker_bytes: int
    pipeline_bytes: int


class NumberedDocuments:
    """The documents by number: norms in memory, 8 bytes each; URLs are read from the files."""

    def __init__(self, paths: Sequence[str]) -> None:
        files = [open_mapped(path) for path in sorted(paths)]
        self._groups = [(file, group) for file in files for group in range(file.num_row_groups)]
        rows = [file.metadata.row_group(group).num_rows for file, group in self._groups]
        self._starts = list(accumulate(rows, initial=0))
        norms = [file.read(["norm"])["norm"].to_numpy() for file in files]
        self.norms = np.concatenate(norms) if norms else np.empty(0)

    def urls(self, numbers: Iterable[int]) -> list[str]:
        """The URLs of these documents. Each row group that holds some of them is read once."""
        places = [(number, bisect_right(self._starts, number) - 1) for number in numbers]
        read = {
            place: file.read_row_group(group, ["url"])["url"]
            for place in {place for _, place in places}
            for file, group in [self._groups[place]]
        }
        return [str(read[place][number - self._starts[place]]) for number, place in places]


class PostingsReader:
    """The postings of a crawl, opened."""

    @classmethod
    def open(cls, work: Workspace) -> Self:
        """Open the postings that the manifest lists. Raises MissingFile, StoreError."""
        partitions = [Partition(path) for path in work.paths("postings")]
        return cls(partitions, NumberedDocuments(work.paths("numbered")))

    def __init__(self, partitions: Sequence[Partition], numbered: NumberedDocuments) -> None:
        self._partitions = {partition.number: partition for partition in partitions}
        self._of = partitions[0].partitions if partitions else 1
        self._numbered = numbered
        self._words = plain_analyzer()

    def search(self, text: str, *, every: bool = True, limit: int = 10) -> list[Hit]:
        """The best pages that have all words of a text (`every`), or any of them."""
        words = Counter(self._words.analyze(compose_characters(text)))
        best = self.find(words, every=every, limit=limit).best
        urls = self._numbered.urls(best.documents.tolist())
        return [Hit(url, score) for url, score in zip(urls, best.sums.tolist(), strict=True)]

    def find(self, words: Mapping[str, int], *, every: bool = True, limit: int = 10) -> Matches:
        """The best documents for terms; `words` counts how often the query has each of them."""
        asked: dict[int, dict[str, Postings]] = {}
        for term in words:
            number = partition_of(term, self._of)
            partition = self._partitions.get(number)
            asked.setdefault(number, {})[term] = partition.find(term) if partition else NO_POSTINGS
        documents = len(self._numbered.norms)
        weights = {
            term: query_weight(words[term], postings.df, documents)
            for found in asked.values()
            for term, postings in found.items()
        }
        length = math.hypot(*weights.values()) or 1.0
        merge = intersect if every else unite
        parts = [
            reduce(merge, (weigh_postings(found[term], weights[term] / length) for term in found))
            for found in asked.values()
        ]
        parts.sort(key=lambda part: len(part.documents))
        sums = list(accumulate(parts, merge)) or [NO_DOCUMENTS]
        chosen = best_documents(sums[-1], self._numbered.norms, limit)
        df_bytes = DF_BYTES * len(words)
        return Matches(
            len(sums[-1].documents),
            chosen,
            {number: sum(one.df for one in found.values()) for number, found in asked.items()},
            df_bytes + sum(part.bytes for part in parts),
            df_bytes + sum(part.bytes for part in sums[:-1]) + chosen.bytes,
        )
