"""What workers of a crawl have before there is work for them."""

from __future__ import annotations


def prepare_worker() -> None:
    """Import what the tasks of a round need, and start a parser, or what starts parsers."""
    from gossamer.parse.process import guarded_parser, parser_start

    parser_start.start_ahead(guarded_parser.prepare)  # which goes on beside the imports
    import gossamer.fetch.fetch_task
    import gossamer.parse.step.parse_task  # noqa: F401
