"""Which URLs belong to the crawl: the extension point for URL filters.

A filter returns the reason why it rejects a URL, or None. Steps that drop URLs count them as
`dropped_<reason>`. The built-in filters are configured by `[filter]` in gossamer.toml. After them
come the owner's rules (gossamer.rules.filter_rules). Others come from installed packages: an entry
point in the group `gossamer.filters` names a callable without arguments that returns a `UrlFilter`.
Each task creates it once, and calls it after the others.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from gossamer.config.patterns import Patterns
from gossamer.errors import ConfigError, GossamerError, UsageError
from gossamer.rules.file_names import is_about_file
from gossamer.rules.filter_rules.filter_recipe import index_of
from gossamer.rules.traps import Traps
from gossamer.web.urls import domain_of, host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from importlib.metadata import EntryPoint
    from typing import Self

    from gossamer.config import FilterConfig
    from gossamer.rules.filter_rules.filter_recipe import FilterRecipe
    from gossamer.rules.filter_rules.rule_index import RuleIndex

ENTRY_POINTS = "gossamer.filters"
MAX_REMEMBERED_HOSTS = 100_000
REMEMBERED_URLS = 1 << 15
PACKED_LISTINGS = (".xml.gz", ".txt.gz")
"""Endings of compressed sitemaps, which most large sites have."""


@runtime_checkable
class UrlFilter(Protocol):
    """A filter for URLs."""

    def reject(self, url: str) -> str | None:
        """Return why a normalised URL does not belong to the crawl, as one word, or None."""


class Scope:
    """Reason `scope`: not on a seed's host, or with `whole_domains` not on a seed's domain."""

    def __init__(self, seed_hosts: Iterable[str], *, whole_domains: bool) -> None:
        self._whole_domains = whole_domains
        self._inside = {self._place(f"http://{host}/") for host in seed_hosts}
        self._known: dict[str, str | None] = {}

    def reject(self, url: str) -> str | None:
        host = host_of(url)
        try:
            return self._known[host]
        except KeyError:
            if len(self._known) >= MAX_REMEMBERED_HOSTS:
                self._known.clear()
            reason = None if self._place(url) in self._inside else "scope"
            self._known[host] = reason
            return reason

    def _place(self, url: str) -> str:
        return domain_of(url) if self._whole_domains else host_of(url)


class Extension:
    """Reason `extension`: the path has one of these endings, in upper or lower case.

    PACKED_LISTINGS pass, and pages about a file (`file_names.py`).
    """

    def __init__(self, endings: Iterable[str]) -> None:
        self._endings = frozenset(ending.lower().removeprefix(".") for ending in endings)

    def reject(self, url: str) -> str | None:
        path = url[: url.index("?")] if "?" in url else url
        _, dot, ending = path.rpartition(".")  # contains a "/" if the last segment has no dot
        if not dot or (ending := ending.lower()) not in self._endings:
            return None
        passes = path.lower().endswith(PACKED_LISTINGS) or is_about_file(url, ending)
        return None if passes else "extension"


class Allow:
    """Reason `allow`: none of the patterns occurs in the URL."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = Patterns("filter.allow", patterns)

    def reject(self, url: str) -> str | None:
        return None if self._patterns.found_in(url) else "allow"


