"""What workers of a crawl have before there is work for them.

Workers are forked from a server that has called `prepare_worker`, and end when they have grown, so
a crawl of some thousand pages has a dozen. What a module makes at its first use, each of them would
make again: 37 ms of CPU time. What only `index` imports takes each of its workers 50 ms and 11 MB.
"""

from __future__ import annotations


def prepare_worker() -> None:
    """Import what the tasks of a round need, and start a parser, or what starts parsers."""
    from gossamer.parse.process import guarded_parser, parser_start

    parser_start.start_ahead(guarded_parser.prepare)  # which goes on beside the imports

    import pyarrow.dataset  # noqa: F401  # as pyarrow would when it first reads a file

    import gossamer.engine.tasks
    import gossamer.fetch.fetch_task
    import gossamer.index.parts
    import gossamer.parse.step.parse_task  # noqa: F401

    _make_tables()


def _make_tables() -> None:
    """Make what tasks would make at the first use, without loading plugins or starting threads."""
    from gossamer.config import FilterConfig
    from gossamer.rules import filters
    from gossamer.web import public_suffixes, sketches

    filters.find_plugins()
    filters.Filters.from_config(FilterConfig(), (), plugins={})
    public_suffixes.registrable("example.org")
    sketches.hash_and_sketch("text", "title")
