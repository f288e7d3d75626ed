"""Which hosts are mirrors of another? Those whose paths and contents agree with it.

A host is a mirror of another if most paths that both have lead to equal texts (Bharat and Broder,
"Mirror, mirror on the Web: a study of host pairs with replicated content", WWW8, 1999). Candidates
are hosts that have several equal texts at equal paths. Among all hosts that have such a page, the
one on whose domain it was found first is taken for the original; of several hosts of a domain, the
one with the highest rank, to which others link most. So there is one pair per page, and never all
pairs of many hosts. Of two hosts, the one that was first at most paths is the original.

A page of a mirror yields to the page at the same path of the original, as if it named that page as
its canonical one (survivors.py). So it is dropped only if the two have the same content, and pages
that only the mirror has can still be found.

A hash of path and text that two pages have stays remembered (`shared_places`), so that a harvest
only looks for those of pages that have changed.

Cost: a look at these hashes of all pages; joins of pages that share one, and of all pages of the
hosts in question.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from gossamer.dedup.disposition_layers import FINDABLE
from gossamer.links import domains
from gossamer.tables import HOST_RANKS, MIRRORS, SHARED_PLACES
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from gossamer.dedup.disposition_layers import DispositionLayers
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

MIN_TEXTS = 5
"""Texts that two hosts must have in common. Parked hosts have one under all paths."""
MIN_AGREEING_SHARE = 0.8
"""Share of the common paths at which the texts must be equal."""
MIN_COMMON_SHARE = 0.5
"""Share of the paths of the smaller host that both must have."""


def update_shared_places(
    work: Workspace, known: DispositionLayers, fresh: DataFrame, *, anew: bool
) -> tuple[DataFrame, int]:
    """The rows of the dataset `shared_places`, materialised, and their number.

    Further ones are those of `fresh` pages, unless all is judged `anew`. Some may be shared no
    more, which does no harm.
    """
    if anew:
        pages = known.where(lambda layer: layer.where(FINDABLE).select("url", "place"))
    else:
        places = fresh.where(FINDABLE).select("place").distinct()
        at_places = [layer.join(places, on="place", how="left_semi") for layer in known.layers]
        pages = reduce(DataFrame.unionByName, [layer.select("url", "place") for layer in at_places])
    ends = pages.groupBy("place").agg(F.min("url").alias("first"), F.max("url").alias("last"))
    shared = ends.where("first <> last").select("place")
    if not anew:
        shared = shared.unionByName(work.read(SHARED_PLACES.name)).distinct()
    return work.scratch(shared, SHARED_PLACES.ddl)


class Mirrors(NamedTuple):
    """The rows of `mirrors` and `shared_places`, materialised, and their numbers."""

    rows: DataFrame
    hosts: int
    places: DataFrame
    shared: int

    def layers(self, work: Workspace) -> dict[str, tuple[Layer, ...]]:
        """The layers that are written for both datasets."""
        numbers = {MIRRORS.name: (self.rows, self.hosts)}
        numbers[SHARED_PLACES.name] = self.places, self.shared
        return {
            name: (work.write(rows, name, work.round),) if number else ()
            for name, (rows, number) in numbers.items()
        }


def find_mirrors(
    work: Workspace, known: DispositionLayers, fresh: DataFrame, *, anew: bool
) -> Mirrors:
    """Find the hosts that are mirrors of another by now. `fresh` as for `update_shared_places`."""
    places, shared = update_shared_places(work, known, fresh, anew=anew)
    return Mirrors(*_mirror_hosts(work, known, places, shared), places, shared)


def _mirror_hosts(
    work: Workspace, known: DispositionLayers, places: DataFrame, count: int
) -> tuple[DataFrame, int]:
    """The rows of `mirrors`, materialised, and their number. `places`: the shared ones, `count`."""
    none = work.engine.read([], MIRRORS.ddl), 0
    if not count:
        return none
    pairs, count = work.scratch(_pair_with_originals(work, known, places))
    return work.scratch(_compare_paths(work, known, pairs)) if count else none


def _pair_with_originals(work: Workspace, known: DispositionLayers, places: DataFrame) -> DataFrame:
    """Pair each `host` with the host `mirror_of` with which it shares most places."""
    at_places = known.where(lambda layer: layer.join(places, on="place", how="left_semi"))
    shared, _ = work.scratch(
        _add_paths(at_places.where(FINDABLE)).select(
            *("host", "path", "text", "place", "titled_ms", "found_ms")
        )
    )
    ranked = work.read(HOST_RANKS.name).select("host", F.col("rank").alias("host_rank"))
    owners = domains.add_domains(work, shared.select("host").distinct())
    first_ms = F.min(F.coalesce("titled_ms", "found_ms")).over(
        Window.partitionBy("place", "domain").rowsBetween(
            Window.unboundedPreceding, Window.unboundedFollowing
        )
    )
    best = Window.partitionBy("place").orderBy(
        F.asc_nulls_last("first_ms"),
        F.desc_nulls_last("host_rank"),
        F.length("host"),
        F.col("host"),
    )
    ahead = (
        F.broadcast(owners)
        .join(ranked.join(shared, on="host", how="right"), on="host", how="inner")
        .withColumn("first_ms", first_ms)
        .select("host", "path", "text", F.first("host").over(best).alias("mirror_of"))
        .where(F.col("host") != F.col("mirror_of"))
        .distinct()
        .groupBy("host", "mirror_of")
        .agg(F.count("*").alias("ahead"), F.count_distinct("text").alias("texts"))
    )
    behind = ahead.select(
        F.col("host").alias("mirror_of"),
        F.col("mirror_of").alias("host"),
        *(F.col(name).alias(f"other_{name}") for name in ("ahead", "texts")),
    )
    agreeing, texts = (
        F.col(name) + F.coalesce(f"other_{name}", F.lit(0)) for name in ("ahead", "texts")
    )
    pairs = (
        ahead.join(behind, on=["host", "mirror_of"], how="left")
        .where((texts >= MIN_TEXTS) & (F.col("ahead") > F.coalesce("other_ahead", F.lit(0))))
        .select("host", "mirror_of", agreeing.alias("agreeing"))
    )
    most = F.row_number().over(
        Window.partitionBy("host").orderBy(F.desc("agreeing"), F.col("mirror_of"))
    )
    return pairs.withColumn("number", most).where("number = 1").drop("number")


def _compare_paths(work: Workspace, known: DispositionLayers, pairs: DataFrame) -> DataFrame:
    """The pairs that agree at most of the paths that both hosts have."""
    hosts = pairs.select(F.explode(F.array("host", "mirror_of")).alias("host")).distinct()
    paths, _ = work.scratch(
        pages_of_hosts(known, hosts).where(FINDABLE).select("host", "path").distinct()
    )
    sizes = paths.groupBy("host").agg(F.count("*").alias("pages"))
    common = (
        pairs.select("host", "mirror_of")
        .join(paths, on="host", how="inner")
        .join(paths.withColumnRenamed("host", "mirror_of"), on=["mirror_of", "path"], how="inner")
        .groupBy("host", "mirror_of")
        .agg(F.count("*").alias("shared_paths"))
    )
    compared = (
        pairs.join(common, on=["host", "mirror_of"], how="inner")
        .join(sizes, on="host", how="inner")
        .join(
            sizes.select(
                F.col("host").alias("mirror_of"), F.col("pages").alias("pages_of_original")
            ),
            on="mirror_of",
            how="inner",
        )
    )
    smaller = F.least("pages", "pages_of_original")
    counts = ("agreeing", "shared_paths", "pages", "pages_of_original")
    return compared.where(
        (F.col("agreeing") >= F.col("shared_paths") * MIN_AGREEING_SHARE)
        & (F.col("shared_paths") >= smaller * MIN_COMMON_SHARE)
    ).select("host", "mirror_of", *counts)


def pages_of_hosts(known: DispositionLayers, hosts: DataFrame) -> DataFrame:
    """The rows of the pages of some hosts (`host`), with their `host` and `path`."""
    rows = known.where(
        lambda layer: (
            layer.withColumn("host", host_column(F.col("url")))
            .join(hosts, on="host", how="left_semi")
            .drop("host")
        )
    )
    return _add_paths(rows)


def changed_hosts(work: Workspace, found: DataFrame) -> DataFrame:
    """The hosts (`host`) that are mirrors of another one than at the last harvest, or none now."""
    before = work.read(MIRRORS.name).select("host", F.col("mirror_of").alias("before"))
    both = found.select("host", "mirror_of").join(before, on="host", how="full_outer")
    return both.where(~F.col("mirror_of").eqNullSafe(F.col("before"))).select("host")


def add_originals(fit: DataFrame, found: DataFrame, similar: DataFrame) -> DataFrame:
    """Give pages that name no canonical page that of the original, and mark them as `is_mirrored`.

    Only if the two texts are equal or `similar` (pairs `one`, `other`, both ways). `found` are rows
    of `mirrors`.
    """
    placed = _add_paths(fit).where("canonical IS NULL")
    originals = (
        placed.join(
            found.select(F.col("mirror_of").alias("host")).distinct(), on="host", how="left_semi"
        )
        .groupBy(F.col("host").alias("mirror_of"), "path")
        .agg(F.min_by(F.struct("url", "text", "text_hash"), "url").alias("at"))
        .select(
            "mirror_of",
            "path",
            F.col("at.url").alias("original"),
            F.col("at.text").alias("its_text"),
            F.col("at.text_hash").alias("other"),
        )
    )
    pairs = (
        found.select("host", "mirror_of")
        .join(
            placed.select("url", "host", "path", "text", F.col("text_hash").alias("one")), on="host"
        )
        .join(originals, on=["mirror_of", "path"], how="inner")
    )
    alike = similar.select("one", "other", F.lit(True).alias("alike"))
    pages = (
        pairs.join(alike, on=["one", "other"], how="left")
        .where((F.col("text") == F.col("its_text")) | F.coalesce("alike", F.lit(False)))
        .select("url", "original")
    )
    changes = {
        "canonical": F.coalesce("canonical", "original"),
        "is_mirrored": F.col("original").isNotNull(),
    }
    return pages.join(fit, on="url", how="right").withColumns(changes).drop("original")


def _add_paths(pages: DataFrame) -> DataFrame:
    origin = F.substring_index("url", "/", 3)
    path = F.substring(F.col("url"), F.length(origin) + 1, F.length("url"))
    return pages.withColumns({"host": host_column(F.col("url")), "path": path})


def add_places(pages: DataFrame) -> DataFrame:
    """Add `place`: a hash of the path, the text and the scope, which mirrors have in common."""
    placed = _add_paths(pages)
    place = F.xxhash64("path", "text", F.coalesce("scope", F.lit("")))
    return placed.withColumn("place", place).drop("host", "path")
