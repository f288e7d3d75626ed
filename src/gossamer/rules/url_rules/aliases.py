"""URLs that rules have rewritten: which of them are fetched as a sample, and when they return.

`parse` rewrites links, and records each URL that it rewrote (dataset `rewritten`). Here they become
rows of `aliases`, which say what `update` does with the pages of these URLs:

    a new alias     does not become a page. But of a share of the targets (`url_rules.sample`), one
                    alias is fetched all the same, and so are some of each folder and path with many
                    of them; `verdicts` compares them with their targets (alias_samples.py). Their
                    number grows with the logarithm of the aliases of a target, so a site that makes
                    a new session id for each link gets hardly more of them.
    an old alias    may be drawn, once per period; then its target is due with it
    a new rule      the known pages that it would rewrite become aliases. The target of a page that
                    was fetched already is due when that page would have been due again: so no
                    content is fetched twice because a rule was learned. Until then, the page stays.
                    For the share of targets that are sampled, the target is due at once, because
                    the URL without a session id may lead to something else than all others.
    target fetched  its aliases that were fetched before the rule are replaced by it
    target missing  its aliases become pages: they may not be
    dropped rule    its aliases become pages, as they do after a trial that decided nothing; those
                    that were never fetched and that other rules still rewrite get their target

Seeds are always fetched as they were given. Aliases of a target are bounded as URLs of a path are
that differ only in their query (`update.new_queries_per_path`).
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from gossamer.rules.spellings import FOREIGN, plainest
from gossamer.rules.url_rules import alias_samples
from gossamer.rules.url_rules.rewriting import rewriter_of
from gossamer.rules.url_rules.rule_states import IN_USE
from gossamer.state import lsm
from gossamer.tables import ALIASES, PAGES, REWRITTEN
from gossamer.tables.outcomes import OUTCOMES
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column

    from gossamer.state.workspace import Workspace

WAITING, REPLACED, KNOWN, COMPARED = "waiting", "replaced", "known", "target"
"""What becomes of a page: an alias if it was never fetched; an alias in any case; a page again; due
now, to be compared with an alias."""
CHANGED_PAGES_DDL = "url string, becomes string, due_ms long"
FOUND = ("url", "found_depth", "found_hops", "found_inlinks", "found_source", "found_spelling")
DEAD = ("gone", "excluded")
"""Statuses of targets that have no page."""
_KNOWN_DDL = f"{REWRITTEN.ddl}, inlinks long, fetched boolean, due_ms long"
_NEW_DDL = f"{ALIASES.ddl}, due boolean"
_KEPT = ("depth", "hops", "spelling", "inlinks", "fetched", "due_ms")


class AliasChanges(NamedTuple):
    """What rules change in `pages` and in their own datasets."""

    found: DataFrame
    """Pages that become known, as `found_links.link_targets` returns them."""
    rows: DataFrame
    """Rows of TURNS_DDL, each URL once."""
    aliases: DataFrame
    """Changed rows of `aliases`."""
    alias_count: int
    counts: DataFrame | None
    """New aliases of each rule: rule, more_rewritten, more_sampled, and whether it `was_due`, so
    that aliases of it were drawn again. None if there are none."""


def find_alias_changes(
    work: Workspace,
    changed_rules: DataFrame,
    answers: DataFrame,
    met: DataFrame,
    rules: tuple[str, ...],
    due: DataFrame | None = None,
) -> AliasChanges:
    """What a round changes. `changed_rules`: the rules with changes, as they are now.

    `rules` are files of the active rules. `answers` are the responses of the round, and `met` the
    pages that its links lead to (`found_links.link_targets`). Of the rules that are `due`, aliases
    are drawn again.
    """
    unsettled, _ = work.scratch(changed_rules.where("NOT settled").select("rule", "host", "state"))
    started = unsettled.where(F.col("state").isin(*IN_USE))
    dropped, number = work.scratch(
        unsettled.where(~F.col("state").isin(*IN_USE)).select("rule"), "rule string"
    )
    before, known = _newly_rewritten(work, started, answers, met, rules)
    moved, back = work.engine.read([], _KNOWN_DDL), 0
    if number:
        moved, back = _aliases_to_move(work, dropped, rules)
    new, new_count = work.engine.read([], _NEW_DDL), 0
    if known or back or work.store.manifest.layers(REWRITTEN.name):
        new, new_count = work.scratch(_new_aliases(work, before, moved, rules), _NEW_DDL)
    before = before.unionByName(moved)
    plain = new.select(*ALIASES.column_names)
    some_new = plain if new_count else None
    returning, _ = work.scratch(
        _returning_aliases(work, some_new, dropped if number else None, answers), ALIASES.ddl
    )
    again = work.engine.read([], ALIASES.ddl)
    if due is not None:
        again, _ = work.scratch(alias_samples.draw_again(work, due), ALIASES.ddl)
    rows, count = work.scratch(lsm.newest_rows([plain, again, returning], "url"))
    return AliasChanges(
        _discovered_pages(before, new, again, returning),
        _changed_pages(work, before, new, again, returning, answers),
        rows,
        count,
        _count_by_rule(new, again, due) if new_count or due is not None else None,
    )


def _count_by_rule(new: DataFrame, again: DataFrame, due: DataFrame | None) -> DataFrame:
    """Rows of AliasChanges.counts."""
    rule, none, one = F.explode("rules").alias("rule"), F.lit(0), F.lit(1)
    sampled = F.col("sampled").cast("int").alias("sampled")
    each = new.select(rule, one.alias("rewritten"), sampled, none.alias("due"))
    each = each.union(again.select(rule, none, one, none))
    if due is not None:
        each = each.union(due.select("rule", none, none, one))
    return each.groupBy("rule").agg(
        F.sum("rewritten").alias("more_rewritten"),
        F.sum("sampled").alias("more_sampled"),
        (F.max("due") == 1).alias("was_due"),
    )


def _newly_rewritten(
    work: Workspace, started: DataFrame, answers: DataFrame, met: DataFrame, rules: tuple[str, ...]
) -> tuple[DataFrame, int]:
    """The pages that rules rewrite which have just become active: rows of _KNOWN_DDL, their number.

    They were known before, or this round has found them.
    """
    if not started.limit(1).count():
        return work.engine.read([], _KNOWN_DDL), 0
    www = F.concat(F.lit("www."), F.col("host")).alias("host")
    hosts = started.select("host").union(started.select(www)).distinct()
    cut = [layer.join(hosts, on="host", how="left_semi") for layer in lsm.layer_frames(work, PAGES)]
    interval_ms = int(work.config.update.interval_days * 86_400_000)
    answered = answers.where("outcome IN ('ok', 'unchanged')").select(
        "url", F.lit(work.now_ms() + interval_ms).alias("now_due_ms")
    )
    known, _ = work.scratch(lsm.newest_rows(cut, "url"))
    found = (
        met.withColumn("host", host_column(F.col("url")))
        .join(hosts, on="host", how="left_semi")
        .select(
            *("url", F.col("found_depth").alias("depth"), F.col("found_hops").alias("hops")),
            F.col("found_spelling").alias("spelling"),
            F.col("found_inlinks").alias("inlinks"),
            F.lit(False).alias("fetched"),
            F.lit(0).cast("long").alias("due_ms"),
        )
        .join(known.select("url"), on="url", how="left_anti")
    )
    pages = (
        known.where("source <> 'seed' AND status IN ('unfetched', 'fetched')")
        .join(answered, on="url", how="left")
        .select(
            *("url", "depth", "hops", "spelling", "inlinks"),
            (F.col("now_due_ms").isNotNull() | (F.col("status") == "fetched")).alias("fetched"),
            F.coalesce("now_due_ms", "next_fetch_ms").alias("due_ms"),
        )
    )
    every = pages.unionByName(found)
    return work.map_rows(every, partial(_rewrite_pages, rules), _KNOWN_DDL)


def _rewrite_pages(
    rules: tuple[str, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The rows whose URL is rewritten, with `target` and `rules`."""
    rewriter = rewriter_of(rules)
    for batch in batches:
        found = [rewriter.rewrite(url) for url in batch.column("url").to_pylist()]
        columns = {
            "url": batch.column("url"),
            "target": pa.array([each.url for each in found], pa.string()),
            "rules": pa.array([each.rules for each in found], pa.list_(pa.string())),
            **{name: batch.column(name) for name in _KEPT},
        }
        mask = pa.array([bool(each.rules) for each in found], pa.bool_())
        yield pa.RecordBatch.from_pydict(columns).filter(mask)


