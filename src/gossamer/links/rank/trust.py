"""Whose votes count more or less: pages and hosts that the user lists, and hosts of link farms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F

from gossamer.config.settings_files import read_text
from gossamer.errors import ConfigError
from gossamer.web.urls import host_of, normalize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace


class Listed(NamedTuple):
    """URLs of pages, and hosts (as in `pages`), which stand for all of their pages."""

    urls: frozenset[str]
    hosts: frozenset[str]

    def has(self, key: str, kind: str) -> bool:
        """Whether a page or a host is listed."""
        host = key if kind == "host" else host_of(key)
        return host in self.hosts or key in self.urls

    @property
    def is_empty(self) -> bool:
        return not self.urls and not self.hosts


class Lists(NamedTuple):
    trusted: Listed
    distrusted: Listed


def read_lists(work: Workspace, kind: str) -> Lists:
    """Read `rank.trusted` and `rank.distrusted`, for pages or for hosts. Raises ConfigError.

    A trusted page makes its host trusted, but a host is not distrusted for one of its pages.
    """
    config = work.config.rank
    trusted = _read_list("rank.trusted", config.trusted, config.trusted_file, work.root)
    distrusted = _read_list("rank.distrusted", config.distrusted, config.distrusted_file, work.root)
    if kind == "page":
        return Lists(trusted, distrusted)
    hosts = trusted.hosts.union(map(host_of, trusted.urls))
    return Lists(Listed(frozenset(), hosts), Listed(frozenset(), distrusted.hosts))


def nothing_known(key: str) -> ConfigError:
    """None of the pages and hosts of a list are in the crawl."""
    return ConfigError(
        key, "the crawl knows none of these pages and hosts", "list some that it has fetched"
    )


def _read_list(key: str, entries: Sequence[str], file: str, folder: str) -> Listed:
    lines = list(entries)
    if file:
        text, _ = read_text(Path(folder, file), f"write it, or remove {key}_file")
        lines += [line for line in map(str.strip, text.splitlines()) if line and line[0] != "#"]
    urls, hosts = set(), set()
    for line in lines:
        # A host is read as the host of a URL, so that it is written as in `pages`.
        url = normalize(line if "://" in line else f"http://{line}/")
        if url is None or ("://" not in line and url != f"http://{host_of(url)}/"):
            raise ConfigError(key, f"{line!r} is neither a URL nor a host", "see docs/settings.md")
        if "://" in line:
            urls.add(url)
        else:
            hosts.add(host_of(url))
    return Listed(frozenset(urls), frozenset(hosts))


def farm_factors(work: Workspace) -> DataFrame:
    """The factors (host, farm_factor) of hosts that `farms` found, by the worst evidence.

    No rows with `rank.farms = false`.
    """
    hosts = work.read("farms").where((F.col("kind") == "host") & (F.col("factor") < 1))
    if not work.config.rank.farms:
        hosts = hosts.limit(0)
    return hosts.groupBy(F.col("name").alias("host")).agg(F.min("factor").alias("farm_factor"))
