"""update: pages + responses + links → pages. What a round changed in what is known.

Where rows of one URL meet, the fetch's result counts most, then a link found, then what the
database knew. Only the rows that change are written, as a new layer (see states.py).

A round makes only so many URLs of a host known, and only so many that differ in their query alone:
a bound on traps that no filter knows by their look (see traps.py). What was dropped is found again
where another page links to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer import scoring, states
from gossamer.errors import UsageError
from gossamer.linkgraph import VOTES
from gossamer.outcomes import OUTCOMES
from gossamer.tables import LINKS, PAGES, RESPONSES
from gossamer.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.config import UpdateConfig
    from gossamer.engine import Engine
    from gossamer.store import StepReport
    from gossamer.workspace import Draft, Workspace

LONGEST_BACKOFF = 10
"""Retry waits double at most this often."""


def run(work: Workspace) -> StepReport:
    round_ = work.round
    done = work.store.manifest.steps_of(round_)
    if "update" in done:
        raise UsageError(
            work.root, f"round {round_} is in the page database", f"gossamer generate {work.root}"
        )
    if "parse" not in done:
        raise UsageError(work.root, f"round {round_} is not parsed", f"gossamer parse {work.root}")
    with work.step("update", round_) as draft:
        found, found_rows = bounded(work, found_links(work.read("links", round_)), draft.counts)
        answers = work.read("responses", round_)
        touched = found.select("url").union(answers.select("url")).distinct()
        before = states.among(work, PAGES, touched)
        rows = changed(work.engine, before, found, answers, work.now_ms(), work.config.update)
        count = found_rows + sum(
            layer.rows for layer in work.store.manifest.layers("responses", round_)
        )
        draft.replace["pages"] = states.put(work, PAGES, rows, count, round_)
        draft.counts["touched"] = count
    return draft.done


def learn(work: Workspace, draft: Draft) -> None:
    """Make known what the draft's links lead to and `pages` does not know.

    Of known pages nothing is computed anew: inlinks, depth and score stay as rounds made them. A
    page that becomes known has the inlinks that it would have from all rounds.
    """
    files = [file.path for layer in draft.replace[LINKS.name] for file in layer.files]
    links = work.engine.read([f"{work.root}/{path}" for path in files], LINKS.ddl)
    known = states.current(work, PAGES).select("url")
    unknown = found_links(links).join(known, on="url", how="left_anti")
    found, count = bounded(work, unknown, draft.counts)
    if count:
        before, answers = (work.engine.read([], none.ddl) for none in (PAGES, RESPONSES))
        rows = changed(work.engine, before, found, answers, work.now_ms(), work.config.update)
        draft.replace["pages"] = states.put(work, PAGES, rows, count, work.round)
    draft.counts["new_urls"] = count


def bounded(work: Workspace, found: DataFrame, counts: dict[str, int]) -> tuple[DataFrame, int]:
    """Of what was found what may become known, written, and its number; the rest is counted."""
    found, rows = work.scratch(found)
    for growth in growths(work.config.update):
        dropped = 0
        crowded, keys = work.scratch(crowds(found, growth))
        if keys:
            excess, dropped = work.scratch(beyond(work, found, crowded, growth))
        if dropped:
            found, rows = work.scratch(found.join(excess, on="url", how="left_anti"))
            counts[f"dropped_{growth.reason}"] = dropped
    return found, rows


def found_links(links: DataFrame) -> DataFrame:
    """What a round's links say of their targets: url, depth, hops, inlinks, source.

    Links that ask not to be followed make no page known. A page that is fetched again casts no
    second vote, and what is no vote is none.
    """
    return (
        links.where(~F.col("nofollow"))
        .groupBy(F.col("dst").alias("url"))
        .agg(
            F.min("depth").alias("found_depth"),
            F.min("hops").alias("found_hops"),
            F.sum((F.col("first") & F.col("relation").isin(*VOTES)).cast("long")).alias(
                "found_inlinks"
            ),
            F.min(F.when(F.col("relation") == "redirect", "redirect").otherwise("link")).alias(
                "found_source"
            ),
        )
    )


class Growth(NamedTuple):
    """A bound on the URLs that one round makes known: at most so many of a key."""

    reason: str
    key: Column
    """Null for URLs that are not bounded."""
    most: int


def growths(config: UpdateConfig) -> tuple[Growth, ...]:
    """In this order, so that a host's share is not used up by queries that are dropped anyway."""
    path = F.when(F.contains("url", F.lit("?")), F.split_part("url", F.lit("?"), F.lit(1)))
    host = host_column(F.col("url"))
    return (
        Growth("query_growth", path, config.new_queries_per_path),
        Growth("host_growth", host, config.new_urls_per_host),
    )


def crowds(found: DataFrame, growth: Growth) -> DataFrame:
    """The keys (a column `key`) of more URLs than may become known: usually none.

    They are counted before anything is known of which URLs are new, for that costs a single pass
    over what was found.
    """
    keys = found.select(growth.key.alias("key")).where("key IS NOT NULL")
    counts = keys.groupBy("key").agg(F.count("*").alias("urls"))
    return counts.where(F.col("urls") > growth.most).select("key")


