"""The step `dedup`: decide again what has changed, and which pages stand for others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
from pyspark.sql import functions as F

from gossamer.dedup import disposition_rows
from gossamer.dedup.affected_pages import FAMILY_DDL, KEYS, follow_connections, keys_of_moved_ranks
from gossamer.dedup.changed_documents import changed_documents
from gossamer.dedup.decisions import decide_drops, find_older_versions, findable_pages
from gossamer.dedup.disposition_layers import one_document_per_text, read_dispositions
from gossamer.dedup.mirrors import changed_hosts, find_mirrors, pages_of_hosts
from gossamer.dedup.similar_texts import compare_new_texts, must_compare_all
from gossamer.state import lsm, unread
from gossamer.tables import (
    DISPOSITIONS,
    DOCUMENTS,
    JUDGED,
    MIRRORS,
    OWN_TEXTS,
    PAGES,
    SHARED_PLACES,
)
from gossamer.web.publisher_wishes import SEARCH

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.dedup.decisions import Decisions, OlderVersions
    from gossamer.dedup.disposition_layers import DispositionLayers
    from gossamer.dedup.mirrors import Mirrors
    from gossamer.dedup.similar_texts import Similarities
    from gossamer.state.unread import Inputs
    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import StepReport

STEP = "dedup"
RULES = 4
"""Raised with each change of the rules in this package: all pages are judged again."""
INPUTS = (DOCUMENTS, PAGES, OWN_TEXTS)
STORED = (DISPOSITIONS, MIRRORS, SHARED_PLACES)
"""Datasets without which all pages are judged again."""
FEW = 100_000
"""New rows up to which two queries run at once (`Workspace.both`)."""


class Changes(NamedTuple):
    """What has changed since the last harvest; if all is judged from scratch, everything."""

    number: int
    """New rows of the inputs."""
    fresh: DataFrame
    """Rows of `dispositions` whose documents or pages have changed; nothing is decided yet."""
    replaced: DataFrame
    """The rows that they replace."""
    known: DispositionLayers
    """The rows of all documents, with the fresh ones."""
    mirrors: Mirrors
    moved: DataFrame | None
    """The KEYS of pages with other ranks; None if all is judged from scratch."""


class Affected(NamedTuple):
    """The pages that are decided again (rows of `dispositions`), and what decides about them."""

    pages: DataFrame
    older: OlderVersions
    similar: Similarities


def run(work: Workspace) -> StepReport:
    with work.step(STEP, work.round) as draft:
        compare_all = must_compare_all(work)
        damaged = any(work.store.damaged(table.name) for table in STORED)
        changes = _find_changes(
            work,
            unread.unread_inputs(
                work, JUDGED, INPUTS, _settings(work), anew=compare_all or damaged
            ),
        )
        draft.counts["mirror_hosts"] = changes.mirrors.hosts
        if changes.moved is None:
            affected = _take_all_pages(work, draft, changes, compare_all=compare_all)
        else:
            affected = _follow_changes(
                work, draft, changes, _touched_keys(work, changes, changes.moved)
            )
        _save_dispositions(
            work, draft, changes, affected, decide_drops(work, *affected, changes.mirrors)
        )
        draft.replace |= changes.mirrors.layers(work)
        draft.replace[JUDGED.name] = unread.write_record(work, JUDGED, INPUTS, _settings(work))
    return draft.done


def _settings(work: Workspace) -> str:
    obeyed = SEARCH in work.config.publishers.obey
    ignored = "" if obeyed else " without wishes"  # crawls without this setting judge nothing again
    return f"{RULES} {msgspec.json.encode(work.config.dedup).decode()}{ignored}"


def _find_changes(work: Workspace, inputs: Inputs) -> Changes:
    before = read_dispositions(work, anew=inputs.anew)
    number = sum(layer.rows for layers in inputs.layers.values() for layer in layers)

    def changed() -> tuple[DataFrame, DataFrame, DispositionLayers, Mirrors]:
        fresh, replaced = changed_documents(work, inputs, before)
        known = before.with_layer(fresh)
        return fresh, replaced, known, find_mirrors(work, known, fresh, anew=inputs.anew)

    moved, documents = work.both(
        number, lambda: None if inputs.anew else keys_of_moved_ranks(work, before), changed, FEW
    )
    return Changes(number, *documents, moved)


def _take_all_pages(
    work: Workspace, draft: Draft, changes: Changes, *, compare_all: bool
) -> Affected:
    """Compare the texts of all pages, to decide about all of them from scratch.

    `compare_all`: compare also those that were compared before.
    """
    pages, families = changes.fresh, None
    if work.config.dedup.versions:
        families = pages.where("families IS NOT NULL").limit(1).count()
    older = find_older_versions(work, pages, families)
    texts = _comparable_texts(work, older.leave_out(findable_pages(pages)))
    similar = compare_new_texts(work, draft, texts, changes.known, anew=compare_all)
    return Affected(pages, older, similar)


def _touched_keys(work: Workspace, changes: Changes, moved: DataFrame) -> DataFrame:
    """The KEYS of all pages that have changed, or whose rank or mirror has."""
    keys = changes.fresh.select(*KEYS).unionByName(changes.replaced.select(*KEYS))
    keys = keys.unionByName(moved)
    if not (changes.mirrors.hosts or work.store.manifest.layers(MIRRORS.name)):
        return keys
    hosts, _ = work.scratch(changed_hosts(work, changes.mirrors.rows))
    return work.scratch(keys.unionByName(pages_of_hosts(changes.known, hosts).select(*KEYS)))[0]


def _follow_changes(work: Workspace, draft: Draft, changes: Changes, keys: DataFrame) -> Affected:
    """Compare new texts, and find all pages that are connected to changed ones (`keys`)."""
    nearby, families = _add_families(work, changes.known, changes.fresh, keys)
    older = find_older_versions(work, nearby, families)
    texts = _comparable_texts(work, older.leave_out(findable_pages(nearby)))
    similar = compare_new_texts(work, draft, texts, changes.known, anew=False)
    pages, families = follow_connections(
        work, changes.known, keys, similar, has_families=families != 0
    )
    return Affected(pages, find_older_versions(work, pages, families), similar)


def _add_families(
    work: Workspace, known: DispositionLayers, pages: DataFrame, seeds: DataFrame
) -> tuple[DataFrame, int]:
    """Add the other pages of the families of the `seeds`, materialised; the number of families.

    The seeds have the families of `pages`.
    """
    families, count = work.scratch(
        seeds.select(F.explode("families").alias("family")).distinct(), FAMILY_DDL
    )
    if not count:
        return pages, 0
    others = known.rows_of_families(families).join(pages.select("url"), on="url", how="left_anti")
    return work.scratch(pages.unionByName(others))[0], count


def _comparable_texts(work: Workspace, pages: DataFrame) -> DataFrame:
    """The texts that may be similar, with the `url` and `round` of a document."""
    if work.config.dedup.similarity == 1:
        return work.engine.read([], "text long, url string, round int")
    texts = pages.where("text_hash IS NOT NULL").withColumn("compared", F.col("text_hash"))
    return one_document_per_text(texts)


def _save_dispositions(
    work: Workspace, draft: Draft, changes: Changes, affected: Affected, decisions: Decisions
) -> None:
    """Draft `dispositions`, and what is remembered about similarities."""
    rows, candidates, was = decisions.rows, None, None
    if changes.moved is not None:
        unchanged = affected.pages.join(changes.fresh.select("url"), on="url", how="left_anti")
        rows = disposition_rows.without_unchanged_rows(rows, unchanged)
        texts = _add_replaced(affected.pages, changes, "compared")
        candidates = texts.withColumnRenamed("compared", "text").distinct()
        was = _add_replaced(unchanged, changes, "url", "reason")
    work.both(
        changes.number,
        lambda: affected.similar.save(draft, candidates, decisions.texts),
        lambda: _save_rows(work, draft, rows, was, is_any_dropped=decisions.is_any_dropped),
        FEW,
    )


def _add_replaced(pages: DataFrame, changes: Changes, *names: str) -> DataFrame:
    """Some columns of pages and of the rows that are replaced."""
    return pages.select(*names).unionByName(changes.replaced.select(*names))


def _save_rows(
    work: Workspace, draft: Draft, rows: DataFrame, was: DataFrame | None, *, is_any_dropped: bool
) -> None:
    """Draft `dispositions`, and count them by reason.

    `was`: the `url` and `reason` that rows had; None if all is judged anew.
    """
    layer = work.write(rows, DISPOSITIONS.name, work.round)
    lsm.draft_layer(work, draft, DISPOSITIONS, layer, anew=was is None)
    draft.counts["changed"] = layer.rows
    if was is None and not is_any_dropped:
        draft.counts[disposition_rows.DOCUMENTS] = layer.rows
        return
    paths = [f"{work.root}/{file.path}" for file in layer.files]
    written = work.engine.read(paths, DISPOSITIONS.ddl)
    draft.counts |= disposition_rows.count_by_reason(work, STEP, written, was)
