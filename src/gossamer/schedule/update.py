"""update: pages, responses, links → pages. The changes that a round makes to known pages.

If a URL has several sources of information, the result of its fetch takes precedence over links
found, and these over its old row. Only rows that change are written, as a new layer (see lsm.py).

The number of new URLs per round is limited (new_url_limits.py). When a page is due again follows
from how often it has changed (recrawl.py), or listed something new (polling.py).
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.errors import UsageError
from gossamer.links import domains
from gossamer.rules.url_rules import aliases as url_aliases
from gossamer.rules.url_rules.lessons import apply_rules, learn_from_round
from gossamer.rules.url_rules.listing import rule_with_state
from gossamer.schedule import depths, found_links
from gossamer.schedule.due import habits, histogram, polling, recrawl
from gossamer.schedule.due.due_pages import due_ms, is_refused
from gossamer.schedule.focus import fit_prediction, fitness, marks
from gossamer.schedule.limits import new_url_limits
from gossamer.schedule.order import opic, scoring
from gossamer.schedule.order.sections.finds import write_finds
from gossamer.state import lsm
from gossamer.tables import HOSTS, LINKS, PAGES, RESPONSES
from gossamer.tables.fetching import RHYTHM_S
from gossamer.tables.outcomes import FILTERED_TYPE, OUTCOMES
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column

    from gossamer.config import UpdateConfig
    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import StepReport

NEWS = ("outcome", "fetched_ms", "retry_after_s", "digest", "etag", "last_modified")
"""Columns of responses that change a page."""


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
        late = found_links.late_sources(work, links)
        now = found_links.with_present_depths(work, links, late)
        found, urls = work.scratch(found_links.link_targets(now, work.now_ms()))

        def known_and_flows() -> tuple[DataFrame, DataFrame, domains.Met | None]:
            payers, old_votes = opic.payers(work, answers, late), opic.old_votes(work, answers)
            ends = found.select("url"), payers, answers.select("url"), old_votes.select("dst")
            before = lsm.rows_for_some(work, PAGES, reduce(DataFrame.union, ends))
            flows = opic.flows(work, links, old_votes, payers, before, virtual.given, damping)
            return before, flows, domains.met(work, links, answers, round_)

        lesson = partial(learn_from_round, work, answers, found, round_)
        asked = sum(layer.rows for layer in work.store.manifest.layers("responses", round_))
        learned, (before, flows, met) = work.both(asked, lesson, known_and_flows)
        draft.replace |= learned.replace | ({} if met is None else {"domains": met.layers})
        draft.counts |= learned.counts
        turns = None
        if learned.turns is not None:
            found, urls = work.scratch(found_links.add_alias_targets(found, learned.turns))
            turns, before = found_links.with_alias_changes(work, learned.turns, before)
        hosts = domains.known(work, met)
        found, _ = new_url_limits.limit_new_urls(work, found, urls, before, hosts, draft.counts)
        texts = work.read("documents", round_).where(F.col("round") == round_)
        focus = marks.learn_from_round(work, draft, texts)
        texts = texts.withColumn("kind", polling.kind_of_document())
        judged = fitness.judge_documents(work, texts, focus)
        promised = fit_prediction.judge_targets(work, links, judged, focus)
        finds = new_in_known(work, links, before)
        dated = found.where(F.col("found_dated_ms").isNotNull()).select("url")
        places = habits.habits_of_urls(work, answers.select("url").union(dated).distinct())
        known_of = (judged, finds, places, promised)
        rows = changed(work, before, found, answers, flows, virtual.given, turns, *known_of)
        rows, count = work.scratch(rows)
        if scoring.load(work.config.update.scoring).needs_worth:
            draft.replace["finds"] = write_finds(work, links, rows)
        draft.counts["touched"] = put(work, draft, rows, count, virtual)
    return draft.done


def put(
    work: Workspace, draft: Draft, rows: DataFrame, count: int, virtual: opic.VirtualPage
) -> int:
    """Write the rows that `changed` returns, materialised, and what follows from them.

    Returns the number of rows of `pages`.
    """
    sums = {"new": F.count_if("new"), "spent": F.sum("spent"), "nearer": F.count_if("nearer")}
    sums["met"] = F.count(F.coalesce("more_ms", "listed_for_ms"))
    moves = histogram.count_moves(rows, *(each.alias(name) for name, each in sums.items()))
    virtual = virtual.collect(sum(m.new for m in moves), sum(m.spent or 0 for m in moves))
    draft.replace["virtual_page"] = opic.write_virtual_page(work, virtual, work.round)
    settled = depths.relax(work, rows, count, are_nearer=any(m.nearer for m in moves))
    draft.replace["pages"] = lsm.append_layer(
        work, PAGES, settled.pages, settled.page_count, work.round
    )
    draft.replace["due_times"] = histogram.write_counts(work, moves, settled.pages)
    if any(m.met for m in moves):
        draft.replace["habits"] = habits.write_habits(work, rows)
    if settled.host_count:
        hosts, host_count = work.scratch(settled.hosts)
        draft.replace["hosts"] = lsm.append_layer(work, HOSTS, hosts, host_count, work.round)
    return settled.page_count


def new_in_known(work: Workspace, links: DataFrame, before: DataFrame) -> DataFrame | None:
    """What visits of known pages have found (`polling.count_listed`); None if nothing.

    `before`: the old rows of all pages that the links lead to.
    """
    again = polling.links_of_known_pages(links, work.now_ms())
    finds, count = work.scratch(polling.count_listed(again, before))
    return finds if count else None


def learn(work: Workspace, draft: Draft) -> None:
    """Add the targets of the draft's links to `pages` that it lacks.

    Known pages do not change: their inlinks and depth stay as the rounds computed them. A new page
    gets the inlinks that it would have from all rounds.
    """
    files = [file.path for layer in draft.replace[LINKS.name] for file in layer.files]
    links = work.engine.read([f"{work.root}/{path}" for path in files], LINKS.ddl)
    known = lsm.current(work, PAGES).select("url", "depth", "hops")
    unknown, _ = work.scratch(links.join(known, F.col("dst") == F.col("url"), how="left_anti"))
    found, urls = work.scratch(
        found_links.link_targets(depths.set_present_depths(unknown, known), work.now_ms())
    )
    before, answers = (work.engine.read([], none.ddl) for none in (PAGES, RESPONSES))
    hosts = domains.known(work)
    found, count = new_url_limits.limit_new_urls(work, found, urls, before, hosts, draft.counts)
    if count:
        virtual, flows = opic.virtual_page(work), opic.no_flows(work)
        rows, _ = work.scratch(changed(work, before, found, answers, flows, virtual.given))
        new = rows.select(*PAGES.column_names)
        draft.replace["pages"] = lsm.append_layer(work, PAGES, new, count, work.round)
        draft.replace["due_times"] = histogram.write_counts(work, histogram.count_moves(rows), new)
        draft.replace["virtual_page"] = opic.write_virtual_page(
            work, virtual.collect(count, 0), work.round
        )
    draft.counts["new_urls"] = count


def set_rule(work: Workspace, rule: str, *, enabled: bool) -> StepReport:
    """Disable or enable a learned rule for URLs, with all that follows for pages.

    Raises UsageError if there is no such rule.
    """
    with work.step("duplicates", work.round) as draft:
        none, answers = (work.engine.read([], table.ddl) for table in (LINKS, RESPONSES))
        found = found_links.link_targets(none, work.now_ms())
        learned = apply_rules(work, rule_with_state(work, rule, enabled=enabled), 1, answers, found)
        draft.replace |= learned.replace
        draft.counts["pages"] = 0
        if learned.turns is not None:
            found, urls = work.scratch(found_links.add_alias_targets(found, learned.turns))
            turns, before = found_links.with_alias_changes(
                work, learned.turns, work.engine.read([], PAGES.ddl)
            )
            hosts = domains.known(work)
            found, _ = new_url_limits.limit_new_urls(work, found, urls, before, hosts, draft.counts)
            virtual, flows = opic.virtual_page(work), opic.no_flows(work)
            rows = changed(work, before, found, answers, flows, virtual.given, turns)
            draft.counts["pages"] = put(work, draft, *work.scratch(rows), virtual)
    return draft.done


def changed(
    work: Workspace,
    before: DataFrame,
    found: DataFrame,
    answers: DataFrame,
    flows: DataFrame,
    given: int,
    turns: DataFrame | None = None,
    judged: DataFrame | None = None,
    finds: DataFrame | None = None,
    places: DataFrame | None = None,
    promised: DataFrame | None = None,
) -> DataFrame:
    """The new rows of every page that was found or requested, or that cash flows from or to.

    All frames are keyed by `url`. `before` has the old rows of at least these pages; `flows` and
    `given` are as in `opic`, `turns` has what rules for URLs change (`url_rules.aliases`),
    `judged` what was parsed of the answers (`judge_documents`), `finds` is as `count_listed`
    returns it, `places` as `habits_of_urls`, and `promised` as `judge_targets`.
    Further columns of the result: `nearer`, for `depths.relax`; whether the page is `new`;
    `spent`, the cash that it has less than before; whether it was `asked` for; `counted`, for
    `due_times`; and recrawl.VISITS, for `habits`.
    """
    renamed = {"fetched_ms": "r_asked_ms"}
    asked = answers.select(
        "url", *(F.col(name).alias(renamed.get(name, f"r_{name}")) for name in NEWS)
    ).join(
        F.broadcast(policies(work.engine)), on=F.col("r_outcome") == F.col("o_outcome"), how="left"
    )
    met = found.join(asked, on="url", how="full").join(flows, on="url", how="full")
    lacking: dict[str, str] = {}
    """Columns of frames that are None, with their types."""
    if turns is None:
        lacking |= {"becomes": "string", "due_ms": "long"}
    else:
        met = met.join(turns, on="url", how="full")
    if judged is None:
        lacking |= {"r_main_text": "long", "r_kind": "string", "r_fit": "boolean"}
    else:
        renamed = {"text_hash": "r_main_text", "kind": "r_kind", "fit": "r_fit"}
        parsed = judged.drop("score").withColumnsRenamed(renamed)
        met = met.join(parsed, on="url", how="left")
    if finds is None:
        lacking |= dict.fromkeys(polling.FOUND, "long")
    else:
        met = met.join(F.broadcast(finds), on="url", how="left")
    if places is None:
        lacking |= dict.fromkeys(habits.KNOWN, "double")
    else:
        met = met.join(places, on="url", how="left")
    if promised is None:
        lacking |= dict.fromkeys(fit_prediction.FOUND, "long")
    else:
        met = met.join(promised, on="url", how="left")
    met = met.select("*", *(F.lit(None).cast(kind).alias(n) for n, kind in lacking.items()))
    # A page that cash flows to may be unknown, because a growth limit dropped it.
    within = F.coalesce("source", "found_source", "r_outcome").isNotNull()
    config = work.config.update
    rows = met.join(before, on="url", how="left").where(within)
    usual = F.lit(recrawl.usual_rate(config))
    if places is not None:
        rows = rows.withColumn("usual_before", recrawl.usual_of_places(config))
        usual = F.col("usual_before")
    # The engine plans an expression as often as others contain it, so some become columns first.
    # Each select of so many columns takes long to plan, so there are few of them, and a new value
    # takes the place of the old one, unless that is needed again.
    rows = rows.withColumns(_facts(work.now_ms(), config, given, usual))
    rows = rows.withColumns(recrawl.likely_changes())
    status, again = url_aliases.status_after_change(F.col("settled"))
    learned = recrawl.learn_changes() | polling.learn_finds()
    rows = rows.withColumns({"new_status": status, "again": again, **learned})
    rhythm_s = F.when(F.col("is_answered"), polling.wait_s(config))
    rows = rows.withColumns({"rhythm_s": rhythm_s, "usual_s": recrawl.wait_s(config)})
    return rows.select(*_columns(work.now_ms(), config, given), *recrawl.VISITS)


def policies(engine: Engine) -> DataFrame:
    """The table of outcomes as a DataFrame."""
    names = ("status", "answered", "retry_wait_s", "max_tries")
    columns = {f"o_{name}": [getattr(p, name) for p in OUTCOMES.values()] for name in names}
    return engine.rows(pa.table({"o_outcome": list(OUTCOMES), **columns}))


def _facts(now_ms: int, config: UpdateConfig, given: int, usual: Column) -> dict[str, Column]:
    """What columns of `changed` follow from: the status, but for rules for URLs, is `settled`."""
    asked = F.col("r_outcome").isNotNull() & (F.col("r_outcome") != "postponed")
    tries = F.coalesce("failures", F.lit(0)) + 1
    retry = asked & (F.col("o_retry_wait_s") > 0) & (tries < F.col("o_max_tries"))
    before = F.coalesce("status", F.lit("unfetched"))
    # Filters may have refused a page while a round was fetching it.
    refused = is_refused()
    settled = F.when(asked & ~retry & ~refused, F.col("o_status")).otherwise(before)
    had = opic.stored_cash(given, new=F.col("source").isNull())
    is_other = F.coalesce(
        F.col("r_main_text") != F.col("main_text"),
        F.col("r_digest") != F.col("digest"),
        F.lit(True),
    )
    visit = recrawl.visit_columns((F.col("r_outcome") == "ok") & is_other, usual, config, now_ms)
    facts = {"asked": asked, "tries": tries, "retry": retry, "settled": settled, "had": had}
    facts["passed"] = opic.elapsed_share(moment_ms(now_ms))
    facts |= {"refused": refused, "kind": F.coalesce("r_kind", "kind")}
    return facts | visit


def moment_ms(now_ms: int) -> Column:
    """When a page was asked, or when its row changes."""
    return F.coalesce("r_asked_ms", F.lit(now_ms))


def _has_rhythm() -> Column:
    """Whether a page that was asked is due again by a rhythm of its own.

    Only what was answered has a rhythm: a page that fails would be asked without end.
    """
    rhythm_s = F.col("rhythm_s")
    is_sooner = (F.col("kind") != "page") | (rhythm_s < F.col("usual_s"))
    return rhythm_s.isNotNull() & F.coalesce(is_sooner, F.lit(False))


def _columns(now_ms: int, config: UpdateConfig, given: int) -> list[Column]:
    """The columns of `changed`, from the old row, the links found, the response, and the flows."""
    asked, retry, status = F.col("asked"), F.col("retry"), F.col("new_status")
    requested = asked & (F.col("r_outcome") != "robots")  # as `fetch` counts a host's pages
    pays = requested | F.col("paid").isNotNull()
    stored = F.coalesce(F.col("r_outcome") == "ok", F.lit(False))
    failures = F.when(retry, F.col("tries")).when(asked, F.lit(0)).otherwise(F.col("tries") - 1)
    seed = F.coalesce(F.col("source") == "seed", F.lit(False))
    taken_over = F.col("due_ms").isNotNull() & F.col("outcome").isNull() & ~seed
    cash = F.when(status.isin(*opic.DEAD), F.lit(-given)).otherwise(
        F.col("had") - F.coalesce("paid", F.lit(0)) + F.coalesce("got", F.lit(0))
    )
    has_rhythm = _has_rhythm()
    wait_s = F.when(has_rhythm, F.col("rhythm_s")).otherwise(F.col("usual_s"))
    interval = int(config.interval_days * recrawl.DAY_S)
    interval_s = F.lit(interval).cast("long")
    is_told = F.col("signal") & ~asked
    told_ms = F.least(due_ms(interval), F.col("fetched_ms") + F.col("usual_s") * 1000)
    doubled_s = F.col("o_retry_wait_s") * F.pow(F.lit(2), F.col("tries") - 1)
    retry_s = F.greatest(doubled_s, F.coalesce("r_retry_after_s", F.lit(0))).cast("long")

    is_refused_type = F.coalesce(F.col("r_outcome") == FILTERED_TYPE, F.lit(False))

    def validator(name: str) -> Column:
        """Without one, a page is answered as a whole, with its type, when it is asked for again."""
        return F.when(~is_refused_type, of_answer(name))

    def of_answer(name: str) -> Column:
        return F.when(stored, F.col(f"r_{name}")).otherwise(F.col(name))

    columns = {
        "url": F.col("url"),
        "url_hash": F.col("url_hash"),
        "host": F.coalesce("host", host_column(F.col("url"))),
        "status": status,
        "source": F.coalesce("source", "found_source"),
        "depth": F.least("depth", "found_depth").cast("int"),
        "hops": F.least("hops", "found_hops").cast("int"),
        "inlinks": F.coalesce("inlinks", F.lit(0)) + F.coalesce("found_inlinks", F.lit(0)),
        "cash": cash.cast("long"),
        "history": F.when(pays, opic.new_history(F.col("passed"))).otherwise(F.col("history")),
        "found_ms": F.coalesce("found_ms", F.lit(now_ms)),
        "fetches": F.coalesce("fetches", F.lit(0))
        + F.coalesce("o_answered", F.lit(False)).cast("int"),
        "failures": failures.cast("int"),
        "outcome": F.when(F.col("refused"), F.col("outcome")).otherwise(
            F.coalesce("r_outcome", "outcome")
        ),
        "fetched_ms": F.when(requested, F.col("r_asked_ms")).otherwise(F.col("fetched_ms")),
        "stored_ms": F.when(stored, F.col("r_asked_ms")).otherwise(F.col("stored_ms")),
        "changes": F.col("changes"),
        "watched_days": F.col("watched_days"),
        "rate": F.col("rate"),
        "listed_ms": F.col("listed_ms"),
        "dated_ms": F.col("dated_ms"),
        "signals": F.col("signals").cast("int"),
        "doubt": F.col("doubt"),
        "recall": F.col("recall"),
        "main_text": of_answer("main_text"),
        "kind": F.col("kind"),
        "finds": F.col("finds"),
        "finding_days": F.col("finding_days"),
        "date_rate": F.col("date_rate"),
        "fit": of_answer("fit"),
        **fit_prediction.increased_counts(),
        "next_fetch_ms": F.when(retry, F.col("r_asked_ms") + retry_s * 1000)
        .when(asked, F.col("r_asked_ms") + F.floor(wait_s * 1000))
        .when(F.col("again"), F.lit(0))
        .when(taken_over, F.col("due_ms"))
        .when(is_told, told_ms)
        .otherwise(F.coalesce("next_fetch_ms", F.lit(0)))
        .cast("long"),
        "interval_s": F.when(asked & ~retry & has_rhythm, RHYTHM_S)
        .when(asked | (is_told & ~polling.has_rhythm()), interval_s)
        .otherwise(F.coalesce("interval_s", interval_s))
        .cast("long"),
        "etag": validator("etag"),
        "last_modified": validator("last_modified"),
        "digest": of_answer("digest"),
    }
    nearer = depths.is_nearer(F.col("found_depth"), F.col("found_hops"), columns["outcome"])
    return [
        *(columns[name].alias(name) for name in PAGES.column_names),
        nearer.alias("nearer"),
        F.col("source").isNull().alias("new"),
        (F.col("had") - cash).alias("spent"),
        asked.alias("asked"),
        histogram.slot_column().alias("counted"),
    ]
