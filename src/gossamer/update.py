"""update: pages, responses, links → pages. The changes that a round makes to known pages.

If a URL has several sources of information, the result of its fetch takes precedence over links
found, and these over its old row. Only rows that change are written, as a new layer (see lsm.py).

The number of new URLs per round is limited per registrable domain (less strictly for domains of
seeds and domains that many others link to: domains.py), and for URLs that differ only in their
query. This bounds traps that look like any other site (see traps.py). A dropped URL is found again
when another page links to it.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from gossamer import depths, domains, due_times, lsm, opic
from gossamer.errors import UsageError
from gossamer.linkgraph import VOTES
from gossamer.outcomes import OUTCOMES
from gossamer.tables import HOSTS, LINKS, PAGES, RESPONSES
from gossamer.url_rules import aliases as url_aliases
from gossamer.url_rules.lessons import applied, lessons
from gossamer.url_rules.listing import with_state
from gossamer.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column

    from gossamer.config import UpdateConfig
    from gossamer.engine import Engine
    from gossamer.store import StepReport
    from gossamer.url_rules.aliases import Turns
    from gossamer.workspace import Draft, Workspace

OF_PAGES = {"url", "round", "host", "depth", "hops", "fetches", "detail"}
"""Columns of responses that are not new to a page."""
SEED_GROWTH = 10
"""A domain with the full budget may add this many times the URLs of one without voters."""


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
        links, answers = work.read("links", round_), work.read("responses", round_)
        virtual, damping = opic.virtual_page(work), work.config.rank.damping

        def flows_and_domains() -> tuple[DataFrame, domains.Met | None]:
            flows = opic.flows(work, links, answers, virtual.given, damping)
            return flows, domains.met(work, links, answers, round_)

        found = found_links(as_of_now(work, links))
        lesson = partial(lessons, work, answers, found, round_)
        asked = sum(layer.rows for layer in work.store.manifest.layers("responses", round_))
        learned, (flows, met) = work.both(asked, lesson, flows_and_domains)
        draft.replace |= learned.replace | ({} if met is None else {"domains": met.layers})
        known = domains.known(work, met)
        draft.counts |= learned.counts
        found, _ = bounded(work, with_turns(found, learned.turns), known, draft.counts)
        turns = None if learned.turns is None else work.scratch(learned.turns.rows)[0]
        sources = (found, answers, flows, *(() if turns is None else (turns,)))
        touched = reduce(DataFrame.union, [rows.select("url") for rows in sources])
        before = lsm.rows_for(work, PAGES, touched)
        rows = changed(work, before, found, answers, flows, virtual.given, turns)
        draft.counts["touched"] = put(work, draft, rows, virtual)
    return draft.done


def put(work: Workspace, draft: Draft, rows: DataFrame, virtual: opic.VirtualPage) -> int:
    """Write the rows that `changed` returns and what follows from them; return their number."""
    rows, count = work.scratch(rows)
    sums = {"new": F.count_if("new"), "spent": F.sum("spent"), "nearer": F.count_if("nearer")}
    moves = due_times.moves(rows, *(each.alias(name) for name, each in sums.items()))
    virtual = virtual.after(sum(m.new for m in moves), sum(m.spent or 0 for m in moves))
    draft.replace["virtual_page"] = opic.write(work, virtual, work.round)
    settled = depths.settle(work, rows, count, are_nearer=any(m.nearer for m in moves))
    draft.replace["pages"] = lsm.put(work, PAGES, settled.pages, settled.page_count, work.round)
    draft.replace["due_times"] = due_times.put(work, moves, settled.pages)
    if settled.host_count:
        hosts, host_count = work.scratch(settled.hosts)
        draft.replace["hosts"] = lsm.put(work, HOSTS, hosts, host_count, work.round)
    return settled.page_count


def as_of_now(work: Workspace, links: DataFrame) -> DataFrame:
    """Corrects the depths along links of pages that were fetched in an earlier round.

    Such pages were left unparsed then, and a shorter path to them may have been found since.
    """
    early = F.col("round") < work.round
    sources, count = work.scratch(links.where(early).select(F.col("src").alias("url")).distinct())
    if not count:
        return links
    known = lsm.rows_for(work, PAGES, sources)
    return links.where(~early).unionByName(depths.current(links.where(early), known))


def learn(work: Workspace, draft: Draft) -> None:
    """Add the targets of the draft's links to `pages` that it lacks.

    Known pages do not change: their inlinks and depth stay as the rounds computed them. A new page
    gets the inlinks that it would have from all rounds.
    """
    files = [file.path for layer in draft.replace[LINKS.name] for file in layer.files]
    links = work.engine.read([f"{work.root}/{path}" for path in files], LINKS.ddl)
    known = lsm.current(work, PAGES).select("url", "depth", "hops")
    unknown, _ = work.scratch(links.join(known, F.col("dst") == F.col("url"), how="left_anti"))
    unknown = found_links(depths.current(unknown, known))
    found, count = bounded(work, unknown, domains.known(work), draft.counts)
    if count:
        before, answers = (work.engine.read([], none.ddl) for none in (PAGES, RESPONSES))
        virtual, flows = opic.virtual_page(work), opic.no_flows(work)
        rows, _ = work.scratch(changed(work, before, found, answers, flows, virtual.given))
        new = rows.select(*PAGES.column_names)
        draft.replace["pages"] = lsm.put(work, PAGES, new, count, work.round)
        draft.replace["due_times"] = due_times.put(work, due_times.moves(rows), new)
        draft.replace["virtual_page"] = opic.write(work, virtual.after(count, 0), work.round)
    draft.counts["new_urls"] = count


def set_rule(work: Workspace, rule: str, *, enabled: bool) -> StepReport:
    """Disable or enable a learned rule for URLs, with all that follows for pages.

    Raises UsageError if there is no such rule.
    """
    with work.step("duplicates", work.round) as draft:
        none, answers = (work.engine.read([], table.ddl) for table in (LINKS, RESPONSES))
        found = found_links(none)
        learned = applied(work, with_state(work, rule, enabled=enabled), 1, answers, found)
        draft.replace |= learned.replace
        draft.counts["pages"] = 0
        if learned.turns is not None:
            found = with_turns(found, learned.turns)
            found, _ = bounded(work, found, domains.known(work), draft.counts)
            turns, _ = work.scratch(learned.turns.rows)
            before = lsm.rows_for(work, PAGES, found.select("url").union(turns.select("url")))
            virtual, flows = opic.virtual_page(work), opic.no_flows(work)
            rows = changed(work, before, found, answers, flows, virtual.given, turns)
            draft.counts["pages"] = put(work, draft, rows, virtual)
    return draft.done


def bounded(
    work: Workspace, found: DataFrame, known_domains: DataFrame, counts: dict[str, int]
) -> tuple[DataFrame, int]:
    """Write the found URLs that are within the growth limits, and return them with their number.

    The dropped ones are counted in `counts`.
    """
    found, rows = work.scratch(found)
    for growth in growths(work, known_domains):
        if rows <= growth.least:
            continue
        dropped = 0
        crowded, groups = work.scratch(growth.crowds(found))
        if groups:
            excess, dropped = work.scratch(beyond(work, found, crowded, growth.key))
        if dropped:
            found, rows = work.scratch(found.join(excess, on="url", how="left_anti"))
            counts[f"dropped_{growth.reason}"] = dropped
    return found, rows


def found_links(links: DataFrame) -> DataFrame:
    """Per target of a round's links: url, found_depth, found_hops, found_inlinks, found_source.

    Links marked nofollow are ignored. Only links in VOTES from pages fetched for the first time
    count as inlinks, so a page that is fetched again does not vote twice.
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


