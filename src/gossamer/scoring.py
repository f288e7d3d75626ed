"""Scorings: which pages are fetched first. An extension point.

A scoring computes the score of a page; pages with higher scores are fetched first. It is a
DataFrame expression, so that the engine scores a hundred million pages at full speed. Plugins add
scorings in the entry point group `gossamer.scoring`; see docs/plugins.md.

Fact: the built-in scorings use only operations that IEEE 754 defines to the last bit (square root,
not logarithm), so all engines compute the same scores and choose the same pages.
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
    """Near and frequently linked pages first: between breadth first and back-link count.

    Both orders find pages of high PageRank early, and their combination even earlier (Cho,
    Garcia-Molina and Page, WWW 1998, §4).
    """
    from pyspark.sql import functions as F

    return F.sqrt(1 + inlinks) / (1 + depth)


BUILT_IN: Mapping[str, Scoring] = {"breadth": breadth, "links": links}


def load(name: str) -> Scoring:
    """The scoring of this name, built in or from a plugin. Raises ConfigError."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    found = {entry.name: entry for entry in entry_points(group="gossamer.scoring")}
    if name not in found:
        known = ", ".join(sorted({*BUILT_IN, *found}))
        raise ConfigError("update.scoring", f"no scoring named {name!r}", f"one of: {known}")
    scoring: Scoring = found[name].load()
    return scoring
