"""How much memory does a whole crawl take, in which step, and in which of its processes?

    python bench/crawl_memory.py [--manual FOLDER]

`gossamer crawl` makes a manual searchable, and three generated pages, each from the start of its
process to its end, as in peers.py. The memory of each of its processes is read PER_S times a second
(smaps_rollup of proc(5)) as PSS: what processes share counts once in the sum of all.

Rows: the process that crawls; the servers from which the others are forked, with what they import;
workers, which fetch, parse and index; and parsers. Columns: the most MB in each step, where `none`
is before, after and between them. The last lines say of what the memory consists at the peak of
all processes: `anonymous` is what they allocated, the rest are files, mostly libraries.
"""

from __future__ import annotations

import compileall
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil
from harness import Options, generate_manual, manual, report
from loopback_host import serve
from measuring import adopt_orphans, children_s, reap_orphans
from peers import gossamer

import gossamer as package
from gossamer.flow.rounds import HARVEST, ROUND
from gossamer.storage.backends import open_backend
from gossamer.storage.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.storage.manifest import StepReport

PER_S = 10
OWNERS = {
    "gossamer-worker": "workers",
    "gossamer-forks": "servers",
    "gossamer-parser": "parsers",
}
"""Names of processes (fork_server.py)."""
KINDS = ("driver", "servers", "workers", "parsers", "all")
STEPS = ("none", "inject", *ROUND, *HARVEST)
MB = 1_000_000


class Memory(NamedTuple):
    """PSS of the processes of a kind, in bytes."""

    all: int
    anonymous: int
    processes: int = 1

    def plus(self, other: Memory) -> Memory:
        return Memory(*(a + b for a, b in zip(self, other, strict=True)))


NOTHING = Memory(0, 0, 0)
Look = tuple[float, dict[str, Memory]]


def watched(command: Sequence[str]) -> list[Look]:
    """Run a command. Return (time, memory by kind of process) of each look at it."""
    found = []
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            found.append((time.time(), look(process.pid)))
            time.sleep(1 / PER_S)
        if process.returncode:
            raise SystemExit(process.returncode)
    return found


def look(root: int) -> dict[str, Memory]:
    memory: defaultdict[str, Memory] = defaultdict(lambda: NOTHING)
    with suppress(psutil.NoSuchProcess):
        driver = psutil.Process(root)
        for process in (driver, *driver.children(recursive=True)):
            with suppress(OSError, psutil.NoSuchProcess):
                kind = "driver" if process == driver else OWNERS.get(process.name(), "servers")
                taken = memory_of(process.pid)
                memory[kind] = memory[kind].plus(taken)
                memory["all"] = memory["all"].plus(taken)
    return dict(memory)


def memory_of(pid: int) -> Memory:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {
        name: 1024 * int(kilobytes.split()[0])
        for name, kilobytes in (line.split(":") for line in lines)
    }
    return Memory(sizes["Pss"], sizes["Pss_Anon"])


def by_step(looks: Sequence[Look], reports: Sequence[StepReport]) -> Iterator[str]:
    """The most MB of each kind of process in each step."""
    most: Counter[tuple[str, str]] = Counter()
    for at_s, memory in looks:
        for kind, taken in memory.items():
            for key in ((kind, step_at(at_s, reports)), (kind, "all")):
                most[key] = max(most[key], taken.all)
    columns = (*STEPS, "all")
    yield f"{'MB of PSS':10}" + "".join(f"{each[:10]:>11}" for each in columns)
    for kind in KINDS:
        yield f"{kind:10}" + "".join(f"{most[kind, each] / MB:11.0f}" for each in columns)


def at_peak(looks: Sequence[Look], reports: Sequence[StepReport]) -> Iterator[str]:
    """What each kind of process had when all of them had most."""
    at_s, memory = max(looks, key=lambda look: look[1].get("all", NOTHING))
    yield f"the peak is in {step_at(at_s, reports)}:"
    for kind in KINDS:
        taken = memory.get(kind, NOTHING)
        yield (
            f"  {kind:8}{taken.all / MB:6.0f} MB in {taken.processes} processes, "
            f"anonymous {taken.anonymous / MB:.0f}"
        )


def step_at(at_s: float, reports: Sequence[StepReport]) -> str:
    began = ((each.started_ms / 1000, each.seconds, each.step) for each in reports)
    return next((name for start, s, name in began if start <= at_s <= start + s), "none")


def measure(folder: Path) -> float:
    """Print the tables of a manual. Return the most MB at once."""
    with tempfile.TemporaryDirectory(prefix="crawl-memory-") as crawl, serve(folder) as host:
        before_s, began_s = children_s(), time.perf_counter()
        looks = watched(gossamer(host.url, Path(crawl)))
        wall_s = time.perf_counter() - began_s
        reap_orphans(host.pid)
        cpu_s = children_s() - before_s
        manifest = Store.open(open_backend(crawl)).manifest
        pages, history = manifest.totals("documents").rows, manifest.history
    print(f"\n{folder}: {pages:,} pages, {wall_s:.1f} s, {cpu_s:.1f} CPU s")
    print(*by_step(looks, history), *at_peak(looks, history), sep="\n", flush=True)
    return max(memory["all"].all for _, memory in looks if memory) / MB


def main() -> None:
    options = Options(__doc__).read()
    adopt_orphans()
    compileall.compile_dir(package.__path__[0], quiet=1)
    with tempfile.TemporaryDirectory(prefix="crawl-memory-") as scratch:
        few = generate_manual(Path(scratch, "few"), pages=3)
        most = [measure(each) for each in (few, manual(options, scratch))]
    report(f"{most[1]:.0f} MB of memory (PSS) at most, and {most[0]:.0f} for three pages")


if __name__ == "__main__":
    main()
