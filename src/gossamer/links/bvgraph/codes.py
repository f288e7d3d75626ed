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

from gossamer.native import native

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    import numpy.typing as npt

    Words: TypeAlias = npt.NDArray[np.uint64]
    Numbers: TypeAlias = npt.NDArray[np.int64]

WORD_BITS = 64
WORD_BYTES = 8
BROKEN = -1
"""The position after a code that no writer makes."""
MAX_UNARY = 1 << 20
"""The largest number read in unary: the distance to a reference, or the exponent of a code."""
MAX_EXPONENT = 61
"""The largest exponent of a γ or ζ code that is read: enough for numbers below 2^56 - 1."""
MAX_NUMBER = 1 << 61
"""The largest number of a node that is read. Its sum with any code fits into 64 bits."""
_ONES = (1 << WORD_BITS) - 1


def _swapped(word: int) -> int:
    """A word of a stream as a number whose most significant bit comes first, and back."""
    return int.from_bytes(int(word).to_bytes(WORD_BYTES, sys.byteorder), "big")


def write_bits(words: Words, at: int, value: int, width: int) -> int:
    """Write the last `width` bits of a value, whose others are zero. Words begin as zeros."""
    word, free = at >> 6, WORD_BITS - (at & 63)
    if not width:
        return at
    if width <= free:
        words[word] |= _swapped(value << (free - width))
    else:
        rest = width - free
        words[word] |= _swapped(value >> rest)
        words[word + 1] |= _swapped(value << (WORD_BITS - rest) & _ONES)
    return at + width


def peek_bits(words: Words, at: int) -> int:
    """The 64 bits from a position on."""
    word, bit, size = at >> 6, at & 63, len(words)
    first = _swapped(words[word]) if 0 <= word < size else 0
    if not bit:
        return first
    second = _swapped(words[word + 1]) if -1 <= word < size - 1 else 0
    return (first << bit) & _ONES | second >> (WORD_BITS - bit)


def leading_zeros(word: int) -> int:
    return WORD_BITS - word.bit_length()


def write_unary(words: Words, at: int, n: int) -> int:
    return write_bits(words, at + n, 1, 1)


def read_unary(words: Words, at: int) -> tuple[int, int]:
    """A number in unary, and the position after it."""
    n = zeros = leading_zeros(peek_bits(words, at))
    while zeros == WORD_BITS and n < MAX_UNARY:
        zeros = leading_zeros(peek_bits(words, at + n))
        n += zeros
    return (n, at + n + 1) if zeros < WORD_BITS else (0, BROKEN)


def exponent(n: int) -> int:
    """The number of bits of n + 1, less one."""
    return (n + 1).bit_length() - 1


def gamma_bits(n: int) -> int:
    return 2 * exponent(n) + 1


def write_gamma(words: Words, at: int, n: int) -> int:
    bits = exponent(n)
    return write_bits(words, at + bits, n + 1, bits + 1)


def read_gamma(words: Words, at: int) -> tuple[int, int]:
    """A number in γ, and the position after it."""
    ahead = peek_bits(words, at)
    bits = leading_zeros(ahead)
    if at < 0 or bits > MAX_EXPONENT:
        return 0, BROKEN
    if 2 * bits < WORD_BITS:  # the code is in these bits
        value = ahead >> (WORD_BITS - 1 - 2 * bits)
    else:
        value = peek_bits(words, at + bits) >> (WORD_BITS - 1 - bits)
    return value - 1, at + 2 * bits + 1


def zeta_bits(n: int, k: int) -> int:
    bits = exponent(n)
    h = bits // k
    return h + h * k + k + (bits > h * k)


def write_zeta(words: Words, at: int, n: int, k: int) -> int:
    value, h = n + 1, exponent(n) // k
    low, width = 1 << (h * k), h * k + k
    at = write_unary(words, at, h)
    if value < 2 * low:
        return write_bits(words, at, value - low, width - 1)
    return write_bits(words, at, value, width)


def read_zeta(words: Words, at: int, k: int) -> tuple[int, int]:
    """A number in ζ_k, and the position after it."""
    h = leading_zeros(peek_bits(words, at))
    if at < 0 or h * k + k > MAX_EXPONENT:  # which no unary code of 64 bits satisfies either
        return 0, BROKEN
    at += h + 1
    width = h * k + k - 1
    value = peek_bits(words, at) >> (WORD_BITS - 1 - width)
    low = 1 << (h * k)
    if value >> 1 < low:
        return (value >> 1) + low - 1, at + width
    return value - 1, at + width + 1


@native
def copy_bits(words: Words, at: int, source: Words, begin: int, bits: int) -> int:
    """Append bits of another stream, from its position `begin` on."""
    if min(at, begin, bits) < 0 or at + bits > WORD_BITS * len(words):
        raise ValueError("copy_bits: more bits than there is room for")
    for done in range(0, bits, WORD_BITS):
        width = min(WORD_BITS, bits - done)
        value = peek_bits(source, begin + done) >> (WORD_BITS - width)
        write_bits(words, at + done, value, width)
    return at + bits


@native
def write_gammas(words: Words, at: int, numbers: Numbers) -> int:
    if not all(0 <= n <= MAX_NUMBER for n in numbers):
        raise ValueError("write_gammas: a number that has no code")
    if not 0 <= at <= WORD_BITS * len(words) - sum(map(gamma_bits, numbers)):
        raise ValueError("write_gammas: more bits than there is room for")
    for n in numbers:
        at = write_gamma(words, at, n)
    return at
