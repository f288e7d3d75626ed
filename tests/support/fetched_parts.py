"""A part of a fetchlist, fetched by a task of its own in this process."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.config import FetchConfig
from gossamer.fetch.fetch_part import FetchPart
from gossamer.fetch.fetch_task import fetch_part
from gossamer.storage.task_output import counts_of, layers_of
from gossamer.tables import DATASETS, FETCHLIST, HOSTS
from gossamer.web.urls import UrlRules, host_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gossamer.storage.store import File
    from tests.support.loopback import Loopback

Row = dict[str, Any]
ROUND = 3


def wanted(url: str, **columns: object) -> Row:
    """A row of the fetchlist."""
    blank = {"etag": None, "last_modified": None, "digest": None, "stored_ms": None}
    blank["headers"] = None
    row = {"round": ROUND, "url": url, "host": host_of(url), "part": 0, "score": 1.0}
    return row | {"depth": 1, "hops": 0, "fetches": 0, "asked": False} | blank | columns


def known_host(host: str, **columns: object) -> Row:
    """A row of hosts."""
    row = {"host": host, "robots": [], "ready_ms": 0, "failures": 0, "contacted_ms": 0}
    return row | {"latency_ms": 0, "requests": 0, "pages": 0, "bytes": 0} | columns


def robots_file(origin: str, body: bytes, fetched_ms: int = 1_000, status: int = 200) -> Row:
    """One of the column robots of hosts."""
    return {"origin": origin, "fetched_ms": fetched_ms, "status": status, "body": body}


def settings(server: Loopback, **changes: object) -> FetchConfig:
    """Impatient ones, for hosts that are all this server."""
    impatient = {"delay_s": 0.0, "delay_factor": 0.0, "address_delay_s": 0.0}
    resolve = {"*.test": server.address}
    ours = {"allow_networks": ("127.0.0.0/8",), "host_overrides": resolve, **impatient}
    return FetchConfig(**{**ours, **changes})  # type: ignore[arg-type]


def write_rows(path: Path, schema: pa.Schema, rows: Sequence[Row]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), path)
    return str(path)


class Fetched:
    """A part that was fetched, with what its task wrote."""

    def __init__(
        self,
        root: Path,
        rows: Sequence[Row],
        config: FetchConfig,
        hosts: Sequence[Row] = (),
        **more: Any,
    ) -> None:
        """`more`: further fields of FetchPart."""
        attempts = ("responses/1", "warc/1", "scratch/1", "hosts/1")
        listed = write_rows(root / "fetchlist" / "list.parquet", FETCHLIST.schema, rows)
        known = write_rows(root / "known" / "hosts.parquet", HOSTS.schema, hosts)
        part = FetchPart(str(root), ROUND, 0, (listed,), (known,), config, UrlRules(), attempts, 0)
        part = replace(part, **more)
        written = fetch_part(part)
        self.root = root
        self.counts = counts_of(written)
        self.layers = layers_of(written, ROUND)
        self.rows = self._read("responses", "url")
        self.hosts = self._read("hosts", "host")

    def _read(self, dataset: str, key: str) -> dict[str, Row]:
        found: dict[str, Row] = {}
        for file in self.files(dataset):
            table = pq.read_table(self.root / file.path)
            assert table.schema.equals(DATASETS[dataset].schema)
            assert table.num_rows == file.rows
            for row in table.to_pylist():
                assert row[key] not in found
                found[row[key]] = row
        return found

    def files(self, dataset: str) -> Sequence[File]:
        return self.layers[dataset].files if dataset in self.layers else ()

    @property
    def warcs(self) -> Sequence[File]:
        return [file for file in self.files("warc") if file.path.endswith(".warc.gz")]

    def outcomes(self) -> list[str]:
        """In the order of the URLs."""
        return [self.rows[url]["outcome"] for url in sorted(self.rows)]

    def details(self) -> set[str | None]:
        return {row["detail"] for row in self.rows.values()}
