"""Gossamer: from a list of seed URLs to a search engine.

Read `rounds.py` first: it is the flow. The modules are of four kinds (tests/test_layering.py
holds them to it):

    steps             inject generate fetch parse update invert rank index postings serve
                      a verb, a command and a module each; a step never imports a step
    formats           tables outcomes layers states lookup linkgraph findable warc seeds export
                      index/analysis index/layout index/schema postings/blocks
                      postings/retrieval postings/broker
                      what goes in, lies in the crawl folder and comes out, and how to read it
    foundations       engine pool store backends urls encodings sessions robots robots_rules
                      config monitor stopping errors workspace shuffle
    extension points  filters traps scoring

`fakeweb/` is a deterministic web on loopback that the demo, the tests and the benchmarks
crawl. `cli/` and `api.py` are the two doors: commands, and `from gossamer import Crawl`.
`overview` is a crawl in figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.api import Crawl

__version__ = "0.1.0"
__all__ = ["Crawl", "__version__"]


def __getattr__(name: str) -> Any:
    # `gossamer --help` shall not wait for an engine to be imported (PEP 562).
    if name == "Crawl":
        from gossamer.api import Crawl

        return Crawl
    raise AttributeError(name)
