"""Files of filter rules that break while a crawl goes on: their last valid rules count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.rules.filter_rules.language import Placed


class RuleFiles:
    """The rules that files had when they could last be used, for a crawl that must not end."""

    def __init__(self, refused: Callable[[ConfigError], None]) -> None:
        """`refused` is told once why a file cannot be used."""
        self._refused = refused
        self._rules: dict[str, tuple[Placed, ...]] = {}
        self._told: dict[str, str] = {}

    def of(self, name: str, read: Callable[[], tuple[Placed, ...]]) -> tuple[Placed, ...]:
        """What `read` returns; if it raises a ConfigError, what it returned before."""
        try:
            rules = read()
        except ConfigError as error:
            if name not in self._rules:
                raise
            if self._told.get(name) != str(error):
                self._told[name] = str(error)
                self._refused(error)
            return self._rules[name]
        self._told.pop(name, None)
        self._rules[name] = rules
        return rules
