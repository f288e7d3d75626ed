"""The dataset links as the graph it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.workspace import Workspace

VOTES = ("a", "area", "frame", "iframe", "refresh", "canonical", "redirect")
"""Relations by which one page speaks for another. A sitemap names all pages, and a page its other
forms, its pictures and its feeds: that is no opinion."""


def votes(work: Workspace) -> DataFrame:
    """Of the links as they are now, those that are VOTES."""
    return current(work).where(F.col("relation").isin(*VOTES))


def current(work: Workspace) -> DataFrame:
    """The links of each page as it last answered; a page's links to itself are not recorded.

    A page that moved has one link, of relation `redirect`, and no other.
    """
    links = work.read("links")
    if len(work.store.manifest.layers("links")) < 2:  # noqa: PLR2004  # nothing can be older
        return links
    answers = work.read("responses").where(F.col("outcome").isin("ok", "redirect"))
    last = answers.groupBy(F.col("url").alias("src")).agg(F.max("round").alias("round"))
    return links.join(last, on=["src", "round"], how="left_semi")
