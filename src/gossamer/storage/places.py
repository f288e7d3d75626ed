"""Where on this machine is what belongs to a crawl on object storage, or in a read-only folder?

    <cache>/<two digits>/…    copies of objects (storage/local_copies.py)
    <cache>/work-PID-…/       scratch files of a step, and what a task is making

A step of the embedded engine runs on one machine, so its scratch files need not be objects; and
what only reads a crawl may need scratch files where it can write nothing. Their names tell: those
in `scratch/here-…` are in the cache of the machine that runs the step. All that opens files asks
`local_path`, so tasks join the root of the crawl and the name of a scratch file as they do for any
other.
"""

from __future__ import annotations

import os
import re
import uuid
from pathlib import Path

import xxhash

from gossamer.errors import UsageError

CACHE = "GOSSAMER_CACHE"
"""The environment variable that names the folder of the cache."""
HERE = "here-"
WORK = "work-"
_SCRATCH = re.compile(rf"(.+)/scratch/{HERE}(\d+)-(\w+)(/.*)?")
_WORK_NAME = re.compile(rf"{WORK}(\d+)-(?:[0-9a-f]{{16}}-)?[0-9a-f]{{32}}")


def cache_folder() -> Path:
    """The folder of the cache. Raises UsageError."""
    if named := os.environ.get(CACHE):
        return Path(named)
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(caches).expanduser() / "gossamer"
    except RuntimeError:
        what = "this user has no home, where copies of objects and scratch files would be kept"
        raise UsageError(f"${CACHE}", what, "set it to a folder for them") from None


def local_path(path: str) -> str:
    """The path of a scratch file of a step on this machine; any other path or URL as it is."""
    found = _SCRATCH.fullmatch(path)
    if found is None:
        return path
    crawl, process, attempt, rest = found.groups("")
    named = f"{process}-{xxhash.xxh3_64_hexdigest(crawl.encode())}-{attempt}"
    return f"{cache_folder()}/{WORK}{named}{rest}"


def new_scratch() -> str:
    """A new name for the scratch files of this process."""
    return f"{HERE}{os.getpid()}-{uuid.uuid4().hex}"


def new_work() -> str:
    """A new name in the cache for what a task of this process makes."""
    return f"{WORK}{os.getpid()}-{uuid.uuid4().hex}"


def is_left_work(name: str) -> bool:
    """Whether the name of a folder in the cache is that of work whose process is gone."""
    import psutil  # only needed here

    ours = _WORK_NAME.fullmatch(name)
    return ours is not None and not psutil.pid_exists(int(ours[1]))
