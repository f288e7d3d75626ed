"""Where does the processor time of a whole crawl go, by step, process and thread?

    python bench/crawl_cpu.py [--manual FOLDER]

`gossamer crawl` makes a manual searchable, from the start of its process to its end. FakeWeb serves
the manual as a host of the user's own, so there is no delay, and is not counted. The CPU time of
each thread of its processes (schedstat of proc(5)) is read PER_S times a second, and counts
to the step that runs then. What a thread does between the last look and its end is lost, and so are
processes that end meanwhile: the last line has the time that the kernel counted for all of them.

Rows: the main thread of the driver, the threads of the embedded engine, other threads of the driver
; the servers from which the others are forked, with what they import; the worker processes, with
tantivy's writing threads apart; and the parsers. Columns: the steps. `none` is before, after
and between them.
"""

from __future__ import annotations

import compileall
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from harness import Options, local_settings, manual, report
from measuring import adopt_orphans, children_s, reap_orphans

import gossamer as package
from gossamer.fakeweb import FakeWeb, Web
from gossamer.flow.rounds import HARVEST, ROUND
from gossamer.storage.backends import open_backend
from gossamer.storage.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.storage.manifest import StepReport

HOST = "manual.test"
OWN = {"fetch.own_hosts": ["*.test"], "filter.scope": "host"}
PER_S = 20
KINDS = {"tokio": "engine", "thrd-tantivy": "tantivy"}
"""Beginnings of the names of threads."""
OWNERS = {"gossamer-worker": "worker", "gossamer-forks": "servers"}
"""Names of processes (fork_server.py)."""
STEPS = ("none", "inject", *ROUND, *HARVEST)


def watched(command: Sequence[str]) -> list[tuple[float, str, float]]:
    """Run a command. Return (time, process and thread, CPU seconds since the last look)."""
    found = []
    seen: dict[tuple[int, str], float] = {}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            now_s = time.time()
            for pid, thread, kind, cpu_s in threads(process.pid):
                spent_s = cpu_s - seen.get((pid, thread), 0)
                seen[pid, thread] = cpu_s
                if spent_s:
                    found.append((now_s, kind, spent_s))
            time.sleep(1 / PER_S)
        if process.returncode:
            raise SystemExit(process.returncode)
    return found


def threads(root: int) -> Iterator[tuple[int, str, str, float]]:
    """The threads of a process and its descendants: process, thread, kind and CPU seconds."""
    with suppress(psutil.NoSuchProcess):
        driver = psutil.Process(root)
        for process in (driver, *driver.children(recursive=True)):
            with suppress(OSError, psutil.NoSuchProcess):
                owner = "driver" if process == driver else OWNERS.get(process.name(), "parser")
                for folder in Path(f"/proc/{process.pid}/task").iterdir():
                    name = (folder / "comm").read_text()
                    kind = next((KINDS[each] for each in KINDS if name.startswith(each)), "other")
                    is_main = folder.name == str(process.pid)
                    cpu_ns = int((folder / "schedstat").read_text().split()[0])
                    what = f"{owner}: {'main' if is_main else kind}"
                    yield process.pid, folder.name, what, cpu_ns / 1e9


def table(
    found: Sequence[tuple[float, str, float]], reports: Sequence[StepReport]
) -> Iterator[str]:
    """CPU seconds by kind of thread and step; the seconds that the steps took, and their runs."""
    spent: defaultdict[tuple[str, str], float] = defaultdict(float)
    walls: defaultdict[str, float] = defaultdict(float)
    ran = [(each.started_ms / 1000, each.seconds, each.step) for each in reports]
    for at_s, kind, cpu_s in found:
        middle_s = at_s - 0.5 / PER_S
        step = next((name for start, s, name in ran if start <= middle_s <= start + s), "none")
        for key in ((kind, step), (kind, "all"), ("all", step), ("all", "all")):
            spent[key] += cpu_s
    runs = Counter(each.step for each in reports)
    for _, seconds, name in ran:
        walls[name] += seconds
    columns = (*STEPS, "all")
    yield f"{'CPU s':16}" + "".join(f"{each:>9}" for each in columns)
    for kind in (*sorted({kind for kind, _ in spent} - {"all"}), "all"):
        yield f"{kind:16}" + "".join(f"{spent[kind, each]:9.2f}" for each in columns)
    yield f"{'wall s':16}" + "".join(f"{walls[each]:9.2f}" for each in STEPS)
    yield f"{'runs':16}" + "".join(f"{runs[each]:9}" for each in STEPS)


def main() -> None:
    options = Options(__doc__).read()
    adopt_orphans()
    compileall.compile_dir(package.__path__[0], quiet=1)
    gossamer = str(Path(sys.executable).with_name("gossamer"))
    with tempfile.TemporaryDirectory(prefix="crawl-cpu-") as scratch:
        folder, crawl = manual(options, scratch), Path(scratch, "crawl")
        crawl.mkdir()
        with FakeWeb(Web(hosts=0, docs={HOST: folder}), log_path="/dev/null") as fake:
            (crawl / "gossamer.toml").write_text(local_settings(fake.address, OWN))
            began_s, before_s = time.perf_counter(), children_s()
            found = watched([gossamer, "crawl", str(crawl), f"http://{HOST}/"])
            wall_s = time.perf_counter() - began_s
            reap_orphans(fake.pid)
            cpu_s = children_s() - before_s
        manifest = Store.open(open_backend(str(crawl))).manifest
        pages, history = manifest.totals("documents").rows, manifest.history
    print(folder, *table(found, history), sep="\n")
    print(f"{wall_s:.1f} s, {cpu_s:.1f} s of CPU in all processes, {pages:,} pages")
    report(f"{1000 * cpu_s / pages:.1f} ms of CPU per page")


if __name__ == "__main__":
    main()
