"""What does the parse step save if 44 % of a round's pages have the body of another page?

    python bench/early_duplicates.py [FOLDER] [--pages 1000] [--repeat 3]

FOLDER holds pages as .html. Three rounds of the same size, each in FILES files of responses with
their WARC files, as a fetch writes them:

  none       each page ends with a comment of its own, so no two bodies are equal
  near       44 % of the pages are copies of another page in the same file, under other URLs
  far        as many are copies of a page in any file

Prints the elapsed and CPU seconds of the parse step on two workers, of this process and its
children, for the three in turn, and the ratios of the best runs.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from crawl import tree_cpu_s
from parse import DOCS, pages_of
from parse_pieces import FETCHED_MS, HEADERS, WORKERS

from gossamer.api import Crawl
from gossamer.parse import step
from gossamer.parse.copies import moving
from gossamer.parse.job import job_of
from gossamer.parse.parsers import rules_of
from gossamer.tables import RESPONSES
from gossamer.task_output import ParquetWriter, layers_of
from gossamer.warc import Capture, WarcWriter, payload_digest, request_head, response_head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.task_output import Row
    from gossamer.workspace import Workspace

FILES = 8
COPIES = 0.44


def stored(work: Workspace, bodies: Sequence[bytes], number: int) -> list[Row]:
    """A WARC file and its file of responses."""
    warc = WarcWriter(work.root, work.store.attempt("warc"), {})
    rows = []
    for place, body in enumerate(bodies):
        url, digest = f"http://host.test/{number}/{place}", payload_digest(body)
        answer = response_head(200, "OK", HEADERS, len(body), decoded=False)
        heads = answer, request_head(f"/{number}/{place}", [])
        offset = warc.write(Capture(url, FETCHED_MS, body, digest, *heads, 200, "text/html"))
        rows.append(
            dict.fromkeys(RESPONSES.column_names)
            | {"round": 1, "url": url, "host": "host.test", "depth": 0, "hops": 0, "fetches": 0}
            | {"outcome": "ok", "fetched_ms": FETCHED_MS, "content_type": "text/html"}
            | {"body_bytes": len(body), "digest": digest, "truncated": False}
            | {"warc_file": warc.path, "warc_offset": offset}
        )
    responses = ParquetWriter(work.root, "responses", work.store.attempt("responses"))
    responses.write(pa.Table.from_pylist(rows, schema=RESPONSES.schema))
    return warc.close() + responses.close()


def files_of(bodies: Sequence[bytes], kind: str, pages: int) -> list[list[bytes]]:
    """The bodies of each file. `bodies` are repeated, but made different, if there are too few."""
    chance = random.Random(1)  # noqa: S311  # the same pages in each run
    different = (bodies[n % len(bodies)] + b"<!-- %d -->" % n for n in range(pages))
    if kind == "none":
        files = [[next(different) for _ in range(pages // FILES)] for _ in range(FILES)]
    else:
        originals = round(pages * (1 - COPIES)) // FILES
        files = [[next(different) for _ in range(originals)] for _ in range(FILES)]
        copies = pages // FILES - originals
        every = [body for file in files for body in file]
        for file in files:
            file.extend(chance.choices(every if kind == "far" else file, k=copies))
    for file in files:
        chance.shuffle(file)
    return files


def parse_s(work: Workspace) -> tuple[float, float]:
    """Seconds and CPU seconds of the parse step; its files belong to no commit."""
    job = job_of(work, rules_of(work.config, work.root))
    begun_s, cpu_s = time.perf_counter(), tree_cpu_s()
    step.parse_round(work, job)
    return time.perf_counter() - begun_s, tree_cpu_s() - cpu_s


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DOCS)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    bodies = pages_of(options.folder, options.pages)
    settings = f'[engine]\nworkers = {WORKERS}\n[filter]\nscope = "any"\n'
    kinds = ("none", "near", "far")
    with tempfile.TemporaryDirectory(prefix="early-duplicates-") as folder:
        crawls = {kind: Crawl.create(str(Path(folder, kind)), settings) for kind in kinds}
        for kind, crawl in crawls.items():
            rows = []
            for number, file in enumerate(files_of(bodies, kind, options.pages)):
                rows += stored(crawl.work, file, number)
            with crawl.work.step("fetch", 1) as draft:
                draft.append = layers_of(rows, 1)
            parse_s(crawl.work)  # starts the engine and the parsers
        size = sum(map(len, bodies)) / len(bodies)
        print(f"{options.pages} pages of {size / 1000:.0f} KB, {COPIES:.0%} of them copies")
        print(f"{'copies':10}{'s':>8}{'CPU s':>8}{'load':>8}")
        best: dict[str, tuple[float, float]] = {}
        for _ in range(options.repeat):
            for kind, crawl in crawls.items():
                took = parse_s(crawl.work)
                best[kind] = min(best.get(kind, took), took)
                print(f"{kind:10}{took[0]:8.2f}{took[1]:8.2f}{os.getloadavg()[0]:8.1f}", flush=True)
        work, begun_s = crawls["far"].work, time.perf_counter()
        moving(work, work.store.files("responses", 1))
        print(f"the query for copies takes {time.perf_counter() - begun_s:.2f} s")
        for kind in kinds[1:]:
            shares = [mine / theirs for mine, theirs in zip(best[kind], best["none"], strict=True)]
            print(f"{kind}: {shares[0]:.2f} × the time, {shares[1]:.2f} × the CPU time of none")
        for crawl in crawls.values():
            crawl.close()


if __name__ == "__main__":
    main()
