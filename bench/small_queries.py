"""From how many rows on does the engine run queries faster than this process?

    python bench/small_queries.py [--most 30_000]

Small queries run over Arrow's tables in the process that crawls (gossamer.engine.small), and the
embedded engine, Sail, runs the others. Both run the same steps here: `update`, which finds as many
links as there are known pages, and `generate`. The bound is removed on one side, and zero on the
other. Each side has a crawl of its own, and its second round is measured, as the first one starts
Sail. The last row is `gossamer crawl` of three pages in a process of its own, from its start to its
end, with the CPU time and the memory (PSS) of all its processes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb
from harness import Options, local_settings, report
from measuring import adopt_orphans, run_measured, tree_cpu_s
from synthetic import NOW_MS, layer_of, make_links, make_pages

from gossamer.config import Config
from gossamer.engine.small import limits
from gossamer.fakeweb import FakeWeb, Web
from gossamer.schedule import generate, update
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import StepReport, Store

SIZES = (10, 300, 1_000, 3_000, 10_000, 30_000)
NONE, ALL = -1, 1 << 40
USUAL = limits.BESIDE_SAIL
ROW = "{:>22}{:>14}{:>14}{:>9}"
PAGE = (
    "<title>{0}</title><h1>{0}</h1><p>Spiders sail in autumn.<a href=1.html>1</a><a href=2.html>2"
)
CRAWL = """\
import runpy, sys
from gossamer.engine.small import limits
most = int(sys.argv.pop(1))
limits.BESIDE_SAIL = limits.BESIDE_SAIL._replace(rows=most)
runpy.run_module("gossamer", run_name="__main__")
"""


def round_cpu_s(root: Path, pages: int, most_rows: int) -> float:
    """CPU seconds of the second of two rounds of as many known pages and found links."""
    limits.BESIDE_SAIL = USUAL._replace(rows=most_rows, bytes=most_rows)
    sql = duckdb.connect()
    store = Store.create(LocalBackend(root))
    base = root / "pages" / "base"
    make_pages(sql, base, pages)
    store.commit(StepReport("inject", 0, 0, 0.0), append={"pages": layer_of(root, base, 0)})
    work = Workspace(store, Config(), clock_ms=NOW_MS)
    try:
        for number in (1, 2):
            links = root / "links" / f"round-{number}"
            make_links(sql, links, base, pages, number)
            layer = {"links": layer_of(root, links, number)}
            store.commit(StepReport("parse", number, 0, 0.0), append=layer)
            began_s = tree_cpu_s()
            update.run(work)
            generate.run(work)
            took_s = tree_cpu_s() - began_s
    finally:
        work.close()
    return took_s


def crawl(root: Path, most_rows: int) -> tuple[float, float]:
    """CPU seconds and MB of a crawl of three pages."""
    manual = root / "manual"
    manual.mkdir()
    for name in ("index", "1", "2"):
        (manual / f"{name}.html").write_text(PAGE.format(name))
    settings = {"fetch.own_hosts": ["*.test"], "filter.scope": "host"}
    with FakeWeb(Web(hosts=0, docs={"small.test": manual}), log_path="/dev/null") as fake:
        folder = root / "crawl"
        folder.mkdir()
        (folder / "gossamer.toml").write_text(local_settings(fake.address, settings))
        command = [sys.executable, "-c", CRAWL, str(most_rows), "crawl", str(folder)]
        used = run_measured([*command, "http://small.test/"], fake.pid)
    return used.cpu_s, used.memory_bytes / 1e6


def main() -> None:
    adopt_orphans()
    options = Options(__doc__, most=(SIZES[-1], SIZES[0])).read()
    print(ROW.format("known pages", "here, CPU s", "Sail, CPU s", "ratio"))
    slower = 0
    for pages in SIZES:
        if pages > options.most:
            break
        with tempfile.TemporaryDirectory(prefix="small-") as scratch:
            here = round_cpu_s(Path(scratch, "here"), pages, ALL)
            sail = round_cpu_s(Path(scratch, "sail"), pages, NONE)
        print(ROW.format(f"{pages:,}", f"{here:.2f}", f"{sail:.2f}", f"{here / sail:.2f}"))
        slower = slower or (pages if here > sail else 0)
    with tempfile.TemporaryDirectory(prefix="small-") as scratch:
        sides = [Path(scratch, name) for name in ("here", "sail")]
        for side in sides:
            side.mkdir()
        (here, here_mb), (sail, sail_mb) = crawl(sides[0], ALL), crawl(sides[1], NONE)
    print(ROW.format("a crawl of three", f"{here:.2f}", f"{sail:.2f}", f"{here / sail:.2f}"))
    print(ROW.format("its MB", f"{here_mb:.0f}", f"{sail_mb:.0f}", f"{here_mb / sail_mb:.2f}"))
    report(f"this process is slower from {slower:,} pages on" if slower else "never slower here")


if __name__ == "__main__":
    main()
