"""Vectors of 8-bit integers, with a scale and the signs of each.

A number of a vector is rounded to one of 255 multiples of its largest one. Of the scale, only what
makes the product of two vectors their cosine is kept. The vector of a text that means nothing to
the model (zeros, or what is not a number) is zero, and similar to no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy import typing as npt

LARGEST = 127
SIGN_BITS = 64


class Vectors(NamedTuple):
    """A row per vector. `signs`: a bit per number, 1 above 0, and zeros up to a multiple of 64."""

    numbers: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]
    signs: npt.NDArray[np.uint64]


def empty_vectors(count: int, dimension: int) -> Vectors:
    """Vectors that are similar to no other."""
    return Vectors(
        np.zeros((count, dimension), np.int8),
        np.zeros(count, np.float32),
        np.zeros((count, sign_words(dimension)), np.uint64),
    )


def copy_rows(
    source: Vectors, rows: npt.NDArray[np.int64], target: Vectors, places: npt.NDArray[np.int64]
) -> None:
    """Copy some vectors to places of other ones."""
    target.numbers[places] = source.numbers[rows]
    target.scales[places] = source.scales[rows]
    target.signs[places] = source.signs[rows]


def quantize(rows: npt.NDArray[np.float32]) -> Vectors:
    """The vectors of the rows, all of length 1."""
    rows = np.ascontiguousarray(rows, np.float32)
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, 0)
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
    numbers = np.rint(rows / np.where(largest > 0, largest, 1) * LARGEST).astype(np.int8)
    lengths = np.sqrt(np.square(numbers, dtype=np.int64).sum(axis=1))
    scales = np.divide(1, lengths, out=np.zeros(len(rows)), where=lengths > 0)
    return Vectors(numbers, scales.astype(np.float32), sign_bits(numbers))


def sign_bits(numbers: npt.NDArray[np.int8]) -> npt.NDArray[np.uint64]:
    count, dimension = numbers.shape
    bits = np.zeros((count, sign_words(dimension) * SIGN_BITS), np.bool_)
    bits[:, :dimension] = numbers > 0
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def sign_words(dimension: int) -> int:
    """The 64-bit words that the signs of a vector need."""
    return -(-dimension // SIGN_BITS)