class Deny:
    """Reason `deny`: one of the patterns occurs in the URL."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = Patterns("filter.deny", patterns)

    def reject(self, url: str) -> str | None:
        return "deny" if self._patterns.found_in(url) else None


class FilterRules:
    """Reasons `rule_prefix`, `rule_domain` and so on: a rule of this kind refuses the URL."""

    def __init__(self, index: RuleIndex) -> None:
        self._index = index

    def reject(self, url: str) -> str | None:
        rule = self._index.refusing(url)
        return None if rule is None else f"rule_{rule.kind}"


class Filters:
    """All filters of a crawl, in the order in which they are called, cheapest first.

    Results of the built-in filters are cached, since the pages of a host share most of their
    links; plugins are called each time.
    """

    def __init__(
        self,
        filters: Sequence[UrlFilter],
        plugins: Sequence[UrlFilter],
        *,
        max_depth: int,
        max_redirects: int,
    ) -> None:
        self._filters = filters
        self._plugins = plugins
        self._max_depth = max_depth
        self._max_redirects = max_redirects
        self._reason = lru_cache(maxsize=REMEMBERED_URLS)(self._ask)

    @classmethod
    def from_config(
        cls,
        config: FilterConfig,
        seed_hosts: Iterable[str],
        plugins: Mapping[str, UrlFilter] | None = None,
        year: int | None = None,
        rules: RuleIndex | None = None,
    ) -> Self:
        """Create the filters that the settings describe.

        `seed_hosts` are hosts as in `pages`; the scope "any" ignores them. `plugins` maps names to
        filters; None means those that are installed. `year` is the current year, against which
        dates in URLs are compared; None means the clock's. `rules` are the owner's. Raises
        ConfigError for a pattern or plugin that cannot be used.
        """
        filters: list[UrlFilter] = []
        if config.scope != "any":
            filters.append(Scope(seed_hosts, whole_domains=config.scope == "domain"))
        if config.skip_extensions:
            filters.append(Extension(config.skip_extensions))
        filters.append(Traps(config, datetime.now(UTC).year if year is None else year))
        if config.allow:
            filters.append(Allow(config.allow))
        if config.deny:
            filters.append(Deny(config.deny))
        if rules is not None:
            filters.append(FilterRules(rules))
        found = installed_filters() if plugins is None else plugins
        return cls(
            filters,
            [_Guarded(name, plugin) for name, plugin in found.items()],
            max_depth=config.max_depth,
            max_redirects=config.max_redirects,
        )

    def reject(self, url: str, depth: int, hops: int = 0) -> str | None:
        return self.reject_all((url,), depth, hops)[0]

    def reject_all(self, urls: Sequence[str], depth: int, hops: int = 0) -> list[str | None]:
        """Return the reason why each normalised URL is rejected, or None.

        All of them are `depth` links from the nearest seed, after `hops` redirects in a row.
        """
        if depth > self._max_depth:
            return ["depth"] * len(urls)
        if hops > self._max_redirects:
            return ["redirects"] * len(urls)
        reasons = list(map(self._reason, urls))
        for plugin in self._plugins:
            reject = plugin.reject
            reasons = [
                reject(url) if reason is None else reason
                for url, reason in zip(urls, reasons, strict=True)
            ]
        return reasons

    def _ask(self, url: str) -> str | None:
        for each in self._filters:
            if (reason := each.reject(url)) is not None:
                return reason
        return None


@lru_cache(maxsize=1)
def filters_of(recipe: FilterRecipe) -> Filters:
    """The filters of all tasks of a process."""
    rules = None if recipe.rules is None else index_of(recipe.rules)
    return Filters.from_config(recipe.config, recipe.seed_hosts, year=recipe.year, rules=rules)


def check(config: FilterConfig) -> None:
    """Raise ConfigError if no filters can be created from these settings."""
    Filters.from_config(config, ())


@cache
def find_plugins() -> tuple[EntryPoint, ...]:
    """The entry points of filters, without loading them.

    Looking for them takes as long as parsing several pages.
    """
    return tuple(sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name))


def installed_filters() -> dict[str, UrlFilter]:
    """The filters of installed packages, by the names of their entry points."""
    filters: dict[str, UrlFilter] = {}
    for entry in find_plugins():
        try:
            created = entry.load()()
        except Exception as error:
            raise _unusable(entry.name, repr(error)) from error
        if not isinstance(created, UrlFilter):
            raise _unusable(entry.name, f"{entry.value} does not return a UrlFilter")
        filters[entry.name] = created
    return filters


class _Guarded:
    """A plugin's filter; its errors name the plugin."""

    def __init__(self, name: str, plugin: UrlFilter) -> None:
        self._name = name
        self._plugin = plugin

    def reject(self, url: str) -> str | None:
        try:
            return self._plugin.reject(url)
        except GossamerError:
            raise
        except Exception as error:
            raise UsageError(
                f"filter {self._name}",
                f"failed on {url}: {error!r}",
                "report it to its author, or uninstall the package it came with",
            ) from error


def _unusable(name: str, what: str) -> ConfigError:
    return ConfigError(
        f"filter {name} (entry point in {ENTRY_POINTS})",
        f"cannot be used: {what}",
        "repair or uninstall the package it came with",
    )
