"""How often is a document written while the index follows a crawl, round by round?

    python bench/index_updates.py [--rounds 40] [--pages 2_000] [--shards 2]

In a crawl that grows, each round adds `--pages` pages. In one that stands still, the first round
adds ten times as many, and later rounds none. Each round changes one page in twenty and loses one
in a hundred; then the index step runs. Documents are small, because only their number matters.
Those that change are drawn at random, which is the worst case for an index of segments: no segment
is spared. The columns are the counts that the step reports:

  changed   documents added or replaced in the round
  merged    documents written again because tantivy merged their segments
  renewed   documents written again because their part was rebuilt (parts.MAX_DEAD)

"Rebuilt" is the number of writes if the whole index were rebuilt in each round.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gossamer import index
from gossamer.api import Crawl
from gossamer.tables import DOCUMENTS, PAGES
from gossamer.task_output import ParquetWriter, layers_of
from gossamer.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.workspace import Workspace

REPLACED, REMOVED = 20, 100
"""Each round replaces one page in REPLACED and removes one in REMOVED."""
WORDS = 20
VOCABULARY = 5_000
PRINTED = 5


class Web:
    """Pages that are added, change and disappear."""

    def __init__(self, first: int, later: int) -> None:
        self._first, self._later = first, later
        self._draw = random.Random(3)  # noqa: S311  # reproducible
        self._number = 0
        self.urls: list[str] = []

    def turn(self) -> tuple[list[str], list[str]]:
        """Return the URLs that a round fetches, and those that it finds gone."""
        self._draw.shuffle(self.urls)
        known = len(self.urls)
        gone = [self.urls.pop() for _ in range(known // REMOVED)]
        changed = self.urls[: known // REPLACED]
        pages = self._later if self._number else self._first
        numbers = range(self._number, self._number + pages)
        new = [f"http://site{number % 50}.example/{number}" for number in numbers]
        self._number += pages
        self.urls += new
        return changed + new, gone

    def document(self, url: str) -> dict[str, Any]:
        words = [f"w{int(VOCABULARY * self._draw.random() ** 2)}" for _ in range(WORDS)]
        return {
            "url": url,
            "host": host_of(url),
            "digest": url,
            "title": " ".join(words[:4]),
            "main_text": " ".join(words),
            "language": "en",
        }


def put(
    work: Workspace, round_: int, fetched: Iterable[dict[str, Any]], gone: Iterable[str]
) -> None:
    """Commit a round, as update and parse do."""
    rows = {
        DOCUMENTS: [
            {"round": round_, "outcome": "parsed", "noindex": False, "fetched_ms": round_, **each}
            for each in fetched
        ],
    }
    rows[PAGES] = [{"url": each["url"], "status": "fetched"} for each in rows[DOCUMENTS]]
    rows[PAGES] += [{"url": url, "status": "gone"} for url in gone]
    written = []
    for form, some in rows.items():
        writer = ParquetWriter(work.root, form.name, work.store.attempt(form.name))
        blank = dict.fromkeys(form.column_names)
        writer.write(pa.Table.from_pylist([blank | row for row in some], form.schema))
        written += writer.close()
    with work.step("test", round_) as draft:
        draft.append = layers_of(written, round_)


def segments(work: Workspace) -> list[int]:
    """Return the number of segments of each part."""
    metas = [path for path in work.paths("index") if path.endswith("/meta.json")]
    return [len(json.loads(Path(path).read_bytes())["segments"]) for path in metas]


def follow(web: Web, rounds: int, shards: int) -> None:
    began_s = time.perf_counter()
    changed = merged = renewed = rebuilt = 0
    with (
        tempfile.TemporaryDirectory(prefix="index-updates-") as name,
        Crawl.create(f"{name}/crawl", f"index.shards = {shards}") as crawl,
    ):
        for round_ in range(1, rounds + 1):
            fetched, gone = web.turn()
            put(crawl.work, round_, map(web.document, fetched), gone)
            counts = index.run(crawl.work).counts
            changed += counts.get("added", 0) + counts.get("replaced", 0)
            merged += counts.get("merged", 0)
            renewed += counts.get("renewed", 0)
            rebuilt += counts["indexed"]
            written = changed + merged + renewed
            if round_ % PRINTED == 0 or round_ == rounds:
                print(
                    f"{round_:8}{counts['indexed']:10,}{changed:10,}{merged:10,}{renewed:10,}"
                    f"{written:10,}{rebuilt:10,}   {segments(crawl.work)}",
                    flush=True,
                )
    print(
        f"writes per change: {written / changed:.2f}, rebuilt {rebuilt / changed:.2f};"
        f" per page in the end: {written / counts['indexed']:.2f}, rebuilt"
        f" {rebuilt / counts['indexed']:.2f}; {time.perf_counter() - began_s:.0f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--shards", type=int, default=2)
    options = parser.parse_args()
    names = ("indexed", "changed", "merged", "renewed", "written", "rebuilt")
    for kind, first, later in (
        ("grows", options.pages, options.pages),
        ("stands", 10 * options.pages, 0),
    ):
        print(f"{kind:>8}" + "".join(f"{name:>10}" for name in names) + "   segments")
        follow(Web(first, later), options.rounds, options.shards)


if __name__ == "__main__":
    main()
