"""Do two pages have the same contents? Fingerprints of 64 bytes, which are compared in bulk.

A page with a sketch (`gossamer.web.sketches`) has the lowest byte of its first 64 numbers as
fingerprint; that of another page is random, with the hash of its text as seed, or with the digest
of its body if it has no text. So the share of bytes in which two fingerprints agree estimates the
similarity J of two texts with sketches, with a standard deviation of sqrt(J (1 - J) / 64); it is 1
for equal texts, and about 1/256 for others. Two bytes agree by chance with probability 1/256.

Contents agree from AGREE on, because pages contain dates and counters. At J = 0.95 the estimate has
a standard deviation of 0.027, and at J = 0.8, 0.05: of 10,000 pairs of such texts, 13 would agree.
A change of one sentence in a page of 500 words is not noticed: such a page is a near-duplicate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import xxhash

BYTES = 64
AGREE = 0.95

Prints = npt.NDArray[np.uint8]
"""One fingerprint per row."""


def fingerprint(text_hash: int | None, sketch: bytes | None, digest: str | None) -> bytes | None:
    """The fingerprint of a page, from its columns in `documents`; None if nothing is known."""
    if sketch is not None:
        return np.frombuffer(sketch, "<u4")[:BYTES].astype(np.uint8).tobytes()
    if text_hash is not None:
        seed = str(text_hash).encode()
    elif digest is not None:
        seed = digest.encode()
    else:
        return None
    return b"".join(xxhash.xxh3_128_digest(seed, number) for number in range(BYTES // 16))


def prints_of(fingerprints: list[bytes]) -> Prints:
    return np.frombuffer(b"".join(fingerprints), np.uint8).reshape(-1, BYTES)


def contents_agree(some: Prints, others: Prints) -> npt.NDArray[np.bool_]:
    """Whether the contents of each pair of rows agree."""
    same: npt.NDArray[np.bool_] = (some == others).mean(axis=1) >= AGREE
    return same


def distinct_contents(fingerprints: list[bytes], most: int) -> list[bytes]:
    """The first fingerprints that do not agree with an earlier one of them, at most `most`."""
    kept: list[bytes] = []
    for each in fingerprints:
        if len(kept) == most:
            break
        if not kept or not contents_agree(prints_of(kept), prints_of([each])).any():
            kept.append(each)
    return kept