def with_turns(found: DataFrame, turns: Turns | None) -> DataFrame:
    """Add the pages that become known because of rules for URLs."""
    if turns is None:
        return found
    aggregates = {"found_inlinks": F.sum, "found_depth": F.min, "found_hops": F.min}
    return (
        found.select(*url_aliases.FOUND)
        .unionByName(turns.found)
        .groupBy("url")
        .agg(
            *(merge(name).alias(name) for name, merge in aggregates.items()),
            F.min("found_source").alias("found_source"),
        )
    )


class Growth(NamedTuple):
    """A limit on new URLs per round and group. A group consists of one or several keys."""

    reason: str
    key: Column
    """The key of a URL; null if the URL is not limited."""
    least: int
    """The smallest limit of any group."""
    crowds: Callable[[DataFrame], DataFrame]
    """The keys of groups with more found URLs than their limit: `key`, `group`, `most`."""


def growths(work: Workspace, known_domains: DataFrame) -> tuple[Growth, ...]:
    """The limits, in an order that keeps dropped queries from using up their domain's limit."""
    config = work.config.update
    path = F.when(F.contains("url", F.lit("?")), F.split_part("url", F.lit("?"), F.lit(1)))
    host = host_column(F.col("url"))
    per_path, per_domain = config.new_queries_per_path, config.new_urls_per_domain
    by_domain = partial(crowded_domains, work, known_domains, per_domain)
    return (
        Growth("query_growth", path, per_path, partial(crowded_paths, path, per_path)),
        Growth("domain_growth", host, per_domain, by_domain),
    )


