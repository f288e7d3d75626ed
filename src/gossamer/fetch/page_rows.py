"""The pages that a task must fetch, stored as columns."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from gossamer.fetch.responses import Wanted

PAGES_AT_HAND = 1 << 12
"""Rows cached as objects: usually more than are requested concurrently."""


class PageRows:
    """The rows of a part, best first. As objects, a million rows would take 600 MB more.

    A row becomes an object when its turn comes, and is cached until its result is recorded.
    """

    def __init__(self, table: pa.Table) -> None:
        self.columns = {name: table.column(name).combine_chunks() for name in Wanted._fields}
        self._page = lru_cache(maxsize=PAGES_AT_HAND)(self._make)

    def __len__(self) -> int:
        return len(self.columns["url"])

    def __getitem__(self, row: int) -> Wanted:
        return self._page(row)

    def depths(self) -> dict[str, int]:
        """The smallest depth among each host's pages."""
        pages = pa.table({name: self.columns[name] for name in ("host", "depth")})
        least = pages.group_by("host").aggregate([("depth", "min")])
        return dict(zip(least["host"].to_pylist(), least["depth_min"].to_pylist(), strict=True))

    def _make(self, row: int) -> Wanted:
        return Wanted(*[column[row].as_py() for column in self.columns.values()])
