"""Does one WARC file with slow pages keep a core busy while the other has nothing to do?

    python bench/parse_pieces.py [--pages 600] [--repeat 3]

A round with two files of responses, each with its WARC file: pages of 120 KB in one, as many of
2 KB in the other. The parse step runs on two workers, in turn with one task per file and with the
pieces that it cuts files into. Prints the seconds of each run, and the ratio of the best ones.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from gossamer.api import Crawl
from gossamer.parse import step
from gossamer.parse.job import job_of
from gossamer.parse.parsers import rules_of
from gossamer.parse.stored import Piece, pieces
from gossamer.tables import RESPONSES
from gossamer.task_output import ParquetWriter, layers_of
from gossamer.warc import Capture, WarcWriter, payload_digest, request_head, response_head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.store import File
    from gossamer.task_output import Row
    from gossamer.workspace import Workspace

WORKERS = 2
SLOW_BYTES, FAST_BYTES = 120_000, 2_000
SECTION_BYTES = 200
"""About."""
HEADERS = ((b"Content-Type", b"text/html; charset=utf-8"),)
FETCHED_MS = 1_700_000_000_000


def page(number: int, size: int) -> bytes:
    """Sections with a heading, a paragraph and a link, all different."""
    parts = [f"<title>Page {number}</title>"]
    for n in range(size // SECTION_BYTES):
        text = f"Section {n} of page {number} explains what the one before it left open."
        parts.append(f"<h2>Part {n}</h2><p>{text} <a href=/{number}/{n}>More</a> {text}</p>")
    return "".join(parts).encode()


def stored(work: Workspace, name: str, count: int, size: int) -> list[Row]:
    """A WARC file and its file of responses."""
    warc = WarcWriter(work.root, work.store.attempt("warc"), {})
    rows = []
    for number in range(count):
        url, body = f"http://{name}.test/{number}", page(number, size)
        digest = payload_digest(body)
        answer = response_head(200, "OK", HEADERS, len(body), decoded=False)
        heads = answer, request_head(f"/{number}", [])
        offset = warc.write(Capture(url, FETCHED_MS, body, digest, *heads, 200, "text/html"))
        rows.append(
            dict.fromkeys(RESPONSES.column_names)
            | {"round": 1, "url": url, "host": f"{name}.test", "depth": 0, "hops": 0, "fetches": 0}
            | {"outcome": "ok", "fetched_ms": FETCHED_MS, "content_type": "text/html"}
            | {"body_bytes": len(body), "digest": digest, "truncated": False}
            | {"warc_file": warc.path, "warc_offset": offset}
        )
    responses = ParquetWriter(work.root, "responses", work.store.attempt("responses"))
    responses.write(pa.Table.from_pylist(rows, schema=RESPONSES.schema))
    return warc.close() + responses.close()


def whole_files(files: Sequence[File], _tasks: int) -> list[Piece]:
    return [Piece(file.path, 0, 1, file.bytes) for file in files]


def parse_s(work: Workspace, *, whole: bool) -> float:
    """Seconds of the parse step; the files that it writes belong to no commit."""
    step.pieces = whole_files if whole else pieces  # type: ignore[attr-defined]
    job = job_of(work, rules_of(work.config, work.root))
    begun_s = time.perf_counter()
    step.parse_round(work, job)
    return time.perf_counter() - begun_s


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=600, help="in each of the two files")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    settings = f'[engine]\nworkers = {WORKERS}\n[filter]\nscope = "any"\n'
    with (
        tempfile.TemporaryDirectory(prefix="parse-pieces-") as folder,
        Crawl.create(str(Path(folder, "crawl")), settings) as crawl,
    ):
        work = crawl.work
        written = stored(work, "slow", options.pages, SLOW_BYTES)
        written += stored(work, "fast", options.pages, FAST_BYTES)
        with work.step("fetch", 1) as draft:
            draft.append = layers_of(written, 1)
        parse_s(work, whole=False)  # starts the engine and the parsers
        print(f"{options.pages} pages of {SLOW_BYTES:,} bytes, and as many of {FAST_BYTES:,}")
        print(f"{'whole files s':>14}{'pieces s':>10}{'load':>8}")
        best = {True: float("inf"), False: float("inf")}
        for _ in range(options.repeat):
            took = {whole: parse_s(work, whole=whole) for whole in (True, False)}
            best = {whole: min(best[whole], took[whole]) for whole in best}
            print(f"{took[True]:14.1f}{took[False]:10.1f}{os.getloadavg()[0]:8.1f}", flush=True)
        print(f"pieces take {best[False] / best[True]:.2f} × the time of whole files")


if __name__ == "__main__":
    main()
