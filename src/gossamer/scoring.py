"""What to fetch first: an extension point.

A scoring turns what is known of a page into its score; higher is fetched sooner. It is a
DataFrame expression, so that a hundred million pages are scored at the engine's own speed.
Third parties add theirs under the entry point group `gossamer.scoring`; see docs/plugins.md.

Fact: the built-ins use only operations that IEEE 754 defines to the last bit (square root, not
logarithm), so every engine gives equal scores and chooses equal pages.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column


class Scoring(Protocol):
    def __call__(self, depth: Column, inlinks: Column) -> Column:
        """The score of a page `depth` links from a seed, with `inlinks` linking pages."""


def breadth(depth: Column, inlinks: Column) -> Column:  # noqa: ARG001  # the protocol's
    """Breadth first: near pages before far ones (Najork and Wiener, WWW 2001)."""
    return 1 / (1 + depth)


def links(depth: Column, inlinks: Column) -> Column:
    """Near and much linked pages first: between breadth first and back-link count.

    Both orders find pages of high PageRank early, and together earlier than alone (Cho,
    Garcia-Molina and Page, WWW 1998, §4).
    """
    from pyspark.sql import functions as F

    return F.sqrt(1 + inlinks) / (1 + depth)


BUILT_IN: Mapping[str, Scoring] = {"breadth": breadth, "links": links}


def load(name: str) -> Scoring:
    if name in BUILT_IN:
        return BUILT_IN[name]
    found = {entry.name: entry for entry in entry_points(group="gossamer.scoring")}
    if name not in found:
        known = ", ".join(sorted({*BUILT_IN, *found}))
        raise ConfigError("update.scoring", f"no scoring named {name!r}", f"one of: {known}")
    scoring: Scoring = found[name].load()
    return scoring
