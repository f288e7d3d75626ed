"""Which of the pages that are due are on the user's own hosts (`fetch.own_hosts`)?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.config.own_hosts import Own

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from gossamer.config import FetchConfig
    from gossamer.state.workspace import Workspace


def mark_own_hosts(work: Workspace, due: DataFrame, hosts: DataFrame) -> DataFrame:
    """Mark the pages of the user's own hosts as `own`: by name, or by their last known address."""
    config = work.config.fetch
    if not config.own_hosts:
        return due
    named = (
        due.select("host").distinct().join(hosts.select("host", "address"), on="host", how="left")
    )
    owned, count = work.map_rows(named, partial(_select_own, config), "host string")
    if not count:
        return due
    marks = owned.select("host", F.lit(True).alias("own"))
    return due.drop("own").join(marks, on="host", how="left").fillna(False, ["own"])


def _select_own(config: FetchConfig, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    own = Own(config)
    for batch in batches:
        names, addresses = (batch.column(name).to_pylist() for name in ("host", "address"))
        mask = [own.has(name, where) for name, where in zip(names, addresses, strict=True)]
        yield batch.filter(pa.array(mask, pa.bool_())).select(["host"])
