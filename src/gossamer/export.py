"""A dataset as one file that other programs read."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

BATCH_ROWS = 10_000


def export(paths: Iterable[str], schema: pa.Schema, form: str, out: BinaryIO) -> int:
    """Stream Parquet files into one file of `form` (a key of FORMS); the rows written."""
    count = 0

    def batches() -> Iterable[pa.RecordBatch]:
        nonlocal count
        for path in paths:
            with pa.parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=schema.names):
                    count += batch.num_rows
                    yield batch.select(schema.names).cast(schema)

    FORMS[form](batches(), schema, out)
    return count


def _parquet(batches: Iterable[pa.RecordBatch], schema: pa.Schema, out: BinaryIO) -> None:
    with pa.parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)


def _csv(batches: Iterable[pa.RecordBatch], schema: pa.Schema, out: BinaryIO) -> None:
    """RFC 4180, with a header; lists, which CSV has no form for, as JSON."""
    nested = [i for i, field in enumerate(schema) if pa.types.is_nested(field.type)]
    flat = pa.schema(
        [pa.field(f.name, pa.string()) if i in nested else f for i, f in enumerate(schema)]
    )
    with pa.csv.CSVWriter(out, flat) as writer:
        for batch in batches:
            columns = batch.columns
            for i in nested:
                texts = [
                    None if v is None else msgspec.json.encode(v) for v in columns[i].to_pylist()
                ]
                columns[i] = pa.array(texts, pa.binary()).cast(pa.string())
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=flat))


def _jsonl(batches: Iterable[pa.RecordBatch], schema: pa.Schema, out: BinaryIO) -> None:  # noqa: ARG001  # one form of call
    encoder = msgspec.json.Encoder()
    out.writelines(encoder.encode_lines(batch.to_pylist()) for batch in batches)


FORMS: Mapping[str, Callable[[Iterable[pa.RecordBatch], pa.Schema, BinaryIO], None]] = {
    "parquet": _parquet,
    "csv": _csv,
    "jsonl": _jsonl,
}
