"""inject: seeds → pages."""

from __future__ import annotations

import uuid
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from gossamer import scoring, seeds, states
from gossamer.backends import disk_errors
from gossamer.tables import PAGES
from gossamer.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame

    from gossamer.store import StepReport
    from gossamer.workspace import Workspace

CHUNK = 100_000
"""Seeds held in memory at a time."""


def run(
    work: Workspace,
    urls: Iterable[str] = (),
    lists: Iterable[str] = (),
    report: Callable[[seeds.BadLine], None] = lambda _: None,
) -> StepReport:
    """Put seeds into the page database: URLs, and files that list some.

    A page that was known becomes a seed: its depth is 0 from now on. Each bad line is told to
    `report`; the rest goes in. Raises SeedError where a list cannot be read.
    """
    rules = work.config.urls
    bad = 0

    def told(entries: Iterable[str | seeds.BadLine]) -> Iterator[str]:
        nonlocal bad
        for entry in entries:
            if isinstance(entry, seeds.BadLine):
                bad += 1
                report(entry)
            else:
                yield entry

    with work.step("inject", work.round) as draft:
        given = seeds.parse((url.encode() for url in urls), "argument", rules)
        listed = (seeds.read(source, rules) for source in lists)
        folder = work.store.attempt("scratch")
        paths = list(_write(told(chain(given, *listed)), f"{work.root}/{folder}"))
        seeded = work.engine.read(paths, "url string").distinct()
        before = states.among(work, PAGES, seeded)
        rows, count = work.scratch(as_seeds(seeded, before, work))
        draft.replace["pages"] = states.put(work, PAGES, rows, count, work.round)
        draft.counts.update(seeds=count, bad_lines=bad)
    return draft.done


def as_seeds(seeded: DataFrame, before: DataFrame, work: Workspace) -> DataFrame:
    """The rows of pages of these URLs; `before` holds those that were there."""
    config = work.config.update
    inlinks = F.coalesce("inlinks", F.lit(0).cast("long"))
    columns = {
        "host": F.coalesce("host", host_column(F.col("url"))),
        "status": F.coalesce("status", F.lit("unfetched")),
        "source": F.lit("seed"),
        "depth": F.lit(0),
        "hops": F.lit(0),
        "inlinks": inlinks,
        "score": scoring.load(config.scoring)(F.lit(0), inlinks),
        "found_ms": F.coalesce("found_ms", F.lit(work.now_ms())),
        "fetches": F.coalesce("fetches", F.lit(0)),
        "failures": F.coalesce("failures", F.lit(0)),
        "next_fetch_ms": F.coalesce("next_fetch_ms", F.lit(0).cast("long")),
        "interval_s": F.coalesce("interval_s", F.lit(int(config.interval_days * 86_400))),
    }
    return seeded.join(before, on="url", how="left").select(
        *[columns.get(name, F.col(name)).alias(name) for name in PAGES.column_names]
    )


def _write(urls: Iterator[str], folder: str) -> Iterator[str]:
    """The URLs as Parquet files of CHUNK rows; their paths."""
    while chunk := list(islice(urls, CHUNK)):
        path = Path(folder, f"{uuid.uuid4().hex}.parquet")
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.table({"url": pa.array(chunk, pa.string())}), path)
        yield str(path)
