"""The part of a fetchlist that one task fetches, and its rows, stored as columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

if TYPE_CHECKING:
    from gossamer.config import FetchConfig
    from gossamer.rules.filter_rules.filter_recipe import RuleFile
    from gossamer.web.urls import UrlRules

PAGES_AT_HAND = 1 << 12
"""Rows cached as objects: usually more than are requested concurrently."""


@dataclass(frozen=True)
class FetchPart:
    """The input of a task. The paths in `fetchlist` and `hosts` are absolute."""

    root: str
    round: int
    number: int
    fetchlist: tuple[str, ...]
    hosts: tuple[str, ...]
    """Files with the `hosts` rows of the part's hosts, from earlier rounds."""
    config: FetchConfig
    rules: UrlRules
    attempts: tuple[str, str, str, str]
    """The output folders of responses, warc, scratch and hosts, relative to the crawl's."""
    min_free_gb: float
    """As in the settings of the store."""
    away_days: float = inf
    """As in the settings of `update`."""
    notes: str | None = None
    """The folder for notes of files that were closed (gossamer.state.finished_files)."""
    filter_rules: RuleFile | None = None
    """None if no rule is about content types."""
    wish_files: bool = False
    """Whether to request tdmrep.json and RSL files."""
    run: str | None = None
    """The run that may fetch (fetch_lease.py); None on the embedded engine."""
    egress: frozenset[str] = frozenset()
    """Groups that a worker must be of to fetch it."""


class FetchRow(NamedTuple):
    """The columns of a fetchlist row that a task needs."""

    url: str
    host: str
    score: float
    depth: int
    hops: int
    fetches: int
    asked: bool
    etag: str | None
    last_modified: str | None
    digest: str | None
    stored_ms: int | None
    headers: str | None
    spelling: str | None = None
    announced: bool | None = None


class PageRows:
    """The rows of a part, best first. As objects, a million rows would take 600 MB more.

    A row becomes an object when its turn comes, and is cached until its result is recorded.
    """

    def __init__(self, table: pa.Table) -> None:
        self.columns = {name: table.column(name).combine_chunks() for name in FetchRow._fields}
        self._page = lru_cache(maxsize=PAGES_AT_HAND)(self._make)

    def __len__(self) -> int:
        return len(self.columns["url"])

    def __getitem__(self, row: int) -> FetchRow:
        return self._page(row)

    def depths(self) -> dict[str, int]:
        """The smallest depth among each host's pages."""
        pages = pa.table({name: self.columns[name] for name in ("host", "depth")})
        least = pages.group_by("host").aggregate([("depth", "min")])
        return dict(zip(least["host"].to_pylist(), least["depth_min"].to_pylist(), strict=True))

    def _make(self, row: int) -> FetchRow:
        return FetchRow(*[column[row].as_py() for column in self.columns.values()])
