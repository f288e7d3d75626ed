"""Which records of the archive stay when it is pruned?

    every exchange of the last `store.warc_days`
    of each URL, the newest exchange, and those with the newest `store.warc_versions` bodies
    bodies that `responses` or `unparsed` names: pages as they are now, and of the last rounds
    bodies to which a revisit refers that stays

An exchange stays or goes as a whole: the answer, the request and the metadata.
"""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from gossamer.storage import opening
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import YIELD, YIELD_DDL, ParquetWriter, balance_files
from gossamer.storage.warc import cdxj

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import Row
    from pyspark.sql.column import Column

    from gossamer.state.workspace import Workspace
    from gossamer.storage.task_output import Row as Yielded
    from gossamer.storage.warc.archives import Archive

CAPTURES = pa.schema(
    [
        ("file", pa.string()),
        ("url", pa.string()),
        ("time", pa.int64()),
        ("offset", pa.int64()),
        ("length", pa.int64()),
        ("digest", pa.string()),
        ("is_body", pa.bool_()),
        ("is_revisit", pa.bool_()),
    ]
)
"""The exchanges of the archive. `time`: 14 digits, in UTC; `offset` and `length`: of the exchange,
in bytes."""
CAPTURES_DDL = (
    "file string, url string, time long, offset long, length long, digest string, "
    "is_body boolean, is_revisit boolean"
)
DAY_MS = 86_400_000


class KeptExchanges(NamedTuple):
    paths: tuple[str, ...]
    """Scratch files of the exchanges that stay: file, offset, length."""
    sizes: list[Row]
    """The bytes of them, by file."""
    unclear: frozenset[str]
    """Files with bodies that are not in their indexes, as those of damaged files may not be."""


def captures(work: Workspace, archives: Sequence[Archive]) -> DataFrame:
    """Read the indexes of the archive into rows of CAPTURES."""
    shares = balance_files(archives, 4 * work.engine.workers)
    run = partial(_read_indexes, work.root, work.scratch_attempt())
    rows = work.engine.map_tasks(shares, run, YIELD, YIELD_DDL, at_home=True)
    return work.engine.read([f"{work.root}/{row['path']}" for row in rows], CAPTURES_DDL)


def _read_indexes(root: str, attempt: str, archives: Sequence[Archive]) -> Iterator[Yielded]:
    writer = ParquetWriter(root, SCRATCH, attempt, schema=CAPTURES)
    for archive in archives:
        index = opening.read(f"{root}/{archive.index_file}")
        entries = [(time, entry) for _, time, entry in map(cdxj.parse_line, index.splitlines())]
        entries.sort(key=lambda each: int(each[1].offset))
        begins = [int(entry.offset) for _, entry in entries]
        ends = [*begins[1:], archive.bytes]
        rows = [
            (archive.path, entry.url, time, begin, end - begin, entry.digest, *_kind(entry))
            for (time, entry), begin, end in zip(entries, begins, ends, strict=True)
        ]
        if rows:
            columns = map(pa.array, zip(*rows, strict=True))
            writer.write(pa.Table.from_arrays(list(columns), names=CAPTURES.names))
    yield from writer.close()


def _kind(entry: cdxj.Entry) -> tuple[bool, bool]:
    is_revisit = entry.mime == "warc/revisit"
    return not is_revisit and entry.status[:1] in {"", "2"}, is_revisit


def find_kept_exchanges(work: Workspace, captures: DataFrame) -> KeptExchanges:
    """Find the exchanges that stay, and write their places to scratch files."""
    config = work.config.store
    since_ms = work.now_ms() - int(config.warc_days * DAY_MS) if config.warc_days else None
    place = "file", "offset", "length"
    chosen, _ = work.scratch(chosen_by_age(captures, max(config.warc_versions, 1), since_ms))
    bodies = captures.where("is_body")
    revisits = chosen.where("is_revisit AND digest <> ''")
    staying = chosen.select(*place)
    for beside in ("file", "url"):
        referred = bodies.join(revisits, on=[beside, "digest"], how="left_semi")
        staying = staying.union(referred.select(*place))
    stored = (
        work.read(name).select("warc_file", "warc_offset") for name in ("responses", "unparsed")
    )
    rows = reduce(DataFrame.union, stored).where("warc_file IS NOT NULL").distinct()
    named, _ = work.scratch(rows.selectExpr("warc_file AS file", "warc_offset AS offset"))
    record = ["file", "offset"]
    staying = staying.union(captures.join(named, on=record, how="left_semi").select(*place))
    unclear = named.join(captures, on=record, how="left_anti").select("file").distinct()
    paths = tuple(f"{work.root}/{file.path}" for file in work.scratch_files(staying.distinct()))
    exchanges = work.engine.read(list(paths), "file string, offset long, length long")
    sizes = exchanges.groupBy("file").agg(F.sum("length").alias("bytes")).collect()
    return KeptExchanges(paths, sizes, frozenset(row["file"] for row in unclear.collect()))


def chosen_by_age(captures: DataFrame, versions: int, since_ms: int | None) -> DataFrame:
    """The exchanges of each URL that stay by themselves; all that began since `since_ms`, too."""
    newest = Window.partitionBy("url").orderBy(*map(F.desc, ("time", "file", "offset")))
    until = newest.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    aged = captures.withColumns(
        {
            "age": F.row_number().over(newest),
            "bodies": F.sum(F.col("is_body").cast("int")).over(until),
        }
    )
    stays = (F.col("age") == 1) | (F.col("is_body") & (F.col("bodies") <= versions))
    if since_ms is not None:
        stays |= F.col("time") >= _digits(since_ms)
    return aged.where(stays).drop("age", "bodies")


def _digits(time_ms: int) -> Column:
    """A time as a number of 14 digits, in UTC."""
    from gossamer.storage.warc.records import warc_date

    return F.lit(int(cdxj.timestamp(warc_date(time_ms)))).cast("long")
