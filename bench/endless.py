"""Does a crawl without end stay as it is? Its rounds, one after another, as fast as they come.

    python bench/endless.py [--rounds 200] [--pages 200] [--changed 50] [--every 20] [--memory-gb 4]
        [--warc-versions 0]

`gossamer crawl --forever` fetches a site of PAGES pages, served by a process of its own, anew in
each round, without a delay; before each round, CHANGED pages get another text. The process that
crawls is replaced when it and its workers have grown by an eighth of MEMORY_GB. For each EVERY
rounds, printed are

  s           seconds per round, with the harvests in between
  of these    seconds of commands other than `fetch`, which may run beside each other
  CPU         seconds of CPU of the command and all processes that it started
  files       that the newest manifest names, those of `warc` apart, which grow with each round
              unless the archive is pruned: WARC_VERSIONS bodies of each page stay; 0: all
  manifest    its size in KB, without listings
  command     resident memory in MB of the command's first process, which stays,
  crawling    of the process that crawls, and
  others      of its workers and parsers
  renewals    how often the process that crawls was replaced
  gap         seconds from the end of a round to the next one, at the last replacement
  disk        size of the crawl in MB
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil
from local_settings import local_settings

from gossamer import Crawl
from gossamer.backends import open_backend
from gossamer.fakeweb import FakeWeb, Web
from gossamer.filenames import manifest_path
from gossamer.store import Store

HOST = "site.test"
AT_ONCE = {"update.interval_days": 0.000001, "fetch.own": ["*.test"]}
HEAD = "{:>6} {:>6} {:>9} {:>6} {:>7} {:>7} {:>9} {:>8} {:>9} {:>8} {:>9} {:>4} {:>7}"
COLUMNS = (
    "round", "s", "of these", "CPU", "files", "warc", "manifest", "command", "crawling", "others",
    "renewals", "gap", "disk",
)  # fmt: skip
GOSSAMER = (sys.executable, "-c", "from gossamer.cli import main; main()")
WORDS = 120


class Site:
    """The pages of a site, as files."""

    def __init__(self, folder: Path, pages: int) -> None:
        self._folder, self._pages = folder, pages
        self._draw = random.Random(1)  # noqa: S311  # reproducible
        links = "".join(f'<a href="{n}.html">page {n}</a> ' for n in range(pages))
        (folder / "index.html").write_text(f"<title>All pages</title>{links}", encoding="utf-8")
        for number in range(pages):
            self._write(number)

    def change(self, pages: int) -> None:
        for number in self._draw.sample(range(self._pages), pages):
            self._write(number)

    def _write(self, number: int) -> None:
        text = " ".join(f"word{self._draw.randrange(5_000)}" for _ in range(WORDS))
        link = f'<a href="{self._draw.randrange(self._pages)}.html">another</a>'
        body = f"<title>Page {number}</title><h1>Page {number}</h1><p>{text} {link}"
        (self._folder / f"{number}.html").write_text(body, encoding="utf-8")


class Meter:
    """Follows the command, changes the site after each round, and prints what some rounds took."""

    def __init__(self, crawl: str, site: Site, options: argparse.Namespace) -> None:
        self._crawl, self._site, self._options = crawl, site, options
        self._seconds: Counter[str] = Counter()
        self._began_s, self._used_s = time.monotonic(), 0.0
        self._renewals, self._renewed_ms, self._gap_s = 0, 0, 0.0

    def watch(self, command: subprocess.Popen[str]) -> None:
        """Read what the command prints until it has run all rounds."""
        assert command.stdout is not None
        for line in map(json.loads, command.stdout):
            if line.get("event") == "renew":
                self._renewals += 1
                self._renewed_ms = line["at_ms"]
            if "step" not in line:
                continue
            if self._renewed_ms:
                self._gap_s = (line["started_ms"] - self._renewed_ms) / 1000
                self._renewed_ms = 0
            self._seconds[line["step"]] += line["seconds"]
            if line["step"] == "update":
                if line["round"] % self._options.every == 0:
                    self._print(line["round"], psutil.Process(command.pid))
                if line["round"] >= self._options.rounds:
                    return
                self._site.change(self._options.changed)

    def _print(self, round_: int, command: psutil.Process) -> None:
        every, store = self._options.every, Store.open(open_backend(self._crawl))
        sizes = {name: store.manifest.totals(name) for name in store.manifest.datasets}
        files = sum(size.files for name, size in sizes.items() if name != "warc")
        started = command.children(recursive=True)
        crawling, *others = sorted(map(resident, started), reverse=True)
        used_s = sum(map(cpu_s, [command, *started]))
        print(
            HEAD.format(
                round_,
                f"{(time.monotonic() - self._began_s) / every:.2f}",
                f"{(self._seconds.total() - self._seconds['fetch']) / every:.2f}",
                f"{(used_s - self._used_s) / every:.2f}",
                files,
                sizes["warc"].files,
                f"{store.backend.size(manifest_path(store.manifest.version)) / 1e3:.1f}",
                f"{resident(command) / 1e6:.0f}",
                f"{crawling / 1e6:.0f}",
                f"{sum(others) / 1e6:.0f}",
                self._renewals,
                f"{self._gap_s:.1f}",
                f"{store.manifest.bytes / 1e6:.1f}",
            ),
            flush=True,
        )
        self._seconds.clear()
        self._began_s, self._used_s = time.monotonic(), used_s


def resident(process: psutil.Process) -> int:
    """The resident memory of a process; 0 if it has ended."""
    try:
        return process.memory_info().rss
    except psutil.NoSuchProcess:
        return 0


def cpu_s(process: psutil.Process) -> float:
    """The CPU time of a process and of those that it has waited for."""
    try:
        return sum(process.cpu_times()[:4])
    except psutil.NoSuchProcess:
        return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--changed", type=int, default=50)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--memory-gb", type=float, default=4.0, help="the setting engine.memory_gb")
    parser.add_argument("--warc-versions", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="endless-") as scratch:
        root = Path(scratch, "site")
        root.mkdir()
        site = Site(root, options.pages)
        with FakeWeb(Web(hosts=0, docs={HOST: root}), log_path="/dev/null") as web:
            folder = str(Path(scratch, "crawl"))
            settings = {
                **AT_ONCE,
                "engine.memory_gb": options.memory_gb,
                "store.warc_versions": options.warc_versions,
            }
            Crawl.create(folder, local_settings(web.address, settings)).close()
            print(HEAD.format(*COLUMNS), flush=True)
            with subprocess.Popen(
                [*GOSSAMER, "crawl", folder, f"http://{HOST}/", "--forever", "--json"],
                stdout=subprocess.PIPE,
                text=True,
            ) as command:
                try:
                    Meter(folder, site, options).watch(command)
                finally:
                    command.terminate()


if __name__ == "__main__":
    main()
