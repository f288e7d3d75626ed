"""What does it cost to make a manual searchable, beside crawlers that somebody tuned?

    python bench/peers.py [--manual FOLDER] ... [--peers NAME ...] [--repeat 3]

Each manual, and a web of 68 small generated pages, is served without delay as a host on loopback,
by nginx if it is installed (apt-get install nginx-light), else by FakeWeb. The crawlers take turns;
of each the first run is discarded. Time counts from the start of the process to its end. The four
manuals of docs/performance.md are in Debian's packages postgresql-doc-15, linux-doc-6.1,
cppreference-doc-en-html and openjdk-17-doc.

  Gossamer      `gossamer crawl` with its default settings, on a host of the user's own: everything
                is archived, parsed with its main text, deduplicated, ranked and indexed
  scrapy        as it comes (scrapy_spider.py): title, text and links, written as JSON lines
  scrapy-tuned  with selectolax, a set of known URLs, JOBDIR, and an index of tantivy
  colly         Go: title, text and links, written as JSON lines, without an index
  spider        Rust: WARC files, and an index of tantivy with title and text

All obey robots.txt. scrapy is one of Gossamer's dependencies for benchmarks. The sources of colly
and spider are in folders beside this file; they are compiled once, below ~/.cache/gossamer-bench,
with libraries from their languages' registries, by `go` and `cargo`. What cannot be built is listed
as skipped.

The server's log says which pages each crawler was sent. Those that were sent the same pages as
Gossamer in each run have wall and CPU time also as multiples of Gossamer's. CPU, memory (the
highest sum of PSS, sampled) and bytes written are those of all processes of a crawler, without the
server.

Gossamer's bytecode is compiled first, as pip does for a package that it installs. A checkout lacks
it where PYTHONDONTWRITEBYTECODE is set, and each process would then compile all that it imports.
"""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, NamedTuple

from harness import Options, generate_manual, manuals, report
from loopback_host import ADDRESS, serve, server_name
from measuring import Usage, adopt_orphans, run_measured

import gossamer as package

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Crawler = Callable[[str, Path], list[str]]
    """Takes a URL and an empty folder, and returns the command."""

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gossamer-bench"
OURS = "Gossamer"
SETTINGS = f'fetch.own_hosts = ["{ADDRESS}"]\nfilter.scope = "host"\n'
SMALL = {"pages": 67, "sentences": 40}
SHOWN = 5
COLUMNS = "{:14}{:>9}{:>9}{:>13}{:>12}{:>12}{:>9}{:>9}"
HEAD = ("", "wall s", "CPU s", "CPU ms/page", "PSS MB", "written MB", "wall", "CPU")


class Run(NamedTuple):
    usage: Usage
    pages: Mapping[str, int]
    """The bytes of each page that the crawler was sent."""


class NotBuiltError(Exception):
    """A peer cannot be compiled here."""


def gossamer(url: str, folder: Path) -> list[str]:
    (folder / "gossamer.toml").write_text(SETTINGS)
    return [str(Path(sys.executable).with_name("gossamer")), "crawl", str(folder), url]


def scrapy(which: str) -> Crawler:
    script = str(HERE / "scrapy_spider.py")
    return lambda url, folder: [sys.executable, script, which, url, str(folder)]


def colly() -> Crawler:
    return compiled("colly", "colly_crawler", ["go", "build", "-o", "colly_crawler", "."])


def spider() -> Crawler:
    return compiled("spider", "target/release/spider_crawler", ["cargo", "build", "--release"])


