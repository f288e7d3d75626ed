"""Gossamer: from a list of seed URLs to a search engine.

Read `flow/rounds.py` first: it shows the flow. Each package answers one question, which its
docstring asks, and imports only packages to its left in the order that ARCHITECTURE.md gives
(tests/house/test_layering.py enforces it). A step is a module or package with a verb for a
name; steps never import each other, and exchange the datasets that `tables/` defines.

`fakeweb/` is a deterministic web on loopback that the demo, the tests and the benchmarks crawl.
`cli/` and `api/` are the two entrances: commands, and `from gossamer import Crawl`. `plugins.py` is
what plugins may import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.api.crawl import Crawl

__version__ = "0.1.0"
__all__ = ["Crawl", "__version__"]


def __getattr__(name: str) -> Any:
    # Imported lazily (PEP 562), so that `gossamer --help` does not load the engine's libraries.
    if name == "Crawl":
        from gossamer.api.crawl import Crawl

        return Crawl
    raise AttributeError(name)
