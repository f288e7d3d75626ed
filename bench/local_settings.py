"""Settings for crawls of a fakeweb, without delays, for several benchmarks."""

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
    """Return a gossamer.toml that resolves `*.test` to `address`, with `more` settings."""
    # JSON's strings, numbers and arrays are also TOML's.
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in {**LOOPBACK, **more}.items()]
    return "".join((*lines, f'fetch.resolve = {{ "*.test" = "{address}" }}\n'))
