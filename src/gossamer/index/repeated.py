"""Which lines of a page are boilerplate? Those that its site repeats.

What an extractor leaves out is not always boilerplate. Navigation, footers and teasers repeat from
page to page; the description of a class that was taken for a comment does not. So a line outside
the main text is boilerplate if more than FEW pages of its host have it, or on small sites more than
half of them. The other lines are searched, behind the main text. On the only page of a host nothing
can repeat, and the extractor's choice stands.

What an extractor keeps is not always main text. The step `boilerplate` finds the lines of main
texts that stand on many pages of a host. Where the extractor was in doubt, they go to the rest of
the boilerplate. Elsewhere, they are searched as main text, but kept apart (`common`): snippets show
them only if no other line has a word of the query.

The dataset `repeated` has the repeated lines of each host as hashes. They are determined again when
as many of a host's pages have changed as it had then. So the lines of a site that grows are counted
a few times in all, not in every round. If the result differs, all pages of the host are written
again.

Cost, for each page whose host's lines are determined: its lines are hashed and counted in the
engine. For each page that is written: a look-up per line outside its main text. A task holds the
lines of one host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.index.changes import KEPT, REMOVED, REPLACED
from gossamer.tables import DOCUMENTS
from gossamer.web.lines import LINE, BoilerplateLines, frequent_lines
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

FEW = 3
"""Pages of a large site that may have a line in common that is not boilerplate."""
MAX_LINES = 500_000
"""Repeated lines of a host; further ones are searched. A task holds those of one host, in 50 MB."""


def repeated_lines(
    work: Workspace, changed: DataFrame, old: DataFrame, known: DataFrame
) -> tuple[DataFrame, DataFrame]:
    """The rows of `repeated` that follow from changes (`compare_with_indexed`), and their hosts.

    `old`: the rows of `indexed`; the pages of `changed` are left out of them. `known`: the present
    rows. Both are materialised. A host without pages has no row. The hosts (`host`, `is_due`) are
    all that had changes.
    """
    has_moved = F.when(F.col("change") != KEPT, 1).otherwise(0)
    moved = changed.groupBy(host_column(F.col("url")).alias("host")).agg(
        F.sum(has_moved).alias("moved")
    )
    hosts, _ = work.scratch(
        moved.where("moved > 0")
        .join(known.drop("lines"), on="host", how="left")
        .select(
            "host",
            "pages",
            (F.coalesce("changes", F.lit(0)) + F.col("moved")).alias("changes"),
        )
        .withColumn("is_due", F.col("pages").isNull() | (F.col("changes") >= F.col("pages")))
    )
    due, number = work.scratch(hosts.where("is_due").select("host"), "host string")
    rest = hosts.where("NOT is_due").select("host", "pages", "changes")
    rows = rest.join(known.select("host", "lines"), on="host", how="inner")
    if number:
        present = _present(changed, old, due)
        pages, _ = work.scratch(present)
        sizes = pages.groupBy("host").agg(F.count("*").alias("pages"))
        determined = _counted(work, pages, sizes).join(sizes, on="host", how="right")
        no_changes = F.lit(0).cast("long").alias("changes")
        rows = rows.unionByName(determined.select("host", "pages", no_changes, "lines"))
    return rows, hosts.select("host", "is_due")


def _present(changed: DataFrame, old: DataFrame, hosts: DataFrame) -> DataFrame:
    """The pages that the index is going to hold of some hosts: `url`, `round`, `host`."""
    is_there = changed.where(F.col("change") != REMOVED).select("url", "round")
    others = old.select("url", "round").join(changed.select("url"), on="url", how="left_anti")
    pages = is_there.unionByName(others).withColumn("host", host_column(F.col("url")))
    return pages.join(hosts, on="host", how="left_semi")


def _counted(work: Workspace, pages: DataFrame, sizes: DataFrame) -> DataFrame:
    """By `host`, the hashes of the `lines` that repeat on it. `sizes`: how many `pages` it has."""
    most = F.least(F.lit(float(FEW)), F.col("pages") / 2)
    documents = work.engine.read_some(work.paths("documents"), DOCUMENTS.ddl)
    lines = (
        sizes.join(pages, on="host", how="inner")
        .join(documents.select("url", "round", "boilerplate"), on=["url", "round"], how="inner")
        .select("host", "pages", F.explode(F.split("boilerplate", LINE)).alias("line"))
    )
    return frequent_lines(lines, most, MAX_LINES)


def of_hosts(repeated: DataFrame, boilerplate: DataFrame) -> DataFrame:
    """By `host`, hashes of its lines: `lines` outside main texts, and `common_lines` in them.

    Both are null if there are none.
    """
    common = boilerplate.where("lines IS NOT NULL")
    common = common.select("host", F.col("lines").alias("common_lines"))
    return common.join(repeated.select("host", "lines"), on="host", how="right")


def with_repeated(changed: DataFrame, hosts: DataFrame) -> DataFrame:
    """`changed` with the column `repeated`, a hash of the lines that repeat on the page's host.

    `hosts` are those `of_hosts`. Pages for which it differs are replaced.
    """
    lines, common = (
        F.coalesce(F.array_join(F.col(name).cast("array<string>"), ","), F.lit(""))
        for name in ("lines", "common_lines")
    )
    version = F.xxhash64(F.concat_ws(" ", "host", lines, common))
    versions = hosts.where("lines IS NOT NULL OR common_lines IS NOT NULL").select(
        "host", version.alias("repeated")
    )
    differs = (F.col("change") == KEPT) & (
        F.coalesce("repeated", F.lit(0)) != F.coalesce("old_repeated", F.lit(0))
    )
    pages = changed.withColumn("host", host_column(F.col("url")))
    return (
        versions.join(pages, on="host", how="right")
        .withColumn("change", F.when(differs, REPLACED).otherwise(F.col("change")))
        .drop("host")
    )


def with_lines(adds: DataFrame, hosts: DataFrame) -> DataFrame:
    """`adds` with the lines `of_hosts`, for the first page of each in a part; null for others.

    The pages of a part are sorted by URL, so those of a host and scheme stand together.
    """
    origin = F.substring_index("url", "/", 3)
    pages = Window.partitionBy("shard", "index_language", origin).orderBy("url")
    first = F.row_number().over(pages) == 1
    hosted = adds.withColumn("host", F.when(first, host_column(F.col("url"))))
    return hosts.join(hosted, on="host", how="right").drop("host")


def told_apart(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows of a part with `text`, `common` and `boilerplate` divided by the lines that repeat.

    A line that is the title or a heading is left out, as the page has it there.
    """
    host: str | None = None
    around = inside = BoilerplateLines(())
    for row in rows:
        if row["adds"]:
            if row["lines"] or row["common_lines"] or row["host"] != host:
                host = row["host"]
                around, inside = (
                    BoilerplateLines(row["lines"]),
                    BoilerplateLines(row["common_lines"]),
                )
            row["common"] = ""
            if row["text"]:
                _tell_apart(row, around, inside)
        yield row


def _tell_apart(row: dict[str, Any], around: BoilerplateLines, inside: BoilerplateLines) -> None:
    names = {row["title"], *(row["headings"] or ())}
    own, common = inside.split(row["text"])
    others, left_out = around.split(row["boilerplate"] or "")
    searched = [line for line in others.split(LINE) if line not in names]
    if row["is_doubtful"]:
        common, left_out = "", joined(left_out, common)
    row["text"] = joined(own, *searched)
    row["common"] = common
    row["boilerplate"] = left_out


def joined(*texts: str) -> str:
    return LINE.join(filter(None, texts))