def crowded_paths(path: Column, most: int, found: DataFrame) -> DataFrame:
    """The paths with more than `most` URLs that differ only in their query; usually none.

    All found URLs are counted, new or not, because that takes a single pass.
    """
    keys = found.select(path.alias("key")).where("key IS NOT NULL")
    counts = keys.groupBy("key").agg(F.count("*").alias("urls"))
    return counts.where(F.col("urls") > most).select(
        "key", F.col("key").alias("group"), F.lit(most).cast("long").alias("most")
    )


def crowded_domains(
    work: Workspace, known_domains: DataFrame, most: int, found: DataFrame
) -> DataFrame:
    """The hosts (`key`) of domains (`group`) with too many found URLs."""
    by_host, _ = work.scratch(
        found.groupBy(host_column(F.col("url")).alias("host")).agg(F.count("*").alias("urls"))
    )
    hosts = domains.hosts_of_large_domains(work, by_host, "urls", most)
    by_domain = hosts.groupBy("domain").agg(F.sum("urls").alias("urls"))
    allowed = F.lit(most) * F.greatest(
        F.lit(1), domains.standing() * SEED_GROWTH / domains.FULL_LINKS
    )
    crowded = (
        by_domain.where(F.col("urls") > most)
        .join(known_domains, on="domain", how="left")
        .select("domain", "urls", F.floor(allowed).alias("most"))
        .where(F.col("urls") > F.col("most"))
    )
    return hosts.join(F.broadcast(crowded.drop("urls")), on="domain", how="inner").select(
        F.col("host").alias("key"), F.col("domain").alias("group"), "most"
    )


def beyond(work: Workspace, found: DataFrame, crowded: DataFrame, key: Column) -> DataFrame:
    """The new URLs (a column `url`) of crowded groups that exceed the limit and are dropped.

    Those nearest to a seed are kept, then those with the most inlinks, then in URL order.
    """
    suspects = found.withColumn("key", key).join(F.broadcast(crowded), on="key", how="inner")
    known = lsm.rows_for(work, PAGES, suspects.select("url")).select("url")
    order = Window.partitionBy("group").orderBy("found_depth", F.desc("found_inlinks"), "url")
    placed = suspects.join(known, on="url", how="left_anti").withColumn(
        "place", F.row_number().over(order)
    )
    return placed.where(F.col("place") > F.col("most")).select("url")


def changed(
    work: Workspace,
    before: DataFrame,
    found: DataFrame,
    answers: DataFrame,
    flows: DataFrame,
    given: int,
    turns: DataFrame | None = None,
) -> DataFrame:
    """The new rows of every page that was found or requested, or that cash flows from or to.

    All frames are keyed by `url`. `before` has the old rows of at least these pages; `flows` and
    `given` are as in `opic`, `turns` has what rules for URLs change (`url_rules.aliases`).
    Further columns of the result: `nearer`, for `depths.settle`; whether the page is `new`;
    `spent`, the cash that it has less than before; and `counted`, for `due_times`.
    """
    renamed = {"fetched_ms": "r_asked_ms"}
    names = [name for name in RESPONSES.column_names if name not in OF_PAGES]
    asked = answers.select(
        "url", *(F.col(name).alias(renamed.get(name, f"r_{name}")) for name in names)
    ).join(
        F.broadcast(policies(work.engine)), on=F.col("r_outcome") == F.col("o_outcome"), how="left"
    )
    met = found.join(asked, on="url", how="full").join(flows, on="url", how="full")
    if turns is None:
        nothing = {"becomes": "string", "due_ms": "long"}
        met = met.select("*", *(F.lit(None).cast(t).alias(name) for name, t in nothing.items()))
    else:
        met = met.join(turns, on="url", how="full")
    # A page that cash flows to may be unknown, because a growth limit dropped it.
    within = F.coalesce("source", "found_source", "r_outcome").isNotNull()
    columns = _columns(work.now_ms(), work.config.update, given)
    return met.join(before, on="url", how="left").where(within).select(*columns)


