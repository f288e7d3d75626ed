"""The step `rank`: pages, then hosts, in the form that fits into memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from gossamer.errors import ConfigError
from gossamer.links.graph.stored_graph import is_imported, open_graph
from gossamer.links.rank import arrays, joins, trust
from gossamer.tables import HOST_RANKS, HOST_SIZES, RANKED_NODES, RANKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from gossamer.links.rank.output import Ranking
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport
    from gossamer.tables import Dataset

KINDS = {"page": RANKS, "host": HOST_RANKS}


def run(work: Workspace) -> StepReport:
    """Rank all pages and hosts.

    Raises ConfigError for invalid lists of trusted pages, or an imported graph that does not fit
    into `rank.memory_gb`; MissingFile or StoreError for damage.
    """
    with work.step("rank", work.round) as draft, ThreadPoolExecutor(1) as thread:
        fetched_hosts, writing = None, {}
        factors_of = {row["host"]: row["farm_factor"] for row in trust.farm_factors(work).collect()}
        for kind, dataset in KINDS.items():
            done = _rank_nodes(work, kind, dataset, fetched_hosts, factors_of)
            fetched_hosts = done.fetched_hosts
            writing[kind] = thread.submit(done.write)  # while hosts are ranked
            draft.counts[f"{kind}s"] = done.nodes
            draft.counts[f"{kind}_iterations"] = done.iterations
        for kind, dataset in KINDS.items():
            draft.replace[dataset.name] = writing[kind].result().ranks
        pages = writing["page"].result()
        draft.replace[RANKED_NODES.name] = pages.remembered
        draft.replace[HOST_SIZES.name] = pages.sizes
    return draft.done


def _rank_nodes(
    work: Workspace,
    kind: str,
    dataset: Dataset,
    fetched_hosts: pa.LargeStringArray | None,
    factors_of: Mapping[str, float],
) -> Ranking:
    if not work.store.manifest.layers("graph"):
        return joins.rank_by_joins(work, kind, dataset)
    graph = open_graph(work, kind)
    needed_gb = arrays.BYTES_PER_NODE * graph.forward.nodes / 1e9
    if needed_gb > work.config.rank.memory_gb:
        if is_imported(work):  # joins read the crawl's links
            what = f"the imported graph of {kind}s needs {needed_gb:.1f} GB"
            raise ConfigError("rank.memory_gb", what, "raise it in gossamer.toml")
        return joins.rank_by_joins(work, kind, dataset)
    return arrays.rank_in_arrays(work, graph, kind, dataset, fetched_hosts, factors_of)
