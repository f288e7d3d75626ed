"""Which lines stand on many pages of a host? Those that more than SHARE of its texts have.

Copies of a text count once, so a text that is served under many URLs is not taken for boilerplate.
If a host has more than 2 * SAMPLE texts, only a sample of at least SAMPLE is counted, selected by
hashes of the texts. The standard deviation of a share is then at most 0.015, and no host, however
large, costs more than that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.state import lsm, unread
from gossamer.state.documents import join_documents
from gossamer.tables import DOCUMENTS, HOST_DOCUMENTS
from gossamer.web.boilerplate_lines import frequent_lines, line_hashes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.state.unread import Inputs
    from gossamer.state.workspace import Workspace

SHARE = 0.3
"""Share of a host's texts that have a line of its boilerplate."""
MIN_PAGES = 10
"""Texts of a host from which its lines are determined: on a few pages, much repeats by chance."""
SAMPLE = 1_000
MAX_LINES = 1_000
"""Lines of a host. Each page to describe is joined with them, 8 KB at most."""
PARSED = "outcome = 'parsed'"
MAX_PAGE_CHARS, MAX_PAGE_LINES = 500_000, 5_000
"""Where counting ends in a page."""


def count_documents(work: Workspace, since: Inputs) -> DataFrame:
    """New rows of `host_documents`, of the hosts that have new documents."""
    new = work.engine.read(since.paths(work, DOCUMENTS), DOCUMENTS.ddl).where(PARSED)
    found = new.groupBy("host").agg(F.count("*").alias("documents"))
    if since.anew:
        return found
    before = lsm.current(work, HOST_DOCUMENTS).withColumnRenamed("documents", "before")
    total = F.col("documents") + F.coalesce("before", F.lit(0))
    return before.join(found, on="host", how="right").select("host", total.alias("documents"))


def determine_lines(work: Workspace, known: DataFrame, counts: DataFrame) -> DataFrame | None:
    """New rows of `boilerplate`, of those hosts of `counts` that are new or have changed enough.

    None if there are no such hosts. `known` are the present rows of these hosts.
    """
    made = unread.oldest_unread(work.store.manifest.layers(DOCUMENTS.name))
    source = F.lit(made).cast("long").alias("source")
    is_new = F.col("pages").isNull() & (F.col("now") >= MIN_PAGES)
    has_changed = F.expr("now - documents >= pages OR source <> old_source")
    due, number = work.scratch(
        counts.select("host", F.col("documents").alias("now"), source)
        .join(known.withColumnRenamed("source", "old_source"), on="host", how="left")
        .where(is_new | has_changed)
        .select("host", F.col("now").alias("documents"), "source")
    )
    if not number:
        return None
    documents = work.engine.read_some(work.paths(DOCUMENTS.name), DOCUMENTS.ddl)
    texts, _ = work.scratch(_distinct_texts(documents.where(PARSED), due))
    sizes = texts.groupBy("host").agg(F.count("*").alias("pages"))
    rows = sizes.join(due, on="host", how="right").fillna({"pages": 0})
    return _frequent_lines(work, texts, sizes).join(rows, on="host", how="right")


def _distinct_texts(parsed: DataFrame, due: DataFrame) -> DataFrame:
    """The different texts of these hosts, with `url` and `round` of a document with each."""
    newest = (
        due.select("host")
        .join(parsed.select("host", "url", "round", "text_hash"), on="host", how="inner")
        .groupBy("host", "url")
        .agg(F.max("round").alias("round"), F.max_by("text_hash", "round").alias("text_hash"))
        .where("text_hash IS NOT NULL")
    )
    # The least of a struct would take eight times as long (Sail 0.7.2).
    return newest.groupBy("host", "text_hash").agg(
        F.min("url").alias("url"), F.min_by("round", "url").alias("round")
    )


def _frequent_lines(work: Workspace, texts: DataFrame, sizes: DataFrame) -> DataFrame:
    """By `host`, the `lines` that repeat on it."""
    parts = F.greatest(F.lit(1), F.expr(f"pages div {SAMPLE}"))
    chosen, _ = work.scratch(
        sizes.where(F.col("pages") >= MIN_PAGES)
        .join(texts, on="host", how="inner")
        .where(F.pmod("text_hash", parts) == 0)
        .select("host", "url", "round")
    )
    counted = chosen.groupBy("host").agg(F.count("*").alias("counted"))
    begin = line_hashes(F.substring("main_text", 1, MAX_PAGE_CHARS))
    distinct = F.slice(F.array_distinct(begin), 1, MAX_PAGE_LINES).alias("hashes")
    read = join_documents(work, chosen, "main_text").select("host", distinct)
    lines = counted.join(read, on="host", how="inner").select(
        "host", "counted", F.explode("hashes").alias("hash")
    )
    is_empty = F.col("hash") == F.xxhash64(F.lit(""))
    return frequent_lines(lines.where(~is_empty), SHARE * F.col("counted"), MAX_LINES)
