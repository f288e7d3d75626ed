"""How often do the pages of hosts and folders change, and how true are the dates of their listings?

A place is a host, `example.org`, or the pages of a host whose paths begin alike, up to their second
slash: `example.org/news/`; `example.org/` are its pages in no folder. The dataset `habits` has sums
over all visits to the pages of a place (see change_rates.py):

    changes, watched_ms         changes, and the time within which they happened
    told, untold                of these, changes that a date foretold, or none did
    met                         dates that came before these visits
    dates, listed_ms            all dates, and the time within which listings gave them

All but the first two are of pages that have dates. They are halved when many have been counted, so
that a host can gain or lose trust. Sums are integers, so that they do not depend on the order of
additions, and thus on the engine.

Cost: `update` reads and writes the rows of the places that a round has visited.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.schedule.due.change_rates import DAY_MS, PRIOR_RECALL, PRIOR_TRUTH, rate, usual_rate
from gossamer.state import lsm
from gossamer.tables import HABITS
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

KNOWN = (
    *("host_changes", "host_days", "folder_changes", "folder_days"),
    *("told_share", "true_share", "untrue_rate"),
)
"""The columns of `habits_of_urls`, besides `url`."""
UNIT = 1 << 20
"""Changes are counted in so many parts."""
MOST_DATES = 1_000
"""Changes and dates of a place that are remembered: about so many to twice as many."""
SUMS = HABITS.column_names[1:]
SLASHES = 4
"""At least, in a URL whose path has a folder."""
OF_VISITS, OF_LISTINGS = ("told", "untold", "met"), ("dates", "listed_ms")


def habits_of_urls(work: Workspace, urls: DataFrame) -> DataFrame | None:
    """What is known about the places of URLs (each once); None if nothing is known of any.

    The columns are `url`, `host_changes`, `host_days`, `folder_changes`, `folder_days`, and for
    dates the `told_share` of changes, the `true_share` of dates and the `untrue_rate` per day.
    """
    if not work.store.manifest.layers(HABITS.name):
        return None
    placed, _ = work.scratch(
        urls.select("url", host_place().alias("host"), folder_place().alias("folder"))
    )
    places = placed.select(F.col("host").alias("place")).union(placed.select("folder"))
    known, _ = work.scratch(lsm.rows_for(work, HABITS, places.distinct()))
    for kind in ("host", "folder"):
        sums = (F.col(name).alias(f"{kind}_{name}") for name in SUMS)
        of_kind = known.select(F.col("place").alias(kind), *sums)
        placed = placed.join(F.broadcast(of_kind), on=kind, how="left")
    share, true = F.lit(PRIOR_RECALL), F.lit(PRIOR_TRUTH)
    untrue = F.lit(usual_rate(work.config.update))
    for kind in ("host", "folder"):
        told, untold, met, dates, listed_ms = (
            _sum_of_place(kind, name) for name in OF_VISITS + OF_LISTINGS
        )
        share = (told / UNIT + share) / ((told + untold) / UNIT + 1)
        true = (told / UNIT + true) / (met + 1)
        untrue = rate(dates * (1 - true), listed_ms / DAY_MS, untrue)
    rates = {}
    for kind in ("host", "folder"):
        rates[f"{kind}_changes"] = _sum_of_place(kind, "changes") / UNIT
        rates[f"{kind}_days"] = _sum_of_place(kind, "watched_ms") / DAY_MS
    columns = rates | {"told_share": share, "true_share": true, "untrue_rate": untrue}
    return placed.select("url", *(value.alias(name) for name, value in columns.items()))


def write_habits(work: Workspace, pages: DataFrame) -> tuple[Layer, ...]:
    """Add what a round tells about places; return the layers of the dataset, for `Draft.replace`.

    `pages` have the columns of `learn_change_rates`. Those without a visit or a date do not
    count.
    """
    sums = {
        "changes": F.floor(F.col("more_changes") * UNIT),
        "watched_ms": F.col("more_ms"),
        "told": F.floor(F.col("told_changes") * UNIT),
        "untold": F.floor(F.col("untold_changes") * UNIT),
        "met": F.col("met_dates"),
        "dates": F.col("more_dates"),
        "listed_ms": F.col("listed_for_ms"),
    }
    visited = pages.where(F.coalesce("more_ms", "listed_for_ms").isNotNull())
    counted = [
        F.coalesce(F.sum(value.cast("long")), F.lit(0)).alias(f"more_{name}")
        for name, value in sums.items()
    ]
    by_place = [
        visited.groupBy(p.alias("place")).agg(*counted) for p in (host_place(), folder_place())
    ]
    more, _ = work.scratch(reduce(DataFrame.unionByName, by_place))
    known = lsm.rows_for(work, HABITS, more.select("place"))
    total = {name: F.coalesce(name, F.lit(0)) + F.col(f"more_{name}") for name in SUMS}
    rows = more.join(known, on="place", how="left").select(
        "place", *(value.alias(name) for name, value in total.items())
    )
    seen: dict[tuple[str, ...], Column] = {OF_LISTINGS: F.col("dates")}
    seen[OF_VISITS] = F.greatest((F.col("told") + F.col("untold")) / UNIT, F.col("met"))
    halved = {
        name: F.when(of_many >= 2 * MOST_DATES, F.floor(F.col(name) / 2)).otherwise(F.col(name))
        for names, of_many in seen.items()
        for name in names
    }
    new, count = work.scratch(rows.withColumns({n: v.cast("long") for n, v in halved.items()}))
    return lsm.append_layer(work, HABITS, new, count, work.round)


def host_place() -> Column:
    """The place of the host of `url`."""
    return host_column(F.col("url")).cast("string")


def folder_place() -> Column:
    """The place of the folder of `url`."""
    path = F.split_part(F.col("url"), F.lit("?"), F.lit(1))
    slashes = F.length(path) - F.length(F.replace(path, F.lit("/"), F.lit("")))
    name = F.concat(F.split_part(path, F.lit("/"), F.lit(4)), F.lit("/"))
    within = F.when(slashes >= SLASHES, name).otherwise(F.lit(""))
    return F.concat(host_place(), F.lit("/"), within).cast("string")


def _sum_of_place(kind: str, name: str) -> Column:
    return F.coalesce(f"{kind}_{name}", F.lit(0))
