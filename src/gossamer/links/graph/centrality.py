"""graph centrality: graph → centrality. How near is each page, and each host, to all others?

Reads the graphs as they were last brought up to date; replaces centrality. `harmonic.py` says what
is computed, and in which cases it is estimated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.links.graph.harmonic import harmonic
from gossamer.links.graph.names import url_column
from gossamer.links.graph.stored import stored
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import CENTRALITY

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

KINDS = ("page", "host")
ROWS = 1 << 16
"""Rows of a row group."""


def run(work: Workspace) -> StepReport:
    """Compute the harmonic centrality of all pages and hosts of the graphs.

    Raises UsageError if they were never built.
    """
    with work.step("graph.centrality", work.round) as draft:
        written = ParquetWriter(
            work.root, "scratch", work.scratch_attempt(), schema=CENTRALITY.schema
        )
        for kind in KINDS:
            opened = stored(work, kind)
            names, forward = opened.names, opened.forward
            found = harmonic(forward)
            for first in range(0, forward.nodes, ROWS):
                some = np.arange(first, min(first + ROWS, forward.nodes))
                columns = {
                    "kind": pa.repeat(kind, some.size),
                    "name": names.named(some),
                    "harmonic": found.values[some],
                    "error": np.full(some.size, found.error),
                }
                written.write(pa.table(columns))
            draft.counts[f"{kind}s"] = forward.nodes
        files = layers_of(written.close(), work.round)
        paths = [f"{work.root}/{file.path}" for layer in files.values() for file in layer.files]
        rows = work.engine.read(paths, CENTRALITY.ddl)
        of_urls = rows.withColumn("name", url_column(F.col("name")))
        draft.replace[CENTRALITY.name] = (work.write(of_urls, CENTRALITY.name, work.round),)
    return draft.done
