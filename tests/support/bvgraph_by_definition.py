"""A slow decoder of BVGraph, written from the format's definition, to compare the fast one with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.links.bvgraph import Shape


class Bits:
    """Reads codes from a string of 0s and 1s."""

    def __init__(self, bits: str) -> None:
        self._bits, self._at = bits, 0

    def binary(self, width: int) -> int:
        read = self._bits[self._at : self._at + width]
        self._at += width
        return int(read or "0", 2)

    def unary(self) -> int:
        zeros = self._bits.index("1", self._at) - self._at
        self._at += zeros + 1
        return zeros

    def gamma(self) -> int:
        width = self.unary()
        return (1 << width) + self.binary(width) - 1

    def zeta(self, k: int) -> int:
        h = self.unary()
        low, interval = 1 << h * k, (1 << h * k + k) - (1 << h * k)
        width = (interval - 1).bit_length()
        shorter = (1 << width) - interval  # in minimal binary, the first codes have a bit less
        number = self.binary(max(width - 1, 0))
        if width and number >= shorter:
            number = 2 * number + self.binary(1) - shorter
        return low + number - 1


def bits_of(data: bytes) -> str:
    return "".join(f"{byte:08b}" for byte in data)


def decoded(bits: str, nodes: int, shape: Shape) -> Sequence[Sequence[int]]:
    """The rows of a graph."""
    stream = Bits(bits)
    rows: list[list[int]] = []
    for node in range(nodes):
        rows.append(sorted(_row(stream, node, rows, shape)))
    return rows


def _row(stream: Bits, node: int, rows: Sequence[Sequence[int]], shape: Shape) -> list[int]:
    degree = stream.gamma()
    row: list[int] = []
    if not degree:
        return row
    if shape.window and (distance := stream.unary()):
        reference = rows[node - distance]
        runs = [stream.gamma() + (block > 0) for block in range(stream.gamma())]
        at = 0
        for block, run in enumerate([*runs, len(reference) - sum(runs)]):
            row += reference[at : at + run] if block % 2 == 0 else []
            at += run
    left = degree - len(row)
    if left and shape.min_interval:
        before = 0
        for interval in range(stream.gamma()):
            gap = stream.gamma()
            start = before + gap + 1 if interval else node + _signed(gap)
            before = start + stream.gamma() + shape.min_interval
            row += range(start, before)
    value = 0
    for residual in range(degree - len(row)):
        gap = stream.zeta(shape.zeta)
        value = value + gap + 1 if residual else node + _signed(gap)
        row.append(value)
    return row


def _signed(n: int) -> int:
    return n // 2 if n % 2 == 0 else -(n + 1) // 2