def policies(engine: Engine) -> DataFrame:
    """The table of outcomes as a DataFrame."""
    names = {"status": "o_status", "answered": "o_answered"}
    names |= {"retry_wait_s": "o_retry_wait_s", "max_tries": "o_max_tries"}
    columns = {to: [getattr(p, name) for p in OUTCOMES.values()] for name, to in names.items()}
    return engine.rows(pa.table({"o_outcome": list(OUTCOMES), **columns}))


def _columns(now_ms: int, config: UpdateConfig, given: int) -> list[Column]:
    """The columns of `changed`, from the old row, the links found, the response, and the flows."""
    asked = F.col("r_outcome").isNotNull() & (F.col("r_outcome") != "postponed")
    requested = asked & (F.col("r_outcome") != "robots")  # as `fetch` counts a host's pages
    answered = F.coalesce("o_answered", F.lit(False))
    stored = F.coalesce(F.col("r_outcome") == "ok", F.lit(False))
    failures_before = F.coalesce("failures", F.lit(0))
    tries = failures_before + 1
    retry = asked & (F.col("o_retry_wait_s") > 0) & (tries < F.col("o_max_tries"))
    settled = asked & ~retry
    status = F.when(settled, F.col("o_status")).otherwise(F.coalesce("status", F.lit("unfetched")))
    status, again = url_aliases.turned(status)
    seed = F.coalesce(F.col("source") == "seed", F.lit(False))
    taken_over = F.col("due_ms").isNotNull() & F.col("outcome").isNull() & ~seed
    cash_before = opic.stored(given, new=F.col("source").isNull())
    cash = F.when(status.isin(*opic.DEAD), F.lit(-given)).otherwise(
        cash_before - F.coalesce("paid", F.lit(0)) + F.coalesce("got", F.lit(0))
    )
    moment_ms = F.coalesce("r_asked_ms", F.lit(now_ms))
    inlinks = F.coalesce("inlinks", F.lit(0)) + F.coalesce("found_inlinks", F.lit(0))
    interval_s = F.lit(int(config.interval_days * 86_400)).cast("long")
    wait_s = F.greatest(
        F.col("o_retry_wait_s") * F.pow(F.lit(2), failures_before),
        F.coalesce("r_retry_after_s", F.lit(0)),
    ).cast("long")

    def of_answer(name: str) -> Column:
        return F.when(stored, F.col(f"r_{name}")).otherwise(F.col(name)).alias(name)

    columns = {
        "url": F.col("url"),
        "host": F.coalesce("host", host_column(F.col("url"))),
        "status": status,
        "source": F.coalesce("source", "found_source"),
        "depth": F.least("depth", "found_depth").cast("int"),
        "hops": F.least("hops", "found_hops").cast("int"),
        "inlinks": inlinks,
        "cash": cash.cast("long"),
        "history": F.when(requested | F.col("paid").isNotNull(), opic.history(moment_ms)).otherwise(
            F.col("history")
        ),
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
        .when(again, F.lit(0))
        .when(taken_over, F.col("due_ms"))
        .otherwise(F.coalesce("next_fetch_ms", F.lit(0)))
        .cast("long"),
        "interval_s": F.when(asked, interval_s).otherwise(F.coalesce("interval_s", interval_s)),
        "etag": of_answer("etag"),
        "last_modified": of_answer("last_modified"),
        "digest": of_answer("digest"),
    }
    nearer = depths.nearer(F.col("found_depth"), F.col("found_hops"), columns["outcome"])
    return [
        *(columns[name].alias(name) for name in PAGES.column_names),
        nearer.alias("nearer"),
        F.col("source").isNull().alias("new"),
        (cash_before - cash).alias("spent"),
        due_times.slot().alias("counted"),
    ]
