"""Does a crawl without end stay as it is? Its rounds, one after another, as fast as they come.

    python bench/endless.py [--rounds 200] [--pages 200] [--changed 50] [--every 20]

A site of PAGES pages, served by a process of its own, is fetched anew in each round, without a
delay; before each round, CHANGED pages get another text. For each EVERY rounds, printed are

  s           seconds per round, with the harvests in between
  of these    seconds of commands other than `fetch`
  files       that the newest manifest names, those of `warc` apart, which grow with each round
  manifest    its size in KB, without listings
  MB          resident memory of this process, of its workers and parsers, and the size of the crawl
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from local_settings import local_settings

from gossamer import Crawl
from gossamer.fakeweb import FakeWeb, Web
from gossamer.filenames import manifest_path
from gossamer.forever import Listener

if TYPE_CHECKING:
    from gossamer.store import StepReport

HOST = "site.test"
AT_ONCE = {"update.interval_days": 0.000001, "fetch.own": ["*.test"]}
HEAD = "{:>6} {:>6} {:>9} {:>7} {:>7} {:>9} {:>8} {:>9} {:>8}"
COLUMNS = ("round", "s", "of these", "files", "warc", "manifest", "MB", "others", "disk")
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


class Ended(Exception):
    """All rounds were run."""


class Meter(Listener):
    """Changes the site before each round, and prints what some rounds took."""

    def __init__(self, crawl: Crawl, site: Site, options: argparse.Namespace) -> None:
        self._crawl, self._site, self._options = crawl, site, options
        self._seconds: Counter[str] = Counter()
        self._began_s = time.monotonic()

    def announce(self, step: str, round_: int) -> None:
        if step == "generate":
            if round_ > self._options.rounds:
                raise Ended
            self._site.change(self._options.changed)

    def report(self, done: StepReport) -> None:
        self._seconds[done.step] += done.seconds
        if done.step == "update" and done.round % self._options.every == 0:
            self._print(done.round)

    def _print(self, round_: int) -> None:
        every, store = self._options.every, self._crawl.work.store
        sizes = {name: store.manifest.totals(name) for name in store.manifest.datasets}
        files = sum(size.files for name, size in sizes.items() if name != "warc")
        process = psutil.Process()
        others = (child.memory_info().rss for child in process.children(recursive=True))
        print(
            HEAD.format(
                round_,
                f"{(time.monotonic() - self._began_s) / every:.2f}",
                f"{(self._seconds.total() - self._seconds['fetch']) / every:.2f}",
                files,
                sizes["warc"].files,
                f"{store.backend.size(manifest_path(store.manifest.version)) / 1e3:.1f}",
                f"{process.memory_info().rss / 1e6:.0f}",
                f"{sum(others) / 1e6:.0f}",
                f"{store.manifest.bytes / 1e6:.1f}",
            ),
            flush=True,
        )
        self._seconds.clear()
        self._began_s = time.monotonic()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--changed", type=int, default=50)
    parser.add_argument("--every", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="endless-") as scratch:
        root = Path(scratch, "site")
        root.mkdir()
        site = Site(root, options.pages)
        with (
            FakeWeb(Web(hosts=0, docs={HOST: root}), log_path="/dev/null") as web,
            Crawl.create(
                str(Path(scratch, "crawl")), local_settings(web.address, AT_ONCE)
            ) as crawl,
            suppress(Ended),
        ):
            crawl.inject([f"http://{HOST}/"])
            print(HEAD.format(*COLUMNS), flush=True)
            crawl.run_forever(Meter(crawl, site, options))


if __name__ == "__main__":
    main()
