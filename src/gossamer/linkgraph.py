"""The dataset links as the graph it is now."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from gossamer.workspace import Workspace

VOTES = ("a", "area", "frame", "iframe", "refresh", "canonical", "redirect")
"""Relations by which one page speaks for another. A sitemap names all pages, and a page its other
forms, its pictures and its feeds: that is no opinion."""


_ROBOTS = r"^[a-z]+://[^/]+/robots\.txt$"


def votes(work: Workspace) -> DataFrame:
    """Of the links as they are now, those that are VOTES."""
    votes = work.read("links").where(F.col("relation").isin(*VOTES))
    return _of_last_round(work, votes, _answers(work))


def current(work: Workspace) -> DataFrame:
    """The links of each page as it last answered; a page's links to itself are not recorded.

    A page that moved has one link, of relation `redirect`, and no other. The links of a robots.txt,
    which is no page, are those of the last round in which it named some.
    """
    links = work.read("links")
    read = links.where(F.col("src").rlike(_ROBOTS)).select("src", "round")
    return _of_last_round(work, links, _answers(work), read)


def _answers(work: Workspace) -> DataFrame:
    """When each page answered: src, round."""
    answers = work.read("responses").where(F.col("outcome").isin("ok", "redirect"))
    return answers.select(F.col("url").alias("src"), "round")


def _of_last_round(work: Workspace, links: DataFrame, *met: DataFrame) -> DataFrame:
    """The links of each source in the last round in which it was met."""
    if len(work.store.manifest.layers("links")) < 2:  # noqa: PLR2004  # nothing can be older
        return links
    last = [rows.groupBy("src").agg(F.max("round").alias("round")) for rows in met]
    return links.join(reduce(DataFrame.union, last), on=["src", "round"], how="left_semi")
