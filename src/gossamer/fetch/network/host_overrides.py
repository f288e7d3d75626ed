"""The setting fetch.host_overrides: hosts whose addresses and ports the user gives, by patterns."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from gossamer.config.network_addresses import override_target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.config import FetchConfig


def parse_overrides(config: FetchConfig) -> dict[str, tuple[str, int]]:
    """fetch.host_overrides: address and port by host pattern."""
    return {
        pattern: override_target(pattern, target)
        for pattern, target in config.host_overrides.items()
    }


def matching_pattern(host: str, patterns: Iterable[str]) -> str | None:
    """The first pattern that matches a host name."""
    return next((pattern for pattern in patterns if fnmatchcase(host, pattern.lower())), None)
