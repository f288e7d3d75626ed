"""The current link graph, from the dataset links."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.tables import LINKS, RESPONSES
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File, Layer
    from gossamer.tables import Dataset

VOTES = ("a", "area", "frame", "iframe", "refresh", "canonical", "redirect")
"""Relations by which a page recommends another. Sitemaps list all pages, and pages link to their
translations, images and feeds: those links are not recommendations. Nor are those that readers do
not see: in fallbacks, drawings and embedded documents (gossamer.parse.html.embedded_links)."""

ANSWERED = ("ok", "redirect")
"""Outcomes of responses by which a page says what it links to."""
_ROBOTS = r"^[a-z]+://[^/]+/robots\.txt$"


def are_votes(links: DataFrame) -> DataFrame:
    """The links whose relation is in VOTES."""
    return links.where(F.col("relation").isin(*VOTES))


def votes(work: Workspace) -> DataFrame:
    """The current links whose relation is in VOTES."""
    return _links_of_last_round(work, are_votes(work.read("links")), _answers(work))


def votes_for(work: Workspace, targets: DataFrame) -> DataFrame:
    """The current votes for some pages (a column `dst`, each once)."""
    votes, _ = work.scratch(are_votes(work.read("links")).join(targets, on="dst", how="left_semi"))
    sources = votes.select("src").distinct()
    return _links_of_last_round(
        work, votes, _answers(work).join(sources, on="src", how="left_semi")
    )


def vote_counts(work: Workspace) -> Column:
    """Whether a vote counts: one that is marked nofollow does only with `rank.nofollow`."""
    return F.lit(work.config.rank.nofollow) | ~F.col("nofollow")


def has_history(work: Workspace) -> bool:
    """Whether there may be links that a page no longer has, since it answered again."""
    stacks = (work.store.manifest.layers(name) for name in ("links", "responses"))
    return any(len(layers) > 1 or any(each.is_merged for each in layers) for layers in stacks)


def outdated_pages(work: Workspace, pages: DataFrame) -> DataFrame:
    """Those rows of pages that linked in some round (src, round) of which it was not the last."""
    last = _answers(work).groupBy("src").agg(F.max("round").alias("round"))
    return pages.join(last, on=["src", "round"], how="left_anti")


def outdated_pages_until(
    work: Workspace, layers: Sequence[Layer], last: int, version: int | None = None
) -> tuple[File, ...]:
    """Scratch files of pages (src, round) with links in these layers that answered again since.

    Of rounds up to `last` only, and by answers that were committed up to a version of the crawl.
    """
    paths = [f"{work.root}/{file.path}" for layer in layers for file in layer.files]
    linking = work.engine.read(paths, LINKS.ddl).where(F.col("round") <= last)
    pages = linking.where(~F.col("src").rlike(_ROBOTS)).select("src", "round").distinct()
    newest = _answers(work, version).groupBy("src").agg(F.max("round").alias("newest"))
    old = pages.join(newest, on="src", how="inner").where("newest > round")
    return work.scratch_files(old.select("src", "round"))


def read_current(work: Workspace) -> DataFrame:
    """The links of each page as of its last answer; a page's links to itself are not recorded.

    A page that redirects has a single link, of relation `redirect`. The links of a robots.txt,
    which is not a page, are those of the last round in which it named sitemaps.
    """
    links = work.read("links")
    read = links.where(F.col("src").rlike(_ROBOTS)).select("src", "round")
    return _links_of_last_round(work, links, _answers(work), read)


def links_of(work: Workspace, sources: DataFrame, version: int | None = None) -> DataFrame:
    """The links of these pages (a column `src`, each once) as they last answered.

    `version`: only by what was committed up to this version of the crawl. Only the links of the
    rounds in which they answered are read.
    """
    answers = _answers(work, version).join(sources, on="src", how="left_semi")
    last, _ = work.scratch(answers.groupBy("src").agg(F.max("round").alias("round")))
    rounds = [row["round"] for row in last.select("round").distinct().collect()]
    paths = _paths_until(work, LINKS, version)
    links = work.engine.read_some(paths, LINKS.ddl).where(F.col("round").isin(rounds))
    return links.join(last, on=["src", "round"], how="left_semi")


def changed_pages(
    work: Workspace, links: Sequence[str], responses: Sequence[str]
) -> tuple[DataFrame, DataFrame | None]:
    """The pages whose links changed by files of links and responses, and which links do not count.

    The files, as absolute paths, are all that were committed after some moment. A page changed if
    it answered since, or if its last answer was parsed since. Only those files are read, and the
    responses of other rounds if pages were parsed late. Returns pages (src), and the pages with the
    rounds (src, round) whose links in these files are not those of their last answer, if any are.
    """
    votes = are_votes(work.engine.read([*links], LINKS.ddl))
    answers = _answers_among(work.engine.read([*responses], RESPONSES.ddl))
    last = answers.groupBy("src").agg(F.max("round").alias("round"))
    linking, when = votes.select("src", "round").distinct(), ["src", "round"]
    others, count = work.scratch(linking.join(last, on=when, how="left_anti"))
    if not count:
        return last.select("src"), None
    late = others.join(last, on="src", how="left_anti")
    then = _answers(work).join(late.select("src"), on="src", how="left_semi")
    then = then.groupBy("src").agg(F.max("round").alias("round"))
    late, _ = work.scratch(late.join(then, on=when, how="left_semi"))
    return last.union(late).select("src"), others.join(late, on=when, how="left_anti")


def links_of_robots(work: Workspace, hosts: DataFrame) -> DataFrame:
    """The links of the robots.txt files of these hosts (a column `host`, each once)."""
    robots = work.read("links").where(
        (F.col("relation") == "sitemap") & F.col("src").rlike(_ROBOTS)
    )
    of_hosts = robots.withColumn("host", host_column(F.col("src")))
    links, _ = work.scratch(of_hosts.join(hosts, on="host", how="left_semi").drop("host"))
    last = links.groupBy("src").agg(F.max("round").alias("round"))
    return links.join(last, on=["src", "round"], how="left_semi")


def _answers(work: Workspace, version: int | None = None) -> DataFrame:
    """The rounds in which each page answered: src, round."""
    return _answers_among(_rows_until(work, RESPONSES, version))


def _rows_until(work: Workspace, dataset: Dataset, version: int | None) -> DataFrame:
    """The rows that were committed up to a version; None: all. Raises MissingFile."""
    if version is None:
        return work.read(dataset.name)
    return work.engine.read(_paths_until(work, dataset, version), dataset.ddl)


def _paths_until(work: Workspace, dataset: Dataset, version: int | None) -> list[str]:
    work.store.files(dataset.name)  # checks them
    return [
        f"{work.root}/{file.path}"
        for layer in work.store.manifest.layers(dataset.name)
        if version is None or layer.version <= version
        for file in layer.files
    ]


def _answers_among(responses: DataFrame) -> DataFrame:
    answers = responses.where(F.col("outcome").isin(*ANSWERED))
    return answers.select(F.col("url").alias("src"), "round")


def _links_of_last_round(work: Workspace, links: DataFrame, *met: DataFrame) -> DataFrame:
    """The links of each source in the last of its rounds in `met` (src, round)."""
    if not has_history(work):
        return links
    last = [rows.groupBy("src").agg(F.max("round").alias("round")) for rows in met]
    return links.join(reduce(DataFrame.union, last), on=["src", "round"], how="left_semi")
