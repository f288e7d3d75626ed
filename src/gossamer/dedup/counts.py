"""How many documents are dropped, by reason? Counted from what a harvest changes.

A report counts all documents. The report of the last harvest is corrected by the rows that differ,
so that no pass over the others is needed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.dedup import known
from gossamer.engine.engine import engine_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

DOCUMENTS, DUPLICATE = "documents", "duplicate_"
"""Names of counts: of all documents, and before each reason."""


def by_reason(
    work: Workspace, step: str, written: DataFrame, was: DataFrame | None
) -> Mapping[str, int]:
    """The counts for the report of a `step`, whose last report is corrected if there is one.

    `written` are the rows of `dispositions` that differ. `was` has at least the `url` and `reason`
    that these had before; None if there were none.
    """
    reports = (done for done in reversed(work.store.manifest.history) if done.step == step)
    last = None if was is None else next(reports, None)
    found = Counter[str | None]()
    rows = written.select("url", "reason", F.lit(1).alias("more"))
    if last is not None and was is not None:
        replaced = was.join(written.select("url"), on="url", how="left_semi")
        rows = rows.unionByName(replaced.select("url", "reason", F.lit(-1).alias("more")))
        for name, number in last.counts.items():
            if name.startswith(DUPLICATE):
                found[name.removeprefix(DUPLICATE)] = number
        found[None] = last.counts[DOCUMENTS] - found.total()
    elif was is not None:
        every = known.stored(work, anew=False).with_layer(written)
        rows = every.where(lambda layer: layer.select("url", "reason", F.lit(1).alias("more")))
    with engine_errors():
        for row in rows.groupBy("reason").agg(F.sum("more").alias("more")).collect():
            found[row["reason"]] += row["more"]
    named = sorted(reason for reason, number in found.items() if reason and number)
    return {DOCUMENTS: found.total()} | {f"{DUPLICATE}{reason}": found[reason] for reason in named}
