"""What a crawl holds, fit to be compared with another crawl of the same web.

Left out is what differs between any two crawls: times, and the names and places of files. Ranks
start from those of the last run, and are equal to six digits if `rank.tolerance` is small.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.search.searcher import Searcher
from gossamer.storage import parquet
from gossamer.storage.warc import payload_digest, read_response
from gossamer.tables import DATASETS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.api.crawl import Crawl

COMPARED = ("pages", "responses", "documents", "links", "inlinks", "ranks", "host_ranks")
OF_THIS_RUN = {
    *("elapsed_ms", "fetched_ms", "found_ms", "next_fetch_ms", "stored_ms"),
    *("warc_file", "warc_offset"),
}

Row = tuple[Any, ...]
Tables = dict[str, dict[Row, Row]]


def tables(crawl: Crawl) -> Tables:
    """By dataset, each row under its key. Fails where a key stands twice."""
    return {name: _keyed(name, crawl.rows_of(name)) for name in COMPARED}


def _keyed(name: str, paths: Iterable[str]) -> dict[Row, Row]:
    dataset = DATASETS[name]
    kept = [column for column in dataset.column_names if column not in OF_THIS_RUN]
    rows = [row for path in paths for row in parquet.read_table(path).to_pylist()]
    keyed = {
        tuple(row[key] for key in dataset.key): tuple(_plain(row[column]) for column in kept)
        for row in rows
    }
    assert len(keyed) == len(rows), f"{name}: a key stands twice"
    return keyed


def _plain(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value) if isinstance(value, list) else value


def answers(crawl: Crawl, queries: Iterable[str]) -> dict[str, list[tuple[str, str, str]]]:
    """What the index answers to each query: all pages that have its words, in order of their URLs.

    Which pages that lack a word are good enough depends on document frequencies, and so does the
    snippet for a query of several words. They count documents that were replaced, until these are
    merged away. So where rounds and harvests run at the same time, queries should be single words.
    """
    searcher = Searcher.open(crawl.work)
    found = {query: searcher.search(query, limit=1000).hits for query in queries}
    return {
        query: sorted((hit.url, hit.title, hit.snippet) for hit in hits if not hit.partial)
        for query, hits in found.items()
    }


def damaged_records(crawl: Crawl) -> list[str]:
    """URLs of responses whose body is not in WARC with the digest that was recorded."""
    stored = crawl.dataset("responses").where("warc_file IS NOT NULL").collect()
    return [
        row.url
        for row in stored
        if payload_digest(read_response(f"{crawl.path}/{row.warc_file}", row.warc_offset).body)
        != row.digest
    ]


def garbage(crawl: Crawl) -> set[str]:
    """Files in the crawl's folder that neither a kept manifest names nor anybody else needs."""
    store = crawl.work.store
    versions = sorted(Path(crawl.path, "manifest").glob("[0-9]*.json"))
    named = {f"manifest/{path.name}" for path in versions}
    for path in versions:
        manifest = store._read(int(path.stem))
        named |= manifest.paths().union(*(listing.paths for listing in manifest.listings()))
    found = {
        path.relative_to(crawl.path).as_posix()
        for path in Path(crawl.path).rglob("*")
        if path.is_file() and path.parent.name != "heartbeats"
    }
    assert len(versions) <= crawl.work.config.store.keep_versions + 1
    return found - named - {"gossamer.toml", ".lock"}
