"""How many files and connections may a process have open at once?

Facts: the soft limit (RLIMIT_NOFILE) is often 1,024 at first, and 256 on macOS, which reports that
it has no hard limit, and refuses to lift the soft one above OPEN_MAX. Sources: getrlimit(2) of both
systems.
"""

from __future__ import annotations

import resource
from contextlib import suppress

OPEN_MAX = 10_240
"""As in sys/syslimits.h of macOS."""


def raise_file_limit() -> int:
    """Raise the soft limit of open files to the hard one, or as far as possible, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ValueError, OSError):
        if 0 <= soft < OPEN_MAX:
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_MAX, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if soft == resource.RLIM_INFINITY else soft
