"""Numbers drawn from a seed and a purpose: the same in every process and on every version.

`hash()` is salted per process and `Random`'s other methods may change between versions of
Python; xxh3 and `Random`'s two basic ones do not.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import xxhash

Draw = Callable[[], float]  # uniform in [0, 1)


def digest(seed: int, purpose: str) -> int:
    """64 bits."""
    return xxhash.xxh3_64_intdigest(purpose.encode(), seed)


def uniform(seed: int, purpose: str) -> float:
    """One number in [0, 1)."""
    return (digest(seed, purpose) >> 11) / (1 << 53)


def stream(seed: int, purpose: str) -> Random:
    """A sequence of numbers, of which only `random` and `getrandbits` are used; 4 µs to start."""
    return Random(digest(seed, purpose))  # noqa: S311 - text, not secrets
