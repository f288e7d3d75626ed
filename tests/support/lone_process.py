"""Tests that run in the process of pytest alone, and for that reason are fast."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"}
_alone = False


@contextmanager
def alone_in_this_process() -> Iterator[None]:
    """Refuse to start processes and servers meanwhile."""
    global _alone  # noqa: PLW0603  # an audit hook cannot be removed
    _alone = True
    try:
        yield
    finally:
        _alone = False


def _refuse(event: str, given: tuple[object, ...]) -> None:
    if not _alone:
        return
    if event in _STARTS or (event == "socket.bind" and isinstance(given[1], tuple)):
        raise RuntimeError(
            f"{event}: a test that starts processes or servers needs a mark: server, or engine"
        )


sys.addaudithook(_refuse)
