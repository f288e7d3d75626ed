"""One page stands for all with nearly the same text, those similar to it (similar_texts.py).

Pages are searched for their titles. So a page yields only to one whose title has the same words, or
that it names as its canonical page: a function's page whose text is mostly that of another
function's, or an untranslated page under a translated title, stays.

Texts are compared without the boilerplate of their hosts (gossamer.dedup.own_texts). Pages whose
texts are equal then are combined first, and those with little text of their own are not compared at
all.

Not all similar pairs are found at first: a popular band gives a sample of its pairs
(lsh_bands.py), and one pair in two thousand with J = 0.9 shares no band at all. But if a page is
dropped, others that are similar to it may also be similar to the one that stands for it. These
pairs are compared next, and the decision is made again, until there are no more of them.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from gossamer.dedup import equal_texts
from gossamer.dedup.survivors import (
    CLEAR_CLASSES,
    add_owners,
    add_standing,
    select_survivors,
    survivor_order,
)
from gossamer.tables import OWN_TEXTS

if TYPE_CHECKING:
    from pyspark.sql import Column

    from gossamer.dedup.similar_texts import Similarities
    from gossamer.state.workspace import Workspace

ENDS = ("one", "other")
COMPARED = ("url", "rank", "canonical", "first_ms")
DROPPED_DDL = "url string, survivor string, reason string, similarity double"
MAX_PASSES = 4
MAX_RELATED = 2
"""Survivors with which a page is compared in a pass, because both are similar to a dropped page."""


def near_duplicates(
    work: Workspace, similarities: Similarities, standing: DataFrame
) -> DataFrame | None:
    """The pages that others stand for: `url`, `survivor`, `reason` and `similarity`; None if none.

    `standing`: pages with the hashes of their own texts (`text_hash`), of which no two whole texts
    are equal in the same scope. They must be materialised.
    """
    dropped = same = None
    if work.store.manifest.layers(OWN_TEXTS.name):
        found, number = work.scratch(_duplicates_by_own_text(work, standing), DROPPED_DDL)
        if number:
            same = found
            standing, _ = work.scratch(
                standing.join(found.select("url"), on="url", how="left_anti")
            )
    number = 0
    if not similarities.is_empty():
        pairs, number = work.scratch(_similar_pages(work, standing, similarities.pairs()))
    for _ in range(MAX_PASSES if number else 0):
        places, pages = work.scratch(place_pages(work, standing, pairs))
        lost, edges = select_survivors(work, _pairs_by_place(places, pairs), pages)
        dropped = _duplicates_by_url(lost, places)
        compared = similarities.compare(_overlooked_pairs(edges, lost, places))
        if compared is None:
            break
        further, number = work.scratch(_similar_pages(work, standing, compared))
        if not number:
            break
        pairs = pairs.unionByName(further)
    parts = [part for part in (dropped, same) if part is not None]
    return reduce(DataFrame.unionByName, parts) if parts else None


def _duplicates_by_own_text(work: Workspace, standing: DataFrame) -> DataFrame:
    """The pages that another one with an equal own text stands for."""
    text = F.concat_ws(" ", "scope", F.col("text_hash").cast("string"))
    shared = equal_texts.pages_with_shared_texts(standing.withColumn("text", text))
    owned, _ = work.scratch(add_owners(work, shared))
    return equal_texts.equal_duplicates(owned).withColumn("reason", F.lit("near"))


def _similar_pages(work: Workspace, standing: DataFrame, pairs: DataFrame) -> DataFrame:
    """The similar pairs of pages in the same scope, with the columns `one_…` and `other_…`."""
    one, other = (
        standing.select(
            F.col("text_hash").alias(end),
            "scope",
            *(F.col(name).alias(f"{end}_{name}") for name in COMPARED),
            title_words(F.col("title")).alias(f"{end}_words"),
        )
        for end in ENDS
    )
    titled = F.col("one_words") == F.col("other_words")
    named = (F.col("one_canonical") == F.col("other_url")) | (
        F.col("other_canonical") == F.col("one_url")
    )
    return (
        pairs.where(F.col("similarity") >= work.config.dedup.similarity)
        .join(one, on="one", how="inner")
        .join(other, on=["other", "scope"], how="inner")
        .where(titled | F.coalesce(named, F.lit(False)))
    )


def title_words(title: Column) -> Column:
    """The words of a title, as far as they have to agree."""
    plain = F.regexp_replace(F.lower(F.coalesce(title, F.lit(""))), r"[^\p{L}\p{N}]+", " ")
    return F.trim(plain)


def place_pages(work: Workspace, standing: DataFrame, pairs: DataFrame) -> DataFrame:
    """The pages of pairs, and their `place` in the order of survivors, from 1."""
    agreed = [
        pairs.where(
            (F.col(f"{copy}_canonical") == F.col(f"{of}_url")) & F.col(f"{of}_canonical").isNull()
        ).select(
            F.col(f"{copy}_url").alias("copy"),
            F.col(f"{of}_url").alias("url"),
            F.col(f"{copy}_rank").alias("rank"),
            F.col(f"{copy}_first_ms").alias("first_ms"),
        )
        for copy, of in (ENDS, ENDS[::-1])
    ]
    urls = pairs.select(F.explode(F.array("one_url", "other_url")).alias("url")).distinct()
    pages = add_standing(
        standing.join(urls, on="url", how="left_semi"), agreed[0].unionByName(agreed[1])
    )
    marked = _mark_copies(work, work.scratch(pages)[0], pairs.select("one_url", "other_url"))
    # One partition on purpose: these are only the pages that are similar to another.
    place = F.row_number().over(Window.partitionBy(F.lit(0)).orderBy(*survivor_order()))
    return marked.select(
        "url", "text_hash", "canonical", "is_mirrored", place.cast("long").alias("place")
    )


def _mark_copies(work: Workspace, pages: DataFrame, pairs: DataFrame) -> DataFrame:
    """Add `is_copy`: whether a page is similar to one of another domain that stays (survivors.py).

    `pages` have the columns of `add_standing`, and are materialised.
    """
    hosts = [
        pages.select(F.col("url").alias(f"{end}_url"), F.col("host").alias(f"{end}_host"))
        for end in ENDS
    ]
    hosted = pairs.join(hosts[0], on="one_url", how="inner").join(hosts[1], on="other_url")
    if not hosted.where("one_host <> other_host").limit(1).count():
        return pages.withColumn("is_copy", F.lit(False))
    owned, _ = work.scratch(add_owners(work, pages))
    standing = owned.where("yields = 0").select("url", "domain", "first_ms", "voters")
    mirrored = pairs.toDF("other_url", "one_url").select("one_url", "other_url")
    both = pairs.unionByName(mirrored).toDF("url", "other")
    others = standing.toDF("other", "its_domain", "its_ms", "its_voters")
    met, _ = work.scratch(
        both.join(standing, on="url", how="inner").join(others, on="other", how="inner")
    )
    is_own = F.col("domain") == F.col("its_domain")
    siblings = met.where(is_own).groupBy("url").agg(F.min("its_ms").alias("sibling_ms"))

    def first_of_owner(rows: DataFrame, url: str, name: str) -> DataFrame:
        known = siblings.withColumnRenamed("url", url).join(rows, on=url, how="right")
        return known.withColumn(name, F.least(name, "sibling_ms")).drop("sibling_ms")

    foreign = first_of_owner(met.where(~is_own), "url", "first_ms")
    foreign = first_of_owner(foreign, "other", "its_ms")
    ahead = F.col("its_voters") - F.col("voters")
    earlier = (F.col("its_ms") < F.col("first_ms")) & (ahead > -CLEAR_CLASSES)
    copies = foreign.where((ahead >= CLEAR_CLASSES) | earlier).select("url").distinct()
    marked = copies.withColumn("copied", F.col("url")).join(pages, on="url", how="right")
    return marked.withColumn("is_copy", F.col("copied").isNotNull())


def _pairs_by_place(places: DataFrame, pairs: DataFrame) -> DataFrame:
    """The pairs, by the places of their pages: `one` < `other`."""
    for end in ENDS:
        place = places.select(F.col("url").alias(f"{end}_url"), F.col("place").alias(f"{end}_at"))
        pairs = pairs.join(place, on=f"{end}_url", how="inner")
    better, worse = F.least("one_at", "other_at"), F.greatest("one_at", "other_at")
    return pairs.select(better.alias("one"), worse.alias("other"), "similarity")


def _duplicates_by_url(lost: DataFrame, places: DataFrame) -> DataFrame:
    """The dropped pages by their URLs instead of their places, with the reason."""
    survivors = places.select(F.col("url").alias("survivor"), F.col("place").alias("by"))
    is_mirror = F.col("is_mirrored") & (F.col("canonical") == F.col("survivor"))
    return (
        places.withColumnRenamed("place", "page")
        .join(lost, on="page", how="inner")
        .join(survivors, on="by", how="inner")
        .select(
            "url",
            "survivor",
            F.when(is_mirror, "mirror").otherwise("near").alias("reason"),
            "similarity",
        )
    )


def _overlooked_pairs(edges: DataFrame, lost: DataFrame, places: DataFrame) -> DataFrame:
    """Pairs of texts that may be similar, too: of a page and the survivor of one like it.

    If it is not dropped by a better one.
    """
    mirrored = edges.select(F.col("other").alias("one"), F.col("one").alias("other"))
    survivors = lost.select(F.col("page").alias("one"), F.col("by").alias("better"))
    present = lost.select(F.col("page").alias("other"), "by")
    related = (
        survivors.join(edges.select("one", "other").unionByName(mirrored), on="one", how="inner")
        .join(present, on="other", how="left")
        .where(F.col("better") < F.coalesce("by", "other"))
        .select(F.col("other").alias("page"), "better")
        .distinct()
    )
    best = F.row_number().over(Window.partitionBy("page").orderBy("better"))
    pairs = related.withColumn("number", best).where(F.col("number") <= MAX_RELATED)
    for end, place in zip(ENDS, ("page", "better"), strict=True):
        texts = places.select(F.col("place").alias(place), F.col("text_hash").alias(end))
        pairs = pairs.join(texts, on=place, how="inner")
    lower, higher = F.least("one", "other"), F.greatest("one", "other")
    return pairs.select(lower.alias("one"), higher.alias("other")).distinct()
