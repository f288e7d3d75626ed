"""How much memory does a crawl without end take while nothing is due?

    python bench/idle_memory.py [--manual FOLDER]

`gossamer crawl --forever --serve` makes a manual searchable, with the settings of peers.py, and
then waits. The memory of its processes is PSS, as in crawl_memory.py. It is read once a second
until it has been the same, within CALM_MB, for CALM_S: the search page opens the new index, and
processes end. Prints what they have then: `driver` is the first process; `servers` are the search
page, its processes, and the process that crawls, if there is one.
"""

from __future__ import annotations

import json
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

from crawl_memory import MB, NOTHING, look
from harness import Options, manual, report
from loopback_host import serve
from measuring import adopt_orphans
from peers import gossamer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawl_memory import Look

CALM_MB, CALM_S = 2, 10


def lines_until_wait(process: subprocess.Popen[str]) -> None:
    """Read what the crawl reports until it waits, and go on reading in a thread."""
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line).get("event") == "wait":
            break
    else:
        raise SystemExit(f"the crawl ended with {process.wait()}")
    threading.Thread(target=process.stdout.read, daemon=True).start()


def looks(process: subprocess.Popen[str]) -> Iterator[Look]:
    """The memory of all processes, once a second until it has become calm."""
    calm_since_s, before = time.time(), 0
    while time.time() - calm_since_s < CALM_S:
        at_s, memory = time.time(), look(process.pid)
        yield at_s, memory
        now = memory.get("all", NOTHING).all
        if abs(now - before) > CALM_MB * MB:
            calm_since_s, before = at_s, now
        time.sleep(1)


def measure(folder: Path, crawl: Path) -> float:
    """Crawl a manual, print the memory while nothing is due, and return it in MB."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with serve(folder) as host:
        command = gossamer(host.url, crawl)
        with (crawl / "gossamer.toml").open("a") as settings:
            settings.write(f"\nserve.port = {port}\n")
        with subprocess.Popen(
            [*command, "--forever", "--serve", "--json"], stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                lines_until_wait(process)
                urlopen(f"http://127.0.0.1:{port}/?q=list", timeout=60).close()
                *_, (_, idle) = looks(process)
            finally:
                process.terminate()
    for kind, taken in sorted(idle.items()):
        print(f"{kind:8}{taken.all / MB:6.0f} MB in {taken.processes} processes")
    return idle["all"].all / MB


def main() -> None:
    options = Options(__doc__).read()
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="idle-memory-") as scratch:
        crawl = Path(scratch, "crawl")
        crawl.mkdir()
        idle_mb = measure(manual(options, scratch), crawl)
    report(f"{idle_mb:.0f} MB of memory (PSS) while nothing is due")


if __name__ == "__main__":
    main()
