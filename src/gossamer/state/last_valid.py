"""Files that break while a crawl without end goes on: what they held when last valid counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Content = TypeVar("Content")


class LastValid:
    """What files held when they could last be used, for a crawl that must not end."""

    def __init__(
        self, refused: Callable[[ConfigError], None], contents: Mapping[str, Any] | None = None
    ) -> None:
        """`refused` is called once with the reason why a file cannot be used.

        `contents`: those of another object, which a process before this one had.
        """
        self._refused = refused
        self.contents = dict(contents or {})
        self._reasons: dict[str, str] = {}

    def read(self, name: str, read: Callable[[], Content]) -> Content:
        """What `read` returns; if it raises a ConfigError, what it returned before."""
        try:
            content = read()
        except ConfigError as error:
            if name not in self.contents:
                raise
            if self._reasons.get(name) != str(error):
                self._reasons[name] = str(error)
                self._refused(error)
            kept: Content = self.contents[name]
            return kept
        self._reasons.pop(name, None)
        self.contents[name] = content
        return content
