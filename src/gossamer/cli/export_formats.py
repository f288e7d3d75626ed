"""Write a dataset as one file for other programs."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from gossamer.storage import parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gossamer.cli.obeyed_wishes import ObeyedWishes

BATCH_ROWS = 10_000
FORMULA = r"^(?-m:[=+\-@\t\r\n'\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])"
"""The first characters of a formula in a spreadsheet, also in full width (OWASP, CSV Injection)."""


def export(
    paths: Iterable[str],
    schema: pa.Schema,
    form: str,
    out: BinaryIO,
    obeyed: ObeyedWishes | None = None,
) -> int:
    """Stream Parquet files into one file of format `form` (see FORMS); return the row count.

    Columns that a file of an older version lacks are null. `obeyed` leaves out some of the rows.
    """
    count = 0

    def batches() -> Iterable[pa.RecordBatch]:
        nonlocal count
        for path in paths:
            with parquet.open_parquet(path) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=schema.names):
                    rows = _add_missing_columns(batch, schema)
                    kept = rows if obeyed is None else obeyed.kept(rows)
                    count += kept.num_rows
                    yield kept

    FORMS[form](batches(), schema, out)
    return count


def _add_missing_columns(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    for field in schema:
        if field.name not in batch.schema.names:
            batch = batch.append_column(field.name, pa.nulls(batch.num_rows, field.type))
    return batch.select(schema.names).cast(schema)


def _export_parquet(batches: Iterable[pa.RecordBatch], schema: pa.Schema, out: BinaryIO) -> None:
    with pa.parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)


def _export_csv(batches: Iterable[pa.RecordBatch], schema: pa.Schema, out: BinaryIO) -> None:
    """Write CSV (RFC 4180) with a header. Lists become JSON, and bytes base64, as in JSON.

    Spreadsheets run texts that begin like a formula (CWE-1236), and pages choose their texts. As
    OWASP advises, such a text is prefixed with an apostrophe, which spreadsheets do not show. A
    text that begins with an apostrophe is prefixed, too, so removing the first apostrophe always
    restores the original. Columns of numbers are not changed.
    """
    encoded = {
        i: msgspec.json.encode if pa.types.is_nested(field.type) else b64encode
        for i, field in enumerate(schema)
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type)
    }
    flat = pa.schema(
        [pa.field(f.name, pa.string()) if i in encoded else f for i, f in enumerate(schema)]
    )
    with pa.csv.CSVWriter(out, flat) as writer:
        for batch in batches:
            columns = batch.columns
            for i, encode in encoded.items():
                texts = [None if v is None else encode(v) for v in columns[i].to_pylist()]
                columns[i] = pa.array(texts, pa.binary()).cast(pa.string())
            harmless = [
                _harmless_in_spreadsheets(column) if pa.types.is_string(column.type) else column
                for column in columns
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(harmless, schema=flat))


def _harmless_in_spreadsheets(texts: pa.Array) -> pa.Array:
    marked = pc.binary_join_element_wise("'", texts, "")
    return pc.if_else(pc.match_substring_regex(texts, FORMULA), marked, texts)


def _export_jsonl(batches: Iterable[pa.RecordBatch], schema: pa.Schema, out: BinaryIO) -> None:  # noqa: ARG001  # same signature as the others
    encoder = msgspec.json.Encoder()
    out.writelines(encoder.encode_lines(batch.to_pylist()) for batch in batches)


FORMS: Mapping[str, Callable[[Iterable[pa.RecordBatch], pa.Schema, BinaryIO], None]] = {
    "parquet": _export_parquet,
    "csv": _export_csv,
    "jsonl": _export_jsonl,
}
