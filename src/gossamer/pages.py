"""The page database as layers: a base and ever smaller, newer ones, of which the newest wins.

A round that fetches 20,000 pages touches perhaps a million of the hundred million known. It
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

from gossamer.tables import PAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.config import UpdateConfig
    from gossamer.store import Layer
    from gossamer.workspace import Workspace

GROWTH = 2
"""A layer is folded into a newer one unless it is this many times larger."""


def current(work: Workspace) -> DataFrame:
    """One row per known URL: its newest."""
    return newest(layers(work))


def layers(work: Workspace) -> list[DataFrame]:
    """The page database's layers, oldest first. Raises MissingFile."""
    work.store.files("pages")
    return [
        work.engine.read([f"{work.root}/{file.path}" for file in layer.files], PAGES.ddl)
        for layer in work.store.manifest.layers("pages")
    ] or [work.engine.read([], PAGES.ddl)]


def newest(stack: Sequence[DataFrame]) -> DataFrame:
    """The rows of layers, oldest first, that no newer layer replaces."""

    def unreplaced(age: int, layer: DataFrame) -> DataFrame:
        newer = [younger.select("url") for younger in stack[age + 1 :]]
        if not newer:
            return layer
        return layer.join(reduce(DataFrame.union, newer), on="url", how="left_anti")

    rows = [unreplaced(age, layer) for age, layer in enumerate(stack)]
    return reduce(DataFrame.unionByName, rows)


def among(stack: Sequence[DataFrame], urls: DataFrame) -> DataFrame:
    """The newest rows of these URLs (a column `url`, each once) alone.

    Each layer is cut to them first, so that only they are compared.
    """
    return newest([layer.join(urls, on="url", how="left_semi") for layer in stack])


def foldable(stack: Sequence[Layer], rows: int, config: UpdateConfig) -> int:
    """How many of the last layers a new one of `rows` rows takes up into itself.

    All of them, base included, once the newer ones reach `merge_share` of the base.
    """
    if not stack:
        return 0
    base, *rest = stack
    if rows + sum(layer.rows for layer in rest) > config.merge_share * base.rows:
        return len(stack)
    folded = 0
    for layer in reversed(rest):
        if layer.rows > GROWTH * rows:
            break
        rows += layer.rows
        folded += 1
    return folded


def put(work: Workspace, rows: DataFrame, count: int, round_: int) -> tuple[Layer, ...]:
    """The page database with these rows (each URL once, `count` or about) on top, written.

    Returns its layers for `Draft.replace`.
    """
    old = work.store.manifest.layers("pages")
    folded = foldable(old, count, work.config.update)
    kept = old[: len(old) - folded]
    if folded:
        rows, _ = work.scratch(rows)  # which `newest` reads more than once
        rows = newest([*layers(work)[len(kept) :], rows])
    layer = work.write(rows, PAGES.name, round_)
    return (*kept, layer) if layer.files else kept