def _aliases_to_move(
    work: Workspace, dropped: DataFrame, rules: tuple[str, ...]
) -> tuple[DataFrame, int]:
    """Aliases of dropped rules that other rules still rewrite: rows of _KNOWN_DDL, their number.

    Without them, each URL with a session id would be fetched because of another parameter. Those
    that were fetched, as samples or before a rule, are pages already, and stay pages.
    """
    waiting = lsm.current(work, ALIASES).where("active AND NOT sampled AND NOT fetched")
    found = work.read(REWRITTEN.name).select(*REWRITTEN.column_names)
    known = lsm.rows_for(work, ALIASES, found.select("url").distinct()).select("url")
    found = found.join(known, on="url", how="left_anti")
    every = waiting.select(*REWRITTEN.column_names).unionByName(found)
    uses = every.select("url", F.explode("rules").alias("rule"))
    urls = uses.join(dropped, on="rule", how="left_semi").select("url").distinct()
    nearest = every.join(urls, on="url", how="left_semi").groupBy("url")
    least = {"depth": F.min("depth"), "hops": F.min("hops"), "spelling": plainest("spelling")}
    rows = nearest.agg(*(each.alias(name) for name, each in least.items())).select(
        "*",
        F.lit(1).cast("long").alias("inlinks"),
        F.lit(False).alias("fetched"),
        F.lit(0).cast("long").alias("due_ms"),
    )
    return work.map_rows(rows, partial(_rewrite_pages, rules), _KNOWN_DDL)


