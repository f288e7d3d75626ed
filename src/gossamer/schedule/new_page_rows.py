"""The new rows of the pages about which a round has learned something.

If a URL has several sources of information, the result of its fetch takes precedence over links
found, and these over its old row.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.rules.spellings import spelling_after, spelling_rank
from gossamer.rules.url_rules.aliases import alias_status_after_change
from gossamer.schedule import depths
from gossamer.schedule.due import change_habits, change_rates, due_counts, listing_polls, outages
from gossamer.schedule.due.due_pages import due_ms, is_refused
from gossamer.schedule.focus import fit_prediction
from gossamer.schedule.focus.generated_rules.rulings import (
    SAMPLED,
    is_due_by_ruling,
    is_withheld_after,
    outcome_after_ruling,
    status_after_ruling,
)
from gossamer.schedule.found_links import link_targets
from gossamer.schedule.order import opic
from gossamer.tables import LINKS, PAGES, RESPONSES
from gossamer.tables.fetching import RHYTHM_S
from gossamer.tables.outcomes import FILTERED_TYPE, OUTCOMES
from gossamer.web.publisher_wishes import HEADERS, RSL_TYPE
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.config import UpdateConfig
    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

ANSWERED = (
    *("outcome", "fetched_ms", "retry_after_s", "digest", "headers", "etag", "last_modified"),
)
"""Columns of responses that change a page."""
RESTRICTIVE = ("x-robots-tag:", *(f"{name}:" for name in HEADERS), RSL_TYPE)
"""What the column `headers` contains if a header restricts the use of a page."""


class PageNews(NamedTuple):
    """What a step has learned about pages: frames with a column `url`; None: nothing."""

    given: int
    """What the virtual page has given to each page (`opic.VirtualPage`)."""
    before: DataFrame
    """The old rows of at least all pages that the other frames name."""
    found: DataFrame
    """Targets of links (`found_links.link_targets`), materialised."""
    found_count: int
    answers: DataFrame
    """Responses."""
    flows: DataFrame
    """The cash that pages pay and get (`opic.opic_flows`)."""
    alias_changes: DataFrame | None = None
    """What rules for URLs change (`AliasChanges.rows`)."""
    judged: DataFrame | None = None
    """What was parsed of the answers (`fitness.judge_documents`)."""
    finds: DataFrame | None = None
    """What visits to known pages found (`listing_polls.count_listed`)."""
    places: DataFrame | None = None
    """What is known about their hosts and folders (`change_habits.habits_of_urls`)."""
    promised: DataFrame | None = None
    """What linking pages promise (`fit_prediction.judge_targets`)."""
    rulings: DataFrame | None = None
    """What generated filter rules make of them (`withheld_pages`)."""
    away: DataFrame | None = None
    """Failures of hosts that are away (`outages.pages_of_away_hosts`)."""

    @classmethod
    def nothing(cls, work: Workspace, given: int) -> PageNews:
        """Return the news of a step that has learned nothing yet."""
        pages, answers = (work.engine.read([], each.ddl) for each in (PAGES, RESPONSES))
        targets = link_targets(work.engine.read([], LINKS.ddl), work.now_ms())
        return cls(given, pages, targets, 0, answers, opic.no_opic_flows(work))


def new_page_rows(work: Workspace, news: PageNews) -> DataFrame:
    """Return the new rows of the pages that `news` names, unless they are unknown and not found.

    Further columns: `nearer`, for `depths.relax`; whether the page is `new`; `spent`, the cash that
    it has less than before; whether it was `asked` for; `counted`, for `due_times`; and
    change_rates.VISITS, for `habits`.
    """
    config, now_ms = work.config.update, work.now_ms()
    # A page that cash flows to may be unknown, because a growth limit dropped it.
    within = F.coalesce("source", "found_source", "r_outcome").isNotNull()
    rows = _join_news(work, news).join(news.before, on="url", how="left").where(within)
    usual = F.lit(change_rates.usual_rate(config))
    if news.places is not None:
        rows = rows.withColumn("usual_before", change_rates.usual_of_places(config))
        usual = F.col("usual_before")
    # The engine plans an expression as often as others contain it, so some become columns first.
    # Each select of so many columns takes long to plan, so there are few of them, and a new value
    # takes the place of the old one, unless that is needed again.
    rows = rows.withColumns(_row_facts(now_ms, config, news.given, usual))
    rows = rows.withColumns(change_rates.likely_changes())
    status, again = alias_status_after_change(F.col("settled"))
    status = status_after_ruling(status)
    learned = change_rates.learn_change_rates() | listing_polls.learn_finds()
    again |= _is_opened()
    rows = rows.withColumns({"new_status": status, "again": again, **learned})
    rhythm_s = F.when(F.col("is_answered"), listing_polls.wait_s(config))
    rows = rows.withColumns({"rhythm_s": rhythm_s, "usual_s": change_rates.wait_s(config)})
    return rows.select(*_new_row_columns(now_ms, config, news.given), *change_rates.VISITS)


def _join_news(work: Workspace, news: PageNews) -> DataFrame:
    """Join what is known about each page. Columns of frames that are None are null."""
    judged, finds = news.judged, news.finds
    if judged is not None:
        renamed = {"text_hash": "r_main_text", "kind": "r_kind", "fit": "r_fit"}
        judged = judged.drop("score").withColumnsRenamed(renamed)
    if finds is not None:
        finds = F.broadcast(finds)
    away = None if news.away is None else news.away.withColumnRenamed("away_ms", "r_away_ms")
    rows = news.found.join(_answers_with_policies(work, news.answers), on="url", how="full")
    rows = rows.join(news.flows, on="url", how="full")
    lacking: dict[str, str] = {}
    for frame, how, types in (
        (news.alias_changes, "full", {"becomes": "string", "due_ms": "long"}),
        (judged, "left", {"r_main_text": "long", "r_kind": "string", "r_fit": "boolean"}),
        (finds, "left", dict.fromkeys(listing_polls.FOUND, "long")),
        (news.places, "left", dict.fromkeys(change_habits.KNOWN, "double")),
        (news.promised, "left", dict.fromkeys(fit_prediction.FOUND, "long")),
        (news.rulings, "full", {"ruling": "string"}),
        (away, "left", {"r_away_ms": "long"}),
    ):
        if frame is None:
            lacking |= types
        else:
            rows = rows.join(frame, on="url", how=how)
    return rows.select("*", *(F.lit(None).cast(kind).alias(n) for n, kind in lacking.items()))


def _answers_with_policies(work: Workspace, answers: DataFrame) -> DataFrame:
    """Return responses as columns r_…, and the policies for their outcomes as columns o_…."""
    renamed = {"fetched_ms": "r_asked_ms"}
    columns = [F.col(name).alias(renamed.get(name, f"r_{name}")) for name in ANSWERED]
    return answers.select("url", *columns).join(
        F.broadcast(policies(work.engine)), on=F.col("r_outcome") == F.col("o_outcome"), how="left"
    )


def policies(engine: Engine) -> DataFrame:
    """The table of outcomes as a DataFrame."""
    names = ("status", "answered", "retry_wait_s", "max_tries")
    columns = {f"o_{name}": [getattr(p, name) for p in OUTCOMES.values()] for name in names}
    return engine.rows(pa.table({"o_outcome": list(OUTCOMES), **columns}))


def _row_facts(now_ms: int, config: UpdateConfig, given: int, usual: Column) -> dict[str, Column]:
    """What the new columns follow from: the status, but for rules for URLs, is `settled`."""
    asked = F.col("r_outcome").isNotNull() & (F.col("r_outcome") != "postponed")
    tries = F.coalesce("failures", F.lit(0)) + 1
    failed = asked & (F.col("o_retry_wait_s") > 0)
    retry = failed & (tries < F.col("o_max_tries"))
    stays = retry | (failed & outages.is_kept())
    before = F.coalesce("status", F.lit("unfetched"))
    # Filters may have refused a page while a round was fetching it.
    refused = is_refused()
    settled = F.when(asked & ~stays & ~refused, F.col("o_status")).otherwise(before)
    had = opic.stored_cash(given, new=F.col("source").isNull())
    is_other = F.coalesce(
        F.col("r_main_text") != F.col("main_text"),
        F.col("r_digest") != F.col("digest"),
        F.lit(True),
    )
    visit = change_rates.visit_columns(
        (F.col("r_outcome") == "ok") & is_other, usual, config, now_ms
    )
    facts = {"asked": asked, "tries": tries, "failed": failed, "retry": retry}
    facts |= {"settled": settled, "had": had}
    # A page was asked, or its row changes, at this moment.
    facts["passed"] = opic.elapsed_share(F.coalesce("r_asked_ms", F.lit(now_ms)))
    facts |= {"refused": refused, "kind": F.coalesce("r_kind", "kind")}
    facts["filtered"] = is_withheld_after(asked & ~retry)
    return facts | visit


def _spelling() -> Column:
    """What robots.txt must allow besides the URL (rules/spellings.py)."""
    before, found = F.col("spelling"), F.col("found_spelling")
    both = F.when(F.col("source").isNull(), found).otherwise(spelling_after(before, found))
    return F.when(F.col("found_source").isNull(), before).otherwise(both)


def _is_opened() -> Column:
    """Whether a plainer spelling counts than the one that may have excluded a page."""
    is_plainer = spelling_rank(_spelling()) < spelling_rank(F.col("spelling"))
    return is_plainer & F.col("outcome").eqNullSafe("robots") & ~F.col("asked")


def _has_rhythm() -> Column:
    """Whether a page that was asked is due again by a rhythm of its own.

    Only what was answered has a rhythm: a page that fails would be asked without end.
    """
    rhythm_s = F.col("rhythm_s")
    is_sooner = (F.col("kind") != "page") | (rhythm_s < F.col("usual_s"))
    return rhythm_s.isNotNull() & F.coalesce(is_sooner, F.lit(False))


def _new_row_columns(now_ms: int, config: UpdateConfig, given: int) -> list[Column]:
    """The columns of `new_page_rows`, from the old row, found links, the answer, and the flows."""
    asked, failed, status = F.col("asked"), F.col("failed"), F.col("new_status")
    requested = asked & (F.col("r_outcome") != "robots")  # as `fetch` counts a host's pages
    stored = F.coalesce(F.col("r_outcome") == "ok", F.lit(False))
    failures = F.when(failed, F.col("tries")).when(asked, F.lit(0)).otherwise(F.col("tries") - 1)
    cash = F.when(status.isin(*opic.DEAD), F.lit(-given)).otherwise(
        F.col("had") - F.coalesce("paid", F.lit(0)) + F.coalesce("got", F.lit(0))
    )
    new = {
        "host": F.coalesce("host", host_column(F.col("url"))),
        "status": status,
        "source": F.coalesce("source", "found_source"),
        "depth": F.least("depth", "found_depth").cast("int"),
        "hops": F.least("hops", "found_hops").cast("int"),
        "inlinks": F.coalesce("inlinks", F.lit(0)) + F.coalesce("found_inlinks", F.lit(0)),
        "cash": cash.cast("long"),
        "history": F.when(
            requested | F.col("paid").isNotNull(), opic.new_history(F.col("passed"))
        ).otherwise(F.col("history")),
        "found_ms": F.coalesce("found_ms", F.lit(now_ms)),
        "fetches": F.coalesce("fetches", F.lit(0))
        + F.coalesce("o_answered", F.lit(False)).cast("int"),
        "failures": failures.cast("int"),
        "outcome": outcome_after_ruling(
            F.when(F.col("refused"), F.col("outcome")).otherwise(F.coalesce("r_outcome", "outcome"))
        ),
        "fetched_ms": F.when(requested, F.col("r_asked_ms")).otherwise(F.col("fetched_ms")),
        "stored_ms": F.when(stored, F.col("r_asked_ms")).otherwise(F.col("stored_ms")),
        "signals": F.col("signals").cast("int"),
        "spelling": _spelling(),
        "announced": F.coalesce("announced", F.lit(False))
        | F.coalesce("found_announced", F.lit(False)),
        **_stored_contents(stored),
        **fit_prediction.increased_counts(),
        **_due_columns(config),
    }
    nearer = depths.is_nearer(F.col("found_depth"), F.col("found_hops"), new["outcome"])
    return [
        *(new.get(name, F.col(name)).alias(name) for name in PAGES.column_names),
        nearer.alias("nearer"),
        F.col("source").isNull().alias("new"),
        (F.col("had") - cash).alias("spent"),
        asked.alias("asked"),
        due_counts.due_slot_column().alias("counted"),
    ]


def _stored_contents(stored: Column) -> dict[str, Column]:
    """What is known about the contents of a page: by its answer if that was `stored`.

    Without validators, a page is answered as a whole, with all of its headers, when it is asked for
    again. That is necessary for a page of a refused type, and for one with an X-Robots-Tag, or a
    header about its uses, of which a 304 says nothing: most servers leave it out of a 304, and it
    may be gone. A page that is
    announced as a listing after it was parsed also loses its digest, or an equal body would not be
    parsed again.
    """
    columns = {
        name: F.when(stored, F.col(f"r_{name}")).otherwise(F.col(name))
        for name in ("main_text", "fit", "digest", "headers")
    }
    is_same = F.coalesce(F.col("r_outcome") == "unchanged", F.lit(False))
    is_unsaid = reduce(
        or_, (_contains("headers", each) & ~_contains("r_headers", each) for each in RESTRICTIVE)
    )
    is_refused_type = F.coalesce(F.col("r_outcome") == FILTERED_TYPE, F.lit(False))
    is_unclear = is_refused_type | (is_same & is_unsaid)
    is_misread = _is_announced_late()
    columns["digest"] = F.when(~is_misread, columns["digest"])
    for name in ("etag", "last_modified"):
        sent, known = F.col(f"r_{name}"), F.col(name)
        newest = F.when(stored, sent).when(is_same, F.coalesce(sent, known)).otherwise(known)
        columns[name] = F.when(~is_unclear & ~is_misread, newest)
    return columns


def _contains(column: str, text: str) -> Column:
    return F.coalesce(F.lower(column).contains(text), F.lit(False))


def _is_announced_late() -> Column:
    """Whether the first link calls a page a listing that was read as something else."""
    before, now = (F.coalesce(name, F.lit(False)) for name in ("announced", "found_announced"))
    return ~before & now & F.coalesce(F.col("kind") == "page", F.lit(True))


def _due_columns(config: UpdateConfig) -> dict[str, Column]:
    """When a page is due again, and the interval that counts then."""
    asked, failed = F.col("asked"), F.col("failed")
    seed = F.coalesce(F.col("source") == "seed", F.lit(False))
    taken_over = F.col("due_ms").isNotNull() & F.col("outcome").isNull() & ~seed
    has_rhythm = _has_rhythm()
    wait_s = F.when(has_rhythm, F.col("rhythm_s")).otherwise(F.col("usual_s"))
    interval_s = F.lit(int(config.interval_days * change_rates.DAY_S)).cast("long")
    is_told = F.col("signal") & ~asked
    told_ms = F.least(due_ms(config), F.col("fetched_ms") + F.col("usual_s") * 1000)
    retry_ms = outages.retry_wait_s(config) * 1000
    return {
        "next_fetch_ms": F.when(failed, F.col("r_asked_ms") + retry_ms)
        .when(asked, F.col("r_asked_ms") + F.floor(wait_s * 1000))
        .when(F.col("again") | is_due_by_ruling(), F.lit(0))
        .when(taken_over, F.col("due_ms"))
        .when(is_told, told_ms)
        .otherwise(F.coalesce("next_fetch_ms", F.lit(0)))
        .cast("long"),
        "interval_s": F.when(asked & ~failed & has_rhythm, RHYTHM_S)
        .when(F.col("ruling") == SAMPLED, RHYTHM_S)  # ahead of pages without a rhythm
        .when(asked | (is_told & ~listing_polls.has_rhythm()), interval_s)
        .otherwise(F.coalesce("interval_s", interval_s))
        .cast("long"),
    }
