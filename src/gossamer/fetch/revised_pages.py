"""Pages whose headers a 304 has changed: where are their bodies?

`parse` parses such a page again, from the body that is stored. So its row becomes one with the
outcome `ok` that names the record of the page's last body. No row is parsed otherwise, and all
that reads `responses` finds the body and the headers that apply in the page's newest such row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.tables import RESPONSES

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

OF_BODY = ("body_bytes", "truncated", "warc_file", "warc_offset")


def place_revised_pages(work: Workspace, revised: Layer) -> Layer:
    """Write rows of responses with the places of their bodies. `revised`: rows of this round.

    A page whose body is lost stays `unchanged`: it is fetched again when it is due.
    """
    paths = [f"{work.root}/{file.path}" for file in revised.files]
    rows = work.engine.read(paths, RESPONSES.ddl)
    stored = work.read(RESPONSES.name).where("outcome = 'ok' AND warc_file IS NOT NULL")
    stored = stored.join(rows.select("url", "digest"), on=["url", "digest"], how="left_semi")
    stored, _ = work.scratch(stored.select("url", "round", *OF_BODY))
    last = stored.groupBy("url").agg(F.max("round").alias("round"))
    bodies = stored.join(last, on=["url", "round"], how="left_semi").drop("round")
    placed = rows.drop("outcome", *OF_BODY).join(bodies, on="url", how="left")
    has_body = F.col("warc_file").isNotNull()
    placed = placed.withColumns(
        {
            "outcome": F.when(has_body, "ok").otherwise("unchanged"),
            "truncated": F.coalesce("truncated", F.lit(False)),
        }
    )
    return work.write(placed, RESPONSES.name, revised.round)
