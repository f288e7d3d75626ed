"""How long does a question about ten million links take over HTTP, while a crawl goes on?

    python bench/graph_http.py [--pages 1_000_000] [--links 10_000_000] [--seconds 10]
                               [--folder FOLDER]

A synthetic web (bench/graph.py) is the link graph of a crawl, with the inlinks of each page, at
most 20 of them with anchor texts, in the dataset `inlinks`. `gossamer serve` serves it, and
`gossamer crawl` crawls a fakeweb into the same folder meanwhile. One client asks about pages drawn
at random, one question after the other, a kind at a time; no answer is reused. Milliseconds as the
client sees them, for each kind: without a crawl and during one. The limit is 10 ms for 99 % of the
questions during a crawl. With --folder, the synthetic crawl is kept there for the next run.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import httpx
import numpy as np
import pyarrow as pa
from graph import synthetic, transposed
from graph_changes import answered, urls
from local_settings import local_settings

from gossamer import graph
from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.filenames import CONFIG_NAME
from gossamer.invert import GROUP_ROWS
from gossamer.tables import DATASETS
from gossamer.task_output import ParquetWriter, layers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.bvgraph.files import Csr
    from gossamer.store import Layer
    from gossamer.workspace import Workspace

GOSSAMER = Path(sys.executable).with_name("gossamer")
MAX_SOURCES = 20
LIMIT_MS = 10.0
SEED = 4


def build(folder: Path, pages: int, links: int) -> None:
    """Make a crawl with a graph, and with the inlinks of its pages."""
    with Crawl.create(str(folder)) as crawl:
        work = crawl.work
        rows = synthetic(pages, links)
        src = np.repeat(np.arange(pages), np.diff(rows.starts))
        own = src != rows.targets
        answered(work, np.arange(pages), src[own], rows.targets[own], 1)
        graph.run(work)
        with work.step("bench", 1) as draft:
            draft.replace["inlinks"] = (inlinks(work, transposed(rows), pages),)
            draft.replace["links"] = draft.replace["responses"] = ()


def copy(built: Path, folder: Path, fake: FakeWeb) -> None:
    """Make a crawl of a fakeweb that shares its first files with another one."""
    shutil.copytree(built, folder, copy_function=os.link)
    settings = folder / CONFIG_NAME
    settings.unlink(missing_ok=True)
    settings.write_text(
        local_settings(fake.address, {"filter.allow": [r"^http://[^/]+\.test/"]}), "utf-8"
    )
    with Crawl.open(str(folder)) as crawl:
        crawl.inject([f"http://{host}/" for host in fake.web.hosts()])


def inlinks(work: Workspace, rows: Csr, pages: int) -> Layer:
    writers = [ParquetWriter(work.root, "inlinks", work.store.attempt("inlinks")) for _ in range(8)]
    names = urls(np.arange(pages))
    counts = np.diff(rows.starts)
    for at, first in enumerate(range(0, pages, GROUP_ROWS)):
        some = slice(first, first + GROUP_ROWS)
        listed = np.minimum(counts[some], MAX_SOURCES)
        ends = np.concatenate([[0], listed.cumsum()])
        places = np.arange(ends[-1]) + np.repeat(rows.starts[:-1][some] - ends[:-1], listed)
        anchors = pa.array(["the words of a link"] * places.size)
        sources = pa.StructArray.from_arrays(
            [one_array(names.take(pa.array(rows.targets[places]))), anchors], ["src", "anchor"]
        )
        table = pa.table(
            {
                "dst": names[some],
                "count": pa.array(counts[some]),
                "sources": pa.ListArray.from_arrays(pa.array(ends, pa.int32()), sources),
            }
        )
        writers[at % len(writers)].write(table.cast(DATASETS["inlinks"].schema))
    return layers_of([row for writer in writers for row in writer.close()], 1)["inlinks"]


def one_array(found: pa.Array | pa.ChunkedArray) -> pa.Array:
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def questions(pages: int) -> dict[str, Callable[[], str]]:
    """The path and query of a new question of each kind."""
    draw = random.Random(SEED)  # noqa: S311  # reproducible

    def page() -> str:
        url: str = urls(np.array([draw.randrange(pages)]))[0].as_py()
        return url

    def asked(what: str, *names: str) -> Callable[[], str]:
        return lambda: f"/api/graph/{what}?{urlencode([(name, page()) for name in names])}"

    return {
        "outlinks": asked("outlinks", "url"),
        "inlinks, with anchors": asked("inlinks", "url"),
        "common": asked("common", "url", "url"),
        "path": asked("path", "from", "to"),
        "neighbourhood": asked("neighbourhood", "url"),
    }


@contextmanager
def serving(folder: Path) -> Iterator[httpx.Client]:
    command = [str(GOSSAMER), "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        with httpx.Client(base_url=process.stdout.readline().strip(), timeout=60) as client:
            yield client
        process.terminate()


def answer_ms(client: httpx.Client, question: Callable[[], str], seconds: float) -> list[float]:
    """The times of answers, sorted."""
    took = []
    ends_s = time.perf_counter() + seconds
    while time.perf_counter() < ends_s:
        path = question()
        began_s = time.perf_counter()
        answer = client.get(path)
        took.append(1000 * (time.perf_counter() - began_s))
        assert answer.status_code in (200, 404, 422), answer.text
    return sorted(took)


def measured(
    client: httpx.Client, pages: int, seconds: float, alive: Callable[[], bool]
) -> dict[str, list[float]]:
    found = {}
    for kind, question in questions(pages).items():
        found[kind] = answer_ms(client, question, seconds)
        assert alive(), "the crawl ended too early"
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    web = Web(hosts=60, pages_per_host=400, page_bytes=20_000, mix=Mix.plain())
    beside = options.folder and options.folder.parent  # on the same file system, for hard links
    with (
        tempfile.TemporaryDirectory(dir=beside) as root,
        FakeWeb(web, log_path="/dev/null") as fake,
    ):
        built, folder = options.folder or Path(root, "built"), Path(root, "crawl")
        if not built.exists():
            build(built, options.pages, options.links)
        copy(built, folder, fake)
        with serving(folder) as client:
            for question in questions(options.pages).values():  # opens the graph, learns inlinks
                client.get(question())
            quiet = measured(client, options.pages, options.seconds, lambda: True)
            command = [str(GOSSAMER), "crawl", str(folder), "--rounds", "50"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as crawl:
                time.sleep(5)  # it has started
                busy = measured(
                    client, options.pages, options.seconds, lambda: crawl.poll() is None
                )
                crawl.terminate()
    print(f"{options.pages:,} pages, {options.links:,} links; p50 and p99 in ms")
    print(f"{'':22}{'alone':>16}{'during a crawl':>18}{'p99 / limit':>14}{'questions':>12}")
    for kind, took in busy.items():
        shown = [
            f"{each[len(each) // 2]:.2f} {each[len(each) * 99 // 100]:.2f}"
            for each in (quiet[kind], took)
        ]
        ratio = took[len(took) * 99 // 100] / LIMIT_MS
        print(f"{kind:22}{shown[0]:>16}{shown[1]:>18}{ratio:>14.2f}{len(took):>12,}")


if __name__ == "__main__":
    main()