def _new_aliases(
    work: Workspace, before: DataFrame, moved: DataFrame, rules: tuple[str, ...]
) -> DataFrame:
    """New rows of `aliases`: those that `parse` has found, known pages, and those with new targets.

    A further column says whether the target is `due`, because it is to be compared with the alias.
    """
    names = [*REWRITTEN.column_names, "fetched"]
    found = work.read(REWRITTEN.name).withColumn("fetched", F.lit(False))
    met = found.select("url").union(before.select("url")).distinct()
    known, _ = work.scratch(lsm.rows_for(work, ALIASES, met).select("url", "active"))
    # An alias that has returned is a page. Only a rule that starts later makes it an alias again.
    found = found.join(known.select("url"), on="url", how="left_anti")
    found = found.join(moved.select("url"), on="url", how="left_anti")
    pages = before.join(known.where("active").select("url"), on="url", how="left_anti")
    pages = pages.join(moved.select("url"), on="url", how="left_anti").unionByName(moved)
    first = Window.partitionBy("url").orderBy(F.desc("fetched"), "depth", "target")
    single = (
        found.select(*names)
        .unionByName(pages.select(*names))
        .withColumn("place", F.row_number().over(first))
        .where("place = 1")
        .drop("place")
    )
    drawn, _ = work.map_rows(
        single, partial(alias_samples.draw_lots, rules), alias_samples.DRAWN_DDL
    )
    in_turn = Window.partitionBy("target").orderBy("fetched", "turn", "url")
    placed, _ = work.scratch(
        drawn.withColumn("place", F.row_number().over(in_turn)).where(
            F.col("fetched") | (F.col("place") <= work.config.update.new_queries_per_path)
        )
    )
    cut = [
        layer.join(placed.select("target"), on="target", how="left_semi")
        for layer in lsm.layer_frames(work, ALIASES)
    ]
    had = lsm.newest_rows(cut, "url").where("sampled").select("target").distinct()
    compared = alias_samples.choose_samples(placed, had, work.config.url_rules.sample)
    compared = compared.select("url", F.lit(1).alias("one"))
    drawn_now = F.col("one").isNotNull()
    return placed.join(compared, on="url", how="left").select(
        *names,
        (drawn_now & ~F.col("fetched")).alias("sampled"),
        F.lit(True).alias("active"),
        F.lit(work.round).alias("round"),
        (drawn_now & F.col("fetched")).alias("due"),
    )


