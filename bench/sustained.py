"""How many pages a second does a crawl without end make searchable, and in how much memory?

    python bench/sustained.py [--pages 100_000] [--minutes 60] [--page-bytes 12_000]

`gossamer crawl --forever --serve` crawls the web of growth.py, and makes pages searchable while it
fetches others, until it has all of about PAGES pages, or until MINUTES are over. FakeWeb is not
counted, but shares the cores.

Prints for each quarter of the time: pages that became searchable, a second; CPU ms for each; and
the most memory of all processes at once (PSS). Then the same for the whole time.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil
from crawl_memory import MB, NOTHING, look
from growth import OWN, web_of
from harness import Options, local_settings, report
from measuring import adopt_orphans, tree_cpu_s

from gossamer.errors import NotACrawl
from gossamer.fakeweb import FakeWeb
from gossamer.storage.backends import open_backend
from gossamer.storage.store import Store

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

LOOK_S = 1.0
SLOTS = 4
ALL = 0.995
"""The share of the pages at which the script ends."""
HEADER = "   until s      pages  pages/s  CPU ms/page       MB"


class Seen(NamedTuple):
    at_s: float
    pages: int
    """Searchable ones."""
    cpu_s: float
    memory_bytes: int


def looks(process: subprocess.Popen[bytes], crawl: str, without: int) -> Iterator[Seen]:
    """What a crawl has done, once in LOOK_S while it runs."""
    began_s = time.perf_counter()
    while process.poll() is None:
        memory = look(process.pid).get("all", NOTHING).all
        now_s = time.perf_counter() - began_s
        cpu_s = tree_cpu_s(without) - sum(psutil.Process().cpu_times()[:2])
        yield Seen(now_s, searchable(crawl), cpu_s, memory)
        time.sleep(LOOK_S)
    raise SystemExit(f"the crawl ended with {process.returncode}")


def searchable(crawl: str) -> int:
    with suppress(NotACrawl):  # it has not begun yet
        manifest = Store.open(open_backend(crawl)).manifest
        return manifest.totals("indexed").rows if manifest.layers("indexed") else 0
    return 0


def measure(options: argparse.Namespace, crawl: str) -> list[Seen]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    web = web_of(options.pages, options.page_bytes)
    with FakeWeb(web, log_path="/dev/null") as fake:
        settings = local_settings(fake.address, {**OWN, "serve.port": port})
        Path(crawl, "gossamer.toml").write_text(settings)
        program = str(Path(sys.executable).with_name("gossamer"))
        command = [program, "crawl", crawl, "--forever", "--serve", *web.seeds()]
        found: list[Seen] = []
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                for seen in looks(process, crawl, fake.pid):
                    found.append(seen)
                    if seen.at_s > 60 * options.minutes or seen.pages >= ALL * web.size():
                        break
            finally:
                process.send_signal(signal.SIGTERM)
    return found


def row(seen: Sequence[Seen]) -> str:
    """What happened between the first and the last look."""
    first, last = seen[0], seen[-1]
    pages, seconds = last.pages - first.pages, last.at_s - first.at_s
    each_ms = 1000 * (last.cpu_s - first.cpu_s) / max(pages, 1)
    most_mb = max(each.memory_bytes for each in seen) / MB
    rate = pages / max(seconds, LOOK_S)
    return f"{last.at_s:10.0f} {pages:10,} {rate:8.0f} {each_ms:12.2f} {most_mb:8.0f}"


def main() -> None:
    options = Options(
        __doc__, pages=(100_000, 60), minutes=(60.0, 0.5), page_bytes=(12_000, 2_000)
    ).read()
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="sustained-") as crawl:
        seen = measure(options, crawl)
    print(HEADER)
    size = -(-len(seen) // SLOTS)
    for begin in range(0, len(seen), size):
        print(row(seen[max(begin - 1, 0) : begin + size]))
    print(f"all:\n{row(seen)}")
    last = seen[-1]
    each_ms = 1000 * last.cpu_s / max(last.pages, 1)
    report(f"{last.pages / last.at_s:.0f} searchable pages a second, {each_ms:.1f} CPU ms for each")


if __name__ == "__main__":
    main()
