"""Scorings: which pages are fetched first. An extension point.

A scoring computes how important a page is; pages with higher scores are fetched first. It is a
DataFrame expression, so that the engine scores a hundred million pages at full speed. `generate`
evaluates it for every page that is due, so a new scoring, new links and new ranks count at once. It
multiplies the score by what a visit gains (change_rates.py).
Plugins add scorings in the entry point group `gossamer.scoring`; see docs/plugins.md.

`update.scoring` names a scoring or a product of several: `opic * breadth`.

Fact: the built-in scorings use only operations that IEEE 754 defines to the last bit (square root,
not logarithm), so all engines compute the same scores and choose the same pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from importlib.metadata import entry_points
from operator import mul
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import Column

MAX_FACTORS = 8
"""The score stays far above the smallest double, and the expression within the engine's depth."""


class Scoring(Protocol):
    """The scoring of a plugin."""

    def __call__(self, depth: Column, inlinks: Column) -> Column:
        """The score of a page `depth` links from a seed, with `inlinks` linking pages."""


class Signals(NamedTuple):
    """Columns of what is known about a page. All but the first two are above 0."""

    depth: Column
    inlinks: Column
    opic: Column
    """Importance by the cash that it received (opic.py)."""
    rank: Column
    host_rank: Column
    """PageRank of the page and of its host at the last `rank` (page_ranks.py)."""
    worth: Column
    """The fit pages that a visit to its section brings (`sections`)."""
    promise: Column
    """What the pages that link to it, and their words for it, promise (fit_prediction.py)."""


def breadth(page: Signals) -> Column:
    """Breadth first: near pages before far ones (Najork and Wiener, WWW 2001)."""
    return 1 / (1 + page.depth)


def links(page: Signals) -> Column:
    """Near and frequently linked pages first: between breadth first and back-link count.

    Both orders find pages of high PageRank early, and their combination even earlier (Cho,
    Garcia-Molina and Page, WWW 1998, §4).
    """
    from pyspark.sql import functions as F

    return F.sqrt(1 + page.inlinks) / (1 + page.depth)


BUILT_IN: Mapping[str, Callable[[Signals], Column]] = {
    "breadth": breadth,
    "links": links,
    "opic": lambda page: page.opic,
    "pagerank": lambda page: page.rank,
    "hostrank": lambda page: page.host_rank,
    "fit": lambda page: page.worth * page.promise,
}
NEED_RANKS = frozenset({"pagerank", "hostrank"})
NEED_WORTH = frozenset({"fit"})


@dataclass(frozen=True)
class Product:
    """A product of scorings."""

    names: tuple[str, ...]
    factors: tuple[Callable[[Signals], Column], ...]

    @property
    def needs_ranks(self) -> bool:
        """Whether it uses both ranks; they may be anything otherwise."""
        return not NEED_RANKS.isdisjoint(self.names)

    @property
    def needs_worth(self) -> bool:
        """Whether it uses worth and promise; they may be anything otherwise."""
        return not NEED_WORTH.isdisjoint(self.names)

    def __call__(self, page: Signals) -> Column:
        return reduce(mul, [factor(page) for factor in self.factors])


def load(text: str) -> Product:
    """The product of the scorings whose names are joined by `*`. Raises ConfigError."""
    names = tuple(name.strip() for name in text.split("*"))
    if len(names) > MAX_FACTORS:
        what = f"a product of {len(names)} scorings"
        raise ConfigError("update.scoring", what, f"choose {MAX_FACTORS} at most")
    return Product(names, tuple(map(_factor, names)))


def _factor(name: str) -> Callable[[Signals], Column]:
    if name in BUILT_IN:
        return BUILT_IN[name]
    found = {entry.name: entry for entry in entry_points(group="gossamer.scoring")}
    if name not in found:
        known = ", ".join(sorted({*BUILT_IN, *found}))
        remedy = f"one of, or a product such as opic*breadth of: {known}"
        raise ConfigError("update.scoring", f"no scoring named {name!r}", remedy)
    scoring: Scoring = found[name].load()
    return lambda page: scoring(page.depth, page.inlinks)