def _returning_aliases(
    work: Workspace, new: DataFrame | None, dropped: DataFrame | None, answers: DataFrame
) -> DataFrame:
    """Aliases that become pages, as rows of `aliases`: of dropped rules, and of missing targets."""
    parts = []
    if dropped is not None:
        stack = [*lsm.layer_frames(work, ALIASES), *(() if new is None else (new,))]
        used = lsm.newest_rows(stack, "url").where("active")
        urls = used.select("url", F.explode("rules").alias("rule"))
        urls = urls.join(dropped, on="rule", how="left_semi").select("url").distinct()
        parts.append(used.join(urls, on="url", how="left_semi"))
    failed = answers.where(F.col("outcome").isin(*FAILURES)).select("url", "outcome")
    before = lsm.rows_for(work, PAGES, failed.select("url")).select("url", "failures")
    final = reduce(
        lambda chain, each: chain.when(F.col("outcome") == each, F.lit(FAILURES[each])),
        FAILURES,
        F.when(F.lit(False), F.lit(0)),
    )
    dead, count = work.scratch(
        failed.join(before, on="url", how="left")
        .where(F.coalesce("failures", F.lit(0)) + 1 >= final)
        .select(F.col("url").alias("target"))
    )
    if count:
        cut = [
            layer.join(dead, on="target", how="left_semi")
            for layer in lsm.layer_frames(work, ALIASES)
        ]
        parts.append(lsm.newest_rows(cut, "url").where("active"))
        if new is not None:
            parts.append(new.join(dead, on="target", how="left_semi"))
    if new is not None:
        targets = lsm.rows_for(work, PAGES, new.select(F.col("target").alias("url")).distinct())
        missing = targets.where(F.col("status").isin(*DEAD)).select(F.col("url").alias("target"))
        parts.append(new.join(missing, on="target", how="left_semi"))
    if not parts:
        return work.engine.read([], ALIASES.ddl)
    names = [name for name in ALIASES.column_names if name not in {"active", "round"}]
    every = reduce(DataFrame.unionByName, [part.select(*names) for part in parts])
    single = Window.partitionBy("url").orderBy("depth", "target")
    return (
        every.withColumn("place", F.row_number().over(single))
        .where("place = 1")
        .select(*names, F.lit(False).alias("active"), F.lit(work.round).alias("round"))
    )


def _discovered_pages(
    before: DataFrame, new: DataFrame, again: DataFrame, returning: DataFrame
) -> DataFrame:
    """The pages that become known, or nearer: samples, returned aliases, targets of known pages."""
    one = F.lit(1).cast("long").alias("inlinks")
    parts = (
        new.where("sampled").select("url", "depth", "hops", "spelling", one),
        again.select("url", "depth", "hops", "spelling", one),
        returning.where("NOT sampled").select("url", "depth", "hops", "spelling", one),
        before.select(
            *(F.col("target").alias("url"), "depth", "hops"),
            *(_spelling_of_target().alias("spelling"), "inlinks"),
        ),
    )
    return (
        reduce(DataFrame.unionByName, parts)
        .groupBy("url")
        .agg(
            F.min("depth").alias("found_depth"),
            F.min("hops").alias("found_hops"),
            F.sum("inlinks").alias("found_inlinks"),
            F.lit("link").alias("found_source"),
            plainest("spelling").alias("found_spelling"),
        )
    )


