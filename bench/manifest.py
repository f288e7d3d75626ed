"""Does a commit cost the same after 100 rounds and after 5,000, and after a year?

    python bench/manifest.py [rounds | year]

A store gets the commits of rounds without the steps: files of a few bytes, in the numbers and
layers of a crawl in which all datasets but `warc` are stacks whose layers are merged. It prints the
size and time of a commit (means and medians of the last 50 rounds), and the times to open the store
and to collect garbage once a round. `year` commits only what 525,600 rounds, one per minute, add to
`warc`, in memory.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer import checksums
from gossamer.backends import LocalBackend, MemoryBackend
from gossamer.lsm import mergeable
from gossamer.store import File, Layer, StepReport, Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.backends import Backend

ROUNDS = 5_000
SHOWN = (100, 1_000, 5_000, 20_000, 100_000)
LAST = 50
YEAR = 525_600
MERGE_SHARE = 0.25
TASKS = 2
FILE_ROWS = 200_000
KEEP_VERSIONS = 2
BODY = b"bytes"
STEPS: Mapping[str, tuple[str, ...]] = {
    "generate": ("fetchlist",),
    "fetch": ("warc", "responses", "hosts"),
    "parse": ("documents", "links"),
    "update": ("pages", "due_times", "virtual_page"),
    "graph": ("graph",),
    "rank": ("ranks", "host_ranks"),
    "dedup": ("dispositions", "sketched"),
    "index": ("index", "indexed"),
}
"""The steps of a round, and what they write."""
ONE_LAYER = frozenset(("fetchlist", "virtual_page", "graph", "ranks", "host_ranks", "indexed"))
"""Datasets of a single layer, which each commit replaces."""
NAMES: Mapping[str, tuple[str, ...]] = {
    "warc": ("{}.warc.gz", "{}.cdxj"),
    "graph": ("page-0000-{}.parquet", "host-0000-{}.parquet"),
    "index": tuple(f"0000.0-0123abcd/en/{{}}.{part}" for part in ("term", "pos", "store")),
}
"""The names of files that are not `{}.parquet`."""


class Names(MemoryBackend):
    """Holds manifests and listings, and counts their bytes; other files exist only by name."""

    written = 0

    def create(self, path: str, data: bytes, *, private: bool = False) -> None:
        self.written += len(data)
        super().create(path, data, private=private)

    def size(self, path: str) -> int:
        return len(self.contents.get(path, BODY))


class Counted(LocalBackend):
    """A folder that counts the bytes of manifests and listings that are written."""

    written = 0

    def create(self, path: str, data: bytes, *, private: bool = False) -> None:
        if path.startswith("manifest/"):
            self.written += len(data)
        super().create(path, data, private=private)


def layer(store: Store, dataset: str, round_: int, rows: int) -> Layer:
    """A layer with as many files as a crawl of one machine writes."""
    attempt = store.attempt(dataset)
    many = TASKS if dataset == "warc" else max(rows // FILE_ROWS, 1)
    files = []
    for _ in range(many):
        for name in NAMES.get(dataset, ("{}.parquet",)):
            path = f"{attempt}/{name.format(uuid.uuid4().hex)}"
            target = Path(store.url, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(BODY)
            files.append(File(path, rows // many, len(BODY), checksums.of_bytes(BODY)))
    return Layer(round_, tuple(files))


def commit(store: Store, step: str, round_: int) -> float:
    """Write what a step writes, and return the seconds of its commit."""
    append, replace = {}, {}
    for name in STEPS[step]:
        if name == "warc":
            append[name] = layer(store, name, round_, 100)
            continue
        old = () if name in ONE_LAYER else store.manifest.layers(name)
        rows = 100
        merged = mergeable(old, rows, MERGE_SHARE)
        rows += sum(each.rows for each in old[len(old) - merged :])
        replace[name] = (*old[: len(old) - merged], layer(store, name, round_, rows))
    counts = {f"count_{number}": 1_000 * round_ for number in range(8)}
    began_s = time.perf_counter()
    store.commit(StepReport(step, round_, 1_795_233_398_811, 1.5, counts), append, replace)
    return time.perf_counter() - began_s


def manifest_bytes(backend: Backend, version: int) -> int:
    return backend.size(f"manifest/{version:08d}.json")


def milliseconds(seconds: list[float]) -> float:
    return 1000 * statistics.median(seconds)


def run(folder: str, rounds: int) -> None:
    backend = Counted(folder)
    store = Store.create(backend)
    print(
        "| round | files | manifest bytes | written per commit | ms per commit | ms to open "
        "| ms to collect | files in manifest/ |\n|---:|---:|---:|---:|---:|---:|---:|---:|"
    )
    commits: list[float] = []
    collections: list[float] = []
    sizes: list[int] = []
    before = 0
    for number in range(1, rounds + 1):
        for step in STEPS:
            commits.append(commit(store, step, number))
            sizes.append(manifest_bytes(backend, store.manifest.version))
        began_s = time.perf_counter()
        store.collect_garbage(KEEP_VERSIONS)
        collections.append(time.perf_counter() - began_s)
        if number + LAST in SHOWN:
            commits.clear()
            collections.clear()
            sizes.clear()
            before = backend.written
        if number in SHOWN or number == rounds:
            opened = []
            for _ in range(LAST):
                began_s = time.perf_counter()
                Store.open(backend)
                opened.append(time.perf_counter() - began_s)
            files = sum(store.manifest.totals(name).files for name in store.manifest.datasets)
            print(
                f"| {number:,} | {files:,} | {statistics.mean(sizes):,.0f} "
                f"| {(backend.written - before) / len(commits):,.0f} "
                f"| {milliseconds(commits):.2f} | {milliseconds(opened):.2f} "
                f"| {milliseconds(collections):.2f} "
                f"| {sum(1 for _ in backend.sizes('manifest'))} |",
                flush=True,
            )


def run_year() -> None:
    backend = Names()
    store = Store.create(backend)
    print(
        "| round | files | manifest bytes | written per commit | ms per commit "
        "| slowest commit, ms | listings |\n|---:|---:|---:|---:|---:|---:|---:|"
    )
    commits: list[float] = []
    for number in range(1, YEAR + 1):
        attempt = store.attempt("warc")
        files = (
            File(f"{attempt}/{uuid.uuid4().hex}.{ending}", 100, len(BODY), "0123456789abcdef")
            for ending in ("warc.gz", "cdxj") * TASKS
        )
        append = {"warc": Layer(number, tuple(files))}
        began_s = time.perf_counter()
        store.commit(StepReport("fetch", number, 1_795_233_398_811, 1.5), append)
        commits.append(time.perf_counter() - began_s)
        if number % 100 == 0:
            store.collect_garbage(KEEP_VERSIONS)
        if number in SHOWN or number == YEAR:
            print(
                f"| {number:,} | {store.manifest.totals('warc').files:,} "
                f"| {manifest_bytes(backend, store.manifest.version):,} "
                f"| {backend.written / len(commits):,.0f} | {milliseconds(commits):.2f} "
                f"| {1000 * max(commits):.0f} | {len(list(store.manifest.listings()))} |",
                flush=True,
            )
            commits.clear()
            backend.written = 0


if __name__ == "__main__":
    if sys.argv[1:] == ["year"]:
        run_year()
    else:
        with tempfile.TemporaryDirectory() as scratch:
            run(scratch, int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
