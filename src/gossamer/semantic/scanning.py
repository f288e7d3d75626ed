"""The nearest of many vectors: by their signs first, then by all of their bits.

A vector of 512 numbers has 512 signs, in 64 bytes. The angle between two vectors is roughly in
proportion to the number of signs that differ (Charikar, "Similarity estimation techniques from
rounding algorithms", STOC 2002). So a pass over the signs, an eighth of the bytes, finds
candidates, and only these are multiplied with the query. `bench/across_languages.py` compares this
with multiplying all of them, and with the graphs of usearch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.native import native

if TYPE_CHECKING:
    from numpy import typing as npt

    Signs = npt.NDArray[np.uint64]
    Bytes = npt.NDArray[np.int8]
    Places = npt.NDArray[np.int64]

CANDIDATES = 4_000
"""Vectors that are nearest by their signs, which are multiplied with the query."""
_STRIDE = 1 << 16


def nearest(
    signs: Signs, vectors: Bytes, query_signs: Signs, query: Bytes, most: int = CANDIDATES
) -> tuple[Places, Places]:
    """The places of the `most` nearest vectors by their signs, and their products with the query.

    `signs` and `vectors` have a row per vector.
    """
    if len(vectors) <= most:
        places = np.arange(len(vectors), dtype=np.int64)
    else:
        places = np.empty(most, np.int64)
        places = places[: _find_nearest_signs(signs, query_signs, places)]
    products = np.empty(places.size, np.int64)
    if places.size:
        _multiply_vectors(vectors.view(np.uint8), query.view(np.uint8), places, products)
    return places, products


@native
def _find_nearest_signs(signs: Any, query: Any, places: Any) -> int:
    """Write the places of the vectors with the fewest signs that differ; return their number.

    They are in ascending order. Of equally near ones, the first are taken.
    """
    words = len(query)
    if not words or len(signs) % words:
        raise ValueError("no vectors of this dimension")
    rows, one = np.asarray(signs).reshape(-1, words), np.asarray(query)
    distances = np.concatenate(
        [
            np.bitwise_count(rows[begin : begin + _STRIDE] ^ one).sum(axis=1, dtype=np.int64)
            for begin in range(0, len(rows), _STRIDE)
        ]
        or [np.empty(0, np.int64)]
    )
    found = np.sort(np.argsort(distances, kind="stable")[: len(places)])
    np.asarray(places)[: found.size] = found
    return int(found.size)


@native
def _multiply_vectors(vectors: Any, query: Any, places: Any, products: Any) -> None:
    """Write the inner products of the query and the vectors at some places."""
    dimension = len(query)
    if not dimension or len(vectors) % dimension:
        raise ValueError("no vectors of this dimension")
    if len(products) < len(places):
        raise ValueError("more than there is room for")
    rows = np.asarray(vectors).view(np.int8).reshape(-1, dimension)
    at = np.asarray(places)
    if at.size and not (at.min() >= 0 and at.max() < len(rows)):
        raise ValueError("a place outside the vectors")
    one = np.asarray(query).view(np.int8).astype(np.int64)
    np.asarray(products)[: at.size] = rows[at].astype(np.int64) @ one
