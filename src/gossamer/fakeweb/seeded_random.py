"""Random numbers that depend only on a seed and a purpose, in every process and Python version.

`hash()` is salted per process, and most methods of `Random` may change between Python versions.
xxh3 and the two methods `Random.random` and `Random.getrandbits` do not.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import xxhash

Draw = Callable[[], float]  # uniform in [0, 1)


def digest(seed: int, purpose: str) -> int:
    """Return a 64-bit hash."""
    return xxhash.xxh3_64_intdigest(purpose.encode(), seed)


def uniform(seed: int, purpose: str) -> float:
    """Return a number in [0, 1)."""
    return (digest(seed, purpose) >> 11) / (1 << 53)


def stream(seed: int, purpose: str) -> Random:
    """Return a generator, which takes 4 µs to build. Call only its `random` and `getrandbits`."""
    return Random(digest(seed, purpose))  # noqa: S311 - text, not secrets
