"""A clock that tests move."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """The clock of a machine. While somebody waits by it, `meanwhile` happens."""

    def __init__(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.now_s = 0.0
        self._meanwhile = meanwhile

    def __call__(self) -> float:
        return self.now_s

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        self._meanwhile()