def beyond(work: Workspace, found: DataFrame, crowded: DataFrame, growth: Growth) -> DataFrame:
    """The new URLs (a column `url`) of these keys that are too many.

    Kept are those nearest to a seed, then those that most pages link to, then in their order.
    """
    suspects = found.withColumn("key", growth.key).join(
        F.broadcast(crowded), on="key", how="left_semi"
    )
    known = states.among(work, PAGES, suspects.select("url")).select("url")
    order = Window.partitionBy("key").orderBy("found_depth", F.desc("found_inlinks"), "url")
    placed = suspects.join(known, on="url", how="left_anti").withColumn(
        "place", F.row_number().over(order)
    )
    return placed.where(F.col("place") > growth.most).select("url")


def changed(
    engine: Engine,
    before: DataFrame,
    found: DataFrame,
    answers: DataFrame,
    now_ms: int,
    config: UpdateConfig,
) -> DataFrame:
    """The new rows of every page that was found or asked for; all three are keyed by `url`.

    `before` holds the rows that were there, for these pages at least.
    """
    asked = answers.drop("round", "host", "depth", "hops", "fetches", "detail").withColumnRenamed(
        "fetched_ms", "asked_ms"
    )
    asked = asked.select(
        "url", *[F.col(name).alias(f"r_{name}") for name in asked.columns if name != "url"]
    ).join(F.broadcast(policies(engine)), on=F.col("r_outcome") == F.col("o_outcome"), how="left")
    met = found.join(asked, on="url", how="full")
    return met.join(before, on="url", how="left").select(*_columns(now_ms, config))


def policies(engine: Engine) -> DataFrame:
    """The outcome table as rows."""
    rows = [
        (name, p.status, p.answered, p.retry_wait_s, p.max_tries) for name, p in OUTCOMES.items()
    ]
    return engine.spark.createDataFrame(
        rows,
        "o_outcome string, o_status string, o_answered boolean, o_retry_wait_s long, "
        "o_max_tries long",
    )


def _columns(now_ms: int, config: UpdateConfig) -> list[Column]:
    """The columns of pages, from the row that was there, what was found, and the answer."""
    asked = F.col("r_outcome").isNotNull() & (F.col("r_outcome") != "postponed")
    requested = asked & (F.col("r_outcome") != "robots")  # as fetch counts the pages of a host
    answered = F.coalesce("o_answered", F.lit(False))
    stored = F.coalesce(F.col("r_outcome") == "ok", F.lit(False))
    failures_before = F.coalesce("failures", F.lit(0))
    tries = failures_before + 1
    retry = asked & (F.col("o_retry_wait_s") > 0) & (tries < F.col("o_max_tries"))
    settled = asked & ~retry
    depth = F.least("depth", "found_depth").cast("int")
    inlinks = F.coalesce("inlinks", F.lit(0)) + F.coalesce("found_inlinks", F.lit(0))
    interval_s = F.coalesce("interval_s", F.lit(int(config.interval_days * 86_400)))
    wait_s = F.greatest(
        F.col("o_retry_wait_s") * F.pow(F.lit(2), F.least(failures_before, F.lit(LONGEST_BACKOFF))),
        F.coalesce("r_retry_after_s", F.lit(0)),
    ).cast("long")

    def of_answer(name: str) -> Column:
        return F.when(stored, F.col(f"r_{name}")).otherwise(F.col(name)).alias(name)

    columns = {
        "url": F.col("url"),
        "host": F.coalesce("host", host_column(F.col("url"))),
        "status": F.when(settled, F.col("o_status")).otherwise(
            F.coalesce("status", F.lit("unfetched"))
        ),
        "source": F.coalesce("source", "found_source"),
        "depth": depth,
        "hops": F.least("hops", "found_hops").cast("int"),
        "inlinks": inlinks,
        "score": scoring.load(config.scoring)(depth, inlinks),
        "found_ms": F.coalesce("found_ms", F.lit(now_ms)),
        "fetches": F.coalesce("fetches", F.lit(0)) + answered.cast("int"),
        "failures": F.when(retry, tries)
        .when(asked, F.lit(0))
        .otherwise(failures_before)
        .cast("int"),
        "outcome": F.coalesce("r_outcome", "outcome"),
        "fetched_ms": F.when(requested, F.col("r_asked_ms")).otherwise(F.col("fetched_ms")),
        "stored_ms": F.when(stored, F.col("r_asked_ms")).otherwise(F.col("stored_ms")),
        "next_fetch_ms": F.when(retry, F.col("r_asked_ms") + wait_s * 1000)
        .when(asked, F.col("r_asked_ms") + interval_s * 1000)
        .otherwise(F.coalesce("next_fetch_ms", F.lit(0)))
        .cast("long"),
        "interval_s": interval_s,
        "etag": of_answer("etag"),
        "last_modified": of_answer("last_modified"),
        "digest": of_answer("digest"),
    }
    return [columns[name].alias(name) for name in PAGES.column_names]
