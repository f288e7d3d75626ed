"""What a new worker of a crawl does before there is work for it."""

from __future__ import annotations


def prepare_worker() -> None:
    """Import what the tasks of a round need, and start a parser."""
    import gossamer.fetch.task
    import gossamer.parse.step.task  # noqa: F401
    from gossamer.parse.process.guard import start_ahead

    start_ahead()
