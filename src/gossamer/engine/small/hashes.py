"""Spark's `xxhash64` of a column: XXH64 of the bytes of each value, as a signed number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import xxhash

from gossamer.native.loops import native

_SIGN = 1 << 63
_ALL = (1 << 64) - 1


@native
def _hash_texts(texts: Any, starts: Any, seeds: Any, hashes: Any) -> None:
    """`hashes[n]` is XXH64 of `texts[starts[n] : starts[n + 1]]` with the seed `seeds[n]`.

    Starts have 32 bits, seeds and hashes 64. Raises ValueError if starts are not those of `texts`.
    """
    if len(seeds) != len(hashes) or len(starts) != len(hashes) + 1:
        raise ValueError("arrays of different sizes")
    for n, seed in enumerate(seeds):
        number = xxhash.xxh64_intdigest(texts[starts[n] : starts[n + 1]], seed & _ALL)
        hashes[n] = number - 2 * _SIGN if number >= _SIGN else number


def hash_column(values: pa.Array, seeds: np.ndarray) -> np.ndarray:
    """The hashes of texts, bytes, or numbers of 32 or 64 bits. That of NULL is its seed."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int32())
    _, *buffers = values.buffers()
    if pa.types.is_primitive(values.type):
        width = values.type.bit_width // 8
        starts = (np.arange(len(values) + 1, dtype=np.int32) + np.int32(values.offset)) * width
        data = buffers[0]
    else:
        offsets, data = buffers
        starts = np.frombuffer(offsets, np.int32)[values.offset :][: len(values) + 1]
    texts = np.frombuffer(data, np.uint8) if data is not None and data.size else _NOTHING
    hashes = np.empty(len(values), np.int64)
    if len(values):
        _hash_texts(texts, np.ascontiguousarray(starts, np.int32), seeds, hashes)
    if values.null_count:
        missing = values.is_null().to_numpy(zero_copy_only=False)
        hashes[missing] = seeds[missing]
    return hashes


_NOTHING = np.zeros(0, np.uint8)
