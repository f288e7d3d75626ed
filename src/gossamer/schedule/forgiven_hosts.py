"""Hosts that may be asked at once, because the user wants their pages now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.state import lsm
from gossamer.tables import HOSTS
from gossamer.tables.outcomes import UNANSWERED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace


def forgiven_hosts(work: Workspace, pages: DataFrame) -> DataFrame:
    """The rows of `hosts` of unanswered pages, without whatever would make them wait.

    A host that asked for a pause (429, 503) gets it.
    """
    unanswered = pages.where(F.col("outcome").isin(*UNANSWERED))
    known = lsm.rows_for(work, HOSTS, unanswered.select("host").distinct())
    forgotten = {
        "ready_ms": F.lit(0).cast("long"),
        "failures": F.lit(0),
        "robots": F.slice("robots", 1, 0),
    }
    return known.where(F.coalesce("outcome", F.lit("")) != "busy").select(
        *[forgotten.get(name, F.col(name)).alias(name) for name in HOSTS.column_names]
    )
