"""Instantaneous codes in streams of bits: unary, γ, and ζ.

A stream is an array of 64-bit words in the byte order of this machine. Its first bit is the most
significant one of the first byte, as in the files of WebGraph; so words of a little-endian machine
are swapped when they are read and written.

  unary  n zeros and a one.
  γ      (Elias, IEEE Trans. Inf. Theory 21, 1975) of n: the number of bits of n + 1, less one, in
         unary, and these bits after the first one.
  ζ_k    (Boldi and Vigna, "Codes for the World-Wide Web", Internet Mathematics 2, 2005) of n: for
         n + 1 in [2^hk, 2^(h+1)k), h in unary, and the position in this interval in minimal binary.

Reading is safe for any words: a position beyond the end reads zeros, and a code that is longer
than any that is written here gives the position BROKEN.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.bvgraph.compiled import compiled, leading_zeros, swap_bytes

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy.typing as npt

    Words: TypeAlias = npt.NDArray[np.uint64]
    Numbers: TypeAlias = npt.NDArray[np.int64]

WORD_BITS = 64
BROKEN = -1
"""The position after a code that no writer makes."""
MAX_UNARY = 1 << 20
"""The largest number read in unary: the distance to a reference, or the exponent of a code."""
MAX_EXPONENT = 62
"""The largest exponent of a γ or ζ code that is read: enough for numbers up to 2^56."""

_LITTLE = sys.byteorder == "little"
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@compiled
def native(word: np.uint64) -> np.uint64:
    """A word of a stream as a number whose most significant bit comes first, and back."""
    return swap_bytes(word) if _LITTLE else word


@compiled
def write_bits(words: Words, at: int, value: np.uint64, width: int) -> int:
    """Write the last `width` bits of a value, whose others are zero. Words begin as zeros."""
    word, free = at >> 6, WORD_BITS - (at & 63)
    if width <= free:
        words[word] |= native(value << np.uint64(free - width)) if width else _ZERO
    else:
        rest = width - free
        words[word] |= native(value >> np.uint64(rest))
        words[word + 1] |= native(value << np.uint64(WORD_BITS - rest))
    return at + width


@compiled
def peek_bits(words: Words, at: int) -> np.uint64:
    """The 64 bits from a position on."""
    word, bit = at >> 6, np.uint64(at & 63)
    first = native(words[word]) if word < words.size else _ZERO
    if bit == _ZERO:
        return first
    second = native(words[word + 1]) if word + 1 < words.size else _ZERO
    return (first << bit) | (second >> (np.uint64(WORD_BITS) - bit))


@compiled
def read_bits(words: Words, at: int, width: int) -> int:
    """A number of `width` bits, at most 63."""
    return int(np.int64(peek_bits(words, at) >> np.uint64(WORD_BITS - width))) if width else 0


@compiled
def write_unary(words: Words, at: int, n: int) -> int:
    return write_bits(words, at + n, _ONE, 1)


@compiled
def read_unary(words: Words, at: int) -> tuple[int, int]:
    """A number in unary, and the position after it."""
    zeros = leading_zeros(peek_bits(words, at))
    if zeros < WORD_BITS:
        return zeros, at + zeros + 1
    n = WORD_BITS
    while n < MAX_UNARY:
        zeros = leading_zeros(peek_bits(words, at + n))
        n += zeros
        if zeros < WORD_BITS:
            return n, at + n + 1
    return 0, BROKEN


@compiled
def exponent(n: int) -> int:
    """The number of bits of n + 1, less one."""
    return 63 - leading_zeros(np.uint64(n + 1))


@compiled
def gamma_bits(n: int) -> int:
    return 2 * exponent(n) + 1


@compiled
def write_gamma(words: Words, at: int, n: int) -> int:
    bits = exponent(n)
    return write_bits(words, at + bits, np.uint64(n + 1), bits + 1)


@compiled
def read_gamma(words: Words, at: int) -> tuple[int, int]:
    """A number in γ, and the position after it."""
    ahead = peek_bits(words, at)
    exponent = leading_zeros(ahead)
    if exponent > MAX_EXPONENT:
        return 0, BROKEN
    after = at + 2 * exponent + 1
    if 2 * exponent < WORD_BITS:  # the code is in these bits
        return int(np.int64(ahead >> np.uint64(WORD_BITS - 1 - 2 * exponent))) - 1, after
    return read_bits(words, at + exponent, exponent + 1) - 1, after


@compiled
def zeta_lengths(k: int) -> Numbers:
    """The bits of a number in ζ_k, by its exponent."""
    found = np.empty(WORD_BITS, np.int64)
    for bits in range(WORD_BITS):
        h = bits // k
        found[bits] = h + h * k + k + (bits > h * k)
    return found


@compiled
def write_zeta(words: Words, at: int, n: int, k: int) -> int:
    value = np.uint64(n + 1)
    h = exponent(n) // k
    low, width = _ONE << np.uint64(h * k), h * k + k
    at = write_unary(words, at, h)
    if value - low < low:
        return write_bits(words, at, value - low, width - 1)
    return write_bits(words, at, value, width)


@compiled
def read_zeta(words: Words, at: int, k: int) -> tuple[int, int]:
    """A number in ζ_k, and the position after it."""
    ahead = peek_bits(words, at)
    h = leading_zeros(ahead)
    if h * k + k > MAX_EXPONENT:  # which no unary code of more than 64 bits satisfies either
        return 0, BROKEN
    low = 1 << (h * k)
    width = h * k + k - 1
    at += h + 1
    if h + 2 + width > WORD_BITS:
        ahead = peek_bits(words, at)  # the code ends beyond these bits
    else:
        ahead <<= np.uint64(h + 1)
    short = int(np.int64(ahead >> np.uint64(WORD_BITS - 1 - width))) >> 1
    if short < low:
        return short + low - 1, at + width
    return int(np.int64(ahead >> np.uint64(WORD_BITS - 1 - width))) - 1, at + width + 1


@compiled
def copy_bits(words: Words, at: int, source: Words, begin: int, bits: int) -> int:
    """Append bits of another stream, from its position `begin` on."""
    done = 0
    while done < bits:
        width = min(WORD_BITS, bits - done)
        value = peek_bits(source, begin + done) >> np.uint64(WORD_BITS - width)
        write_bits(words, at + done, value, width)
        done += width
    return at + bits


@compiled
def write_gammas(words: Words, at: int, numbers: Numbers) -> int:
    for n in numbers:
        at = write_gamma(words, at, n)
    return at
