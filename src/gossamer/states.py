"""State that rounds change, as layers: a base and ever smaller, newer ones; the newest row wins.

This is how the datasets `pages` and `hosts` lie in the store (those of `newest_wins` and of one
key). A round that fetches 20,000 pages touches perhaps a million of the hundred million known. It
writes those rows as a new layer, so that it costs what it changed, and folds older layers
into it where they are not much larger: a log-structured merge (O'Neil et al., Acta
Informatica 1996; the doubling sizes are Bentley and Saxe's, 1980). So there are O(log n)
layers, and a row is rewritten O(log n) times in its life.

Cost, measured by bench/page_state.py: reading is one hash join per layer, whose built side is the
newer, smaller layers.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.store import Layer
    from gossamer.tables import Dataset
    from gossamer.workspace import Workspace

GROWTH = 2
"""A layer is folded into a newer one unless it is this many times larger."""


def current(work: Workspace, dataset: Dataset) -> DataFrame:
    """One row per key: its newest."""
    return newest(layers(work, dataset), key_of(dataset))


def layers(work: Workspace, dataset: Dataset) -> list[DataFrame]:
    """A dataset's layers, oldest first. Raises MissingFile."""
    work.store.files(dataset.name)
    return [
        work.engine.read([f"{work.root}/{file.path}" for file in layer.files], dataset.ddl)
        for layer in work.store.manifest.layers(dataset.name)
    ] or [work.engine.read([], dataset.ddl)]


def key_of(dataset: Dataset) -> str:
    (key,) = dataset.key
    return key


def newest(stack: Sequence[DataFrame], key: str) -> DataFrame:
    """The rows of layers, oldest first, that no newer layer replaces."""

    def unreplaced(age: int, layer: DataFrame) -> DataFrame:
        newer = [younger.select(key) for younger in stack[age + 1 :]]
        if not newer:
            return layer
        return layer.join(reduce(DataFrame.union, newer), on=key, how="left_anti")

    rows = [unreplaced(age, layer) for age, layer in enumerate(stack)]
    return reduce(DataFrame.unionByName, rows)


def among(work: Workspace, dataset: Dataset, keys: DataFrame) -> DataFrame:
    """The newest rows of these keys (a column named as the key, each once) alone.

    Each layer is cut to them first, so that only they are compared.
    """
    key = key_of(dataset)
    cut = [layer.join(keys, on=key, how="left_semi") for layer in layers(work, dataset)]
    return newest(cut, key)


def foldable(stack: Sequence[Layer], rows: int, merge_share: float) -> int:
    """How many of the last layers a new one of `rows` rows takes up into itself.

    All of them, base included, once the newer ones reach `merge_share` of the base.
    """
    if not stack:
        return 0
    base, *rest = stack
    if rows + sum(layer.rows for layer in rest) > merge_share * base.rows:
        return len(stack)
    folded = 0
    for layer in reversed(rest):
        if layer.rows > GROWTH * rows:
            break
        rows += layer.rows
        folded += 1
    return folded


def take_up(work: Workspace, dataset: Dataset, layer: Layer) -> tuple[Layer, ...]:
    """The dataset with a layer that is written already on top: see `put`."""
    old = work.store.manifest.layers(dataset.name)
    if not foldable(old, layer.rows, work.config.update.merge_share):
        return (*old, layer)
    rows = work.engine.read([f"{work.root}/{file.path}" for file in layer.files], dataset.ddl)
    return put(work, dataset, rows, layer.rows, layer.round)


def put(
    work: Workspace, dataset: Dataset, rows: DataFrame, count: int, round_: int
) -> tuple[Layer, ...]:
    """The dataset with these rows (each key once, `count` or about) on top, written.

    Returns its layers for `Draft.replace`.
    """
    old = work.store.manifest.layers(dataset.name)
    folded = foldable(old, count, work.config.update.merge_share)
    kept = old[: len(old) - folded]
    if folded:
        rows, _ = work.scratch(rows)  # which `newest` reads more than once
        rows = newest([*layers(work, dataset)[len(kept) :], rows], key_of(dataset))
    layer = work.write(rows, dataset.name, round_)
    return (*kept, layer) if layer.files else kept
