"""Settings: one frozen class per table of gossamer.toml, each field with its docstring.

An unknown key, a wrong type or a value out of range is a ConfigError that names the file, the
key and the value. docs/settings.md is generated from these classes.

    crawling.py   engine, filter, generate, update, url_rules, store
    fetching.py   fetch, and fetch.sites
    parsing.py    parse
    publishers.py  publishers
    searching.py  graph, rank, dedup, index, semantic, postings, serve, search, ranking
    secrets.py    passwords and keys, from the text, a file or the environment
    settings_files.py      reading gossamer.toml and similar files
    setting_errors.py   error messages

The class for [urls] is `gossamer.web.urls.UrlRules`.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gossamer.config.crawling import (
    EngineConfig,
    FilterConfig,
    GenerateConfig,
    HistoryConfig,
    StoreConfig,
    UpdateConfig,
    UrlRulesConfig,
)
from gossamer.config.fetching import FetchConfig, SiteConfig
from gossamer.config.parsing import ParseConfig
from gossamer.config.publishers import PublishersConfig
from gossamer.config.searching import (
    DedupConfig,
    GraphConfig,
    IndexConfig,
    PostingsConfig,
    Profile,
    RankConfig,
    RankingConfig,
    SearchConfig,
    SemanticConfig,
    ServeConfig,
)
from gossamer.config.secrets import PUBLIC_HEADERS, has_secrets, reveal_secrets, secret_files
from gossamer.config.setting_errors import SHOWN_CHARS, explain_message
from gossamer.config.settings_files import closed_to_others, read_text
from gossamer.config.settings_table import Line, Secret, Table
from gossamer.errors import RESTORE, ConfigError
from gossamer.web.urls import UrlRules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "PUBLIC_HEADERS",
    "Config",
    "DedupConfig",
    "EngineConfig",
    "FetchConfig",
    "FilterConfig",
    "GenerateConfig",
    "HistoryConfig",
    "IndexConfig",
    "ParseConfig",
    "PostingsConfig",
    "Profile",
    "PublishersConfig",
    "RankConfig",
    "RankingConfig",
    "SearchConfig",
    "Secret",
    "SemanticConfig",
    "ServeConfig",
    "SiteConfig",
    "StoreConfig",
    "UpdateConfig",
    "UrlRulesConfig",
    "checked_line",
    "files_beside",
    "has_secrets",
    "listed",
    "load",
    "load_tables",
    "loads",
    "reveal_secrets",
    "secret_files",
]

REMEDY = "see docs/settings.md"
RESTORE_SETTINGS = f"{RESTORE}; for the default settings: echo '# defaults' > {{path}}"


FORMER_NAMES: Final = {
    ("update", "listing_seconds"): "feed_interval_s",
    ("update", "due_chance"): "revisit_probability",
    ("ranking", "written"): "exact_form",
    ("ranking", "lead"): "first_words",
    ("store", "warc_whole"): "warc_keep",
    ("fetch", "own"): "own_hosts",
    ("fetch", "resolve"): "host_overrides",
    ("parse", "rules"): "site_rules",
}
"""What settings were called during the development of 0.1, by table and name."""


class Config(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All settings of a crawl: the content of its gossamer.toml."""

    engine: EngineConfig = EngineConfig()
    urls: UrlRules = UrlRules()
    filter: FilterConfig = FilterConfig()
    generate: GenerateConfig = GenerateConfig()
    fetch: FetchConfig = FetchConfig()
    parse: ParseConfig = ParseConfig()
    publishers: PublishersConfig = PublishersConfig()
    update: UpdateConfig = UpdateConfig()
    url_rules: UrlRulesConfig = UrlRulesConfig()
    history: HistoryConfig = HistoryConfig()
    graph: GraphConfig = GraphConfig()
    rank: RankConfig = RankConfig()
    dedup: DedupConfig = DedupConfig()
    index: IndexConfig = IndexConfig()
    semantic: SemanticConfig = SemanticConfig()
    postings: PostingsConfig = PostingsConfig()
    serve: ServeConfig = ServeConfig()
    search: SearchConfig = SearchConfig()
    ranking: RankingConfig = RankingConfig()
    store: StoreConfig = StoreConfig()


def loads(text: str, source: str | Path) -> Config:
    """Parse the text of a gossamer.toml that came from `source`. Raises ConfigError.

    Settings may have their FORMER_NAMES.
    """
    tables = _tables(text, source, REMEDY)
    for (name, former), now in FORMER_NAMES.items():
        table = tables.get(name)
        if isinstance(table, dict) and former in table and now not in table:
            table[now] = table.pop(former)
    try:
        return msgspec.convert(tables, Config)
    except msgspec.ValidationError as error:
        found = list(_problems(tables)) or [explain_message(str(error), tables, Config)]
        raise ConfigError(source, listed(found), REMEDY) from None


def load(path: Path) -> Config:
    """Read the settings from a gossamer.toml.

    Every crawl has this file. A missing, empty or unreadable one is a ConfigError, because the
    default settings might crawl what the lost ones forbid. A file with secrets that other users
    can read is a ConfigError, too.
    """
    text, state = read_text(path, RESTORE_SETTINGS.format(path=path))
    if not text.strip():
        raise ConfigError(
            path, "is empty; its settings are lost", RESTORE_SETTINGS.format(path=path)
        )
    config = loads(text, path)
    if has_secrets(config.fetch):
        closed_to_others(path, state)
    return config


def files_beside(config: Config) -> tuple[str, ...]:
    """The files that settings name, most of them beside gossamer.toml."""
    serve = config.serve
    lists = (*config.filter.files, *secret_files(config.fetch), *serve.node_files)
    named = (config.parse.site_rules, config.search.synonyms, serve.mcp_tokens, *lists)
    return tuple(filter(None, named))


def load_tables(path: Path, remedy: str) -> dict[str, Any]:
    """Read a TOML file other than gossamer.toml. Raises ConfigError."""
    text, _ = read_text(path, "give a UTF-8 TOML file")
    return _tables(text, path, remedy)


def checked_line(text: str, source: str) -> str:
    """Check a text setting that does not come from gossamer.toml. Raises ConfigError."""
    try:
        return msgspec.convert(text, Line)
    except msgspec.ValidationError as error:
        what = f"{text[:SHOWN_CHARS]!r}: {explain_message(str(error), {})}"
        raise ConfigError(source, what, "give one line of text") from None


def listed(problems: Sequence[str]) -> str:
    """Problems as the text of one error."""
    if len(problems) == 1:
        return problems[0]
    lines = (f"\n  - {problem}" for problem in problems)
    return f"{len(problems)} settings cannot be used:{''.join(lines)}"


def _problems(tables: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with each setting by itself."""
    for name, table in tables.items():
        is_table = isinstance(table, dict) and name in Config.__struct_fields__
        for part in [{key: table[key]} for key in table] if is_table else [table]:
            try:
                msgspec.convert({name: part}, Config)
            except msgspec.ValidationError as error:
                yield explain_message(str(error), {name: part}, Config)


def _tables(text: str, source: str | Path, remedy: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers of 4,300 digits are a ValueError
        raise ConfigError(source, f"not TOML: {error}", remedy) from None
