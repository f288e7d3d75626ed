"""Which of the lines around a page's main text are boilerplate: those that its site repeats.

What an extractor leaves out is not always boilerplate. Navigation, footers and teasers repeat from
page to page; the description of a class that was taken for a comment does not. So a line outside
the main text is boilerplate if more than FEW pages of its host have it, or on small sites more than
half of them. The other lines are searched, behind the main text. On the only page of a host nothing
can repeat, and the extractor's choice stands.

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

import xxhash
from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.index.changes import KEPT, REMOVED, REPLACED
from gossamer.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from gossamer.workspace import Workspace

FEW = 3
"""Pages of a large site that may have a line in common that is not boilerplate."""
MAX_LINES = 500_000
"""Repeated lines of a host; further ones are searched. A task holds those of one host, in 50 MB."""
LINE = "\n"
_SEED = 42
"""The seed of Spark's xxhash64."""


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
    determined = due.join(_counted(work, changed, due), on="host", how="left").select(
        "host",
        F.col("pages_now").alias("pages"),
        F.lit(0).cast("long").alias("changes"),
        F.col("found").alias("lines"),
    )
    return determined.unionByName(rest.select("host", "pages", "changes", "lines"))


def _counted(work: Workspace, changed: DataFrame, due: DataFrame) -> DataFrame:
    """By `host`, the hashes of the lines that repeat on it, as `found`."""
    most = F.least(F.lit(float(FEW)), F.col("pages_now") / 2)
    current = changed.where(F.col("change") != REMOVED).select(
        "url", "round", host_column(F.col("url")).alias("host")
    )
    pages = due.select("host", "pages_now").join(current, on="host")
    lines = pages.join(
        work.read("documents").select("url", "round", "boilerplate"), on=["url", "round"]
    ).select("host", "pages_now", F.explode(F.split("boilerplate", LINE)).alias("line"))
    return (
        lines.groupBy("host", "pages_now", F.xxhash64("line").alias("line"))
        .agg(F.count("*").alias("having"))
        .where(F.col("having") > most)
        .groupBy("host")
        .agg(F.slice(F.sort_array(F.collect_list("line")), 1, MAX_LINES).alias("found"))
    )


def with_repeated(changed: DataFrame, repeated: DataFrame) -> DataFrame:
    """`changed` with the column `repeated`, a hash of the lines that repeat on the page's host.

    Pages for which it differs are replaced.
    """
    version = F.xxhash64(F.concat("host", F.array_join(F.col("lines").cast("array<string>"), ",")))
    versions = repeated.select("host", version.alias("repeated"))
    differs = (F.col("change") == KEPT) & (
        F.coalesce("repeated", F.lit(0)) != F.coalesce("old_repeated", F.lit(0))
    )
    hosts = changed.withColumn("host", host_column(F.col("url")))
    return (
        versions.join(hosts, on="host", how="right")
        .withColumn("change", F.when(differs, REPLACED).otherwise(F.col("change")))
        .drop("host")
    )


def with_lines(adds: DataFrame, repeated: DataFrame) -> DataFrame:
    """`adds` with the column `lines`, for the first page of each host in a part; null for others.

    The pages of a part are sorted by URL, so those of a host and scheme stand together.
    """
    origin = F.substring_index("url", "/", 3)
    pages = Window.partitionBy("shard", "index_language", origin).orderBy("url")
    first = F.row_number().over(pages) == 1
    hosts = adds.withColumn("host", F.when(first, host_column(F.col("url"))))
    return repeated.select("host", "lines").join(hosts, on="host", how="right").drop("host")


def told_apart(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows of a part with `text` and `boilerplate` divided by the lines that repeat.

    A line that is the title or a heading is left out, as the page has it there.
    """
    host: str | None = None
    repeats = _Repeats(())
    for row in rows:
        if row["adds"]:
            if row["lines"] is not None or row["host"] != host:
                host, repeats = row["host"], _Repeats(row["lines"] or ())
            if row["boilerplate"] and row["text"]:
                _tell_apart(row, repeats)
        yield row


class _Repeats:
    """The lines that repeat on a host. Looking up a line again costs a fifth of hashing it."""

    def __init__(self, hashes: Iterable[int]) -> None:
        self._hashes = frozenset(hashes)
        self._met: set[str] = set()

    def __contains__(self, line: str) -> bool:
        if line in self._met:
            return True
        if found := line_hash(line) in self._hashes:
            self._met.add(line)
        return found


def _tell_apart(row: dict[str, Any], repeats: _Repeats) -> None:
    names = {row["title"], *(row["headings"] or ())}
    searched, left_out = [], []
    for line in row["boilerplate"].split(LINE):
        if line in repeats:
            left_out.append(line)
        elif line not in names:
            searched.append(line)
    row["text"] = LINE.join([row["text"], *searched])
    row["boilerplate"] = LINE.join(left_out)


def line_hash(line: str) -> int:
    """Spark's `xxhash64`: a signed number."""
    unsigned = xxhash.xxh64_intdigest(line.encode(), _SEED)
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned
