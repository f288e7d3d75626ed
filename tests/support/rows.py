"""Rows of datasets for tests: what a test does not name is a plain value of its type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gossamer.storage.store import Layer
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import DATASETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

NOW_MS = 1_800_000_000_000
"""The time of the fixture `work`."""
LATER_MS = NOW_MS + 20 * 86_400_000
"""Pages and hosts that wait until then are not due."""
PLAIN: dict[str, Any] = {
    "host": "a.example",
    "status": "unfetched",
    "source": "link",
    "depth": 1,
    "hops": 0,
    "asked": False,
    "inlinks": 1,
    "score": 1.0,
    "found_ms": 0,
    "fetches": 0,
    "failures": 0,
    "next_fetch_ms": 0,
    "interval_s": 2_592_000,
    "relation": "a",
    "nofollow": False,
    "first": True,
    "round": 1,
    "outcome": None,
}


def frame(work: Workspace, dataset: str, rows: Iterable[dict[str, Any]]) -> DataFrame:
    names = DATASETS[dataset].column_names
    tuples = [tuple((PLAIN | row).get(name) for name in names) for row in rows]
    return work.engine.spark.createDataFrame(tuples, DATASETS[dataset].ddl)


def put(work: Workspace, dataset: str, rows: Iterable[dict[str, Any]], round_: int = 1) -> None:
    """Commit rows as a layer of their own, of one file."""
    put_all(work, {dataset: rows}, round_)


def put_all(
    work: Workspace,
    tables: Mapping[str, Iterable[dict[str, Any]]],
    round_: int = 1,
    step: str = "test",
) -> None:
    """Commit rows of several datasets, each as a layer of its own, of one file."""
    with work.step(step, round_) as draft:
        for dataset, rows in tables.items():
            table = pa.Table.from_pylist([PLAIN | row for row in rows], DATASETS[dataset].schema)
            writer = ParquetWriter(work.root, dataset, work.store.attempt(dataset))
            if table.num_rows:
                writer.write(table)
            draft.append |= {dataset: Layer(round_, ())} | layers_of(writer.close(), round_)


def by_url(rows: DataFrame, key: str = "url") -> dict[str, dict[str, Any]]:
    found = [row.asDict(recursive=True) for row in rows.collect()]
    keyed = {row[key]: row for row in found}
    assert len(keyed) == len(found), "a key stands twice"
    return keyed
