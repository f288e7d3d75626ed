"""generate: pages → fetchlist. The best N pages that are due, within the budgets of their domains.

A round takes at most M pages per host, and per registrable domain as many as its budget allows
(`domains.py`). If that leaves room in the round, all budgets grow by the same factor until it is
full. Pages whose score would have brought them into the round, but whose domain's budget is used
up, are counted as `postponed_domain`.

In a round, the user's own hosts (`own_hosts.py`) are limited only by its size.

If the due pages fill the round, or the limit of a host, pages that will be due also compete: a
visit to an important page may gain more before it is due than one to another page after. Otherwise
only pages that are due are chosen, so that no server is asked in vain while there is time to wait.

A window over all due pages would sort the whole page database. But few of its pages can be chosen:
let c(s) be the number of pages that would be chosen within the budgets from those with a score ≥ s.
If c(s) ≥ N, no page with a score below s can be among the best N. So we count the due pages by
score bucket, compute c for the bucket above which 2 N pages lie, then for twice as many pages, and
so on until it reaches N; only pages above the last bucket are sorted. If many are due, a
sample tells which bucket to try first (cutoff.py, score_buckets.py), which spares a pass. The
result is exact in both cases. bench/page_state.py measures it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.config import egress
from gossamer.links.domains import FULL_LINKS, hosts_of_large_domains, level, standing
from gossamer.schedule.due import histogram, polling, recrawl, round_length
from gossamer.schedule.due.due_pages import (
    JUDGED,
    POLLED,
    RECRAWLED,
    due_pages,
    interval_s,
    of_ready_hosts,
)
from gossamer.schedule.focus import fit_prediction, fitness
from gossamer.schedule.limits import parts
from gossamer.schedule.order import cutoff, opic, score_buckets, scoring
from gossamer.schedule.order.page_ranks import with_ranks
from gossamer.schedule.order.sections.page_worth import add_page_worth
from gossamer.schedule.order.sections.step import count_sections, recount_is_due
from gossamer.schedule.own_hosts import mark_own_hosts
from gossamer.state import lsm
from gossamer.storage.store import Layer
from gossamer.tables import DOMAINS, FETCHLIST, HOSTS, PAGES, SECTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import Column, DataFrame

    from gossamer.config import GenerateConfig
    from gossamer.schedule.order.cutoff import Sample
    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import StepReport

    Choice = Callable[[DataFrame], DataFrame]
    Above = Callable[[int], DataFrame]


def run(work: Workspace) -> StepReport:
    """Start the next round. The fetchlist is empty if no page is due."""
    round_ = work.round + 1
    config = round_length.of_generate(work)
    fitness.check(work)  # before anything is fetched
    with work.step("generate", round_) as draft:
        layers, left_alone = round_length.known(work)
        hosts = lsm.current(work, HOSTS)
        now_ms = work.now_ms()
        held = known_sections(work, draft)
        slots = parts.slots(work)
        stranded = parts.stranded(work, layers, hosts, slots)

        def choose(pages: DataFrame) -> DataFrame:
            return scored(work, due_now(work, pages, hosts, now_ms, stranded), held)

        def above_each(floor: int) -> DataFrame:
            return lsm.newest(layers, "url", lambda each: score_buckets.above(choose(each), floor))

        due, above = choose(lsm.newest(layers, "url")), above_each
        some = None if left_alone else sampled(work, choose, now_ms)
        score = scoring.load(work.config.update.scoring)
        if score.needs_ranks or score.needs_worth or work.config.fetch.own_hosts:
            above = partial(score_buckets.above, due)  # `choose` passes over all pages itself
        if config.pages_per_host_ever:
            within = within_budget(due, hosts, config.pages_per_host_ever, config.pages_per_host)
            draft.counts["dropped_budget"] = due.count() - within.count()
            due, above = within, partial(score_buckets.above, within)
        if sum(layer.rows for layer in work.store.manifest.layers(PAGES.name)) <= config.pages:
            due, _ = work.scratch(due)  # all fit into the round, and so are read twice
        layer, candidates = Layer(round_, ()), 0
        if (found := candidates_of(work, due, config, some, above)) is not None:
            rows, candidates = work.scratch(found)
            chosen = rows.where("chosen").drop("chosen")
            parted = parts.with_parts(work, chosen, hosts, slots)
            layer = work.write(parted.withColumn("round", F.lit(round_)), FETCHLIST.name, round_)
        draft.replace["fetchlist"] = (layer,)
        draft.counts["pages"] = layer.rows
        if left_alone:
            draft.counts[round_length.LEFT_ALONE] = left_alone
        if stranded is not None:
            waiting = due_now(work, lsm.newest(layers, "url"), hosts, now_ms).where("NOT early")
            count = waiting.join(stranded, on="host", how="left_semi").count()
            draft.counts[egress.POSTPONED] = count
        if candidates > layer.rows:
            draft.counts["postponed_domain"] = candidates - layer.rows
    return draft.done


def sampled(work: Workspace, choose: Choice, now_ms: int) -> Sample | None:
    """A sample of the pages that are due; None if it would not pay."""
    many = histogram.due(work, now_ms)
    is_few = many is not None and many < cutoff.LEAST_ROWS
    if is_few or scoring.load(work.config.update.scoring).needs_ranks:
        return None
    some = cutoff.sample(work)
    return None if some is None else some._replace(pages=choose(some.pages))


def due_now(
    work: Workspace,
    known: DataFrame,
    hosts: DataFrame,
    now_ms: int,
    stranded: DataFrame | None = None,
) -> DataFrame:
    """Those of `known` pages that are due, or early, and whose hosts may be asked.

    `stranded`: hosts that no worker may ask now.
    """
    usual_s = interval_s(work)
    due = due_pages(
        known,
        now_ms,
        usual_s,
        work.settings_changed_ms,
        is_endless=work.is_endless,
        soonest_s=usual_s / work.config.update.interval_factor,
    )
    if work.store.manifest.layers(HOSTS.name):
        due = of_ready_hosts(due, hosts, now_ms + round_length.patience_ms(work))
    if stranded is not None:
        due = due.join(stranded, on="host", how="left_anti")
    return mark_own_hosts(work, due, hosts)


def known_sections(work: Workspace, draft: Draft) -> tuple[Layer, ...]:
    """The layers of `sections`, after counting them anew if the scoring needs that."""
    if scoring.load(work.config.update.scoring).needs_worth and recount_is_due(work):
        draft.replace |= count_sections(work)
    return draft.replace.get(SECTIONS.name, work.store.manifest.layers(SECTIONS.name))


def scored(work: Workspace, due: DataFrame, held: Sequence[Layer] = ()) -> DataFrame:
    """Add the column `score`: the page's importance by `update.scoring`, times what a visit gains.

    It is far higher for pages with a rhythm and for news (polling.py), and stands in place of the
    columns that only it needs. `held`: layers of `sections`.
    """
    score = scoring.load(work.config.update.scoring)
    if score.needs_ranks:
        due, _ = work.scratch(with_ranks(work, due))
    if score.needs_worth:
        due = add_page_worth(work, due, held)
    due = recrawl.with_gain(due, work.now_ms(), work.config.update)
    factor = F.col("gain") * polling.ahead(work.now_ms())
    used = ("inlinks", "cash", "history", "rank", "host_rank", "worth", "rate", "gain")
    of_others = (*RECRAWLED, *POLLED, *JUDGED)
    return due.withColumn("score", score(signals(work)) * factor).drop(*used, *of_others)


def signals(work: Workspace) -> scoring.Signals:
    """What is known about pages, by the columns of `pages`, `with_ranks` and `with_worth`."""
    return scoring.Signals(
        depth=F.col("depth"),
        inlinks=F.col("inlinks"),
        opic=opic.importance(opic.virtual_page(work).given),
        rank=F.col("rank"),
        host_rank=F.col("host_rank"),
        worth=F.col("worth"),
        promise=fit_prediction.of_pages(work),
    )


def within_budget(due: DataFrame, hosts: DataFrame, ever: int, per_host: int) -> DataFrame:
    """Drop pages that were never requested, if they would bring their host above `ever` pages.

    A host has to be sorted only if its pages left are fewer than `per_host`, the limit of the
    round, or if that limit does not apply, because it is the user's own.
    """
    left = F.coalesce(F.lit(ever) - F.col("pages"), F.lit(ever))
    known = due.join(hosts.select("host", "pages"), on="host", how="left").withColumn("left", left)
    spent = ~F.col("asked") & (F.col("own") | (F.col("left") < per_host))
    in_host = Window.partitionBy("host").orderBy(F.desc("score"), F.asc("url"))
    last = (
        known.where(spent)
        .withColumn("place", F.row_number().over(in_host))
        .where(F.col("place") <= F.col("left"))
    )
    return known.where(~spent).select(due.columns).unionByName(last.select(due.columns))


def candidates_of(
    work: Workspace,
    due: DataFrame,
    config: GenerateConfig,
    some: Sample | None = None,
    above: Above | None = None,
) -> DataFrame | None:
    """The pages of the round (`chosen`), and those that only their domain's budget kept out.

    None if no page is due. `some` and `above` are as for `promising`.
    """
    found, budgets = promising(work, due, config, some, above)
    if found is None:
        return None
    return best(found, config.pages, config.pages_per_host, budgets)


def best(due: DataFrame, total: int, per_host: int, budgets: DataFrame | None = None) -> DataFrame:
    """Mark the `total` pages with the highest scores within the budgets as `chosen`; ties by URL.

    `budgets` has the hosts (host, domain, budget) of limited domains; None if no domain has to be
    limited. Pages that would be among the `total` without budgets are also returned, but not
    chosen.
    """
    by_score = (F.desc("score"), F.asc("url"))
    place = F.row_number()
    in_host = Window.partitionBy("host").orderBy(*by_score)
    overall = Window.partitionBy(F.lit(0)).orderBy(*by_score)
    in_limit = F.col("own") | (F.col("place") <= per_host)
    of_hosts = due.withColumn("place", place.over(in_host)).where(in_limit)
    # Not limit(): for a large k, the engine's top-k takes more time and memory than a sort of the
    # few rows that are left.
    if budgets is None:
        first = of_hosts.withColumn("place", place.over(overall)).where(F.col("place") <= total)
        return first.drop("place").withColumn("chosen", F.lit(True))
    in_domain = Window.partitionBy(F.coalesce("domain", "host")).orderBy(*by_score)
    so_far = overall.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    within = F.coalesce(place.over(in_domain) <= F.col("budget"), F.lit(True))
    return (
        of_hosts.join(F.broadcast(budgets), on="host", how="left")
        .withColumn("within", within)
        .withColumn("place", place.over(overall))
        .withColumn("taken", F.sum(F.col("within").cast("int")).over(so_far))
        .withColumn("chosen", F.col("within") & (F.col("taken") <= total))
        .where(F.col("chosen") | (F.col("place") <= total))
        .drop("place", "taken", "domain", "budget", "within")
    )


def promising(
    work: Workspace,
    due: DataFrame,
    config: GenerateConfig,
    some: Sample | None = None,
    above: Above | None = None,
) -> tuple[DataFrame | None, DataFrame | None]:
    """Due pages above a score below which no page can be chosen, and the budgets for `best`.

    No page is due if the former is None. Of pages that are early, those are among them that are
    `contested`. `some`: a sample of the due pages. `above`: a function that finds those in a bucket
    and in better ones for less than a filter of all, which joins the layers of `pages` first.
    """
    above = above or partial(score_buckets.above, due)
    if some is not None and (guessed := _guessed(work, above, config, some)) is not None:
        return guessed
    counts = (
        due.groupBy(score_buckets.bucket().alias("bucket"))
        .agg(F.count("*").alias("pages"), F.count_if("early").alias("early"))
        .orderBy(F.desc("bucket"))
        .collect()  # scores span a few dozen octaves at most
    )
    early = sum(row["early"] for row in counts)
    on_time = sum(row["pages"] for row in counts) - early
    if not on_time:
        return None, None
    competes = early > 0 and on_time > config.pages
    if early and not competes:
        due = contested(work, due, config)
        above = partial(score_buckets.above, due)
    if on_time + early <= config.pages:
        return due, None
    wanted, pages_above = 2 * config.pages, 0
    for row in counts[:-1]:
        pages_above += row["pages"]
        if pages_above < wanted:
            continue
        best_ones, _ = work.scratch(above(row["bucket"]))
        supply = supplied(work, best_ones, config)
        filled = min(supply.pages, supply.on_time) if competes else supply.pages
        if filled >= config.pages:
            return best_ones, supply.budgets()
        wanted = 2 * pages_above
    if competes:
        due = contested(work, due, config)
    supply = supplied(work, due, config)
    if supply.pages >= config.pages:
        return due, supply.budgets()
    # There are fewer domains than pages in the round, because each supplies at least one.
    offered = np.array(supply.limited.select("supply", "budget").collect(), np.int64).reshape(-1, 2)
    missing = config.pages - supply.pages + int(offered[:, 1].sum())
    grown = level(offered[:, 0], offered[:, 1], missing)
    return due, None if math.isinf(grown) else supply.budgets(grown)


def _guessed(
    work: Workspace, above: Above, config: GenerateConfig, some: Sample
) -> tuple[DataFrame, DataFrame | None] | None:
    """As `promising`, by a sample; None if that does not lead to a full round."""
    for floor in score_buckets.likely(some, config.pages, config.pages_per_host):
        found, _ = work.scratch(above(floor))
        supply = supplied(work, found, config)
        # Pages that are due fill the round alone, so early ones compete.
        if min(supply.pages, supply.on_time) >= config.pages:
            return found, supply.budgets()
    return None


class Supply(NamedTuple):
    """The pages that a round may take from the due ones, whose number is `pages`.

    `on_time` is the number without early pages, within the limits per host alone. `limited` are the
    domains that may not supply all of their pages, because their `supply`, the due pages within the
    limit per host, is above their `budget`; `domains` is their number. Their hosts are among
    `hosts` (host, domain).
    """

    pages: int
    on_time: int
    hosts: DataFrame
    limited: DataFrame
    domains: int

    def budgets(self, growth: float = 1) -> DataFrame | None:
        """The hosts of limited domains: host, domain, budget. None if there are none."""
        if not self.domains:
            return None
        budget = F.ceil(F.col("budget") * growth).alias("budget")
        return self.hosts.join(self.limited.select("domain", budget), on="domain", how="inner")


def supplied(work: Workspace, due: DataFrame, config: GenerateConfig) -> Supply:
    """What the hosts and domains of due pages supply. Own hosts have no limit."""
    supply = _within(F.count("*"), config).alias("supply")
    on_time = _within(F.count_if(~F.col("early")), config).alias("on_time")
    depth = F.min("depth").alias("depth")
    by_host, _ = work.scratch(due.groupBy("host", "own").agg(supply, on_time, depth))
    per_link = config.domain_share * config.pages / FULL_LINKS
    others = by_host.where(~F.col("own")).drop("own", "on_time")
    hosts = hosts_of_large_domains(work, others, "supply", math.ceil(per_link))
    of_domains = hosts.groupBy("domain").agg(
        F.sum("supply").alias("supply"), F.min("depth").alias("depth")
    )
    known = lsm.rows_for(work, DOMAINS, of_domains.select("domain"))
    # A seed that was never fetched is not among `domains` yet.
    worth = F.when(F.col("depth") == 0, FULL_LINKS).otherwise(standing())
    limited, count = work.scratch(
        of_domains.join(known, on="domain", how="left")
        .select("domain", "supply", F.ceil(worth * per_link).cast("long").alias("budget"))
        .where(F.col("supply") > F.col("budget"))
    )
    beyond = limited.agg(F.coalesce(F.sum(F.col("supply") - F.col("budget")), F.lit(0)))
    offered = by_host.agg(F.sum("supply"), F.sum("on_time")).collect()[0]
    pages = offered[0] - beyond.collect()[0][0]
    return Supply(pages, offered[1], hosts.select("host", "domain"), limited, count)


def _within(count: Column, config: GenerateConfig) -> Column:
    """How many of so many pages of a host may be in a round."""
    return F.when(F.col("own"), count).otherwise(F.least(count, F.lit(config.pages_per_host)))


def contested(work: Workspace, due: DataFrame, config: GenerateConfig) -> DataFrame:
    """Drop the early pages whose places no page that is due would take.

    That is, unless the others fill the round, or the limit of a page's host, by themselves.
    """
    on_time = due.where("NOT early").groupBy("host", "own")
    by_host, _ = work.scratch(on_time.agg(_within(F.count("*"), config).alias("supply")))
    if (by_host.agg(F.sum("supply")).collect()[0][0] or 0) >= config.pages:
        return due
    full = by_host.where(~F.col("own") & (F.col("supply") == config.pages_per_host))
    marked = due.join(full.select("host", F.lit(True).alias("full")), on="host", how="left")
    return marked.where(~F.col("early") | F.col("full")).drop("full")
