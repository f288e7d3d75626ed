"""Why a run fetched nothing: what happened to its seeds, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gossamer.config import egress
from gossamer.errors import NothingFetched
from gossamer.state.lookup import Lookup
from gossamer.status.human_units import moment
from gossamer.tables.outcomes import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

MOST_SHOWN = 5
"""The number of outcomes that the error explains, the most frequent first."""


FAILED_SEED = "source = 'seed' AND status <> 'redirected' AND stored_ms IS NULL"


class Failure(NamedTuple):
    """Pages that were not fetched for the same reason, with the one nearest to a seed."""

    outcome: str
    pages: int
    url: str
    detail: str
    again_ms: int | None
    """When the first of them is due again; None if none is."""

    def __str__(self) -> str:
        others = f" and {self.pages - 1:,} more" if self.pages > 1 else ""
        again = f"; tried again after {moment(self.again_ms)}" if self.again_ms else ""
        detail = self.detail or OUTCOMES[self.outcome].meaning
        return f"{self.url}{others}: {self.outcome}: {detail}{again}"


def require_seeds(work: Workspace) -> None:
    """Raise NothingFetched if a crawl has no pages, and Locked if another process may add them."""
    if work.store.manifest.layers("pages"):
        return
    with work.store.lock():
        if not work.store.manifest.layers("pages"):
            raise _no_seeds(work)


def why_nothing(
    work: Workspace, reports: Iterable[StepReport], *, seeds_given: bool
) -> NothingFetched | None:
    """Return the error of a run that fetched nothing, given the reports of its steps.

    None if it fetched something. If the crawl already holds pages, fetching nothing new is an error
    only if the run got seeds and one of the crawl's seeds was never fetched.
    """
    reports = list(reports)
    if not any(report.step == "generate" for report in reports):
        return None
    asked = [report.counts for report in reports if report.step == "fetch"]
    if any(counts.get(name) for counts in asked for name in ("ok", "unchanged")):
        return None
    stored = "stored_ms IS NOT NULL"
    if holds(work, stored) and not (seeds_given and asked and holds(work, FAILED_SEED)):
        return None
    found = list(failures_to_fetch(work))
    if not found:
        return None if holds(work) else _no_seeds(work)
    shown = found[:MOST_SHOWN]
    lines = "".join(f"\n  {failure}" for failure in shown)
    remedies = [*map(remedy_of_failure, shown)]
    if any(report.counts.get(egress.POSTPONED) for report in reports):
        what = f"start workers of their groups (fetch.egress), by the variable {egress.GROUPS}"
        remedies.insert(0, f"{egress.POSTPONED}: {what}")
    return NothingFetched(work.root, f"nothing was fetched{lines}", "\n  → ".join(remedies))


def _no_seeds(work: Workspace) -> NothingFetched:
    remedy = f"add some: gossamer crawl {work.root} URL..."
    return NothingFetched(work.root, "there are no seeds", remedy)


def failures_to_fetch(work: Workspace) -> Iterator[Failure]:
    """Yield why pages without a stored body were not fetched, the most frequent outcome first."""
    from pyspark.sql import functions as F

    from gossamer.state import lsm
    from gossamer.tables import PAGES

    lacking = lsm.current(work, PAGES).where("stored_ms IS NULL AND status <> 'alias'")
    again = F.when(F.col("status").isin("unfetched", "gone"), F.col("next_fetch_ms"))
    rows = (
        lacking.select(
            F.coalesce("outcome", F.lit("postponed")).alias("outcome"),
            F.struct("depth", "url").alias("place"),
            again.alias("again_ms"),
        )
        .groupBy("outcome")
        .agg(F.count("*").alias("pages"), F.min("place").alias("place"), F.min("again_ms"))
        .collect()  # one row per outcome
    )
    lookup = Lookup(work)
    for outcome, pages, place, again_ms in sorted(rows, key=lambda row: (-row[1], row[0])):
        answers = lookup.rows("responses", "url", place.url, ("outcome", "detail", "redirect_url"))
        last = next(answers, {})
        detail = last.get("detail") or ""
        if outcome == "redirect":
            detail = f"to {last.get('redirect_url')}, which was not fetched"
        yield Failure(outcome, pages, place.url, detail, again_ms)


def remedy_of_failure(failure: Failure) -> str:
    policy = OUTCOMES[failure.outcome]
    settings = f" ({', '.join(policy.settings)})" if policy.settings else ""
    return f"{failure.outcome}: {policy.remedy}{settings}"


def holds(work: Workspace, condition: str = "true") -> bool:
    """Whether any page of the crawl satisfies a condition, in SQL."""
    from gossamer.state import lsm
    from gossamer.tables import PAGES

    return bool(lsm.current(work, PAGES).where(condition).limit(1).count())
