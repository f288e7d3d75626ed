"""What a new worker of a crawl does before there is work for it."""

from __future__ import annotations


def prepare_worker() -> None:
    """Import what the tasks of a round need, and start a parser."""
    import gossamer.fetch.fetch_task
    import gossamer.parse.step.parse_task  # noqa: F401
    from gossamer.parse.process.guarded_parser import start_ahead

    start_ahead()
