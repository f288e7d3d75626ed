"""Does the memory of a fetch grow with the WARC file that it writes to object storage?

    python -m tests.support.archive_memory [--mb 2100] [--body-mb 4]

A crawl on a server of S3 (SeaweedFS) on loopback fetches so many megabytes of bodies, each random,
so that compression does not shrink them, into one WARC file. Prints the size of the file, and the
peak memory of the task by quarters of its time. Exits with 1 if that of the last quarter is more
than 5 % above that of the second one. In the first, the parts of the upload fill their buffers.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil

from gossamer import Crawl, fetch
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.schedule import generate
from gossamer.storage import places
from gossamer.storage.objects import bucket
from tests.support.crawl_settings import loopback_settings
from tests.support.object_store import BUCKET, object_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MB = 1_000_000
HOSTS = 4
MAX_GROWTH = 0.05
LOOK_S = 0.1
QUARTERS = 4


class Handler(BaseHTTPRequestHandler):
    """Answers each path with random bytes of its own."""

    protocol_version = "HTTP/1.1"

    def __init__(self, size: int, *args: object) -> None:
        self._size = size
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        is_page = self.path.startswith("/page/")
        body = np.random.default_rng(list(self.path.encode())).bytes(self._size)
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body) if is_page else 0))
        self.end_headers()
        if is_page:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def web(body_mb: int) -> Iterator[str]:
    """A server on loopback; yields its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, body_mb * MB))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def watched(step: Callable[[], object]) -> list[float]:
    """Run a step; the peak MB of its task in each quarter of the time."""
    seen: list[float] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(LOOK_S):
            seen.append(largest_child_mb())

    with ThreadPoolExecutor(1) as thread:
        thread.submit(look)
        try:
            step()
        finally:
            ended.set()
    return [float(part.max()) for part in np.array_split(seen, QUARTERS)]


def largest_child_mb() -> float:
    """The resident memory of the largest worker process."""
    found = [0]
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "python" in child.name():
                found.append(child.memory_info().rss)
    return max(found) / MB


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mb", type=int, default=2_100)
    parser.add_argument("--body-mb", type=int, default=4)
    options = parser.parse_args()
    pages = options.mb // options.body_mb
    settings = f"fetch.warc_mb = {2 * options.mb}\ngenerate.pages_per_host = {pages}\n"
    with (
        tempfile.TemporaryDirectory(prefix="archive-memory-") as folder,
        object_store(Path(folder, "s3"), "-volume.max=200") as environment,
        web(options.body_mb) as address,
    ):
        os.environ.update(environment | {places.CACHE: f"{folder}/cache"})
        os.environ.update(bucket.variables_of_engine(os.environ))
        root = f"s3://{BUCKET}/crawl"
        with (
            Engine(EngineConfig(workers=1)) as engine,
            Crawl.create(root, loopback_settings(address, settings), engine=engine) as crawl,
        ):
            crawl.inject(f"http://host{n % HOSTS}.test/page/{n}" for n in range(pages))
            generate.run(crawl.work)
            peaks = watched(partial(fetch.run, crawl.work))
            archive = [file for file in crawl.work.store.files("warc") if file.path.endswith(".gz")]
    sizes = ", ".join(f"{file.bytes / MB:,.0f} MB" for file in archive)
    print(f"{pages} pages of {options.body_mb} MB in {len(archive)} file: {sizes}")
    print("peak MB by quarter:", *(f"{peak:.0f}" for peak in peaks))
    growth = peaks[-1] / peaks[1] - 1
    print(f"from the second to the last: {growth:+.1%}")
    return 0 if growth < MAX_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
