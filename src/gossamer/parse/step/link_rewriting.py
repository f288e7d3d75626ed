"""Rewrites the links of a task by the learned rules for URLs, and records what it rewrote.

The URLs of links are rewritten before the filters, so that the link graph, the anchor texts and
`pages` know a page by one URL. A link stays as it is if the filters accept it only like that, or if
it is a redirect that would lead back to its source.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from gossamer.rules.spellings import plainer, spelling_from
from gossamer.rules.url_rules.rewriting import rewriter_of
from gossamer.storage.task_output import ParquetWriter
from gossamer.tables import REWRITTEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gossamer.parse.parsed_page import Link
    from gossamer.storage.task_output import Row

    Rejected = Callable[[Sequence[str], int, int], list[str | None]]

MAX_RECORDED = 100_000
"""Rows that are held before they are written. What was recorded before may then be again."""


class Record(NamedTuple):
    """A row of `rewritten`."""

    url: str
    target: str
    rules: tuple[str, ...]
    depth: int
    hops: int
    spelling: str | None


class LinkRewriter:
    """Rewrites links. `attempt`: the folder for the rows of `rewritten`."""

    def __init__(self, root: str, rules: tuple[str, ...], attempt: str, rejected: Rejected) -> None:
        """`rejected` returns why filters reject URLs, given their depth and hops."""
        self._rewriter = rewriter_of(rules)
        self._rejected = rejected
        self._writer = ParquetWriter(root, REWRITTEN.name, attempt)
        self._records: dict[str, Record] = {}

    def __bool__(self) -> bool:
        return bool(self._rewriter)

    def rewritten(self, src: str, links: Sequence[Link], depth: int, hops: int) -> list[Link]:
        """The links with their new URLs, each URL once; without links to the source itself."""
        found = [self._rewriter.rewrite(link.dst) for link in links]
        if not any(each.rules for each in found):
            return list(links)
        urls = [each.url for each in found]
        reasons = self._rejected(urls, depth, hops)
        merged: dict[str, Link] = {}
        for link, each, reason in zip(links, found, reasons, strict=True):
            target = each.url
            back = target == src and link.relation == "redirect"
            if each.rules and (back or reason is not None):
                target = link.dst
            elif each.rules and not link.nofollow:
                spelling = spelling_from(src, link.dst, link.spelling)
                self._record(Record(link.dst, target, each.rules, depth, hops, spelling))
            if target == link.dst:
                _merge(merged, link)
            elif target != src:
                _merge(merged, link._replace(dst=target, spelling=link.spelling or link.dst))
        return list(merged.values())

    def _record(self, row: Record) -> None:
        known = self._records.get(row.url, row)
        spelling = plainer(known.spelling, row.spelling)
        nearest = min(known, row, key=attrgetter("depth", "hops"))
        self._records[row.url] = nearest._replace(spelling=spelling)
        if len(self._records) >= MAX_RECORDED:
            self._flush()

    def _flush(self) -> None:
        if self._records:
            columns = zip(*self._records.values(), strict=True)
            arrays = [
                pa.array(column, field.type)
                for column, field in zip(columns, REWRITTEN.schema, strict=True)
            ]
            self._writer.write(pa.Table.from_arrays(arrays, schema=REWRITTEN.schema))
        self._records.clear()

    def close(self) -> list[Row]:
        """Write what is left; return the file as a row of YIELD."""
        self._flush()
        return self._writer.close()


def _merge(links: dict[str, Link], link: Link) -> None:
    """Add a link. Of several links to a page, one stays, with the first anchor text."""
    known = links.setdefault(link.dst, link)
    if known is not link:
        links[link.dst] = known._replace(
            anchor=known.anchor or link.anchor,
            nofollow=known.nofollow and link.nofollow,
            spelling=plainer(known.spelling, link.spelling),
            announced=known.announced or link.announced,
        )
