"""Which lines of a page are boilerplate? Those that its site repeats.

What an extractor leaves out is not always boilerplate. Navigation, footers and teasers repeat from
page to page; the description of a class that was taken for a comment does not. So a line outside
the main text is boilerplate (`outer_boilerplate`) if more than FEW pages of its host have it, or on
small sites more than half of them. The other lines are searched, behind the main text. On the only
page of a host nothing can repeat, and the extractor's choice stands.

What an extractor keeps is not always main text. The step `boilerplate` finds the lines of main
texts that stand on many pages of a host (`inner_boilerplate`). Where the extractor was in doubt,
they go to the outer boilerplate. Elsewhere, they are searched as main text, but kept apart:
snippets show them only if no other line has a word of the query.

The dataset `outer_boilerplate` has these lines of each host as hashes. They are determined again
when as many of a host's pages have changed as it had then. So the lines of a site that grows are
counted a few times in all, not in every round. If the result differs, all pages of the host are
written again.

Cost, for each page whose host's lines are determined: its lines are hashed and counted in the
engine. For each page that is written: a look-up per line outside its main text. A task holds the
lines of one host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.index.indexed_rows import KEPT, REMOVED, REPLACED
from gossamer.tables import DOCUMENTS
from gossamer.web.boilerplate_lines import LINE, BoilerplateLines, frequent_lines, line_hashes
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

FEW = 3
"""Pages of a large site that may have a line in common that is not boilerplate."""
MAX_LINES = 500_000
"""Lines of a host; further ones are searched. A task holds those of one host, in 50 MB."""


def update_outer_boilerplate(
    work: Workspace, changed: DataFrame, old: DataFrame, known: DataFrame
) -> tuple[DataFrame, DataFrame]:
    """The rows of `outer_boilerplate` that follow from changed pages, and the hosts of these.

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
            "host", "pages", (F.coalesce("changes", F.lit(0)) + F.col("moved")).alias("changes")
        )
        .withColumn("is_due", F.col("pages").isNull() | (F.col("changes") >= F.col("pages")))
    )
    due, number = work.scratch(hosts.where("is_due").select("host"), "host string")
    rest = hosts.where("NOT is_due").select("host", "pages", "changes")
    rows = rest.join(known.select("host", "lines"), on="host", how="inner")
    if number:
        present = _present_pages(changed, old, due)
        pages, _ = work.scratch(present)
        sizes = pages.groupBy("host").agg(F.count("*").alias("pages"))
        determined = _frequent_lines(work, pages, sizes).join(sizes, on="host", how="right")
        no_changes = F.lit(0).cast("long").alias("changes")
        rows = rows.unionByName(determined.select("host", "pages", no_changes, "lines"))
    return rows, hosts.select("host", "is_due")


def _present_pages(changed: DataFrame, old: DataFrame, hosts: DataFrame) -> DataFrame:
    """The pages that the index is going to hold of some hosts: `url`, `round`, `host`."""
    is_there = changed.where(F.col("change") != REMOVED).select("url", "round")
    others = old.select("url", "round").join(changed.select("url"), on="url", how="left_anti")
    pages = is_there.unionByName(others).withColumn("host", host_column(F.col("url")))
    return pages.join(hosts, on="host", how="left_semi")


def _frequent_lines(work: Workspace, pages: DataFrame, sizes: DataFrame) -> DataFrame:
    """By `host`, the hashes of the `lines` that repeat on it. `sizes`: how many `pages` it has."""
    most = F.least(F.lit(float(FEW)), F.col("pages") / 2)
    hashes = line_hashes(F.col("boilerplate")).alias("hashes")
    documents = work.engine.read_some(work.paths("documents"), DOCUMENTS.ddl)
    lines = (
        sizes.join(pages, on="host", how="inner")
        .join(documents.select("url", "round", hashes), on=["url", "round"], how="inner")
        .select("host", "pages", F.explode("hashes").alias("hash"))
    )
    return frequent_lines(lines, most, MAX_LINES)


def boilerplate_of_hosts(outer: DataFrame, inner: DataFrame) -> DataFrame:
    """By `host`, hashes of its boilerplate: `outer_lines` beside main texts, `inner_lines` in them.

    `outer` and `inner`: rows of `outer_boilerplate` and `boilerplate`. Null if there are none.
    """
    inside = inner.where("lines IS NOT NULL")
    inside = inside.select("host", F.col("lines").alias("inner_lines"))
    outside = outer.select("host", F.col("lines").alias("outer_lines"))
    return inside.join(outside, on="host", how="right")


def replace_by_boilerplate(changed: DataFrame, hosts: DataFrame) -> DataFrame:
    """Add `boilerplate`, a hash of that of the page's host, and replace pages for which it differs.

    `hosts`: as from `boilerplate_of_hosts`.
    """
    outer, inner = (
        F.coalesce(F.array_join(F.col(name).cast("array<string>"), ","), F.lit(""))
        for name in ("outer_lines", "inner_lines")
    )
    version = F.xxhash64(F.concat_ws(" ", "host", outer, inner))
    versions = hosts.where("outer_lines IS NOT NULL OR inner_lines IS NOT NULL").select(
        "host", version.alias("boilerplate")
    )
    differs = (F.col("change") == KEPT) & (
        F.coalesce("boilerplate", F.lit(0)) != F.coalesce("old_boilerplate", F.lit(0))
    )
    pages = changed.withColumn("host", host_column(F.col("url")))
    return (
        versions.join(pages, on="host", how="right")
        .withColumn("change", F.when(differs, REPLACED).otherwise(F.col("change")))
        .drop("host")
    )


def add_boilerplate_lines(adds: DataFrame, hosts: DataFrame) -> DataFrame:
    """Add the lines of `hosts` to the first page of each in a part; null for others.

    The pages of a part are sorted by URL, so those of a host and scheme stand together.
    """
    origin = F.substring_index("url", "/", 3)
    pages = Window.partitionBy("shard", "index_language", origin).orderBy("url")
    first = F.row_number().over(pages) == 1
    hosted = adds.withColumn("host", F.when(first, host_column(F.col("url"))))
    return hosts.join(hosted, on="host", how="right").drop("host")


def split_texts(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Split the texts of a part's rows into `text`, `inner_boilerplate` and `boilerplate`.

    A line that is the title or a heading is left out, as the page has it there.
    """
    host: str | None = None
    outer = inner = BoilerplateLines(())
    for row in rows:
        if row["adds"]:
            if row["outer_lines"] or row["inner_lines"] or row["host"] != host:
                host = row["host"]
                outer, inner = map(BoilerplateLines, (row["outer_lines"], row["inner_lines"]))
            row["inner_boilerplate"] = ""
            if row["text"]:
                _split_texts_of_page(row, outer, inner)
        yield row


def _split_texts_of_page(
    row: dict[str, Any], outer: BoilerplateLines, inner: BoilerplateLines
) -> None:
    names = {row["title"], *(row["headings"] or ())}
    own, repeated = inner.split(row["text"])
    others, left_out = outer.split(row["boilerplate"] or "")
    searched = [line for line in others.split(LINE) if line not in names]
    if row["is_doubtful"]:
        repeated, left_out = "", join_texts(left_out, repeated)
    row["text"] = join_texts(own, *searched)
    row["inner_boilerplate"] = repeated
    row["boilerplate"] = left_out


def join_texts(*texts: str) -> str:
    return LINE.join(filter(None, texts))
