"""The limit of open files and connections of this process (RLIMIT_NOFILE, getrlimit(2))."""

from __future__ import annotations

import resource
from contextlib import suppress


def raise_limit() -> int:
    """Raise the soft limit to the hard one and return it. It is often 1,024 at first."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems allow less than the hard limit they report
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft
