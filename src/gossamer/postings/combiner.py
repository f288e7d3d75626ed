"""What a map task holds: the postings of its documents since its last runs, by term."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

RUN = pa.schema(
    [
        ("term", pa.string()),
        ("first", pa.int32()),
        ("count", pa.int32()),
        ("pairs", pa.binary()),
    ]
)
"""A run: a term, the number of its first document, how many postings it has, and these, as pairs
of int32: document, occurrences."""
RUN_DDL = "term string, first int, count int, pairs binary"

MAX_POSTINGS = 1_000_000
"""That are held. With their terms they take 50 to 350 MB, the more, the rarer the terms are."""


class Combiner:
    """Postings by term, in the order in which documents are added: that of their numbers."""

    def __init__(self) -> None:
        self._pairs: dict[str, array[int]] = {}
        self._held = 0

    @property
    def full(self) -> bool:
        return self._held >= MAX_POSTINGS

    def add(self, number: int, counts: Mapping[str, int]) -> None:
        """How often each term is in a document."""
        for term, count in counts.items():
            pairs = self._pairs.get(term)
            if pairs is None:
                self._pairs[term] = array("i", (number, count))
            else:
                pairs.extend((number, count))
        self._held += len(counts)

    def take(self) -> pa.Table:
        """A row of RUN for each term; then nothing is held any more."""
        pairs, self._pairs, self._held = self._pairs, {}, 0
        columns = [
            list(pairs),
            [of_term[0] for of_term in pairs.values()],
            [len(of_term) // 2 for of_term in pairs.values()],
            [of_term.tobytes() for of_term in pairs.values()],
        ]
        return pa.Table.from_arrays(
            [pa.array(column, of.type) for column, of in zip(columns, RUN, strict=True)],
            schema=RUN,
        )


def pairs_of(run: bytes) -> NDArray[np.int32]:
    """A run's postings: a line each, of document and occurrences."""
    return np.frombuffer(run, np.int32).reshape(-1, 2)
