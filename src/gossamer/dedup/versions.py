r"""Which pages are older versions of another?

Manuals stay on the Web under the path of each version:

    /3.9/library/re.html    /3.10/library/re.html    /stable/library/re.html

A segment of the path that looks like a version is the place where the paths of a family differ. The
newest page stands for all: `stable`, `latest` and the like first, since that is where a site sends
its readers, then the highest number (a release before its own pre-releases), then `main`, `dev` and
the like. Languages are not versions.

A number in a path is often something else: a year, a chapter, an issue. So a family needs evidence.
The pages of an older version must mostly be those of the newest: with the same titles, numbers
apart, and with similar texts (J ≥ LEAST, by their sketches). Then each of its pages yields if its
title is the same, or its text similar; a page without a counterpart in a newer version stays. A
year is not a version, nor is a whole number if there are many: those of /issues/17/ are things.

Cost: a look at the URLs of a family. For the paths that occur in several versions, the sketches of
their pages are read and compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.dedup.own_texts import own_sketches
from gossamer.dedup.sketch_estimates import add_estimates
from gossamer.dedup.version_names import DEVELOPED, EVERGREEN, PRERELEASE, VERSION

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.state.workspace import Workspace

_YEAR = "^(?:19|20)[0-9]{2}$"
_WHOLE = "^[a-z_-]*[0-9]+$"
MAX_SEGMENTS = 8
"""Segments of a path that may be its version, from the first one on."""
MIN_SHARED_PAGES = 5
"""Pages that two versions must have in common."""
MIN_SIMILARITY = 0.3
"""Similarity from which an older text is taken for one of the same page."""
MAX_WHOLE = 40
"""Whole numbers at one place, from which on they are no versions."""
MIN_SAME_SHARE = 0.6
"""Part of the pages in common that must be the same in both versions."""


def older_versions(work: Workspace, fit: DataFrame) -> tuple[DataFrame, int]:
    """The pages of which a newer version exists: `url`, `survivor`, `reason` and `similarity`.

    Both they and their number; they are materialised. The similarity is an estimate, and null if
    one of them has no sketch. `fit` must be materialised.
    """
    pairs, count = work.scratch(version_counterparts(fit.where("families IS NOT NULL")))
    if not count:
        none = "url string, survivor string, reason string, similarity double"
        return work.engine.read([], none), 0
    ends, _ = work.scratch(_pages_of_pairs(pairs))
    held, _ = work.scratch(own_sketches(work, ends).where("sketch IS NOT NULL"))
    compared, _ = work.scratch(add_estimates(work, pairs, held, "text"))
    return work.scratch(proven_versions(compared).withColumn("reason", F.lit("version")))


def add_families(pages: DataFrame) -> DataFrame:
    """Add `families`: hashes of the families to which the URL (`url`, `scope`) may belong, or null.

    Only pages of the same family can be versions of each other.
    """
    found = _version_segments(pages.select("url", "scope")).groupBy("url")
    families = found.agg(F.sort_array(F.collect_set(F.xxhash64("family"))).alias("families"))
    return families.join(pages, on="url", how="right")


def _version_segments(pages: DataFrame) -> DataFrame:
    """The URLs with a segment that may be a version, once for each such segment.

    Further columns: their `family`, the rest of the path `after` the segment, the `version` and its
    `recency`.
    """
    segments = F.split(F.split_part(F.lower("url"), F.lit("?"), F.lit(1)), "/")
    versioned = pages.where(F.lower("url").rlike(f"/{VERSION}/")).withColumn("segments", segments)
    exploded = versioned.select("*", F.posexplode("segments").alias("at", "version")).where(
        F.col("at").between(3, 2 + MAX_SEGMENTS)
        & (F.col("at") < F.size("segments") - 1)
        & F.col("version").rlike(f"^{VERSION}$")
        & ~F.col("version").rlike(_YEAR)
    )
    before = F.array_join(F.slice("segments", 1, F.col("at")), "/")
    after = F.substring(F.col("url"), 2 + F.length(before) + F.length("version"), F.length("url"))
    product = F.when(F.col("version").isin(*EVERGREEN, *DEVELOPED), "").otherwise(
        F.regexp_replace(F.regexp_extract("version", "^[a-z]*", 0), "^v$", "")
    )
    return exploded.withColumns(
        {
            "family": F.concat_ws(" ", "scope", before, product),
            "after": after,
            "recency": recency_key(F.col("version")),
        }
    ).drop("segments", "at")


def version_counterparts(fit: DataFrame) -> DataFrame:
    """Pairs of pages of a `family` of versions: `one` and its newest version, the `other`.

    Further columns: the `version` of `one`, and `round` and `title` of both. A page may be in
    several families, if several segments of its path look like versions.
    """
    placed = _version_segments(fit.select("url", "round", "scope", _plain_title().alias("title")))
    whole = placed.where(F.col("version").rlike(_WHOLE)).select("family", "version").distinct()
    things = whole.groupBy("family").agg(F.count("*").alias("n")).where(F.col("n") > MAX_WHOLE)
    placed = placed.join(things.select("family"), on="family", how="left_anti")
    newest_first = F.desc("recency"), F.desc("version"), F.length("url"), F.col("url")
    versions = Window.partitionBy("family", "after").orderBy(*newest_first)
    names = ("url", "round", "title", "version")
    newest = {f"other_{name}": F.first(name).over(versions) for name in names}
    return (
        placed.withColumns(newest)
        .where(F.col("version") != F.col("other_version"))
        .select(
            *("family", "version", F.col("url").alias("one"), F.col("other_url").alias("other")),
            *(F.col(name).alias(f"one_{name}") for name in names[1:-1]),
            *(f"other_{name}" for name in names[1:-1]),
        )
    )


def _pages_of_pairs(pairs: DataFrame) -> DataFrame:
    """All pages of pairs, as `own_sketches` wants them."""
    one, other = (
        pairs.select(
            F.col(end).alias("url"), F.col(f"{end}_round").alias("round"), F.col(end).alias("text")
        )
        for end in ("one", "other")
    )
    return one.unionByName(other).distinct()


def proven_versions(compared: DataFrame) -> DataFrame:
    """The older pages of families with enough evidence: `url`, `survivor`, `similarity`."""
    titled = F.coalesce(F.col("one_title") == F.col("other_title"), F.lit(False))
    alike = F.coalesce(F.col("estimate") >= MIN_SIMILARITY, F.lit(False))
    same = titled & (alike | F.col("estimate").isNull())
    evidence = compared.groupBy("family", "version").agg(
        F.count("*").alias("shared"),
        F.count_if(same).alias("same"),
        F.count_if(alike).alias("alike"),
    )
    enough = F.greatest(F.lit(MIN_SHARED_PAGES), F.col("shared") * MIN_SAME_SHARE)
    proven = evidence.where((F.col("same") >= enough) & (F.col("alike") > 0))
    once = Window.partitionBy("one").orderBy("family")
    return (
        proven.select("family", "version")
        .join(compared.where(titled | alike), on=["family", "version"], how="inner")
        .withColumn("number", F.row_number().over(once))
        .where("number = 1")
        .select(
            F.col("one").alias("url"),
            F.col("other").alias("survivor"),
            F.col("estimate").alias("similarity"),
        )
    )


def _plain_title() -> Column:
    """The title without numbers and names of versions."""
    names = "|".join((*EVERGREEN, *DEVELOPED))
    return F.trim(F.regexp_replace(F.lower("title"), rf"v?[0-9][0-9a-z._-]*|\b(?:{names})\b", ""))


def recency_key(version: Column) -> Column:
    """A string by which versions are ordered like by `version_names.version_recency`."""
    release = F.regexp_replace(version, f"{PRERELEASE}$", "")
    numbered = F.concat(
        F.lit("1."),
        _pad_numbers(release),
        F.when(version == release, "#").otherwise(
            F.concat(F.lit("!"), _pad_numbers(F.regexp_extract(version, f"{PRERELEASE}$", 0)))
        ),
    )
    return (
        F.when(version.isin(*EVERGREEN), "2")
        .when(version.isin(*DEVELOPED), "0")
        .otherwise(numbered)
    )


def _pad_numbers(text: Column) -> Column:
    numbers = F.regexp_extract_all(text, F.lit("([0-9]+)"), F.lit(1))
    return F.array_join(F.transform(numbers, lambda number: F.lpad(number, 4, "0")), ".")
