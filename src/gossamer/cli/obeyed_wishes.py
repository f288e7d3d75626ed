"""What an export of documents leaves out: pages that their publishers do not want to train AI.

The export has the rows of all rounds. A row is left out if it forbids that itself, or if the newest
row of its page does. Few rows say anything, so the URLs of these are held in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.storage import parquet
from gossamer.web.publisher_wishes import AI_TRAIN

if TYPE_CHECKING:
    from collections.abc import Iterable

BATCH_ROWS = 10_000
_COLUMNS = ["url", "round", "wishes"]


class ObeyedWishes:
    """Removes rows from batches of the dataset documents, and counts them in `left_out`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.left_out = 0
        self._urls = pa.array(_urls_forbidden_now(list(paths)), pa.string())

    def kept(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        unwanted = pc.or_(
            pc.is_in(batch.column("url"), value_set=self._urls), _forbids(batch.column("wishes"))
        )
        kept = batch.filter(pc.invert(unwanted))
        self.left_out += batch.num_rows - kept.num_rows
        return kept


def _urls_forbidden_now(paths: list[str]) -> list[str]:
    """The URLs whose newest rows forbid training."""
    once = {
        url: -1
        for batch in _batches(paths)
        for url in batch.filter(_forbids(batch.column("wishes"))).column("url").to_pylist()
    }
    if not once:
        return []
    newest, forbidden = once, set[str]()
    known = pa.array(list(once), pa.string())
    for batch in _batches(paths):
        found = batch.filter(pc.is_in(batch.column("url"), value_set=known))
        for row, no in zip(
            found.to_pylist(), _forbids(found.column("wishes")).to_pylist(), strict=True
        ):
            if row["round"] >= newest[row["url"]]:
                newest[row["url"]] = row["round"]
                (forbidden.add if no else forbidden.discard)(row["url"])
    return sorted(forbidden)


def _batches(paths: Iterable[str]) -> Iterable[pa.RecordBatch]:
    for path in paths:
        with parquet.open_parquet(path) as file:
            if "wishes" in file.schema_arrow.names:  # older files say nothing
                yield from file.iter_batches(BATCH_ROWS, columns=_COLUMNS)
            else:
                for batch in file.iter_batches(BATCH_ROWS, columns=_COLUMNS[:2]):
                    nothing = pa.nulls(batch.num_rows, pa.string())
                    yield batch.append_column("wishes", nothing)


def _forbids(wishes: pa.Array) -> pa.Array:
    return pc.fill_null(pc.match_substring(wishes, f"{AI_TRAIN}=no"), False)
