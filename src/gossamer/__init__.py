"""Gossamer: from a list of seed URLs to a search engine.

Read `rounds.py` first: it shows the flow. There are five kinds of modules
(tests/test_layering.py enforces which may import which):

    steps             inject refresh refilter mark generated_rules generate fetch parse
                      update compaction prune invert graph farms rank boilerplate dedup index
                      postings serve;
                      each is a verb, a command and a module; a step never imports a step
    formats           tables outcomes task_output handover lsm inputs lookup linkgraph
                      farm_signs duplicates domains discoveries growth depths dealing due marks
                      fitness promise recrawl habits polling pace opic due_times sections
                      page_ranks page_lines page_sample score_buckets own_texts url_rules
                      filter_rules warc seeds export fulltext
                      postings/blocks postings/retrieval postings/reader bvgraph graph/text
                      graph/names graph/naming graph/overlaid graph/stored graph/covered
                      graph/host_links graph/rows graph/components graph/hyperball
                      graph/harmonic graph/paths graph/neighbourhood graph/export graph/queries
                      the data that enters, is stored in and leaves a crawl folder
    foundations       engine pool lean_arrow store branches intact manifest listings garbage
                      filenames checksums places files parquet local_copies vacancy backends
                      holders objects leases buckets bucket_errors system_errors aws_profiles damage
                      ownership urls addresses own egress patterns encodings session_ids
                      suffixes robots robots_rules config monitor stopping pausing supervision
                      errors workspace sorted_parts processes settings_file spark_client
                      worker_start lean_imports messages sketches classifier version_names
                      filter_rules/language filter_rules/index filter_rules/recipe
                      filter_rules/rule_files
    extension points  filters traps scoring
    search            from a query to its results, without HTTP or processes; serve calls it

`fakeweb/` is a deterministic web on loopback that the demo, the tests and the benchmarks
crawl. `cli/` and `api.py` are the two entrances: commands, and `from gossamer import Crawl`.
`status` reports the state of a crawl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.api import Crawl

__version__ = "0.1.0"
__all__ = ["Crawl", "__version__"]


def __getattr__(name: str) -> Any:
    # Imported lazily (PEP 562), so that `gossamer --help` does not load the engine's libraries.
    if name == "Crawl":
        from gossamer.api import Crawl

        return Crawl
    raise AttributeError(name)
