"""invert: links → inlinks. The pages that link to each page, with their anchor texts.

Up to FEW_LINKS are all inverted. Of more, once they were, only those that changed are: links of
pages that answered or were parsed since. Most of such a page's links stay as they are, so few rows
change. A row lists the first MAX_SOURCES linking pages. If it lists fewer than link to the page,
and loses one of them, the links to this page are read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer import inputs, linkgraph, lsm
from gossamer.tables import INLINKS, INVERTED, LINKS, RESPONSES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.inputs import Inputs
    from gossamer.store import StepReport
    from gossamer.workspace import Workspace

FEW_LINKS = 100_000
"""So many are sorted at once, sooner than the queries for what changed would be planned."""
MAX_SOURCES = 200
"""Linking pages listed per page, the first by URL: a front page may have millions."""


def run(work: Workspace) -> StepReport:
    read = (LINKS, RESPONSES)
    few = sum(layer.rows for layer in work.store.manifest.layers(LINKS.name)) <= FEW_LINKS
    anew = few or bool(work.store.damaged(INLINKS.name))
    new = inputs.since(work, INVERTED, read, anew=anew)
    with work.step("invert", work.round) as draft:
        if new.anew:
            layer = work.write(inverted(linkgraph.votes(work)), INLINKS.name, work.round)
            lsm.draft_layer(work, draft, INLINKS, layer, anew=True)
            draft.counts["pages"] = layer.rows
        else:
            rows, count = work.scratch(updated(work, new))
            lsm.draft_rows(work, draft, INLINKS, rows, count, anew=False)
            draft.counts["changed"] = count
        draft.replace[INVERTED.name] = inputs.write(work, INVERTED, read)
    return draft.done


def inverted(links: DataFrame) -> DataFrame:
    """The rows of `inlinks`: per target, the number of links and the first MAX_SOURCES of them."""
    to_dst = Window.partitionBy("dst")
    return (
        links.select(
            "dst",
            F.struct("src", "anchor").alias("source"),
            F.row_number().over(to_dst.orderBy("src")).alias("place"),
            F.count("*")
            .over(to_dst.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing))
            .alias("count"),
        )
        .where(F.col("place") <= MAX_SOURCES)
        .groupBy("dst")
        .agg(
            F.max("count").alias("count"),
            F.sort_array(F.collect_list("source")).alias("sources"),
        )
    )


def updated(work: Workspace, new: Inputs) -> DataFrame:
    """The rows of `inlinks` that change. A page that lost its last link has one without sources."""
    arcs, count = work.scratch(changed_links(work, new))
    if not count:
        return work.engine.read([], INLINKS.ddl)
    by_dst = arcs.groupBy("dst").agg(
        F.sum(F.col("is").cast("long") - F.col("was").cast("long")).alias("more")
    )
    known, _ = work.scratch(lsm.rows_for(work, INLINKS, by_dst.select("dst")))
    listed = known.select("dst", F.explode("sources").alias("source"))
    listed = listed.select("dst", "source.src", "source.anchor")
    gone = arcs.where("NOT is").join(listed, on=["dst", "src"], how="left_semi")
    cut_off = known.where(F.col("count") > F.size("sources"))
    again, some = work.scratch(cut_off.join(gone, on="dst", how="left_semi").select("dst"))
    came = arcs.where("is").select("dst", "src", "anchor")
    sources = listed.join(arcs, on=["dst", "src"], how="left_anti").unionByName(came)
    listed = inverted(sources)
    if some:
        whole = inverted(linkgraph.votes_for(work, again))
        listed = listed.join(again, on="dst", how="left_anti").unionByName(whole)
    none = F.filter("known", lambda _: F.lit(False))
    return (
        by_dst.join(known.withColumnRenamed("sources", "known"), on="dst", how="left")
        .join(listed.select("dst", "sources"), on="dst", how="left")
        .select(
            "dst",
            (F.coalesce("count", F.lit(0)) + F.col("more")).alias("count"),
            F.coalesce("sources", none).alias("sources"),
        )
    )


def changed_links(work: Workspace, new: Inputs) -> DataFrame:
    """The votes that came, went or have another anchor: dst, src, anchor (the new one), was, is."""
    pages, _ = linkgraph.changed(work, new.paths(work, LINKS), new.paths(work, RESPONSES))
    sources, _ = work.scratch(pages.distinct())
    until = inputs.read_until(work, INVERTED)
    before, after = (
        linkgraph.are_votes(linkgraph.links_of(work, sources, version)).select(
            "dst", "src", "anchor"
        )
        for version in (until, None)
    )
    both = before.withColumn("is", F.lit(False)).unionByName(after.withColumn("is", F.lit(True)))
    anchor = F.when(F.col("is"), F.col("anchor"))
    of_arc = both.groupBy("dst", "src").agg(
        F.max(anchor).alias("anchor"),
        F.max(F.when(~F.col("is"), F.col("anchor"))).alias("old_anchor"),
        F.max(~F.col("is")).alias("was"),
        F.max("is").alias("is"),
    )
    same = F.col("was") & F.col("is") & F.col("anchor").eqNullSafe(F.col("old_anchor"))
    return of_arc.where(~same).drop("old_anchor")
