"""Datasets as layers: a base and ever smaller, newer ones. The newest row of each key counts.

The datasets `pages`, `hosts` and `domains` are stored like this. A round that fetches 20,000 pages
touches perhaps a million of the hundred million known ones. It writes those rows as a new layer, so
its cost is proportional to what it changed, and merges older layers into it if they are not much
larger: a log-structured merge (O'Neil et al., Acta Informatica 1996; the doubling sizes are Bentley
and Saxe's, 1980). So there are O(log n) layers, and a row is rewritten O(log n) times in its life.

Cost, measured by bench/page_state.py: reading takes one hash join per layer, with the hash table
built from the newer, smaller layers.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.storage import parquet
from gossamer.storage.store import Layer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import Column

    from gossamer.state.workspace import Draft, Workspace
    from gossamer.tables import Dataset

GROWTH = 2
"""A layer is merged into a newer one unless it is more than this many times larger."""
FEW = 8
"""Layers of a dataset that readers may have to read without much ado."""


def current(work: Workspace, dataset: Dataset) -> DataFrame:
    """The newest row of each key."""
    return newest_rows(layer_frames(work, dataset), key_column(dataset))


def layer_frames(work: Workspace, dataset: Dataset, *, some: bool = False) -> list[DataFrame]:
    """The layers of a dataset, oldest first. Raises MissingFile.

    `some`: few of their rows are needed (see `Engine.read_some`).
    """
    work.store.files(dataset.name)
    read = work.engine.read_some if some else work.engine.read
    return [
        read([f"{work.root}/{file.path}" for file in layer.files], dataset.ddl)
        for layer in work.store.manifest.layers(dataset.name)
    ] or [work.engine.read([], dataset.ddl)]


def key_column(dataset: Dataset) -> str:
    (key,) = dataset.key
    return key


def newest_rows(
    stack: Sequence[DataFrame],
    key: str,
    wanted: Callable[[DataFrame], DataFrame] = lambda layer: layer,
) -> DataFrame:
    """The rows of layers (oldest first) that no newer layer replaces; of these the `wanted` ones.

    The latter are chosen layer by layer before rows are compared, so they may be few.
    """

    def unreplaced(age: int, layer: DataFrame) -> DataFrame:
        newer = [younger.select(key) for younger in stack[age + 1 :]]
        if not newer:
            return wanted(layer)
        return wanted(layer).join(reduce(DataFrame.union, newer), on=key, how="left_anti")

    rows = [unreplaced(age, layer) for age, layer in enumerate(stack)]
    return reduce(DataFrame.unionByName, rows)


def rows_for(work: Workspace, dataset: Dataset, keys: DataFrame, *newer: DataFrame) -> DataFrame:
    """The newest rows of some keys, in a column named as the dataset's key.

    `newer` are layers that are not stored yet, oldest first. Each layer is first reduced to these
    keys, so that only their rows are compared.
    """
    key = key_column(dataset)
    stack = [
        *(layer_frames(work, dataset) if work.store.manifest.layers(dataset.name) else ()),
        *newer,
    ]
    if not stack:
        return work.engine.read([], dataset.ddl)
    cut = [layer.join(keys, on=key, how="left_semi") for layer in stack]
    return newest_rows(cut, key)


def rows_for_some(
    work: Workspace,
    dataset: Dataset,
    keys: DataFrame,
    columns: Sequence[str | Column] | None = None,
) -> DataFrame:
    """As `rows_for`, of keys that are few beside the base, and of some columns; materialised.

    The base is only asked for keys that newer layers lack, by their hashes first, and decodes the
    other columns only where these are.
    """
    key = key_column(dataset)
    names = dataset.column_names if columns is None else (key, *columns)
    base, *newer = (layer.select(*names) for layer in layer_frames(work, dataset, some=True))
    keys, _ = work.scratch(keys.toDF(key).distinct())
    if not newer:
        return work.scratch(_rows_with_keys(work, dataset, base, keys))[0]
    cut = [layer.join(keys, on=key, how="left_semi") for layer in newer]
    recent, count = work.scratch(newest_rows(cut, key))
    if count:
        keys, _ = work.scratch(keys.join(recent.select(key), on=key, how="left_anti"))
    older, _ = work.scratch(_rows_with_keys(work, dataset, base, keys))
    return recent.unionByName(older)


def _rows_with_keys(
    work: Workspace, dataset: Dataset, base: DataFrame, keys: DataFrame
) -> DataFrame:
    """The rows of the base that have some keys.

    Hashes have fewer bytes than URLs, and are compared faster.
    """
    key = key_column(dataset)
    if dataset.hashed is not None and dataset.hashed in base.columns and _is_hashed(work, dataset):
        hashes = keys.select(F.xxhash64(key).alias(dataset.hashed))
        base = base.join(hashes, on=dataset.hashed, how="left_semi")
    return base.join(keys, on=key, how="left_semi")


def _is_hashed(work: Workspace, dataset: Dataset) -> bool:
    """Whether all rows of the base have a hash, which those of older versions lack."""
    base, *_ = work.store.manifest.layers(dataset.name) or (Layer(0, ()),)
    for file in base.files:
        found = parquet.metadata(f"{work.root}/{file.path}")
        names = found.schema.names
        if dataset.hashed not in names:
            return False
        column = names.index(dataset.hashed)
        for group in range(found.num_row_groups):
            statistics = found.row_group(group).column(column).statistics
            if statistics is None or not statistics.has_null_count or statistics.null_count:
                return False
    return True


def mergeable_layers(stack: Sequence[Layer], rows: int, merge_share: float) -> int:
    """How many of the newest layers are merged into a new one of `rows` rows.

    All of them, including the base, if the newer ones exceed `merge_share` of the base.
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


