"""generate: pages → fetchlist. The best N pages that are due, within the budgets of their domains.

A round takes at most M pages per host, and per registrable domain as many as its budget allows
(limits/host_budgets.py). If that leaves room in the round, all budgets grow by the same factor
until it is full. Pages whose score would have brought them into the round, but whose domain's
budget is used up, are counted as `postponed_domain`.

In a round, the user's own hosts (own_hosts.py) are limited only by its size.

    due/due_pages.py       which pages are due
    order/page_scores.py   which of them come first
    selection.py           which of them the round takes
    limits/part_assignment.py        which task fetches each
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F

from gossamer.config import egress
from gossamer.schedule.due import due_counts, round_length
from gossamer.schedule.due.due_pages import drop_waiting_hosts, due_pages
from gossamer.schedule.focus import fitness
from gossamer.schedule.limits import part_assignment
from gossamer.schedule.limits.host_budgets import drop_pages_beyond_total
from gossamer.schedule.order import score_cutoff, scoring
from gossamer.schedule.order.page_scores import score_pages
from gossamer.schedule.order.sections.step import recount_is_due, write_sections
from gossamer.schedule.own_hosts import mark_own_hosts
from gossamer.schedule.selection import DuePages, select_pages
from gossamer.state import lsm
from gossamer.storage.store import Layer
from gossamer.tables import FETCHLIST, HOSTS, PAGES, SECTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame

    from gossamer.config import GenerateConfig
    from gossamer.schedule.limits.part_assignment import Slot
    from gossamer.schedule.order.score_cutoff import Sample
    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import StepReport

    Choice = Callable[[DataFrame], DataFrame]


class Askable(NamedTuple):
    """The hosts that a round may ask."""

    now_ms: int
    hosts: DataFrame
    """The dataset."""
    stranded: DataFrame | None = None
    """Hosts that no worker may ask now; None if there are none."""


def run(work: Workspace) -> StepReport:
    """Start the next round. The fetchlist is empty if no page is due."""
    fitness.check(work)  # before anything is fetched
    config = round_length.brief_generate_settings(work)
    with work.step("generate", work.round + 1) as draft:
        view = round_length.pages_in_view(work)
        hosts, slots = lsm.current(work, HOSTS), part_assignment.free_slots(work)
        stranded = part_assignment.unservable_hosts(work, view.layers, hosts, slots)
        askable = Askable(work.now_ms(), hosts, stranded)
        choose = partial(_choose, work, askable, current_sections(work, draft))
        sample = None if view.left_alone else sample_due_pages(work, choose, askable.now_ms)
        due = _apply_total_limits(work, draft, _due_pages(work, view.layers, choose), hosts, config)
        selected = select_pages(work, due, config, sample)
        _write_fetchlist(work, draft, selected, hosts, slots)
        if view.left_alone:
            draft.counts[round_length.LEFT_ALONE] = view.left_alone
        if stranded is not None:
            waiting = due_now(
                work, lsm.newest_rows(view.layers, "url"), Askable(askable.now_ms, hosts)
            )
            count = waiting.join(stranded, on="host", how="left_semi").count()
            draft.counts[egress.POSTPONED] = count
    return draft.done


def current_sections(work: Workspace, draft: Draft) -> tuple[Layer, ...]:
    """Return the layers of `sections`, after counting them again if the scoring needs that."""
    if scoring.load(work.config.update.scoring).needs_worth and recount_is_due(work):
        draft.replace |= write_sections(work)
    return draft.replace.get(SECTIONS.name, work.store.manifest.layers(SECTIONS.name))


def due_now(work: Workspace, known: DataFrame, askable: Askable) -> DataFrame:
    """Those of `known` pages that are due, and whose hosts may be asked."""
    due = due_pages(
        known,
        askable.now_ms,
        work.config.update,
        work.settings_changed_ms,
        is_endless=work.is_endless,
    )
    if work.store.manifest.layers(HOSTS.name):
        by_ms = askable.now_ms + round_length.patience_ms(work)
        due = drop_waiting_hosts(due, askable.hosts, askable.now_ms, by_ms)
    if askable.stranded is not None:
        due = due.join(askable.stranded, on="host", how="left_anti")
    return mark_own_hosts(work, due, askable.hosts)


def _choose(
    work: Workspace, askable: Askable, sections: Sequence[Layer], pages: DataFrame
) -> DataFrame:
    """Choose the pages that are due now, and score them."""
    return score_pages(work, due_now(work, pages, askable), sections)


def _due_pages(work: Workspace, layers: Sequence[DataFrame], choose: Choice) -> DuePages:
    """Return the due pages of all layers."""
    due = DuePages(layers, choose)
    score = scoring.load(work.config.update.scoring)
    takes_a_pass = score.needs_ranks or score.needs_worth or work.config.fetch.own_hosts
    return DuePages([due.pages]) if takes_a_pass else due


def _apply_total_limits(
    work: Workspace, draft: Draft, due: DuePages, hosts: DataFrame, config: GenerateConfig
) -> DuePages:
    """Drop what hosts may not get in all rounds; read all pages once if they fit into the round."""
    if config.pages_per_host_ever:
        limits = config.pages_per_host_ever, config.pages_per_host
        within = drop_pages_beyond_total(due.pages, hosts, *limits)
        draft.counts["dropped_budget"] = due.pages.count() - within.count()
        due = DuePages([within])
    if sum(layer.rows for layer in work.store.manifest.layers(PAGES.name)) <= config.pages:
        due = DuePages([work.scratch(due.pages)[0]])
    return due


def sample_due_pages(work: Workspace, choose: Choice, now_ms: int) -> Sample | None:
    """Take a sample of the pages that are due; None if it would not pay."""
    many = due_counts.count_due(work, now_ms)
    is_few = many is not None and many < score_cutoff.LEAST_ROWS
    if is_few or scoring.load(work.config.update.scoring).needs_ranks:
        return None
    sample = score_cutoff.take_sample(work)
    return None if sample is None else sample._replace(pages=choose(sample.pages))


def _write_fetchlist(
    work: Workspace,
    draft: Draft,
    selected: DataFrame | None,
    hosts: DataFrame,
    slots: Sequence[Slot],
) -> None:
    """Write the chosen pages, each with its fetch task. Count them, and those that must wait."""
    round_, candidates = work.round + 1, 0
    layer = Layer(round_, ())
    if selected is not None:
        rows, candidates = work.scratch(selected)
        chosen = rows.where(F.col("chosen")).drop("chosen")
        parted = part_assignment.assign_parts(work, chosen, hosts, slots)
        layer = work.write(parted.withColumn("round", F.lit(round_)), FETCHLIST.name, round_)
    draft.replace[FETCHLIST.name] = (layer,)
    draft.counts["pages"] = layer.rows
    if candidates > layer.rows:
        draft.counts["postponed_domain"] = candidates - layer.rows
