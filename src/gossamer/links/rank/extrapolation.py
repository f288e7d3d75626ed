"""Extrapolation of an iteration x ← T(x) from its last images.

After KEPT plain iterations, the next x is a combination of their images T(x), with weights that sum
to 1: those for which the same combination of the changes T(x) − x has the least Euclidean norm
(reduced rank extrapolation; Sidi, "Vector extrapolation methods with applications to solution of
large systems of equations and to PageRank computations", Computers & Mathematics with Applications
56(1), 2008). It costs two passes over the last ranks, and the plain iterations in between cost
nothing more, unlike Anderson's method, which combines in each. Ranks take about half as many
iterations as without.

An extrapolation is undone if the change after it exceeds what another plain iteration guarantees:
the contraction of T times the change before. That costs one iteration, and the next extrapolation
comes after twice as many. So few iterations are lost where extrapolation does not help, as in long
chains and cycles, and the changes that are kept always become smaller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

KEPT = 4
"""Images that are combined."""


def extrapolation_weights(products: Floats) -> Floats:
    """The weights of the images, by the products of their changes with each other."""
    differences = products[0, 0] - products[:1, 1:] - products[1:, :1] + products[1:, 1:]
    found = np.linalg.lstsq(differences, products[0, 0] - products[0, 1:], rcond=None)[0]
    return np.array([1 - found.sum(), *found])


class ExtrapolationCycle:
    """When to extrapolate, and whether it helped, by the changes of the iterations in ‖·‖₁."""

    def __init__(self, contraction: float) -> None:
        self._contraction = contraction
        self._length = KEPT
        self._done = 0
        """Iterations since the last extrapolation."""
        self._is_extrapolated = False
        self._last = np.inf
        """The last change that was kept."""

    @property
    def is_over(self) -> bool:
        """Whether the next iteration should start from extrapolated ranks."""
        return self._done >= self._length

    def extrapolated(self) -> None:
        """Begin a cycle: the next iteration starts from extrapolated ranks."""
        self._done, self._is_extrapolated = 0, True

    def keeps(self, change: float) -> bool:
        """Whether the image of an iteration that made this change is to be kept."""
        was_extrapolated, self._is_extrapolated = self._is_extrapolated, False
        if was_extrapolated:
            helped = change <= self._contraction * self._last
            self._length = KEPT if helped else 2 * self._length
            if not helped:
                return False
        self._done += 1
        self._last = change
        return True
