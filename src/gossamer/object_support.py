"""What works on object storage?

The other commands open files by path, and refuse such a crawl at their start. A command is added
here when no code that it runs does so any more (tests/test_object_crawl.py).
"""

from __future__ import annotations

from gossamer.buckets import is_object_url
from gossamer.errors import UsageError

STEPS = frozenset({
    *("inject", "refresh", "generate", "fetch", "parse", "update", "reparse"),
    *("invert", "farms", "rank", "boilerplate", "dedup", "mark", "sections", "filters"),
})  # fmt: skip
"""Names of steps in the history."""
COMMANDS = frozenset({
    *("init", "inject", "generate", "fetch", "parse", "update", "reparse"),
    *("invert", "farms", "rank", "boilerplate", "dedup"),
    *("pause", "resume", "check", "export", "explain", "sections", "mark", "marks"),
    *("graph farms", "duplicates show", "duplicates rules", "duplicates test"),
    *("filters list", "filters test", "filters add", "filters remove"),
    *("filters disable", "filters enable", "filters apply"),
})  # fmt: skip
"""Commands that work with a crawl at s3://, gs:// or az://."""


def check(crawl: str, name: str) -> None:
    """Raise UsageError if a command or step does not work where this crawl is."""
    if is_object_url(crawl) and name not in COMMANDS | STEPS:
        raise UsageError(
            crawl,
            f"{name} does not work on object storage yet",
            "use a folder on a disk; what works on object storage: " + ", ".join(sorted(COMMANDS)),
        )


def check_engine(crawl: str, url: str) -> None:
    """Raise UsageError if a crawl on object storage uses another engine than the embedded one."""
    if is_object_url(crawl) and url != "local":
        what = f"engine.url = {url!r} does not work with object storage yet"
        raise UsageError(crawl, what, 'use the embedded engine: engine.url = "local"')
