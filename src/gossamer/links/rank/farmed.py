"""How much the votes of a host count: less if it looks like a part of a link farm (`farms.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace


def factors(work: Workspace) -> DataFrame:
    """The factors (host, farm_factor) of hosts whose votes count less, by the worst evidence.

    None with `rank.farms = false`.
    """
    hosts = work.read("farms").where((F.col("kind") == "host") & (F.col("factor") < 1))
    if not work.config.rank.farms:
        hosts = hosts.limit(0)
    return hosts.groupBy(F.col("name").alias("host")).agg(F.min("factor").alias("farm_factor"))
