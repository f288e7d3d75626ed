"""How many pages of each host have a rank? Counted while ranks are written (page_ranks.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.links.graph import naming
from gossamer.links.rank.nodes import counts_in_runs, hosts_of
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import HOST_SIZES

if TYPE_CHECKING:
    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.stored import Stored
    from gossamer.links.rank.nodes import Flags
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer


def written(
    work: Workspace, graph: Stored, is_ranked: Flags, others: pa.LargeStringArray
) -> tuple[Layer, ...]:
    """Write the rows of `host_sizes`. `others`: URLs of ranked pages that are no nodes."""
    counted, at = [], 0
    for hosts, nodes in hosts_of(work, graph, "page"):
        end = at + int(nodes.sum())
        counted.append(_table(hosts, counts_in_runs(is_ranked[at:end], nodes)))
        at = end
    runs = naming.runs_of(naming.names_of(others))
    counted.append(_table(runs.hosts, np.diff(runs.starts, append=len(others))))
    sums = pa.concat_tables(counted).group_by("host").aggregate([("pages", "sum")])
    sizes = sums.rename_columns(["host", "pages"]).filter(pc.field("pages") > 0)
    writer = ParquetWriter(work.root, HOST_SIZES.name, work.store.attempt(HOST_SIZES.name))
    writer.write(sizes.cast(HOST_SIZES.schema))
    layers = layers_of(writer.close(), work.round)
    return (layers[HOST_SIZES.name],) if layers else ()


def _table(hosts: list[str], pages: Numbers) -> pa.Table:
    return pa.table({"host": pa.array(hosts, pa.string()), "pages": pa.array(pages, pa.int64())})
