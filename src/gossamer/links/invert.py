"""invert: links → inlinks. The pages that link to each page, with their anchor texts.

A front page may have millions of links, of which a row lists MAX_SOURCES. Whoever owns a domain
gets any number of URLs and host names, so no name helps a link to a place: the best
LINKS_PER_DOMAIN links of each domain come first, by the rank of the linking host. Further links of
the page's own host follow as far as there are places, but no further ones of other domains.

Up to FEW_LINKS are all inverted. Of more, once they were, only those that changed are, unless these
are most of them, and too many to be sorted at once: links of pages that answered or were parsed
since. Most of such a page's links stay as they are, so few rows change. A row holds as many as
RESERVE further links, which take the places of those that go. If it holds fewer than link to the
page, and has too few left to list, all links to this page are read again. So a row with all links
to its page is as if it was made anew, but one with more is a sample: ranks count as of when a link
came, and if a domain loses its best links, others that the row does not hold take their places only
when all are read again.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.links import current_links, domains
from gossamer.state import lsm, unread
from gossamer.storage.store import Layer
from gossamer.tables import HOST_RANKS, INLINKS, INVERTED, LINKS, RESPONSES
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.state.unread import Inputs
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

FEW_LINKS = 100_000
"""So many are sorted at once, sooner than the queries for what changed would be planned."""
SORTED_LINKS = 400_000
"""So many are sorted at once, for which the engine takes 560 bytes each. Of more, those to some of
the pages are sorted first, and then those to others."""
MAX_SOURCES = 200
"""Linking pages listed per page."""
RESERVE = 100
"""Linking pages held beyond those. To read the links to a page again takes a pass over all links,
and a page that has so many links gains as many of the best ones as it loses."""
BEST, OWN, BEYOND = 0, 1, 2
"""Classes of links, in their order: the best ones of each domain, others of the page's own host,
and others of other hosts, which are held but not listed."""
MOST_LINKS = 1 << 40
"""More than any page has."""


def run(work: Workspace) -> StepReport:
    read = (LINKS, RESPONSES)
    known = sum(layer.rows for layer in work.store.manifest.layers(LINKS.name))
    anew = known <= FEW_LINKS or bool(work.store.damaged(INLINKS.name))
    new = unread.unread_inputs(work, INVERTED, read, anew=anew)
    changed = sum(layer.rows for layer in new.layers[LINKS.name])
    with work.step("invert", work.round) as draft:
        if new.anew or (changed > SORTED_LINKS and changed > known / 2):
            hosts = standing_hosts(work, work.read(LINKS.name))
            votes = current_links.votes(work).select("dst", "src", "anchor")
            parts = work.scratch_parts(votes, "dst", -(-known // SORTED_LINKS))
            layers = [
                work.write(invert_links(part, hosts), INLINKS.name, work.round) for part in parts
            ]
            files = chain.from_iterable(layer.files for layer in layers)
            layer = Layer(work.round, tuple(files))
            lsm.draft_layer(work, draft, INLINKS, layer, anew=True)
            draft.counts["pages"] = layer.rows
        else:
            rows, count = work.scratch(update_rows(work, new))
            lsm.draft_rows(work, draft, INLINKS, rows, count, anew=False)
            draft.counts["changed"] = count
        draft.replace[INVERTED.name] = unread.write_record(work, INVERTED, read)
    return draft.done


def standing_hosts(work: Workspace, links: DataFrame) -> DataFrame:
    """The hosts that link, and their `standing`: their places by rank, from 1.

    `domain` is the standing of the first host of the domain; users of a provider are of one.
    """
    hosts = links.select(host_column(F.col("src")).alias("host")).distinct()
    ranks = work.read(HOST_RANKS.name).select("host", "rank")
    owned = ranks.join(domains.add_voters(work, hosts), on="host", how="right")
    # Ranks of equal hosts differ by the error of their iterations, which is less than a float's.
    rank = F.col("rank").cast("float")
    by_rank = Window.partitionBy(F.lit(0)).orderBy(rank.desc_nulls_last(), F.xxhash64("host"))
    # One partition on purpose: there are far fewer hosts than links.
    placed = owned.withColumn("standing", F.row_number().over(by_rank))
    first = F.min("standing").over(Window.partitionBy("domain"))
    return work.scratch(placed.select("host", "standing", first.alias("domain")))[0]


def invert_links(links: DataFrame, hosts: DataFrame) -> DataFrame:
    """The rows of `inlinks`. `hosts`: the `standing_hosts` of these links."""
    return _inlink_rows(_placed_links(links, hosts))


def _placed_links(links: DataFrame, hosts: DataFrame) -> DataFrame:
    """Links with their `class`, their `place` among those of a page, and whether they are `held`.

    Those that a row may take are held: of each class as many of the first ones as a row has, and at
    most a few times as many more. To know exactly which are the first takes another pass over all
    links. If so many domains link to a page, their best links fill its row, so further domains are
    not needed.
    """
    held = MAX_SOURCES + RESERVE
    of_page = Window.partitionBy("dst")
    in_order = of_page.orderBy("domain", "standing", "draw")
    so_far = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    of_domain = of_page.orderBy("domain")
    linking = links.withColumns(
        {"host": host_column(F.col("src")), "draw": F.xxhash64(F.concat_ws(" ", "src", "dst"))}
    )
    standing = (
        F.broadcast(hosts)
        .join(linking, on="host", how="inner")
        .withColumn("is_own", F.col("host") == host_column(F.col("dst")))
    )
    # All in one order: a window per page and domain would have as many partitions as links.
    numbered = standing.withColumns(
        {
            "number": F.row_number().over(in_order),
            "begins": F.rank().over(of_domain),  # the number of the first link of the domain
            "nth": F.dense_rank().over(of_domain),  # the number of the domain
            "own": F.sum(F.col("is_own").cast("long")).over(so_far),
        }
    )
    number, nth, own = (F.col(name) for name in ("number", "nth", "own"))
    is_best = number - F.col("begins") < domains.LINKS_PER_DOMAIN
    at_least_beyond = number - own - nth * domains.LINKS_PER_DOMAIN
    return numbered.withColumns(
        {
            "class": F.when(is_best, BEST).when(F.col("is_own"), OWN).otherwise(BEYOND),
            "held": F.when(is_best, nth <= held)
            .when(F.col("is_own"), own <= held)
            .otherwise((nth <= held) & (at_least_beyond <= held)),
        }
    ).withColumn("place", F.col("class") * F.lit(MOST_LINKS) + number)


def _inlink_rows(placed: DataFrame) -> DataFrame:
    """The rows of `inlinks`, from `_placed_links`."""
    is_first = F.col("number") == F.col("begins")
    rows = placed.groupBy("dst").agg(
        F.count("*").alias("count"),
        F.sort_array(
            F.collect_list(F.when(F.col("held"), F.struct("place", "src", "anchor")))
        ).alias("held"),
        F.least(F.count_if(F.col("class") < BEYOND), F.lit(MAX_SOURCES))
        .cast("int")
        .alias("listed"),
        F.count_if(is_first & ~F.col("is_own")).cast("int").alias("domains"),
    )
    return rows.select(
        "dst",
        "count",
        _without_places(F.slice("held", F.lit(1), F.col("listed"))).alias("sources"),
        _without_places(F.slice("held", F.col("listed") + 1, F.lit(RESERVE))).alias("further"),
        "domains",
    )


def _without_places(links: Column) -> Column:
    return F.transform(
        links, lambda link: F.struct(link["src"].alias("src"), link["anchor"].alias("anchor"))
    )


def update_rows(work: Workspace, new: Inputs) -> DataFrame:
    """The rows of `inlinks` that change. A page that lost its last link has one without sources."""
    arcs, count = work.scratch(changed_links(work, new))
    if not count:
        return work.engine.read([], INLINKS.ddl)
    by_dst = arcs.groupBy("dst").agg(
        F.sum(F.col("is").cast("long") - F.col("was").cast("long")).alias("more")
    )
    stored = lsm.rows_for_some(work, INLINKS, arcs.select("dst"), ("count", "sources", "further"))
    further = F.coalesce("further", F.slice("sources", 1, 0))  # null in rows of older versions
    known = stored.select("dst", "count", F.concat("sources", further).alias("held"))
    listed = known.select("dst", F.explode("held").alias("source"))
    listed = listed.select("dst", "source.src", "source.anchor", F.lit(True).alias("is_known"))
    is_whole = (F.col("count") <= F.size("held")).alias("is_known")
    came = known.select("dst", is_whole).join(arcs.where("is"), on="dst", how="right")
    links, _ = work.scratch(
        listed.join(arcs, on=["dst", "src"], how="left_anti").unionByName(
            came.select(
                "dst", "src", "anchor", F.coalesce("is_known", F.lit(True)).alias("is_known")
            )
        )
    )
    placed = _placed_links(links, standing_hosts(work, links))
    # Of links that are not all there are, the best are known up to the last that was held.
    known_until = F.max(F.when(F.col("is_known"), F.col("place"))).over(Window.partitionBy("dst"))
    certain = placed.withColumn("until", known_until).where(F.col("place") <= F.col("until"))
    best = _inlink_rows(certain).drop("count")
    counts = by_dst.join(known, on="dst", how="left").select(
        "dst",
        (F.coalesce("count", F.lit(0)) + F.col("more")).alias("count"),
        F.filter("held", lambda _: F.lit(False)).alias("none"),
    )
    rows, _ = work.scratch(
        best.join(counts, on="dst", how="right").select(
            "dst",
            "count",
            *(F.coalesce(name, "none").alias(name) for name in ("sources", "further")),
            F.coalesce("domains", F.lit(0)).alias("domains"),
        )
    )
    held = F.size("sources") + F.size("further")
    enough = held >= F.least(F.col("count"), F.lit(MAX_SOURCES))
    again, some = work.scratch(rows.where(~enough).select("dst"))
    if not some:
        return rows
    votes, _ = work.scratch(current_links.votes_for(work, again))
    whole = invert_links(votes, standing_hosts(work, votes))
    return rows.where(enough).unionByName(whole)


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
