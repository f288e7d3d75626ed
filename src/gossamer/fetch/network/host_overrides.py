"""The setting fetch.host_overrides: hosts whose addresses and ports the user gives, by patterns."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from gossamer.errors import ConfigError
from gossamer.web.ip_addresses import parse_address

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.config import FetchConfig


def parse_overrides(config: FetchConfig) -> dict[str, tuple[str, int]]:
    """fetch.host_overrides: address and port by host pattern. Raises ConfigError."""
    return {
        pattern: _parse_target(pattern, target) for pattern, target in config.host_overrides.items()
    }


def matching_pattern(host: str, patterns: Iterable[str]) -> str | None:
    """The first pattern that matches a host name."""
    return next((pattern for pattern in patterns if fnmatchcase(host, pattern.lower())), None)


def _parse_target(pattern: str, target: str) -> tuple[str, int]:
    address, _, port = target.rpartition(":")
    if parse_address(address) is None or not port.isdigit() or int(port) >= 1 << 16:
        raise ConfigError(
            f"fetch.host_overrides: {pattern!r}",
            f"{target!r} is not an address and a port",
            "write it like 127.0.0.1:8080",
        )
    return address.strip("[]"), int(port)
