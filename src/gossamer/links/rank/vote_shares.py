"""How a page's vote is shared among its links. The one definition for arrays and for DataFrames.

The links of a page with `within` links to its own registrable domain and `beyond` links to others
would carry 1 / (within + beyond) each. A link within the domain keeps the part `weight` of that;
the rest moves to the links to other domains, in equal parts. A page without such links has nowhere
to move it, so its links keep all. In both cases the shares of a page sum to 1:

    inner = weight / (within + beyond)
    outer = 1 / (within + beyond) + (1 − weight) · within / (within + beyond) / beyond

A site's links to itself say less about its worth than links from others do: Bharat and Henzinger
("Improved Algorithms for Topic Distillation in a Hyperlinked Environment", SIGIR 1998, §3) weigh
links by host for the same reason.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np


class Shares(NamedTuple):
    """What a link within the domain and a link to another domain carry, per page."""

    inner: Any
    outer: Any


class Choose(Protocol):
    """`numpy.where`, or its like for columns."""

    def __call__(self, condition: Any, yes: Any, no: Any, /) -> Any: ...


def link_shares(within: Any, beyond: Any, weight: float, choose: Choose = np.where) -> Shares:
    """The shares of pages with these numbers of links: arrays, or columns with their `choose`.

    Without links of a kind, the share of that kind has no meaning.
    """
    even = 1.0 / choose(within + beyond > 0, within + beyond, 1)
    kept = choose(beyond > 0, weight, 1.0)
    moved = (1.0 - kept) * within * even / choose(beyond > 0, beyond, 1)
    return Shares(kept * even, even + moved)


def distrust_factors(distrust: Any, nodes: Any) -> Any:
    """The part of its votes that a page keeps, by its distrust among so many nodes.

    Distrust is the rank of a page in a walk against the links that starts at the distrusted pages
    (Krishnan and Raj, "Web Spam Detection with Anti-Trust Rank", AIRWeb 2006, §4). A page with the
    mean distrust of all nodes, 1 / nodes, keeps half of its votes.
    """
    return 1.0 / (1.0 + nodes * distrust)