def _foldable_layers(work: Workspace, dataset: Dataset, rows: int) -> int:
    """As `mergeable_layers`.

    Where no row replaces another, there is nothing to drop: the base stays, and a FEW layers do.
    """
    old = work.store.manifest.layers(dataset.name)
    if dataset.newest_wins:
        return mergeable_layers(old, rows, work.config.update.merge_share)
    return mergeable_layers(old, rows, math.inf) if len(old) >= FEW else 0


def compact_layers(work: Workspace, dataset: Dataset, layer: Layer) -> tuple[Layer, ...]:
    """As `append_layer`, for a layer that is already written."""
    old = work.store.manifest.layers(dataset.name)
    if not _foldable_layers(work, dataset, layer.rows):
        return (*old, layer)
    rows = work.engine.read([f"{work.root}/{file.path}" for file in layer.files], dataset.ddl)
    return append_layer(work, dataset, rows, layer.rows, layer.round)


def append_layer(
    work: Workspace, dataset: Dataset, rows: DataFrame, count: int, round_: int
) -> tuple[Layer, ...]:
    """Write rows (each key once, about `count` of them) as the newest layer of a dataset.

    `rows` must be materialised, because they may be read more than once. Returns all layers of
    the dataset, for `Draft.replace`.
    """
    old = work.store.manifest.layers(dataset.name)
    folded = _foldable_layers(work, dataset, count)
    kept = old[: len(old) - folded]
    if folded:
        stack = [*layer_frames(work, dataset)[len(kept) :], rows]
        wins = dataset.newest_wins
        rows = (
            newest_rows(stack, key_column(dataset))
            if wins
            else reduce(DataFrame.unionByName, stack)
        )
    if dataset.hashed is not None:
        hashes = F.coalesce(dataset.hashed, F.xxhash64(key_column(dataset)))
        rows = rows.withColumn(dataset.hashed, hashes)
    layer = work.write(rows, dataset.name, round_)
    return (*kept, layer) if layer.files else kept


def draft_rows(
    work: Workspace, draft: Draft, dataset: Dataset, rows: DataFrame, count: int, *, anew: bool
) -> None:
    """Draft rows as the newest layer of a dataset, or with `anew` as its only one."""
    if anew:
        draft_layer(work, draft, dataset, work.write(rows, dataset.name, work.round), anew=True)
    elif count:
        draft.replace[dataset.name] = append_layer(work, dataset, rows, count, work.round)


def draft_layer(
    work: Workspace, draft: Draft, dataset: Dataset, layer: Layer, *, anew: bool
) -> None:
    """As `draft_rows`, for a layer that is already written."""
    if anew:
        draft.replace[dataset.name] = (layer,) if layer.files else ()
    elif layer.files:
        draft.replace[dataset.name] = compact_layers(work, dataset, layer)
