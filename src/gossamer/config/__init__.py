"""Settings: one frozen class per table of gossamer.toml, each field with its help text.

An unknown key, a wrong type or a value out of bounds is a ConfigError that names file and
key. docs/settings.md is generated from here.

    crawling.py   engine, filter, generate, update, store
    fetching.py   fetch, and fetch.sites
    parsing.py    parse
    searching.py  rank, index, postings, serve, ranking

The rules of URLs are those of `gossamer.urls`.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import msgspec

from gossamer.config.crawling import (
    EngineConfig,
    FilterConfig,
    GenerateConfig,
    StoreConfig,
    UpdateConfig,
)
from gossamer.config.fetching import FetchConfig, SiteConfig
from gossamer.config.parsing import ParseConfig
from gossamer.config.searching import (
    IndexConfig,
    PostingsConfig,
    Profile,
    RankConfig,
    RankingConfig,
    ServeConfig,
)
from gossamer.config.table import Table
from gossamer.errors import ConfigError
from gossamer.urls import UrlRules

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Config",
    "EngineConfig",
    "FetchConfig",
    "FilterConfig",
    "GenerateConfig",
    "IndexConfig",
    "ParseConfig",
    "PostingsConfig",
    "Profile",
    "RankConfig",
    "RankingConfig",
    "ServeConfig",
    "SiteConfig",
    "StoreConfig",
    "UpdateConfig",
    "load",
    "load_tables",
    "loads",
]

REMEDY = "see docs/settings.md"


class Config(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a gossamer.toml says."""

    engine: EngineConfig = EngineConfig()
    urls: UrlRules = UrlRules()
    filter: FilterConfig = FilterConfig()
    generate: GenerateConfig = GenerateConfig()
    fetch: FetchConfig = FetchConfig()
    parse: ParseConfig = ParseConfig()
    update: UpdateConfig = UpdateConfig()
    rank: RankConfig = RankConfig()
    index: IndexConfig = IndexConfig()
    postings: PostingsConfig = PostingsConfig()
    serve: ServeConfig = ServeConfig()
    ranking: RankingConfig = RankingConfig()
    store: StoreConfig = StoreConfig()


def loads(text: str, source: str | Path) -> Config:
    """Parse the text of a gossamer.toml that came from `source`."""
    try:
        return msgspec.convert(_tables(text, source, REMEDY), Config)
    except msgspec.ValidationError as error:
        raise ConfigError(source, str(error).replace("$.", ""), REMEDY) from None


def load(path: Path) -> Config:
    return loads(_read(path), path)


def load_tables(path: Path, remedy: str) -> dict[str, Any]:
    """What a TOML file of another form says. Raises ConfigError."""
    return _tables(_read(path), path, remedy)


def _tables(text: str, source: str | Path, remedy: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(source, f"not TOML: {error}", remedy) from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(path, f"cannot be read: {error}", "give a UTF-8 TOML file") from None
