"""Is every stored body in the archive, at its offset and with its digest?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from gossamer.parse.step.stored_responses import ResponseRow, bodies
from gossamer.storage.warc import payload_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

LOST = pa.schema([("round", pa.int32()), ("url", pa.string())])
LOST_DDL = "round int, url string"


def unreadable(work: Workspace) -> DataFrame:
    """`round` and `url` of the responses whose bodies cannot be read.

    The archive is read once, file by file, in the order of the offsets.
    """
    stored = work.read("responses").where("warc_file IS NOT NULL").select(*ResponseRow._fields)
    files = [(file.path,) for file in work.store.listed("warc")]
    named = work.engine.spark.createDataFrame(files, "warc_file string")
    in_order = (
        stored.join(named, on="warc_file", how="left_semi")
        .select(*ResponseRow._fields)
        .repartition(work.engine.workers, "warc_file")
        .sortWithinPartitions("warc_file", "warc_offset")
    )
    wrong = work.engine.map_partitions(in_order, partial(_wrong, work.root), LOST_DDL)
    gone = stored.join(named, on="warc_file", how="left_anti").select(*LOST.names)
    return gone.unionByName(wrong)


def _wrong(root: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = (ResponseRow(*row.values()) for batch in batches for row in batch.to_pylist())
    lost = [
        {"round": answer.round, "url": answer.url}
        for answer, stored in bodies(root, rows)
        if stored is None or payload_digest(stored.body) != answer.digest
    ]
    yield pa.RecordBatch.from_pylist(lost, LOST)
