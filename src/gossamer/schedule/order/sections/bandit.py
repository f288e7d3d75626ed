"""Which kinds of pages should be visited first, if pages lead to others of which some are wanted?

Visits are to bring wanted pages, as many per visit as possible. A visit to a page of kind k brings
r_k wanted pages itself, and y_kt pages of kind t on average, which were not known before. This is a
branching bandit: the best order for any number of visits goes by an index of each kind (Klimov,
"Time-sharing service systems", Theory of Probability and Its Applications 1974; Weiss, "Branching
bandit processes", Probability in the Engineering and Informational Sciences 1988). It is what a
page brings per visit, if of the pages behind it only those of a higher index are visited, too. So a
list of thirty days, each with one wanted page, is worth almost half a wanted page a visit, while a
page of tags that leads to other tags is worth what it brings itself.

Klimov's algorithm takes a time cubic in the number of kinds. Here, the index is the price of a
visit at which nothing is gained (Whittle, Journal of the Royal Statistical Society B 1980): at the
price p, a page of kind k is worth

    V_k(p) = max(0, r_k − p + Σ y_kt·V_t(p))

which is iterated for falling prices, each time from the values at the price before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Places = npt.NDArray[np.int64]

STEP = 0.9
"""Of a price to the next one. Between them, the index is interpolated."""
LEAST = 0.002
"""The lowest price. An index below it is taken as 0."""
MOST_ITERATIONS = 30
"""At each price: longer paths of links that are worth their visits only together are not seen."""
MOST_VALUE = 1e6
"""Of a page behind which ever more pages are worth a visit: as far as is known, without end."""
TOLERANCE = 1e-6


class Yields(NamedTuple):
    """How many new pages of the kind `target` a visit to one of the kind `source` brings."""

    source: Places
    target: Places
    pages: Floats


def indices(wanted: Floats, yields: Yields) -> Floats:
    """The index of each kind, at most 1. `wanted`: r_k, from 0 to 1."""
    index, value = np.zeros(len(wanted)), np.zeros(len(wanted))
    price, gain_before = 1.0, wanted - 1
    while price > LEAST:
        dearer, price = price, price * STEP
        for _ in range(MOST_ITERATIONS):
            behind = np.bincount(yields.source, yields.pages * value[yields.target], len(wanted))
            gain = wanted - price + behind
            before, value = value, np.clip(gain, 0, MOST_VALUE)
            if np.abs(value - before).max(initial=0) < TOLERANCE:
                break
        met = (index == 0) & (gain > 0)
        share = gain[met] / (gain[met] - gain_before[met])
        index[met] = price + share * (dearer - price)
        gain_before = gain
    return _bound_index(index, wanted, yields)


def _bound_index(index: Floats, wanted: Floats, yields: Yields) -> Floats:
    """No page is worth more than what it brings itself, or than the best that it leads to.

    Between two prices, the value of a page that leads to many others is no straight line, so the
    interpolated index may be too high.
    """
    followed = yields.pages > 0
    source, target = yields.source[followed], yields.target[followed]
    for _ in range(MOST_ITERATIONS):
        best = wanted.copy()
        np.maximum.at(best, source, index[target])
        before, index = index, np.minimum(index, best)
        if np.array_equal(index, before):
            break
    return index
