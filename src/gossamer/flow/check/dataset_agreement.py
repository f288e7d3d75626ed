"""Do the datasets agree with each other?

Each rule finds rows of one dataset that another one should explain. Steps commit all that belongs
together at once, so a crawl that nothing has damaged has no such rows, at any time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F

from gossamer.flow.check.finding import findings_of_rows
from gossamer.index.changes import log_layers
from gossamer.state import lsm
from gossamer.status.overview import REPARSE
from gossamer.tables import DISPOSITIONS, PAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame

    from gossamer.flow.check.finding import Finding
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Manifest


class Rule(NamedTuple):
    """`rows` of a dataset, with the column `url`, that contradict another dataset."""

    dataset: str
    what: str
    rows: Callable[[Workspace], DataFrame]
    order: tuple[str, str] | None = None
    """The rule only holds while the last run of the first step is older than that of the second."""


def requested_without_response(work: Workspace) -> DataFrame:
    requested = lsm.current(work, PAGES).where("fetched_ms IS NOT NULL").select("url")
    return _rows_without(requested, work.read("responses"), "url")


def stored_without_response(work: Workspace) -> DataFrame:
    """Pages with a stored body, and no response that says where it is."""
    stored = lsm.current(work, PAGES).where("stored_ms IS NOT NULL")
    pages = stored.select("url", F.col("stored_ms").alias("fetched_ms"))
    answers = work.read("responses").where("outcome = 'ok'")
    return _rows_without(pages, answers, "url", "fetched_ms").select("url")


def answered_without_page(work: Workspace) -> DataFrame:
    return _rows_without(work.read("responses").select("url"), lsm.current(work, PAGES), "url")


def stored_without_document(work: Workspace) -> DataFrame:
    """Pages whose stored body is neither in `documents` nor in `unparsed`."""
    pages = lsm.current(work, PAGES).select("url", F.col("stored_ms").alias("fetched_ms"))
    answers = work.read("responses").where("outcome = 'ok'").select("round", "url", "fetched_ms")
    stored = answers.join(pages, on=["url", "fetched_ms"], how="left_semi")
    known = work.read("documents").select("round", "url")
    return _rows_without(stored, known.unionByName(work.read("unparsed").select("round", "url")))


def judged_without_document(work: Workspace) -> DataFrame:
    judged = lsm.current(work, DISPOSITIONS).select("round", "url")
    return _rows_without(judged, work.read("documents"))


def copies_without_survivor(work: Workspace) -> DataFrame:
    current = lsm.current(work, DISPOSITIONS)
    indexed = current.where("disposition = 'indexed'").select(F.col("url").alias("survivor"))
    copies = current.where("disposition = 'dropped_duplicate'").select("url", "survivor")
    return _rows_without(copies, indexed, "survivor")


def chosen_without_index(work: Workspace) -> DataFrame:
    return _rows_without(_select(work), work.read("indexed"))


def indexed_without_choice(work: Workspace) -> DataFrame:
    return _rows_without(work.read("indexed").select("round", "url"), _select(work))


def told_without_index(work: Workspace) -> DataFrame:
    """Pages that a program would have that has followed all changes, and the index has not."""
    return _rows_without(_told(work), work.read("indexed"), "url")


def indexed_without_change(work: Workspace) -> DataFrame:
    """Pages of the index that such a program would not have."""
    indexed = work.read("indexed").select("url")
    if not log_layers.are_recorded(work):  # an older version of Gossamer has written the index
        return indexed.where("false")
    return _rows_without(indexed, _told(work), "url")


RULES: Sequence[Rule] = (
    Rule("pages", "pages were requested, but have no response", requested_without_response),
    Rule("pages", "pages were stored, but no response says where", stored_without_response),
    Rule("responses", "pages were answered, but are not known", answered_without_page),
    Rule("documents", "stored pages have no document", stored_without_document),
    Rule(
        "dispositions",
        "pages are judged, but have no document",
        judged_without_document,
        (REPARSE, "dedup"),
    ),
    Rule("dispositions", "copies have no page that stands for them", copies_without_survivor),
    Rule("indexed", "pages should be in the index", chosen_without_index, ("dedup", "index")),
    Rule("indexed", "pages should not be in the index", indexed_without_choice, ("dedup", "index")),
    Rule("changes", "pages were told to be in the index, but are not", told_without_index),
    Rule("changes", "pages of the index were not told", indexed_without_change),
)


def contradictions(work: Workspace) -> Iterator[Finding]:
    for rule in RULES:
        if rule.order is None or ran_in_order(work.store.manifest, *rule.order):
            yield from findings_of_rows(rule.dataset, rule.what, rule.rows(work))


def ran_in_order(manifest: Manifest, first: str, second: str) -> bool:
    """Whether a step, if it ever ran, ran before the last run of another one."""
    runs = [report.step for report in manifest.history if report.step in {first, second}]
    return bool(runs) and runs[-1] == second


def _told(work: Workspace) -> DataFrame:
    if not log_layers.are_recorded(work):
        return work.engine.read([], log_layers.PRESENT_DDL).select("url")
    return log_layers.told_pages(work).select("url")


def _select(work: Workspace) -> DataFrame:
    current = lsm.current(work, DISPOSITIONS)
    return current.where("disposition = 'indexed'").select("round", "url")


def _rows_without(rows: DataFrame, others: DataFrame, *key: str) -> DataFrame:
    """The rows whose key (the round and the URL, or `key`) is not among others."""
    columns = list(key) or ["round", "url"]
    return rows.join(others.select(*columns), on=columns, how="left_anti")
