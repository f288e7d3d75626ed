"""Secrets of [[fetch.sites]]: passwords, headers, and proxies with a password.

A secret is written in gossamer.toml, in a file of its own, or in an environment variable. Both
files are refused if other users can read them, as ssh refuses such keys. Only code that fetches
calls `reveal_secrets`; no other code holds a secret from outside gossamer.toml.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.config.settings_files import closed_to_others, read_text
from gossamer.config.settings_table import Secret
from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from gossamer.config.fetching import FetchConfig, SiteConfig

PUBLIC_HEADERS = frozenset({
    "accept", "accept-language", "cache-control", "dnt", "from", "pragma", "priority", "referer",
    "save-data", "sec-gpc", "upgrade-insecure-requests", "user-agent",
})  # fmt: skip
"""Headers that are not secret. All others may hold a key."""


def has_secrets(config: FetchConfig) -> bool:
    """Whether gossamer.toml itself contains a secret."""
    return any(
        (isinstance(site.password, str) and site.password)
        or (isinstance(site.proxy, str) and "@" in site.proxy)
        or any(
            isinstance(value, str) and name.lower() not in PUBLIC_HEADERS
            for name, value in site.headers.items()
        )
        for site in config.sites
    )


def reveal_secrets(config: FetchConfig, folder: str) -> FetchConfig:
    """Replace references to secrets by what files (relative to `folder`) and variables contain.

    Raises ConfigError if a secret is missing, empty, or in a file that other users can read.
    """
    sites = tuple(_reveal_site(site, folder) for site in config.sites)
    return structs.replace(config, sites=sites)


def secret_files(config: FetchConfig) -> tuple[str, ...]:
    """The files that hold secrets, as named in the settings."""
    values = (
        value
        for site in config.sites
        for value in (site.password, site.proxy, *site.headers.values())
    )
    return tuple(value.file for value in values if isinstance(value, Secret) and value.file)


def _reveal_site(site: SiteConfig, folder: str) -> SiteConfig:
    def reveal(key: str, value: str | Secret) -> str:
        where = f"fetch.sites {site.hosts!r}: {key}"
        return value if isinstance(value, str) else _read_secret(where, value, folder)

    return structs.replace(
        site,
        password=reveal("password", site.password),
        proxy=reveal("proxy", site.proxy),
        headers={name: reveal(f"headers: {name!r}", v) for name, v in site.headers.items()},
    )


def _read_secret(key: str, secret: Secret, folder: str) -> str:
    if secret.env:
        if value := os.environ.get(secret.env):
            return value
        raise ConfigError(
            key, f"the environment variable {secret.env} is not set", f"export {secret.env}=…"
        )
    path = Path(folder, secret.file).expanduser()
    text, state = read_text(path, f"write the secret of {key} into it")
    closed_to_others(path, state)
    value = text.removesuffix("\n").removesuffix("\r")
    if not value:
        raise ConfigError(path, "is empty", f"write the secret of {key} into it")
    return value
