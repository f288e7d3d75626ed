"""Settings of crawls whose hosts are all on loopback, where nobody minds being asked at once."""

from __future__ import annotations

LOOPBACK = """
filter.scope = "any"
fetch.delay_s = 0
fetch.delay_factor = 0
fetch.address_delay_s = 0
fetch.allow_networks = ["127.0.0.0/8"]
"""


SITE_FILES = ("/robots.txt", "/.well-known/tdmrep.json")
"""What a crawl asks a host for before its first page."""


def loopback_settings(address: str, more: str = "") -> str:
    """A gossamer.toml that resolves `*.test` to `address`. Lines of `more` replace others."""
    names = {line.partition(" = ")[0] for line in more.splitlines() if line}
    kept = [line for line in LOOPBACK.splitlines() if line.partition(" = ")[0] not in names]
    return "\n".join([*kept, f'fetch.host_overrides = {{ "*.test" = "{address}" }}', more])
