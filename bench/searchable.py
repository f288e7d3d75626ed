"""How long does it take from seeds to a search engine, beside Scrapy, on real manuals?

    python bench/searchable.py [--manual FOLDER] [--scrapy-pages N] [--repeat 1]

The manual is served as one host on loopback, by a process that shares the machine's cores.
Gossamer is the command `gossamer crawl`, from the start of its process to its end: everything is
fetched, archived, parsed, ranked and indexed, with the default settings, except that it stays on
the host, which is its user's own, so there is no delay. Scrapy
(scrapy_spider.py) is one process that fetches the same pages, extracts title, text and links, and
writes JSON lines: it has no archive and no index. "Tuned" removes fragments before requests are
built, as most spiders do not. Its time counts from the start of its process as well. Both obey
robots.txt.

With --scrapy-pages, Scrapy is stopped after N pages, and its time for all pages is extrapolated
from its pace. CPU is that of all processes of the crawler, but not of the host.

Gossamer's bytecode is compiled first, as pip does for a package that it installs. A checkout lacks
it where PYTHONDONTWRITEBYTECODE is set, and each process would then compile all that it imports.
"""

from __future__ import annotations

import compileall
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from harness import Options, local_settings, manual, report
from measuring import adopt_orphans, children_s, reap_orphans

import gossamer as package
from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Web

SPIDER = Path(__file__).with_name("scrapy_spider.py")
HOST = "manual.test"
OWN = {"fetch.own_hosts": ["*.test"], "filter.scope": "host"}
COLUMNS = "{:14}{:>8}{:>6}{:>8}{:>9}{:>13}{:>13}{:>17}{:>7}"
HEAD = ("", "pages", "KB", "s", "pages/s", "CPU ms/page", "pages/CPU s", "Gossamer: wall", "CPU")


class Run(NamedTuple):
    pages: int
    page_bytes: float
    wall_s: float
    cpu_s: float

    def row(self, name: str, ratios: tuple[str, str] = ("", "")) -> str:
        return COLUMNS.format(
            name,
            f"{self.pages:,}",
            f"{self.page_bytes / 1000:.0f}",
            f"{self.wall_s:.1f}",
            f"{self.pages / self.wall_s:.1f}",
            f"{1000 * self.cpu_s / self.pages:.2f}",
            f"{self.pages / self.cpu_s:.0f}",
            *ratios,
        )


def gossamer(fake: FakeWeb, folder: Path) -> Run:
    folder.mkdir()
    (folder / "gossamer.toml").write_text(local_settings(fake.address, OWN))
    command = [str(Path(sys.executable).with_name("gossamer")), "crawl", str(folder)]
    began_s, before_s = time.perf_counter(), children_s()
    subprocess.run([*command, f"http://{HOST}/"], check=True, stdout=subprocess.DEVNULL)
    wall_s = time.perf_counter() - began_s
    reap_orphans(fake.pid)
    cpu_s = children_s() - before_s
    with Crawl.open(str(folder)) as crawl:
        documents = crawl.dataset("documents").selectExpr("count(*)", "sum(body_bytes)")
        pages, size = documents.collect()[0]
    return Run(pages, size / pages, wall_s, cpu_s)


def scrapy(fake: FakeWeb, folder: Path, pages: int, most: int, *, tuned: bool) -> Run:
    """Run Scrapy; if it is stopped after `most` pages, return what all `pages` would take it."""
    task = {"host": HOST, "out": str(folder / f"{tuned}.jsonl"), "tuned": tuned, "most": most}
    began_s, before_s = time.perf_counter(), children_s()
    process = subprocess.run(
        [sys.executable, str(SPIDER), json.dumps(task)],
        stdout=subprocess.PIPE,
        env={"http_proxy": f"http://{fake.address}"},
        check=True,
    )
    wall_s, cpu_s = time.perf_counter() - began_s, children_s() - before_s
    done = json.loads(process.stdout)
    left = max(pages - done["pages"], 0) / done["pages"] if most else 0
    return Run(
        max(pages, done["pages"]) if most else done["pages"],
        done["bytes"] / done["pages"],
        wall_s + left * (done["to_s"] - done["from_s"]),
        cpu_s + left * done["cpu_s"],
    )


def main() -> None:
    parser = Options(__doc__, repeat=(1, 1))
    parser.add_argument("--scrapy-pages", type=int, default=0, help="0: all")
    options = parser.read()
    adopt_orphans()
    compileall.compile_dir(package.__path__[0], quiet=1)
    with tempfile.TemporaryDirectory(prefix="searchable-") as scratch:
        folder = manual(options, scratch)
        with FakeWeb(Web(hosts=0, docs={HOST: folder}), log_path="/dev/null") as fake:
            crawls = (Path(scratch, f"crawl-{number}") for number in range(options.repeat))
            ours = min((gossamer(fake, crawl) for crawl in crawls), key=lambda run: run.wall_s)
            most, items = options.scrapy_pages, Path(scratch, "items")
            plain = scrapy(fake, items, ours.pages, most, tuned=False)
            tuned = scrapy(fake, items, ours.pages, most, tuned=True)
    print(folder, COLUMNS.format(*HEAD), ours.row("Gossamer"), sep="\n")
    for name, run in {"Scrapy": plain, "Scrapy tuned": tuned}.items():
        wall, cpu = run.wall_s / ours.wall_s, run.cpu_s / ours.cpu_s
        print(run.row(name, (f"{wall:.1f} ×", f"{cpu:.1f} ×")))
    report(f"{tuned.wall_s / ours.wall_s:.1f} × as fast as tuned Scrapy, which has no index")


if __name__ == "__main__":
    main()
