"""The rows of a graph as bits: the BVGraph format of WebGraph.

Boldi and Vigna, "The WebGraph Framework I: Compression Techniques" (WWW 2004); the bits are those
that the documentation of it.unimi.dsi.webgraph.BVGraph defines, with its default codes. The row of
node x, its successors in ascending order, is

  outdegree       γ; nothing follows if it is zero
  reference r     unary: some successors are copied from the row of x - r, or none if r is zero
  if r > 0:
    blocks        γ: their number; then the lengths of runs of that row which are alternately
                  copied and skipped, in γ, all but the first less one. The last run, to the end of
                  the row, is not written.
  if successors are left that are not copied:
    intervals     γ: their number; then each run of at least `min_interval` consecutive ones: its
                  first, in γ, relative to x (see `natural`) or to the end of the run before, less
                  one; and its length, less `min_interval`, in γ
    residuals     ζ_k: the rest, each relative to the one before, less one; the first one to x

A row may refer to one of the `window` rows before it, if its chain of references is shorter than
`max_references`.

Modules: `codes.py` (the codes of numbers), `encoding.py` and `decoding.py` (rows), `offsets.py`
(where the row of a node begins), `files.py` (graphs in files), `properties.py` (their parameters)
and `adoption.py` (files of other programs). Their loops are in C, too (`gossamer.native`).

Rows in memory are those of a CSR matrix: the successors of row n are
`targets[starts[n] : starts[n + 1]]`.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_PARAMETER = 1 << 16
MAX_ZETA = 7
REMEDY = "restore its files from a copy, or build it again"
"""What to do about a damaged graph."""


class Shape(NamedTuple):
    """The parameters of the format, in the order of the arguments of functions."""

    window: int = 7
    max_references: int = 3
    min_interval: int = 4
    zeta: int = 3

    @property
    def is_sound(self) -> bool:
        """Whether rows of this shape can be decoded."""
        sizes = self.window, self.min_interval
        return all(0 <= size <= MAX_PARAMETER for size in sizes) and 1 <= self.zeta <= MAX_ZETA


ORIGINAL = Shape()
"""The defaults of WebGraph, which Gossamer uses."""


def check_shape(window: int, min_interval: int, zeta: int) -> None:
    """Raise ValueError if no graph has these parameters."""
    if not Shape(window=window, min_interval=min_interval, zeta=zeta).is_sound:
        raise ValueError("parameters of no graph")


def natural(n: int) -> int:
    """An integer as a natural number: 0, -1, 1, -2 and 2 are 0, 1, 2, 3 and 4."""
    return 2 * n if n >= 0 else -2 * n - 1


def integer(n: int) -> int:
    """The integer that `natural` made a natural number."""
    return n >> 1 if n & 1 == 0 else -((n + 1) >> 1)
