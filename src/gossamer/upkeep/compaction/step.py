"""The step `compact`: which layers are merged, and when."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.links import current_links
from gossamer.state import unread
from gossamer.state.lsm import FEW, mergeable_layers
from gossamer.tables import COUNTED, DATASETS, DOCUMENTS, INVERTED, JUDGED, LINKS
from gossamer.upkeep.compaction import kept_rows, layer_merging

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File, Layer, StepReport

LARGE_BYTES = 64 << 20
"""Layers of this size stay as they are while newer rows replace few of theirs. Merging a document
of a page of 12 KB takes 0.45 CPU ms, a tenth of what a crawl does for it."""


def run(work: Workspace) -> StepReport:
    with work.step("compact", work.round) as draft:
        for name, spans in due_spans(work).items():
            old = work.store.manifest.layers(name)
            new = list(old)
            for begin, end in reversed(spans):
                merged = _merge(work, name, old[begin:end], oldest=begin == 0)
                draft.counts[f"{name}_dropped"] = sum(layer.rows for layer in old[begin:end])
                draft.counts[f"{name}_dropped"] -= sum(layer.rows for layer in merged)
                new[begin:end] = merged
            draft.counts[f"{name}_layers"] = len(new)
            draft.replace[name] = tuple(new)
    return draft.done


def due_spans(work: Workspace) -> Mapping[str, Sequence[tuple[int, int]]]:
    """By dataset, the spans of its layers that are to be merged, if there are any."""
    found = {name: list(_spans(work, name)) for name in kept_rows.RULES}
    return {name: spans for name, spans in found.items() if spans}


def _spans(work: Workspace, name: str) -> Sequence[tuple[int, int]]:
    stack = work.store.manifest.layers(name)
    if len(stack) < FEW:
        return ()
    limits = {sum(layer.version <= read for layer in stack) for read in _read_versions(work, name)}
    large = [at for at, layer in enumerate(stack) if layer.bytes >= LARGE_BYTES]
    merge_share = work.config.update.merge_share
    every = list(_foldable(stack, limits, merge_share))
    small = list(_foldable(stack, limits.union(large, (at + 1 for at in large)), merge_share))
    # To know how many rows are replaced takes a pass over all keys, so it is asked now and then.
    if every != small and (small or len(stack) - 1 in large):
        return every if _replaced_share(work, name) > merge_share else small
    return small


def _foldable(
    stack: Sequence[Layer], limits: set[int], merge_share: float
) -> Iterator[tuple[int, int]]:
    """The spans that are to be merged, none of which passes a limit."""
    for begin, end in pairwise(sorted({0, *limits, len(stack)})):
        *older, newest = stack[begin:end]
        if end - begin >= FEW:
            folded = mergeable_layers(older, newest.rows, merge_share)
            if folded:
                yield end - 1 - folded, end


def _replaced_share(work: Workspace, name: str) -> float:
    """The share of answers, or of their documents or links, that newer ones replace: about."""
    key, _ = kept_rows.RULES[name]
    answers = F.approx_count_distinct(F.xxhash64(key, "round"))
    counted = work.read(name).select(F.approx_count_distinct(key), answers).first()
    keys, answered = counted or (0, 0)
    return 1 - keys / answered if answered else 0.0


def _read_versions(work: Workspace, name: str) -> Iterator[int]:
    """The versions that steps have read which only read what is new in this dataset."""
    records = (COUNTED, JUDGED) if name == DOCUMENTS.name else (INVERTED,)
    versions = (unread.read_until(work, record) for record in records)
    yield from (version for version in versions if version is not None)
    if name != DOCUMENTS.name:
        yield from (layer.version for layer in work.store.manifest.layers("graph")[-1:])


def _merge(work: Workspace, name: str, layers: Sequence[Layer], *, oldest: bool) -> list[Layer]:
    """Merge layers into one, or none if no row stays; `oldest`: no layer is older than these."""
    window = work.round - work.config.history.rounds
    outdated: tuple[File, ...] = ()
    if oldest and name == LINKS.name:
        # Steps that have not read an answer yet need to find the links that it replaces.
        read = min(_read_versions(work, name), default=None)
        outdated = current_links.outdated_pages_until(work, layers, window, read)
    return layer_merging.merge_layers(work, DATASETS[name], layers, window, outdated)