def _spelling_of_target() -> Column:
    """The spelling that links to an alias have of its target.

    For the target, links of another host are foreign, also those of a mirror to its own pages.
    """
    written = F.when(F.col("spelling") == FOREIGN, F.col("url")).otherwise(
        F.regexp_replace(F.coalesce("spelling", "url"), f"{FOREIGN}$", "")
    )
    is_own = host_column(F.col("url")) == host_column(F.col("target"))
    is_foreign = F.endswith(F.coalesce("spelling", F.lit("")), F.lit(FOREIGN)) | ~is_own
    return F.when(is_foreign, F.concat(written, F.lit(FOREIGN))).otherwise(written)


def _changed_pages(
    work: Workspace,
    before: DataFrame,
    new: DataFrame,
    again: DataFrame,
    returning: DataFrame,
    answers: DataFrame,
) -> DataFrame:
    """Rows of TURNS_DDL. If several hold for a page, that it is known counts first."""
    no_time = F.lit(None).cast("long").alias("due_ms")
    waiting = before.join(new.where("NOT sampled AND NOT fetched"), on="url", how="left_semi")
    fetched = answers.where("outcome IN ('ok', 'unchanged')").select("url")
    targets = before.where("fetched").select(F.col("target").alias("url")).distinct()
    there = lsm.rows_for(work, PAGES, targets).where("status = 'fetched'").select("url")
    stored = [
        layer.join(fetched.select(F.col("url").alias("target")), on="target", how="left_semi")
        for layer in lsm.layer_frames(work, ALIASES)
    ]
    stands = fetched.union(there).distinct().select(F.col("url").alias("target"))
    replaced = (
        lsm.newest_rows(stored, "url")
        .where("active AND fetched")
        .select("url")
        .union(new.where("fetched").join(stands, on="target", how="left_semi").select("url"))
    )
    # A target waited for the next fetch of an alias that returns now: it has a page of its own.
    now = new.where("due").select("target").union(returning.where("fetched").select("target"))
    now = now.distinct().withColumn("due_ms", F.lit(0).cast("long"))
    taken_over = before.join(new.where("fetched"), on=["url", "target"], how="left_semi")
    later = taken_over.join(now, on="target", how="left_anti")
    due = later.groupBy("target").agg(F.max("due_ms").alias("due_ms")).unionByName(now)
    parts = (
        waiting.select("url", F.lit(WAITING).alias("becomes"), no_time),
        replaced.select("url", F.lit(REPLACED).alias("becomes"), no_time),
        returning.select("url", F.lit(KNOWN).alias("becomes"), no_time),
        again.select("url", F.lit(KNOWN).alias("becomes"), no_time),
        again.select(F.col("target").alias("url"), F.lit(COMPARED).alias("becomes"), no_time),
        due.select(
            F.col("target").alias("url"), F.lit(None).cast("string").alias("becomes"), "due_ms"
        ),
    )
    return (
        reduce(DataFrame.unionByName, parts)
        .groupBy("url")
        .agg(F.min("becomes").alias("becomes"), F.max("due_ms").alias("due_ms"))
    )


def alias_status_after_change(status: Column) -> tuple[Column, Column]:
    """The status of a page after its turn (column `becomes`), and whether it is due at once.

    `status` is the one without the turn. Seeds are no aliases.
    """
    becomes = F.coalesce("becomes", F.lit(""))
    again = (becomes == KNOWN) & (status == "alias")
    never = (becomes == WAITING) & (status == "unfetched")
    stale = (becomes == REPLACED) & status.isin("unfetched", "fetched")
    given = F.coalesce(F.col("source") == "seed", F.lit(False))
    as_before = F.when(F.col("stored_ms").isNull(), "unfetched").otherwise("fetched")
    return (
        F.when(again, as_before).when((never | stale) & ~given, "alias").otherwise(status),
        again | (becomes == COMPARED),
    )


FAILURES = {name: policy.max_tries for name, policy in OUTCOMES.items() if policy.status in DEAD}
"""Outcomes after which a target has no page, and after how many in a row."""
