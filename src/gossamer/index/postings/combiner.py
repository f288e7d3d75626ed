"""The memory of a map task: postings by term, of the documents since its last runs."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

RUN = pa.schema(
    {"term": pa.string(), "first": pa.int32(), "count": pa.int32(), "pairs": pa.binary()}
)
"""A run: a term, the number of its first document, the number of its postings, and the postings as
pairs of int32 (document, occurrences)."""
RUN_DDL = "term string, first int, count int, pairs binary"

MAX_POSTINGS = 1_000_000
"""Postings held in memory. With their terms they take 50 to 350 MB: more if terms are rarer."""


class Combiner:
    """Postings by term. Documents must be added in the order of their numbers."""

    def __init__(self) -> None:
        self._pairs: dict[str, array[int]] = {}
        self._held = 0

    @property
    def full(self) -> bool:
        return self._held >= MAX_POSTINGS

    def add(self, number: int, counts: Mapping[str, int]) -> None:
        """Add a document, with the number of occurrences of each of its terms."""
        for term, count in counts.items():
            pairs = self._pairs.get(term)
            if pairs is None:
                self._pairs[term] = array("i", (number, count))
            else:
                pairs.extend((number, count))
        self._held += len(counts)

    def take(self) -> pa.Table:
        """Return the postings, as one row of RUN per term, and forget them."""
        pairs, self._pairs, self._held = self._pairs, {}, 0
        columns = [
            list(pairs),
            [of_term[0] for of_term in pairs.values()],
            [len(of_term) // 2 for of_term in pairs.values()],
            [of_term.tobytes() for of_term in pairs.values()],
        ]
        return pa.Table.from_arrays(
            [pa.array(column, of.type) for column, of in zip(columns, RUN, strict=True)], schema=RUN
        )


def decode_pairs(run: bytes) -> NDArray[np.int32]:
    """A run's postings, as an array of rows (document, occurrences)."""
    return np.frombuffer(run, np.int32).reshape(-1, 2)
