"""generate: pages → fetchlist. The best N pages that are due, at most M of a host.

The straight way, a window over every due page, sorts the whole page database. But only few of
its pages can be chosen: let c(s) be the number of pages that would be chosen from those of
score ≥ s, M of a host. Where c(s) ≥ N, no page of a lower score than s can be among the best
N. So a count of the due pages by score bucket says where to look first, c is computed there
and, until it reaches N, for twice as many pages at a time; only pages above the bucket that
suffices are sorted. Exact; bench/page_state.py measures it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer import states
from gossamer.tables import FETCHLIST, HOSTS, PAGES
from gossamer.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from gossamer.engine import Engine
    from gossamer.store import StepReport
    from gossamer.workspace import Workspace

NEVER_AGAIN = ("gone",)
BUCKETS_PER_OCTAVE = 8


def run(work: Workspace) -> StepReport:
    """Start the next round. An empty fetchlist says that nothing is due."""
    round_ = work.round + 1
    config = work.config.generate
    with work.step("generate", round_) as draft:
        due = due_pages(states.current(work, PAGES), work.now_ms())
        hosts = states.current(work, HOSTS)
        if work.store.manifest.layers(HOSTS.name):
            patience_ms = int(work.config.fetch.max_delay_s * 1000)
            due = of_ready_hosts(due, hosts, work.now_ms() + patience_ms)
        if config.pages_per_host_ever:
            within = within_budget(due, hosts, config.pages_per_host_ever, config.pages_per_host)
            draft.counts["dropped_budget"] = due.count() - within.count()
            due = within
        chosen, _ = work.scratch(best(due, config.pages, config.pages_per_host))
        parted = with_parts(work.engine, chosen, work.engine.workers)
        layer = work.write(parted.withColumn("round", F.lit(round_)), FETCHLIST.name, round_)
        draft.replace["fetchlist"] = (layer,)
        draft.counts["pages"] = layer.rows
    return draft.done


def due_pages(known: DataFrame, now_ms: int) -> DataFrame:
    return known.where(
        ~F.col("status").isin(*NEVER_AGAIN) & (F.col("next_fetch_ms") <= now_ms)
    ).select(
        "url",
        "host",
        "score",
        "depth",
        "hops",
        "fetches",
        F.col("fetched_ms").isNotNull().alias("asked"),
        "etag",
        "last_modified",
        "digest",
        "stored_ms",
    )


def of_ready_hosts(due: DataFrame, hosts: DataFrame, ready_ms: int) -> DataFrame:
    """Without the pages of hosts that fail, or asked us to wait, beyond `ready_ms`."""
    waiting = hosts.where(F.col("ready_ms") > ready_ms).select("host")
    return due.join(waiting, on="host", how="left_anti")


def within_budget(due: DataFrame, hosts: DataFrame, ever: int, per_host: int) -> DataFrame:
    """At most so many pages that were never asked for that their host's pages are `ever` in all.

    Only hosts with less left than `per_host`, which the round allows, have to be sorted.
    """
    left = F.coalesce(F.lit(ever) - F.col("pages"), F.lit(ever))
    known = due.join(hosts.select("host", "pages"), on="host", how="left").withColumn("left", left)
    spent = ~F.col("asked") & (F.col("left") < per_host)
    in_host = Window.partitionBy("host").orderBy(F.desc("score"), F.asc("url"))
    last = (
        known.where(spent)
        .withColumn("place", F.row_number().over(in_host))
        .where(F.col("place") <= F.col("left"))
    )
    return known.where(~spent).select(due.columns).unionByName(last.select(due.columns))


def best(due: DataFrame, total: int, per_host: int) -> DataFrame:
    """The `total` highest scores, at most `per_host` of a host; of equal ones the lower URL."""
    in_host = Window.partitionBy("host").orderBy(F.desc("score"), F.asc("url"))
    overall = Window.partitionBy(F.lit(0)).orderBy(F.desc("score"), F.asc("url"))
    return (
        promising(due, total, per_host)
        .withColumn("place", F.row_number().over(in_host))
        .where(F.col("place") <= per_host)
        # Not limit(): the engine's top-k of a large k is slower and larger than a sort of the
        # few rows that are left.
        .withColumn("place", F.row_number().over(overall))
        .where(F.col("place") <= total)
        .drop("place")
    )


def promising(due: DataFrame, total: int, per_host: int) -> DataFrame:
    """Due pages above a score that no page below can be chosen for (see above)."""
    bucket = F.floor(F.log2("score") * BUCKETS_PER_OCTAVE)
    counts = (
        due.groupBy(bucket.alias("bucket"))
        .agg(F.count("*").alias("pages"))
        .orderBy(F.desc("bucket"))
        .collect()  # scores span a few dozen octaves at most
    )
    wanted, pages_above = total, 0
    for row in counts[:-1]:
        pages_above += row["pages"]
        if pages_above < wanted:
            continue
        above = due.where(bucket >= row["bucket"])
        by_host = above.groupBy("host").agg(F.count("*").alias("pages"))
        if by_host.agg(F.sum(F.least("pages", F.lit(per_host)))).collect()[0][0] >= total:
            return above
        wanted = 2 * pages_above
    return due


def with_parts(engine: Engine, chosen: DataFrame, parts: int) -> DataFrame:
    """Add `part`: the fetch task. A registrable domain has one, and tasks have equal loads.

    Domains, largest first, are dealt out to and fro (0 1 2 2 1 0 0 1 …), which keeps the loads
    within about one domain of each other.
    """
    hosts = chosen.groupBy("host").agg(F.count("*").alias("pages"))
    domains = engine.map_partitions(hosts, _add_domain, "host string, pages long, domain string")
    # One partition on purpose: there are at most as many domains as pages in a round.
    by_size = Window.partitionBy(F.lit(0)).orderBy(F.desc("pages"), F.asc("domain"))
    turn = (F.row_number().over(by_size) - 1) % (2 * parts)
    dealt = (
        domains.groupBy("domain")
        .agg(F.sum("pages").alias("pages"))
        .select("domain", F.least(turn, 2 * parts - 1 - turn).cast("int").alias("part"))
    )
    part_of = domains.join(dealt, on="domain", how="inner").select("host", "part")
    return chosen.join(part_of, on="host", how="inner")


def _add_domain(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        names = [domain_of(f"http://{host}/") for host in batch.column("host").to_pylist()]
        yield pa.RecordBatch.from_arrays(
            [batch.column("host"), batch.column("pages"), pa.array(names, pa.string())],
            names=["host", "pages", "domain"],
        )
