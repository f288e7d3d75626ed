"""Does a page cost more the more pages a crawl has?

    python bench/growth.py [--pages 3_000 30_000] [--page-bytes 12_000]

`gossamer crawl` makes webs of about so many pages searchable, each from the start of its process to
its end. FakeWeb serves them, with 60 pages per host on average, and is not counted: its hosts are
the user's own, so there is no delay. Its pages are generated while the crawl waits for them.

Prints for each web: pages in the index, requests, wall and CPU seconds, CPU ms per page, and the
most memory of all processes at once (PSS). The figure is the CPU time per page in the largest web,
over that in the smallest.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from harness import Options, local_settings, report
from measuring import adopt_orphans, run_measured

from gossamer.fakeweb import FakeWeb, Web
from gossamer.fakeweb.link_mix import Mix
from gossamer.storage.backends import open_backend
from gossamer.storage.store import Store

OWN = {"fetch.own_hosts": ["*.test"], "filter.scope": "any"}
PAGES_PER_HOST = 60
HEADER = "   pages  requests   wall s    CPU s  CPU ms/page       MB"


def web_of(pages: int, page_bytes: int) -> Web:
    """A web of about so many pages."""
    return Web(
        hosts=max(2, pages // PAGES_PER_HOST),
        pages_per_host=PAGES_PER_HOST,
        page_bytes=page_bytes,
        mix=Mix.plain(),
    )


def measure(pages: int, page_bytes: int) -> float:
    """Crawl a web. Return the CPU ms per page."""
    web = web_of(pages, page_bytes)
    with tempfile.TemporaryDirectory(prefix="growth-") as crawl:
        with FakeWeb(web, log_path="/dev/null") as fake:
            Path(crawl, "gossamer.toml").write_text(local_settings(fake.address, OWN))
            program = str(Path(sys.executable).with_name("gossamer"))
            used = run_measured([program, "crawl", crawl, *web.seeds()], fake.pid)
        manifest = Store.open(open_backend(crawl)).manifest
        found = manifest.totals("documents").rows
        requests = manifest.totals("responses").rows
    each_ms = 1000 * used.cpu_s / found
    print(
        f"{found:8,}  {requests:8,} {used.wall_s:8.1f} {used.cpu_s:8.1f} {each_ms:12.2f} "
        f"{used.memory_bytes / 1e6:8.0f}",
        flush=True,
    )
    return each_ms


def main() -> None:
    reader = Options(__doc__, page_bytes=(12_000, 2_000))
    reader.add_argument("--pages", type=int, nargs="+", help="3000 30000; if tiny, 60 120")
    options = reader.read()
    adopt_orphans()
    print(HEADER)
    sizes = options.pages or ([60, 120] if options.tiny else [3_000, 30_000])
    costs = [measure(pages, options.page_bytes) for pages in sorted(sizes)]
    report(f"{costs[-1] / costs[0]:.2f} × the CPU time per page in the largest web")


if __name__ == "__main__":
    main()
