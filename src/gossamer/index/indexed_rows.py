"""Which documents must be added, replaced or removed to bring the index up to date.

The dataset `indexed` lists what the index holds: for each page the round of its document, a number
that changes if all documents are made again (`unread.oldest_unread`), the part it is in (shard and
language), hashes of its anchors and of the pages that it stands for, and its static rank. A page is
written again if any of them differs. The static rank is PageRank times the number of pages: 1 for
an average page. It moves a little for all pages in every round, so it only counts as a difference
if its logarithm, which is what the ranking uses (search/ranking.py), has moved by DRIFT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.index.format.analysis import ANALYZED_AS, OTHER, STEMMERS
from gossamer.index.format.layout import FIRST
from gossamer.links import domains
from gossamer.state import lsm, unread
from gossamer.tables import DOCUMENTS, INLINKS
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.state.workspace import Workspace

DRIFT = 0.5
"""A change of log2(1 + static_rank). With a weight of 0.5 it changes the score by a quarter of a
point, to which words contribute about ten."""

MIN_TIERED = 50_000
"""Pages from which an index has a first tier; smaller ones are as fast without."""
STAY_SHARE = 0.7
"""A page leaves the first tier below this share of the static rank that admits it. So few pages
change tiers when ranks move a little."""

KEPT, ADDED, REPLACED, REMOVED = "kept", "added", "replaced", "removed"


def collect_anchors(work: Workspace, pages: DataFrame, dispositions: DataFrame) -> DataFrame:
    """The `anchors` of pages (`url`): the best `index.anchors` texts of links that are not empty.

    Links to a page come before links to others, which it stands for: first those with the same
    content, then older versions, the best link of each first. So a page is also found by what links
    call its versions, such as `3.9 docs`, and they replace no other anchor. Whoever copies a page
    says what links call the copy: all copies on another domain add at most three anchors.

    `dispositions`: rows of the pages that these stand for, and of others; both materialised. Pages
    without anchors may be left out.
    """
    most = work.config.index.anchors
    copies = dispositions.where(F.col("disposition") == "dropped_duplicate")
    copies = _add_owners(work, copies.select("url", "survivor", "reason"))
    targets = pages.select("url").union(copies.select("url"))
    linked = lsm.rows_for_some(work, INLINKS, targets, [F.col("sources.anchor").alias("anchor")])
    inlinks = linked.select(F.col("dst").alias("url"), "anchor")
    texts = F.filter(F.col("anchor"), lambda anchor: F.length(anchor) > 0)
    own = pages.select("url").join(
        inlinks.select("url", F.slice(texts, 1, most).alias("anchors")), on="url", how="inner"
    )
    in_turn = F.col("reason") == "version", "number", "url"
    place = F.row_number().over(Window.partitionBy("survivor").orderBy(*in_turn))
    of_owner = F.row_number().over(Window.partitionBy("survivor", "owner").orderBy(*in_turn))
    of_copies = (
        copies.join(inlinks, on="url", how="inner")
        .select("*", F.posexplode("anchor").alias("number", "text"))
        .drop("anchor")
        .withColumnRenamed("text", "anchor")
        .where("anchor <> ''")
        .withColumn("of_owner", of_owner)
        .where(F.col("owner").isNull() | (F.col("of_owner") <= domains.LINKS_PER_DOMAIN))
        .withColumn("place", place)
        .where(F.col("place") <= most)
        .groupBy(F.col("survivor").alias("url"))
        .agg(F.sort_array(F.collect_list(F.struct("place", "anchor"))).alias("copies"))
        .select("url", F.col("copies.anchor").alias("more"))
    )
    both = F.concat("anchors", "more")
    return own.join(of_copies, on="url", how="full_outer").select(
        "url", F.slice(F.coalesce(both, "anchors", "more"), 1, most).alias("anchors")
    )


def _add_owners(work: Workspace, copies: DataFrame) -> DataFrame:
    """Add `owner`: the registrable domain of a copy; null if it is that of the `survivor`."""
    hosted = copies.withColumns(
        {"host": host_column(F.col("url")), "other": host_column(F.col("survivor"))}
    )
    names = hosted.where("host <> other").select(F.explode(F.array("host", "other")).alias("host"))
    owned = domains.add_voters(work, names.distinct())
    others = owned.select(F.col("host").alias("other"), F.col("domain").alias("of_survivor"))
    owner = F.when(F.col("domain") != F.col("of_survivor"), F.col("domain"))
    with_owners = F.broadcast(owned).join(hosted, on="host", how="right")
    return (
        F.broadcast(others)
        .join(with_owners, on="other", how="right")
        .select(*copies.columns, owner.alias("owner"))
    )


def add_copies(pages: DataFrame, dispositions: DataFrame) -> DataFrame:
    """Add the fields about the pages for which `pages` stand.

    They are the number of `copies`, and of older `versions`, and the sorted `copy_hosts`; null for
    pages that stand for no other.
    """
    hosts = F.transform("copies.url", host_column)
    standing = dispositions.where("copy_count > 0").select(
        "url",
        (F.col("copy_count") - F.col("version_count")).alias("copies"),
        F.col("version_count").alias("versions"),
        F.sort_array(F.array_distinct(hosts)).alias("copy_hosts"),
    )
    # The hash table is built from the left side of a join.
    return standing.join(pages, on="url", how="right")


def desired_rows(
    work: Workspace,
    chosen: DataFrame,
    dispositions: DataFrame,
    anchors: DataFrame,
    languages: DataFrame,
    mean_rank: float,
) -> DataFrame:
    """The rows that `indexed` should have of the `chosen` pages (`url`, `round`, `rank`).

    `dispositions`: rows of these pages and of those they stand for. `anchors`: by `url`.
    `languages`: rows of `host_languages`. `mean_rank`: the mean of the ranks of all indexed pages.
    """
    made = unread.oldest_unread(work.store.manifest.layers("documents"))
    documents = work.engine.read_some(work.paths("documents"), DOCUMENTS.ddl)
    found = chosen.join(
        documents.select("url", "round", "host", "language"), on=["url", "round"], how="inner"
    ).join(languages, on="host", how="left")
    # Sail's xxhash64 fails on a constant column, which the anchors are if there are no links.
    # Their order, by the ranks of hosts, is not in the index.
    texts = F.array_join(F.sort_array("anchors"), "\n")
    anchor_texts = F.concat("url", F.coalesce(texts, F.lit("")))
    numbers = (F.col(name).cast("string") for name in ("copies", "versions"))
    copies = F.concat_ws(" ", "url", *numbers, F.array_join("copy_hosts", " "))
    found = add_copies(found.join(anchors, on="url", how="left"), dispositions)
    return found.select(
        "url",
        "round",
        F.lit(made).cast("long").alias("source"),
        F.expr(f"1 + pmod(xxhash64(url), {work.config.index.shards})").cast("int").alias("shard"),
        index_language(F.coalesce("language", "host_language")).alias("index_language"),
        F.xxhash64(anchor_texts).alias("anchors"),
        F.xxhash64(copies).alias("copies"),
        (F.col("rank") / mean_rank).alias("static_rank"),
    )


def host_languages(
    work: Workspace, standing: DataFrame, hosts: DataFrame | None
) -> tuple[DataFrame, DataFrame]:
    """The `host_language` of most pages of a `host`, for its pages without a detected language.

    Only of those of `hosts` (None: of all) that have such pages; and these pages (`url`).
    """
    documents = work.engine.read_some(work.paths("documents"), DOCUMENTS.ddl)
    named = documents.select("url", "round", "host", "language")
    unnamed = named.where("language IS NULL").select("host").distinct()
    if hosts is not None:
        unnamed = hosts.join(unnamed, on="host", how="inner")
    found, number = work.scratch(unnamed, "host string")
    if not number:
        nothing = work.engine.read([], "host string, host_language string")
        return nothing, work.engine.read([], "url string")
    of_hosts = found.join(named, on="host", how="inner")
    current, _ = work.scratch(
        of_hosts.join(standing.select("url", "round"), on=["url", "round"], how="left_semi")
    )
    languages = (
        current.where("language IS NOT NULL")
        .groupBy("host", "language")
        .agg(F.count("*").alias("pages"))
        .groupBy("host")
        .agg(F.max_by("language", F.struct("pages", "language")).alias("host_language"))
    )
    return languages, current.where("language IS NULL").select("url")


def index_language(language: Column) -> Column:
    """The language of the index for pages in a language (index/format/analysis.py)."""
    known = F.when(language.isin(*sorted(STEMMERS)), language)
    for name, other in ANALYZED_AS.items():
        known = known.when(language == name, F.lit(other))
    return known.otherwise(F.lit(OTHER))


def first_tier_rank(
    standing: DataFrame, pages: int, mean_rank: float, share: float
) -> float | None:
    """The static rank above which a page is in the first tier; None if there is no first tier.

    There is also none if the ranks are too similar to select the best `share` of the pages.
    """
    if pages < MIN_TIERED or not share:
        return None
    row = standing.agg(F.expr(f"percentile_approx(rank, {1 - share})").alias("rank")).first()
    rank: float | None = row["rank"] if row else None
    if not rank:
        return None
    above = standing.where(F.col("rank") > rank).limit(1).count()
    return rank / mean_rank if above else None


def compare_with_indexed(new: DataFrame, old: DataFrame, popular: float | None) -> DataFrame:
    """Determine the `change` of each URL of `new` or `old`; its columns in `old` become `old_…`.

    Pages above the static rank `popular` go to the first tier and stay while they are near it.
    """
    joined = new.join(prefix_old(old), on="url", how="full_outer")
    if popular is not None:
        joined = joined.withColumn(
            "shard", F.when(_is_first(popular), FIRST).otherwise(F.col("shard"))
        )
    differs = F.lit(False)
    for name in ("round", "source", "shard", "index_language", "anchors", "copies"):
        differs |= F.col(name) != F.col(f"old_{name}")
    return joined.withColumn(
        "change",
        F.when(F.col("old_round").isNull(), ADDED)
        .when(F.col("round").isNull(), REMOVED)
        .when(differs | (_drift() >= DRIFT), REPLACED)
        .otherwise(KEPT),
    )


def unchanged_pages(old: DataFrame, standing: DataFrame, mean_rank: float) -> DataFrame:
    """The rows of `compare_with_indexed` for pages (`old`) of which only the rank has changed."""
    names = [name for name in old.columns if name not in {"url", "boilerplate", "static_rank"}]
    ranks = standing.select("url", (F.col("rank") / mean_rank).alias("static_rank"))
    return (
        prefix_old(old)
        .join(ranks, on="url", how="inner")
        .select(
            *(F.col(f"old_{name}").alias(name) for name in names),
            *("url", "static_rank", *(f"old_{name}" for name in old.columns if name != "url")),
            F.lit(KEPT).alias("change"),
        )
    )


def prefix_old(rows: DataFrame) -> DataFrame:
    """Rows of `indexed`, with `old_` before the names of all columns but `url`."""
    names = [name for name in rows.columns if name != "url"]
    return rows.select("url", *(F.col(name).alias(f"old_{name}") for name in names))


def is_rank_outdated(popular: float | None) -> Column:
    """Whether the `static_rank` of an indexed page differs so much that it is written again."""
    first = F.lit(False) if popular is None else _is_first(popular)
    return (first != (F.col("old_shard") == FIRST)) | (_drift() >= DRIFT)


def _is_first(popular: float) -> Column:
    """Whether a page is in the first tier."""
    stays = (F.col("old_shard") == FIRST) & (F.col("static_rank") > STAY_SHARE * popular)
    return (F.col("static_rank") > popular) | F.coalesce(stays, F.lit(False))


def _drift() -> Column:
    return F.abs(F.log2(F.col("static_rank") + 1) - F.log2(F.col("old_static_rank") + 1))
