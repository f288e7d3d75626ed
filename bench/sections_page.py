"""Does the page of a site's sections cost as much as all sections that were counted?

    python bench/sections_page.py [--sections 10_000 100_000 1_000_000] [--laps 7]

Synthetic counts: a host with 10,000 folders, and sites with ten folders of nine each. CPU time to
list the domains, and to open and draw a site and that host, the best of some laps in turn. Beside
it, the same sections as `sections.stored` reads them for the command, all as objects.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from gossamer import sections
from gossamer.api import Crawl
from gossamer.sections import tree
from gossamer.serve import section_map
from gossamer.tables import SECTIONS
from gossamer.task_output import ParquetWriter, layers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gossamer.workspace import Workspace

HOST, FOLDERS = "large.example", 10_000
WRITTEN = 100_000
"""Rows of a row group."""
SEED = 1


def leaves(count: int) -> Iterator[str]:
    yield from (f"{HOST}/{folder}/" for folder in range(FOLDERS))
    for site in range(count // 101):
        for folder in range(10):
            yield from (f"site{site}.example/folder{folder}/part{part}/" for part in range(9))


def put(work: Workspace, count: int) -> int:
    """Store counts of so many sections and the large host; return how many there are."""
    draw = random.Random(SEED)  # noqa: S311  # the same counts each time
    sizes: Counter[str] = Counter()
    for leaf in leaves(count):
        host, *folders = leaf.split("/")[:-1]
        pages = int(10 * draw.paretovariate(1))
        for level in range(len(folders) + 1):
            sizes["/".join([host, *folders[:level], ""])] += pages
    named = sorted(sizes)
    known = np.array([sizes[name] for name in named])
    levels = np.array([name.count("/") for name in named], np.int32)
    rows = {"section": named, "domain": [name.split("/")[0] for name in named], "level": levels}
    rows |= {"known": known, "fetched": known // 2, "asked": known // 2}
    rows |= {"changed": known // 9, "fit": known // 5}
    rows |= dict.fromkeys(("worth", "trial"), np.zeros(len(named)))
    table = pa.table(rows).cast(SECTIONS.schema)
    writer = ParquetWriter(work.root, SECTIONS.name, work.store.attempt(SECTIONS.name))
    for first in range(0, len(table), WRITTEN):
        writer.write(table.slice(first, WRITTEN))
    with work.step("bench", 1) as draft:
        draft.replace[SECTIONS.name] = (layers_of(writer.close(), 1)[SECTIONS.name],)
    return len(table)


def page(work: Workspace, domain: str) -> None:
    opened = tree.opened_at(work, domain, "")
    assert opened is not None
    for size in section_map.SIZES:
        section_map.drawn(opened, size, "fit", lambda section: section, str)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sections", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--laps", type=int, default=7)
    options = parser.parse_args(arguments)
    print("| sections | list, ms | a site, ms | the large host, ms | as objects, ms | ratio |")
    print("|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder, Crawl.create(f"{folder}/crawl") as crawl:
        work = crawl.work
        asked: tuple[Callable[[], object], ...] = (
            lambda: tree.domains(work, "", 50),
            lambda: page(work, "site3.example"),
            lambda: page(work, HOST),
            lambda: sections.stored(work),
        )
        for count in options.sections:
            held = put(work, count)
            took_ms: list[list[float]] = [[] for _ in asked]
            for _ in range(options.laps):
                for question, laps in zip(asked, took_ms, strict=True):
                    began_s = time.process_time()
                    question()
                    laps.append(1000 * (time.process_time() - began_s))
            listed, site, host, objects = map(min, took_ms)
            print(
                f"| {held:,} | {listed:.1f} | {site:.1f} | {host:.1f} | {objects:.1f} "
                f"| {objects / host:.1f} |"
            )


if __name__ == "__main__":
    main()
