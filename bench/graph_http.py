"""How long does a question about the link graph take over HTTP while a crawl goes on?

    python bench/graph_http.py [--pages 500_000] [--links 5_000_000] [--seconds 10]
                               [--folder FOLDER]

The pages and links are those of in_proportion.py. `graph` and `invert` read them. `gossamer serve`
serves the crawl, and `gossamer crawl` crawls a fakeweb into the same folder meanwhile. One client
asks about pages drawn at random, one question after the other; no answer is reused. Milliseconds as
the client sees them, for each kind of question, without a crawl and during one.

With --folder, the crawl is kept there for the next run.
"""

from __future__ import annotations

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
from harness import Options, local_settings, report
from in_proportion import Web as KnownPages
from in_proportion import crawled, urls

from gossamer import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.links import graph, invert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

GOSSAMER = str(Path(sys.executable).with_name("gossamer"))
WORDS = 10
STARTS_S = 5
ANSWERED = {200, 404, 422}
"""404: no page links to it; 422: a path would visit too many pages."""


def build(folder: Path, pages: int, links: int) -> None:
    """Make a crawl that has nothing but the graph and the inlinks of its pages."""
    with Crawl.create(str(folder)) as crawl:
        work = crawl.work
        crawled(work, KnownPages(pages, pages, links, WORDS))
        graph.run(work)
        invert.run(work)
        with work.step("bench", 1) as draft:
            for name in ("pages", "documents", "responses", "links", "hosts", "due_times"):
                draft.replace[name] = ()


def share(built: Path, folder: Path, fake: FakeWeb) -> None:
    """Make a crawl of a fakeweb whose first files are those of another crawl."""
    shutil.copytree(built, folder, copy_function=os.link)
    settings = folder / "gossamer.toml"
    settings.unlink()
    settings.write_text(local_settings(fake.address, {}), encoding="utf-8")
    with Crawl.open(str(folder)) as crawl:
        crawl.inject(f"http://{host}/" for host in fake.web.hosts())


def questions(pages: int) -> dict[str, Callable[[], str]]:
    """Path and query of a new question of each kind."""
    draw = random.Random(4)  # noqa: S311  # reproducible

    def question(what: str, *names: str) -> Callable[[], str]:
        def one() -> str:
            drawn = urls(np.array([draw.randrange(pages) for _ in names])).to_pylist()
            return f"/api/v1/graph/{what}?{urlencode([*zip(names, drawn, strict=True)])}"

        return one

    return {
        "outlinks": question("outlinks", "url"),
        "inlinks with anchors": question("inlinks", "url"),
        "common": question("common", "url", "url"),
        "path": question("path", "from", "to"),
        "neighbourhood": question("neighbourhood", "url"),
    }


@contextmanager
def serving(folder: Path) -> Iterator[httpx.Client]:
    command = [GOSSAMER, "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        with httpx.Client(base_url=process.stdout.readline().strip(), timeout=60) as client:
            yield client
        process.terminate()


def answered_ms(client: httpx.Client, question: Callable[[], str], seconds: float) -> list[float]:
    """The times of answers, sorted."""
    took = []
    ends_s = time.perf_counter() + seconds
    while time.perf_counter() < ends_s:
        path, began_s = question(), time.perf_counter()
        answer = client.get(path)
        took.append(1000 * (time.perf_counter() - began_s))
        assert answer.status_code in ANSWERED, answer.text
    return sorted(took)


def p99(took_ms: Sequence[float]) -> float:
    return took_ms[len(took_ms) * 99 // 100]


def main() -> None:
    parser = Options(
        __doc__, pages=(500_000, 2_000), links=(5_000_000, 20_000), seconds=(10.0, 0.2)
    )
    parser.add_argument("--folder", type=Path)
    options = parser.read()
    web = Web(hosts=60, pages_per_host=400, page_bytes=20_000, mix=Mix.plain())
    beside = options.folder and options.folder.parent  # on the same file system, for hard links
    with (
        tempfile.TemporaryDirectory(prefix="graph-http-", dir=beside) as scratch,
        FakeWeb(web, log_path="/dev/null") as fake,
    ):
        built, folder = options.folder or Path(scratch, "built"), Path(scratch, "crawl")
        if not built.exists():
            build(built, options.pages, options.links)
        share(built, folder, fake)
        asked = questions(options.pages)
        with serving(folder) as client:
            for question in asked.values():  # opens the graph, learns where inlinks are
                client.get(question())
            alone = {name: answered_ms(client, asked[name], options.seconds) for name in asked}
            command = [GOSSAMER, "crawl", str(folder), "--rounds", "50"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as crawl:
                time.sleep(STARTS_S)
                busy = {name: answered_ms(client, asked[name], options.seconds) for name in asked}
                assert crawl.poll() is None, "the crawl ended too early"
                crawl.terminate()
    print(f"{options.pages:,} pages, {options.links:,} links; load {os.getloadavg()[0]:.1f}")
    print(f"{'ms':22}{'p50':>8}{'p99':>8}{'during a crawl':>20}{'p99':>8}{'questions':>12}")
    for name, took in busy.items():
        quiet, middle = alone[name], took[len(took) // 2]
        print(
            f"{name:22}{quiet[len(quiet) // 2]:8.2f}{p99(quiet):8.2f}"
            f"{middle:20.2f}{p99(took):8.2f}{len(took):12,}"
        )
    worst = max(busy, key=lambda name: p99(busy[name]))
    report(f"p99 of the slowest kind during a crawl, {worst}: {p99(busy[worst]):.1f} ms")


if __name__ == "__main__":
    main()
