"""rank: graph, pages, farms → ranks, host_ranks, host_sizes. PageRank (Brin and Page, WWW 1998).

Reads graph, pages, farms, ranks and host_ranks; replaces ranks, host_ranks and host_sizes.
`power.py` has the formula and its stop by a proven bound of the error.

Nodes are all pages of the link graph, and all fetched pages without links. So pages that were not
fetched have ranks, too, which order the frontier; those that are not fetched yet are dangling, like
those that cannot be fetched (Eiron, McCurley and Tomlin, "Ranking the Web Frontier", WWW 2004).
Ranks flow from fetched pages only: that is where a surfer can begin, and nobody gains rank by
inventing URLs. What a page has that was not fetched was given to it by links. A redirect is a link,
so its target receives what the pages gave that link to the redirecting page. Hosts are ranked in
the same way by the links between them, each pair of hosts once.

Links within a registrable domain count less (`shares.py`). Lists of trusted and distrusted pages
change where ranks flow from, and whose votes count (`listed.py`):

  trusted     ranks flow from these pages only, in equal parts: TrustRank (Gyöngyi, Garcia-Molina
              and Pedersen, "Combating Web Spam with TrustRank", VLDB 2004, §4). What they do not
              lead to has rank 0.
  distrusted  they vote for nobody, and no rank flows from them; a page that leads to them keeps
              only a part of its votes (`shares.factors`), and dangles with the rest.

A host that `farms` found casts only the part of its votes that the evidence leaves it, and dangles
with the rest.

There are two forms with the same results: in arrays, over the compressed graph (`arrays.py`), and
by joins on the engine (`joins.py`), if there is no graph yet, or if ranks and what an iteration
needs besides exceed `rank.memory_gb`. Joins read the links of the crawl, so an imported graph has
to fit. Both start from the ranks of the last run.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from gossamer.errors import ConfigError
from gossamer.links.graph.stored import is_imported, stored
from gossamer.links.rank import arrays, farmed, joins
from gossamer.tables import HOST_RANKS, HOST_SIZES, RANKED_NODES, RANKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from gossamer.links.rank.ranking import Ranking
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
        factors_of = {row["host"]: row["farm_factor"] for row in farmed.factors(work).collect()}
        for kind, dataset in KINDS.items():
            done = _ranked(work, kind, dataset, fetched_hosts, factors_of)
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


def _ranked(
    work: Workspace,
    kind: str,
    dataset: Dataset,
    fetched_hosts: pa.LargeStringArray | None,
    factors_of: Mapping[str, float],
) -> Ranking:
    if not work.store.manifest.layers("graph"):
        return joins.ranked(work, kind, dataset)
    graph = stored(work, kind)
    needed_gb = arrays.BYTES_PER_NODE * graph.forward.nodes / 1e9
    if needed_gb > work.config.rank.memory_gb:
        if is_imported(work):  # joins read the crawl's links
            what = f"the imported graph of {kind}s needs {needed_gb:.1f} GB"
            raise ConfigError("rank.memory_gb", what, "raise it in gossamer.toml")
        return joins.ranked(work, kind, dataset)
    return arrays.ranked(work, graph, kind, dataset, fetched_hosts, factors_of)