def compiled(name: str, program: str, build: Sequence[str]) -> Crawler:
    """Compile a peer at low priority. The compilers do not repeat what they have done already."""
    if shutil.which(build[0]) is None:
        raise NotBuiltError(f"needs {build[0]}")
    folder = shutil.copytree(HERE / name, CACHE / name, dirs_exist_ok=True)
    print(f"building {name} in {folder}", flush=True)
    done = subprocess.run(
        ["nice", "-n", "19", *build], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotBuiltError((done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
    return lambda url, out: [str(folder / program), url, str(out)]


PEERS: dict[str, Callable[[], Crawler]] = {
    "scrapy": lambda: scrapy("plain"),
    "scrapy-tuned": lambda: scrapy("tuned"),
    "colly": colly,
    "spider": spider,
}


def crawlers(names: Sequence[str]) -> dict[str, Crawler]:
    """Return Gossamer and the peers that can be built."""
    found: dict[str, Crawler] = {OURS: gossamer}
    for name in names:
        try:
            found[name] = PEERS[name]()
        except NotBuiltError as error:
            print(f"{name}: skipped: {error}", flush=True)
    return found


def crawl(crawler: Crawler, manual: Path) -> Run:
    with tempfile.TemporaryDirectory(prefix="peers-") as out, serve(manual) as host:
        usage = run_measured(crawler(host.url, Path(out)), without=host.pid)
        return Run(usage, host.pages())


def measure(
    manual: Path, asked: Mapping[str, Crawler], repeat: int, discarded: int
) -> dict[str, float]:
    """Print the table of a manual. Return the CPU time of peers, as multiples of Gossamer's."""
    runs: defaultdict[str, list[Run]] = defaultdict(list)
    failed: dict[str, subprocess.CalledProcessError] = {}
    for number in range(discarded + repeat):
        for name in [name for name in asked if name not in failed]:
            try:
                run = crawl(asked[name], manual)
            except subprocess.CalledProcessError as error:
                failed[name] = error
            else:
                runs[name] += [run] * (number >= discarded)
    if OURS in failed:
        raise failed[OURS]
    pages = runs[OURS][0].pages
    print(f"\n{manual}: {len(pages):,} pages of {mean(pages.values()) / 1000:.1f} KB")
    print(COLUMNS.format(*HEAD))
    ours = medians(runs[OURS])
    ratios = {}
    for name in asked:
        if name in failed:
            print(f"{name}: failed with exit code {failed[name].returncode}")
            continue
        usage, differences = medians(runs[name]), [*differing(pages, runs[name])]
        wall, cpu = usage.wall_s / ours.wall_s, usage.cpu_s / ours.cpu_s
        print(row(name, usage, len(pages), ("", "") if differences else (ratio(wall), ratio(cpu))))
        print(*(f"  {line}\n" for line in differences), sep="", end="", flush=True)
        if not differences and name != OURS:
            ratios[name] = cpu
    return ratios


def medians(runs: Sequence[Run]) -> Usage:
    return Usage(*(median(values) for values in zip(*(run.usage for run in runs), strict=True)))


def differing(pages: Mapping[str, int], runs: Sequence[Run]) -> Iterator[str]:
    """Lines that tell which pages the runs of a crawler have, and Gossamer has not, or without."""
    for run in runs:
        for what, urls in (
            ("missing", pages.keys() - run.pages),
            ("others", run.pages.keys() - pages),
        ):
            if urls:
                yield f"{len(urls):,} {what}: {', '.join(sorted(urls)[:SHOWN])}"


def ratio(value: float) -> str:
    return f"{value:.2f} ×"


def row(name: str, usage: Usage, pages: int, ratios: tuple[str, str]) -> str:
    return COLUMNS.format(
        name,
        f"{usage.wall_s:.1f}",
        f"{usage.cpu_s:.1f}",
        f"{1000 * usage.cpu_s / pages:.2f}",
        f"{usage.memory_bytes / 1e6:.0f}",
        f"{usage.written_bytes / 1e6:.0f}",
        *ratios,
    )


def main() -> None:
    parser = Options(__doc__, repeat=(3, 1))
    parser.add_argument("--peers", nargs="*", choices=PEERS, help="all; if tiny, those of Scrapy")
    options = parser.read()
    usual = [name for name in PEERS if name.startswith("scrapy")] if options.tiny else [*PEERS]
    adopt_orphans()
    compileall.compile_dir(package.__path__[0], quiet=1)
    asked = crawlers(usual if options.peers is None else options.peers)
    discarded = 0 if options.tiny else 1
    print(f"served by {server_name()}; medians of {options.repeat} runs")
    found: defaultdict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="peers-") as scratch:
        webs = manuals(options, scratch)
        if not options.tiny:
            webs.append(generate_manual(Path(scratch, "small"), **SMALL))
        for web in webs:
            for name, cpu in measure(web, asked, options.repeat, discarded).items():
                found[name].append(cpu)
    spans = (f"{name} {ratio(min(each))} to {ratio(max(each))}" for name, each in found.items())
    report(f"CPU time, Gossamer's being 1: {', '.join(spans)}")


if __name__ == "__main__":
    main()
