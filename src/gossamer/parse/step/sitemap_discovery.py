"""Sitemaps that no page links to: those named in robots.txt files, and well-known paths.

Fetch stores the robots.txt files of a host in its row of `hosts`, and the round's rows are the
newest layer of that dataset. This layer may have absorbed older rows, whose files were processed in
their own round, so files fetched before the round's fetch began are skipped.

A robots.txt has the depth of the host's page that is nearest to a seed, and its links are one
deeper. A host's robots.txt is fetched again after a day at the earliest; its sitemaps then become
links of that round, too.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.compute as pc

from gossamer.parse.parsed_page import Link
from gossamer.parse.reading.references import References
from gossamer.storage import parquet
from gossamer.tables import LINKS
from gossamer.web import robots_txt
from gossamer.web.urls import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.web.urls import UrlRules

ROBOTS_TXT = "/robots.txt"
MAX_LINKS = robots_txt.MAX_SITEMAPS
HOSTS_AT_ONCE = 100
"""Hosts read per batch. Each may have robots.txt files of 512 KiB."""


class Announced(NamedTuple):
    """The sitemaps that a robots.txt announces."""

    src: str
    depth: int
    """Depth of the robots.txt."""
    links: tuple[Link, ...]
    refused: Counter[str]
    round: int | None = None
    """The round that fetched it; None: the newest one."""


def is_robots(url: str) -> bool:
    return url.endswith(ROBOTS_TXT) and url == origin_of(url) + ROBOTS_TXT


def read_robots_sitemaps(
    paths: Sequence[str], since_ms: int, wellknown: Sequence[str], rules: UrlRules
) -> Iterator[Announced]:
    """Yield the sitemaps of each robots.txt in these files of `hosts` that was fetched since then.

    If a robots.txt names no sitemap or does not exist (404), they are the `wellknown` paths.
    """
    for path in paths:
        for file, depth in _newer_robots(path, since_ms):
            verdict = robots_txt.judge_robots_txt(file["status"], file["body"] or b"")
            targets = () if verdict is None else verdict.sitemaps or wellknown
            if targets:
                src = file["origin"] + ROBOTS_TXT
                refused: Counter[str] = Counter()
                references = References(MAX_LINKS, refused)
                for target in targets:
                    references.add(target, "", "sitemap")
                yield Announced(src, depth or 0, references.links(src, src, rules), refused)


def read_previous_sitemaps(paths: Sequence[str]) -> Iterator[Announced]:
    """Yield the sitemaps that were announced by robots.txt files, from these files of `links`."""
    columns = ["src", "dst", "relation", "depth", "round", "spelling"]
    only = [("relation", "=", "sitemap")]
    for path in paths:
        found: dict[tuple[str, int, int], list[Link]] = {}
        table = parquet.read_table(path, columns=columns, filters=only, schema=LINKS.schema)
        for row in table.to_pylist():
            if is_robots(row["src"]):
                link = Link(row["dst"], "", "sitemap", spelling=row["spelling"], announced=True)
                place = row["src"], row["depth"] - 1, row["round"]
                found.setdefault(place, []).append(link)
        for (src, depth, round_), links in found.items():
            yield Announced(src, depth, tuple(links), Counter(), round_)


def _newer_robots(path: str, since_ms: int) -> Iterator[tuple[dict[str, Any], int | None]]:
    """Yield the newer robots.txt files with their hosts' depths. Bodies of others stay unread."""
    with parquet.open_parquet(path) as hosts:
        for batch in hosts.iter_batches(HOSTS_AT_ONCE, columns=["depth", "robots"]):
            kept = batch.column("robots")
            files = pc.list_flatten(kept)
            new = pc.indices_nonzero(
                pc.greater_equal(pc.struct_field(files, "fetched_ms"), since_ms)
            )
            depths = batch.column("depth").take(pc.list_parent_indices(kept).take(new))
            yield from zip(files.take(new).to_pylist(), depths.to_pylist(), strict=True)
