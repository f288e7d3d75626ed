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
from gossamer.page_lines import LINE, HostLines, frequent
from gossamer.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from gossamer.workspace import Workspace

FEW = 3
"""Pages of a large site that may have a line in common that is not boilerplate."""
MAX_LINES = 500_000
"""Repeated lines of a host; further ones are searched. A task holds those of one host, in 50 MB."""


def repeated_lines(work: Workspace, changed: DataFrame, known: DataFrame) -> DataFrame:
    """The rows that `repeated` should have after the changes of `changes.changes`.

    `known` are its present rows. Those of hosts without pages are dropped.
    """
    is_there = F.when(F.col("change") != REMOVED, 1).otherwise(0)
    has_moved = F.when(F.col("change") != KEPT, 1).otherwise(0)
    hosts = changed.groupBy(host_column(F.col("url")).alias("host")).agg(
        F.sum(is_there).alias("pages_now"), F.sum(has_moved).alias("moved")
    )
    hosts = (
        hosts.where("pages_now > 0")
        .join(known, on="host", how="left")
        .withColumn("changes", F.coalesce("changes", F.lit(0)) + F.col("moved"))
        .withColumn("is_due", F.col("pages").isNull() | (F.col("changes") >= F.col("pages")))
    )
    due, rest = hosts.where("is_due"), hosts.where("NOT is_due")
    determined = (
        due.drop("lines")
        .join(_counted(work, changed, due), on="host", how="left")
        .select(
            "host",
            F.col("pages_now").alias("pages"),
            F.lit(0).cast("long").alias("changes"),
            "lines",
        )
    )
    return determined.unionByName(rest.select("host", "pages", "changes", "lines"))


def _counted(work: Workspace, changed: DataFrame, due: DataFrame) -> DataFrame:
    """By `host`, the hashes of the `lines` that repeat on it."""
    most = F.least(F.lit(float(FEW)), F.col("pages_now") / 2)
    current = changed.where(F.col("change") != REMOVED).select(
        "url", "round", host_column(F.col("url")).alias("host")
    )
    pages = due.select("host", "pages_now").join(current, on="host")
    lines = pages.join(
        work.read("documents").select("url", "round", "boilerplate"), on=["url", "round"]
    ).select("host", "pages_now", F.explode(F.split("boilerplate", LINE)).alias("line"))
    return frequent(lines, most, MAX_LINES)


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
    around = inside = HostLines(())
    for row in rows:
        if row["adds"]:
            if row["lines"] or row["common_lines"] or row["host"] != host:
                host = row["host"]
                around, inside = HostLines(row["lines"]), HostLines(row["common_lines"])
            row["common"] = ""
            if row["text"]:
                _tell_apart(row, around, inside)
        yield row


def _tell_apart(row: dict[str, Any], around: HostLines, inside: HostLines) -> None:
    names = {row["title"], *(row["headings"] or ())}
    own, common = inside.divided(row["text"])
    others, left_out = around.divided(row["boilerplate"] or "")
    searched = [line for line in others.split(LINE) if line not in names]
    if row["is_doubtful"]:
        common, left_out = "", joined(left_out, common)
    row["text"] = joined(own, *searched)
    row["common"] = common
    row["boilerplate"] = left_out


def joined(*texts: str) -> str:
    return LINE.join(filter(None, texts))
