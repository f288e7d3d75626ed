"""refilter: pages → pages. Applies the filters of now to all known pages.

Filters usually see a URL when a link to it is found, and known pages stay. This step asks all of
them again. A page that they refuse becomes `excluded` with the outcome `filtered`: it is never due,
and leaves the index with the next harvest. A page that was excluded so, and that they let in now,
is due at once; if an answer of it is stored, it can be found again after the next harvest. Seeds
are kept, and so are pages that others stand for (`alias`).

With rules for content types, pages whose last answer had a type that they refuse get the outcome
`filtered_type`, as if they were fetched now.

Cost: a pass over `pages`, in Python, and the rows that change. Rules
for content types also take a pass over three columns of `responses`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.errors import UsageError
from gossamer.rules.absence import REASONS
from gossamer.rules.filter_rules import crawl_rules
from gossamer.rules.filter_rules.filter_recipe import index_of
from gossamer.rules.filter_rules.rule_index import NONE
from gossamer.rules.filters import Filters, filters_of
from gossamer.schedule.due import due_counts
from gossamer.schedule.order import opic
from gossamer.state import lsm
from gossamer.tables import PAGES
from gossamer.tables.outcomes import FILTERED, FILTERED_TYPE
from gossamer.web.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column, DataFrame

    from gossamer.rules.filter_rules.crawl_rules import RulesInForce
    from gossamer.rules.filter_rules.filter_recipe import FilterRecipe
    from gossamer.rules.filter_rules.rule_syntax import PlacedRule
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

REFUSED, STILL, SEED, RESTORED = "refused", "still_refused", "seeds_kept", "restored"
"""What becomes of a page: it is excluded now; it was already; it is refused, but a seed; it is let
in again."""
JUDGED = pa.schema(
    [
        ("url", pa.string()),
        ("verdict", pa.string()),
        ("becomes", pa.string()),
        ("reason", pa.string()),
        ("rule", pa.int64()),
    ]
)
"""What becomes of a page, its outcome if it is refused, why, and by which rule."""
JUDGED_DDL = "url string, verdict string, becomes string, reason string, rule long"
SHOWN_GROUPS = 1_000
"""Reasons and rules that are listed, those with most pages."""


class RefusedPages(NamedTuple):
    """The known pages that are refused for a reason, by a rule if it is that."""

    reason: str
    rule: PlacedRule | None
    pages: int
    samples: list[str]


class AppliedFilters(NamedTuple):
    """What the filters say about all known pages."""

    counts: dict[str, int]
    """Pages by verdict."""
    refused: list[RefusedPages]
    """Those with most pages first."""
    report: StepReport | None
    """None if nothing was changed."""


class TestedUrl(NamedTuple):
    """What the filters say about a URL."""

    url: str
    """In normal form."""
    reason: str | None
    """Why links to it are dropped; None if they are not."""
    words: str | None
    """The reason in words."""
    rule: PlacedRule | None
    """The first rule that matches."""


def run(work: Workspace, *, dry_run: bool = False, samples: int = 0) -> AppliedFilters:
    """Apply the filters; with `dry_run`, only tell what they would change.

    `samples`: how many URLs to return for each reason and rule. Raises ConfigError and UsageError
    for filters that cannot be used.
    """
    rules = crawl_rules.rules_in_force(work)
    if dry_run:
        judged = _judge_pages(work)
        return AppliedFilters(_count_verdicts(judged), _list_refused(judged, rules, samples), None)
    with work.step("filter", work.round) as draft:
        judged = _judge_pages(work)
        found = AppliedFilters(_count_verdicts(judged), _list_refused(judged, rules, samples), None)
        changed = judged.where(F.col("verdict").isin(REFUSED, RESTORED)).select(
            "url", "verdict", "becomes"
        )
        virtual = opic.virtual_page(work)
        rows, count = work.scratch(_refiltered_rows(work, changed, virtual.given))
        if count:
            new = rows.select(*PAGES.column_names)
            moves = due_counts.count_due_moves(rows, F.sum("spent").alias("spent"))
            virtual = virtual.collect(0, sum(move.spent or 0 for move in moves))
            draft.replace["virtual_page"] = opic.write_opic(work, virtual, work.round)
            draft.replace["pages"] = lsm.append_layer(work, PAGES, new, count, work.round)
            draft.replace["due_times"] = due_counts.write_due(work, moves, new)
        draft.counts |= found.counts
    return found._replace(report=draft.done)


def test_url(work: Workspace, url: str) -> TestedUrl:
    """What the filters say about a link to a URL that is near a seed. Raises UsageError."""
    normal = normalize(url, None, work.config.urls)
    if normal is None:
        raise UsageError(url, "is not a URL that can be crawled", "example: https://example.org/")
    rules, hosts = crawl_rules.rules_in_force(work), crawl_rules.seed_hosts(work)
    reason = Filters.from_config(work.config.filter, hosts, rules=rules.index).reject(normal, 0)
    number = rules.index.first(normal)
    words = None if reason is None else REASONS.get(reason, f"a filter rejects it: {reason}")
    return TestedUrl(normal, reason, words, None if number == NONE else rules.placed[number])


def _judge_pages(work: Workspace) -> DataFrame:
    """Rows of JUDGED for pages that are refused, or excluded and let in; materialised."""
    recipe = crawl_rules.filter_recipe(work)
    pages = lsm.current(work, PAGES).where("status <> 'alias'")
    asked = pages.select("url", "depth", "hops", "source", "status", "outcome")
    if recipe.rules is not None and recipe.rules.has_types:
        answers = work.read("responses").where(F.col("outcome").isin("ok", FILTERED_TYPE))
        newest = F.max_by(F.coalesce("content_type", F.lit("")), "round")
        types = answers.groupBy("url").agg(newest.alias("content_type"))
        asked = types.join(asked, on="url", how="right").select(*asked.columns, "content_type")
    else:
        asked = asked.withColumn("content_type", F.lit(None).cast("string"))
    judged = work.engine.map_partitions(asked, partial(_judge_batches, recipe), JUDGED_DDL)
    return work.scratch(judged, JUDGED_DDL)[0]


def _judge_batches(
    recipe: FilterRecipe, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    filters = filters_of(recipe)
    index = None if recipe.rules is None else index_of(recipe.rules)
    for batch in batches:
        pages = batch.to_pydict()
        found: list[tuple[str, str, str | None, str | None, int | None]] = []
        for url, depth, hops, source, status, outcome, content_type in zip(
            *(pages[name] for name in batch.schema.names), strict=True
        ):
            reason, becomes, number = filters.reject(url, depth, hops), FILTERED, None
            if index is not None and reason is not None and reason.startswith("rule_"):
                number = index.first(url)
            elif index is not None and reason is None and content_type is not None:
                rule = index.refusing(url, content_type, known=1)
                if rule is not None:
                    reason, becomes = f"rule_{rule.kind}", FILTERED_TYPE
                    number = index.first(url, content_type)
            excluded_as = outcome if status == "excluded" else None
            if reason is None:
                if excluded_as in (FILTERED, FILTERED_TYPE):
                    found.append((url, RESTORED, None, None, None))
            elif excluded_as == becomes:
                found.append((url, STILL, becomes, reason, number))
            else:
                is_kept = source == "seed" and becomes == FILTERED
                found.append((url, SEED if is_kept else REFUSED, becomes, reason, number))
        if found:
            columns = zip(*found, strict=True)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, JUDGED, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=JUDGED)


def _count_verdicts(judged: DataFrame) -> dict[str, int]:
    rows = judged.groupBy("verdict").agg(F.count("*").alias("pages")).collect()
    return dict.fromkeys((REFUSED, STILL, SEED, RESTORED), 0) | {r.verdict: r.pages for r in rows}


def _list_refused(judged: DataFrame, rules: RulesInForce, samples: int) -> list[RefusedPages]:
    refused = judged.where(F.col("verdict").isin(REFUSED, STILL))
    groups = (
        refused.groupBy("reason", "rule")
        .agg(F.count("*").alias("pages"))
        .orderBy(F.desc("pages"), "reason", "rule")
        .limit(SHOWN_GROUPS)
        .collect()
    )
    urls: dict[tuple[str, int | None], list[str]] = {(g.reason, g.rule): [] for g in groups}
    if samples:
        first = Window.partitionBy("reason", "rule").orderBy("url")
        shown = refused.withColumn("place", F.row_number().over(first))
        for row in shown.where(F.col("place") <= samples).orderBy("url").toLocalIterator():
            if (row.reason, row.rule) in urls:
                urls[row.reason, row.rule].append(row.url)
    return [
        RefusedPages(
            group.reason,
            None if group.rule is None else rules.placed[group.rule],
            group.pages,
            urls[group.reason, group.rule],
        )
        for group in groups
    ]


def _refiltered_rows(work: Workspace, changed: DataFrame, given: int) -> DataFrame:
    """The new rows of pages that are refused or restored.

    Further columns: `spent`, the cash that a page has less, and `counted`, for `due_times`.
    """
    before = lsm.rows_for(work, PAGES, changed.select("url"))
    refused, stored = F.col("verdict") == REFUSED, F.col("stored_ms").isNotNull()
    by_type = F.coalesce(F.col("becomes") == FILTERED_TYPE, F.lit(False))
    cash = F.when(refused, F.lit(-given).cast("long")).otherwise(_stored_cash(given))
    columns = {
        "status": F.when(refused, "excluded").when(stored, "fetched").otherwise("unfetched"),
        "outcome": F.when(refused, F.col("becomes")).when(stored, "ok"),
        "cash": cash,
        "failures": F.lit(0),
        **{name: F.when(~by_type, F.col(name)) for name in ("etag", "last_modified")},
        "next_fetch_ms": F.when(refused, F.col("next_fetch_ms")).otherwise(F.lit(0)).cast("long"),
    }
    return changed.join(before, on="url", how="inner").select(
        *[columns.get(name, F.col(name)).alias(name) for name in PAGES.column_names],
        (_stored_cash(given) - cash).alias("spent"),
        due_counts.due_slot_column().alias("counted"),
    )


def _stored_cash(given: int) -> Column:
    return opic.stored_cash(given, new=F.lit(False))
