"""Settings for crawls of a web on loopback, for several benchmarks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPBACK = {
    "filter.scope": "any",
    "fetch.delay_s": 0,
    "fetch.delay_factor": 0,
    "fetch.address_delay_s": 0,
    "fetch.allow_networks": ["127.0.0.0/8"],
}


def local_settings(address: str, more: Mapping[str, object]) -> str:
    """A gossamer.toml that resolves `*.test` to `address`, without delays, with `more` settings."""
    return _toml({**LOOPBACK, **more}, {"*.test": address})


def default_settings(routes: Mapping[str, str], more: Mapping[str, object]) -> str:
    """A gossamer.toml that resolves host names by `routes`, with `more` settings."""
    return _toml({"fetch.allow_networks": ["127.0.0.0/8"], **more}, routes)


def _toml(settings: Mapping[str, object], routes: Mapping[str, str]) -> str:
    # JSON's strings, numbers and arrays are also TOML's.
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in settings.items()]
    resolved = ", ".join(f'"{name}" = "{address}"' for name, address in routes.items())
    return "".join((*lines, f"fetch.host_overrides = {{ {resolved} }}\n"))
