"""How often do the pages of hosts and folders change, and how true are the dates of their listings?

A place is a host, `example.org`, or the pages of a host whose paths begin alike, up to their second
slash: `example.org/news/`; `example.org/` are its pages in no folder. The dataset `habits` has sums
over all visits to the pages of a place (see recrawl.py):

    changes, watched_ms         changes, and the time within which they happened
    changed, told               visits that found a change, and those of them that a date foretold
    untrue, dated_ms            dates beyond the changes found, and the time within which they came

The last four are of pages that have dates. They are halved when many visits have been counted, so
that a host can gain or lose trust. Sums are integers, so that they do not depend on the order of
additions, and thus on the engine.

Cost: `update` reads and writes the rows of the places that a round has visited.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer import lsm
from gossamer.recrawl import DAY_MS, PRIOR_RECALL, rate, usual_rate
from gossamer.tables import HABITS
from gossamer.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column

    from gossamer.store import Layer
    from gossamer.workspace import Workspace

KNOWN = (
    *("host_changes", "host_days", "folder_changes", "folder_days"),
    *("told_share", "untrue_rate"),
)
"""The columns of `about`, besides `url`."""
UNIT = 1 << 20
"""Changes, and untrue dates, are counted in so many parts."""
MOST_DATES = 1_000
"""Dates of a place that are remembered, true or untrue: about so many to twice as many."""
SUMS = HABITS.column_names[1:]
SLASHES = 4
"""At least, in a URL whose path has a folder."""
OF_DATES = ("changed", "told", "untrue", "dated_ms")


def about(work: Workspace, urls: DataFrame) -> DataFrame | None:
    """What is known about the places of URLs (each once); None if nothing is known of any.

    The columns are `url`, `host_changes`, `host_days`, `folder_changes`, `folder_days`, and for
    dates the `told_share` of changes and the `untrue_rate` per day.
    """
    if not work.store.manifest.layers(HABITS.name):
        return None
    placed, _ = work.scratch(urls.select("url", host().alias("host"), folder().alias("folder")))
    places = placed.select(F.col("host").alias("place")).union(placed.select("folder"))
    known, _ = work.scratch(lsm.rows_for(work, HABITS, places.distinct()))
    for kind in ("host", "folder"):
        sums = (F.col(name).alias(f"{kind}_{name}") for name in SUMS)
        of_kind = known.select(F.col("place").alias(kind), *sums)
        placed = placed.join(F.broadcast(of_kind), on=kind, how="left")
    share, untrue = F.lit(PRIOR_RECALL), F.lit(usual_rate(work.config.update))
    for kind in ("host", "folder"):
        changed, told, false, dated_ms = (_of(kind, name) for name in OF_DATES)
        share = (told + share) / (changed + 1)
        untrue = rate(false / UNIT, dated_ms / DAY_MS, untrue)
    rates = {}
    for kind in ("host", "folder"):
        rates[f"{kind}_changes"] = _of(kind, "changes") / UNIT
        rates[f"{kind}_days"] = _of(kind, "watched_ms") / DAY_MS
    columns = rates | {"told_share": share, "untrue_rate": untrue}
    return placed.select("url", *(value.alias(name) for name, value in columns.items()))


def put(work: Workspace, pages: DataFrame) -> tuple[Layer, ...]:
    """Add what the visits of a round tell; return the layers of the dataset, for `Draft.replace`.

    `pages` have the columns of `recrawl.learned`; those without a visit do not count.
    """
    dates, changed = F.col("dates"), F.col("has_changed")
    dated, beyond = dates.isNotNull(), F.greatest(dates - F.col("more_changes"), F.lit(0.0))
    sums = {
        "changes": F.floor(F.col("more_changes") * UNIT),
        "watched_ms": F.col("more_ms"),
        "changed": dated & changed,
        "told": changed & (dates > 0),
        "untrue": F.floor(beyond * UNIT),
        "dated_ms": F.when(dated, F.col("more_ms")),
    }
    visited = pages.where(F.col("more_changes").isNotNull())
    counted = [
        F.coalesce(F.sum(value.cast("long")), F.lit(0)).alias(f"more_{name}")
        for name, value in sums.items()
    ]
    by_place = [visited.groupBy(p.alias("place")).agg(*counted) for p in (host(), folder())]
    more, _ = work.scratch(reduce(DataFrame.unionByName, by_place))
    known = lsm.rows_for(work, HABITS, more.select("place"))
    total = {name: F.coalesce(name, F.lit(0)) + F.col(f"more_{name}") for name in SUMS}
    rows = more.join(known, on="place", how="left").select(
        "place", *(value.alias(name) for name, value in total.items())
    )
    is_full = F.greatest(F.col("changed"), F.col("untrue") / UNIT) >= 2 * MOST_DATES
    halved = {n: F.when(is_full, F.floor(F.col(n) / 2)).otherwise(F.col(n)) for n in OF_DATES}
    new, count = work.scratch(rows.withColumns({n: v.cast("long") for n, v in halved.items()}))
    return lsm.put(work, HABITS, new, count, work.round)


def host() -> Column:
    """The place of the host of `url`."""
    return host_column(F.col("url")).cast("string")


def folder() -> Column:
    """The place of the folder of `url`."""
    path = F.split_part(F.col("url"), F.lit("?"), F.lit(1))
    slashes = F.length(path) - F.length(F.replace(path, F.lit("/"), F.lit("")))
    name = F.concat(F.split_part(path, F.lit("/"), F.lit(4)), F.lit("/"))
    within = F.when(slashes >= SLASHES, name).otherwise(F.lit(""))
    return F.concat(host(), F.lit("/"), within).cast("string")


def _of(kind: str, name: str) -> Column:
    return F.coalesce(f"{kind}_{name}", F.lit(0))
