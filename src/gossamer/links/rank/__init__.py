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

Links within a registrable domain count less (`vote_shares.py`). Lists of trusted and distrusted
pages change where ranks flow from, and whose votes count (`trust.py`):

  trusted     ranks flow from these pages only, in equal parts: TrustRank (Gyöngyi, Garcia-Molina
              and Pedersen, "Combating Web Spam with TrustRank", VLDB 2004, §4). What they do not
              lead to has rank 0.
  distrusted  they vote for nobody, and no rank flows from them; a page that leads to them keeps
              only a part of its votes (`vote_shares.distrust_factors`), and dangles with the rest.

A host that `farms` found casts only the part of its votes that the evidence leaves it, and dangles
with the rest.

There are two forms with the same results: in arrays, over the compressed graph (`arrays.py`), and
by joins on the engine (`joins.py`), if there is no graph yet, or if ranks and what an iteration
needs besides exceed `rank.memory_gb`. Joins read the links of the crawl, so an imported graph has
to fit. Both start from the ranks of the last run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.links.rank.step import run

__all__ = ["run"]


def __getattr__(name: str) -> Any:
    if name == "run":  # the engine takes long to import
        return import_module(f"{__name__}.step").run
    raise AttributeError(name)
