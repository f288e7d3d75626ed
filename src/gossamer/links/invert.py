"""invert: links → inlinks. The pages that link to each page, with their anchor texts.

Up to FEW_LINKS are all inverted. Of more, once they were, only those that changed are: links of
pages that answered or were parsed since. Most of such a page's links stay as they are, so few rows
change. A row lists the first MAX_SOURCES linking pages, and holds as many as RESERVE further ones,
which take the places of those that go. If it holds fewer than link to the page, and has too few
left to list, all links to this page are read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.links import current_links
from gossamer.state import lsm, unread
from gossamer.tables import INLINKS, INVERTED, LINKS, RESPONSES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.state.unread import Inputs
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

FEW_LINKS = 100_000
"""So many are sorted at once, sooner than the queries for what changed would be planned."""
MAX_SOURCES = 200
"""Linking pages listed per page, the first by URL: a front page may have millions."""
RESERVE = 100
"""Linking pages held beyond those. To read the links to a page again takes a pass over all links,
and a page that has so many links gains as many of the first ones as it loses."""


def run(work: Workspace) -> StepReport:
    read = (LINKS, RESPONSES)
    few = sum(layer.rows for layer in work.store.manifest.layers(LINKS.name)) <= FEW_LINKS
    anew = few or bool(work.store.damaged(INLINKS.name))
    new = unread.unread_inputs(work, INVERTED, read, anew=anew)
    with work.step("invert", work.round) as draft:
        if new.anew:
            layer = work.write(invert_links(current_links.votes(work)), INLINKS.name, work.round)
            lsm.draft_layer(work, draft, INLINKS, layer, anew=True)
            draft.counts["pages"] = layer.rows
        else:
            rows, count = work.scratch(update_rows(work, new))
            lsm.draft_rows(work, draft, INLINKS, rows, count, anew=False)
            draft.counts["changed"] = count
        draft.replace[INVERTED.name] = unread.write_record(work, INVERTED, read)
    return draft.done


def invert_links(links: DataFrame) -> DataFrame:
    """The rows of `inlinks`: per target, the number of links and the first of them."""
    return _inlink_rows(_first_links(links))


def _first_links(links: DataFrame) -> DataFrame:
    """Per `dst`, the `count` of links, and the first `held` ones."""
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
        .where(F.col("place") <= MAX_SOURCES + RESERVE)
        .groupBy("dst")
        .agg(F.max("count").alias("count"), F.sort_array(F.collect_list("source")).alias("held"))
    )


def _inlink_rows(held: DataFrame) -> DataFrame:
    return held.select(
        "dst",
        "count",
        F.slice("held", 1, MAX_SOURCES).alias("sources"),
        F.slice("held", MAX_SOURCES + 1, RESERVE).alias("further"),
    )


def update_rows(work: Workspace, new: Inputs) -> DataFrame:
    """The rows of `inlinks` that change. A page that lost its last link has one without sources."""
    arcs, count = work.scratch(changed_links(work, new))
    if not count:
        return work.engine.read([], INLINKS.ddl)
    by_dst = arcs.groupBy("dst").agg(
        F.sum(F.col("is").cast("long") - F.col("was").cast("long")).alias("more")
    )
    columns = ("count", "sources", "further")
    stored = lsm.rows_for_some(work, INLINKS, arcs.select("dst"), columns)
    further = F.coalesce("further", F.slice("sources", 1, 0))  # null in rows of older versions
    known = stored.select("dst", "count", F.concat("sources", further).alias("held"))
    listed = known.select("dst", F.explode("held").alias("source"))
    listed = listed.select("dst", "source.src", "source.anchor")
    # Of more links than it holds, a row has the first ones. It has no place for those after them.
    cut_off = known.where(F.col("count") > F.size("held"))
    ends = cut_off.select("dst", F.element_at("held", -1)["src"].alias("end"))
    came = ends.join(arcs.where("is"), on="dst", how="right").where("end IS NULL OR src <= end")
    sources = listed.join(arcs, on=["dst", "src"], how="left_anti").unionByName(
        came.select("dst", "src", "anchor")
    )
    none = F.filter("known", lambda _: F.lit(False))
    rows, _ = work.scratch(
        by_dst.join(known.withColumnRenamed("held", "known"), on="dst", how="left")
        .join(_first_links(sources).select("dst", "held"), on="dst", how="left")
        .select(
            "dst",
            (F.coalesce("count", F.lit(0)) + F.col("more")).alias("count"),
            F.coalesce("held", none).alias("held"),
        )
    )
    enough = F.size("held") >= F.least(F.col("count"), F.lit(MAX_SOURCES))
    again, some = work.scratch(rows.where(~enough).select("dst"))
    if not some:
        return _inlink_rows(rows)
    whole = _first_links(current_links.votes_for(work, again))
    return _inlink_rows(rows.where(enough).unionByName(whole))


def changed_links(work: Workspace, new: Inputs) -> DataFrame:
    """The votes that came, went or have another anchor: dst, src, anchor (the new one), was, is."""
    pages, _ = current_links.changed_pages(work, new.paths(work, LINKS), new.paths(work, RESPONSES))
    sources, _ = work.scratch(pages.distinct())
    until = unread.read_until(work, INVERTED)
    before, after = (
        current_links.are_votes(current_links.links_of(work, sources, version)).select(
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
