"""AND, OR and the cosine over postings.

lnc.ltc of Salton and Buckley ("Term-weighting approaches in automatic text retrieval", 1988):

    w(d, t) = 1 + ln tf(d, t)                           of a document's term: no idf,
    w(q, t) = (1 + ln tf(q, t)) · ln(N / df(t))         of a query's term,
    score   = Σ w(q, t) · w(d, t) / (|w(d)| · |w(q)|)   the cosine of the angle between them,

where N documents are indexed, and |w(d)|, the `document_norm` of a document, is over all of its
terms and computed when it is indexed. So a score needs only the document's norm and the postings of
the query's terms. A term that all documents have weighs nothing.

`Scored` is an intermediate result: documents in rising order, with the sums over some of the terms.
Two of them merge into one, so sums can be computed in one place or passed from node to node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from gossamer.index.postings.blocks import Postings


@dataclass(frozen=True)
class Scored:
    """Distinct documents in rising order, and the sums of their scores so far."""

    documents: NDArray[np.int32]
    sums: NDArray[np.float64]

    @property
    def bytes(self) -> int:
        return int(self.documents.nbytes + self.sums.nbytes)


NO_DOCUMENTS = Scored(np.empty(0, np.int32), np.empty(0))


def document_norm(occurrences: Collection[int]) -> float:
    """|w(d)| of a document whose terms have these numbers of occurrences."""
    weights = 1 + np.log(np.fromiter(occurrences, np.float64, len(occurrences)))
    return math.sqrt(weights @ weights)


def query_weight(occurrences: int, df: int, documents: int) -> float:
    """w(q, t); 0 for a term that no document has."""
    return (1 + math.log(occurrences)) * math.log(documents / df) if df else 0.0


def weigh_postings(postings: Postings, weight: float) -> Scored:
    """w(q, t) · w(d, t) of one term."""
    return Scored(postings.documents, weight * (1 + np.log(postings.occurrences)))


def intersect(one: Scored, other: Scored) -> Scored:
    """AND: the documents in both, by looking up those of the shorter one in the longer."""
    short, long = sorted((one, other), key=lambda scored: len(scored.documents))
    places = np.searchsorted(long.documents, short.documents)
    there = places < len(long.documents)
    there[there] = long.documents[places[there]] == short.documents[there]
    return Scored(short.documents[there], short.sums[there] + long.sums[places[there]])


def unite(one: Scored, other: Scored) -> Scored:
    """OR: the documents in at least one."""
    documents = np.concatenate((one.documents, other.documents))
    order = np.argsort(documents, kind="stable")  # a merge, because both parts are sorted
    documents = documents[order]
    starts = np.flatnonzero(np.diff(documents, prepend=-1))
    sums = np.concatenate((one.sums, other.sums))[order]
    return Scored(documents[starts], np.add.reduceat(sums, starts) if len(starts) else sums)


def best_documents(scored: Scored, norms: NDArray[np.float64], k: int) -> Scored:
    """The k documents with the highest cosines, the best first; ties by number.

    `norms` has the norms of all documents, by number. The sums are divided by them.
    """
    cosines = scored.sums / norms[scored.documents]
    if len(cosines) > k:
        least = np.partition(cosines, -k)[-k]
        among = np.flatnonzero(cosines >= least)
    else:
        among = np.arange(len(cosines))
    first = among[np.lexsort((scored.documents[among], -cosines[among]))][:k]
    return Scored(scored.documents[first], cosines[first])
