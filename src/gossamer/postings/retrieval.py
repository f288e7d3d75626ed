"""AND, OR and the cosine over postings: which documents have the words, and how well?

lnc.ltc of Salton and Buckley ("Term-weighting approaches in automatic text retrieval", 1988):

    w(d, t) = 1 + ln tf(d, t)                           of a document's term: no idf,
    w(q, t) = (1 + ln tf(q, t)) · ln(N / df(t))         of a query's term,
    score   = Σ w(q, t) · w(d, t) / (|w(d)| · |w(q)|)   the cosine of the angle between them,

where N documents are indexed, and |w(d)| is over all terms of the document: its `norm`, known when
it is indexed. So a score needs nothing of a document but its norm and the postings of the query's
terms. A term that all documents have weighs nothing.

What goes from a term to the answer is `Scored`: documents in rising order with their sums as far
as they are known. Two of them make one again, so sums may be made in one place or be handed on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from gossamer.postings.blocks import Postings


@dataclass(frozen=True)
class Scored:
    """Documents in rising order, each once, and the sums of their scores."""

    documents: NDArray[np.int32]
    sums: NDArray[np.float64]

    @property
    def bytes(self) -> int:
        return int(self.documents.nbytes + self.sums.nbytes)


NOTHING = Scored(np.empty(0, np.int32), np.empty(0))


def norm(occurrences: Collection[int]) -> float:
    """|w(d)| of a document whose terms have these numbers of occurrences."""
    weights = 1 + np.log(np.fromiter(occurrences, np.float64, len(occurrences)))
    return math.sqrt(weights @ weights)


def query_weight(occurrences: int, df: int, documents: int) -> float:
    """w(q, t); 0 of a term that no document has."""
    return (1 + math.log(occurrences)) * math.log(documents / df) if df else 0.0


def weighed(postings: Postings, weight: float) -> Scored:
    """w(q, t) · w(d, t) of one term."""
    return Scored(postings.documents, weight * (1 + np.log(postings.occurrences)))


def both(one: Scored, other: Scored) -> Scored:
    """AND: the documents that are in both. Looks for those of the shorter one in the longer."""
    short, long = sorted((one, other), key=lambda scored: len(scored.documents))
    places = np.searchsorted(long.documents, short.documents)
    there = places < len(long.documents)
    there[there] = long.documents[places[there]] == short.documents[there]
    return Scored(short.documents[there], short.sums[there] + long.sums[places[there]])


def either(one: Scored, other: Scored) -> Scored:
    """OR: the documents that are in at least one."""
    documents = np.concatenate((one.documents, other.documents))
    order = np.argsort(documents, kind="stable")  # which merges runs that are sorted
    documents = documents[order]
    starts = np.flatnonzero(np.diff(documents, prepend=-1))
    sums = np.concatenate((one.sums, other.sums))[order]
    return Scored(documents[starts], np.add.reduceat(sums, starts) if len(starts) else sums)


def best(scored: Scored, norms: NDArray[np.float64], k: int) -> Scored:
    """The k documents of the highest cosine, the best first, of equals those of the lowest number.

    `norms` are those of all documents, by number. The sums are divided by them.
    """
    cosines = scored.sums / norms[scored.documents]
    if len(cosines) > k:
        least = np.partition(cosines, -k)[-k]
        among = np.flatnonzero(cosines >= least)
    else:
        among = np.arange(len(cosines))
    first = among[np.lexsort((scored.documents[among], -cosines[among]))][:k]
    return Scored(scored.documents[first], cosines[first])
