"""How fast is fakeweb? Pages generated and requests served per second, by page size.

    python bench/fakeweb.py

Pages are generated on one core in this process. Requests are served by a server in its own
process; raw asyncio clients in this one send one request after the other on each of 8 keep-alive
connections and take another core. `server µs` is the server's CPU time per request, which shows how
many requests one core could serve if the clients did not slow it down.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

import psutil
import uvloop

from gossamer.fakeweb import FakeWeb, Web

SIZES = (2_000, 20_000, 90_000)
CONNECTIONS = 8
PAGES = 1_500
HOST = "site-0.test"


class Client(asyncio.Protocol):
    """Requests its targets one after the other; finds the end of answers only by Content-Length."""

    def __init__(self, targets: list[str], done: asyncio.Future[None]) -> None:
        self.requests = [f"GET {t} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode() for t in targets]
        self.done = done
        self.left = -1
        self.head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        if self.requests:
            self.transport.write(self.requests.pop())  # type: ignore[attr-defined]
        else:
            self.transport.close()
            self.done.set_result(None)

    def data_received(self, data: bytes) -> None:
        if self.left < 0:
            self.head += data
            end = self.head.find(b"\r\n\r\n")
            if end < 0:
                return
            length = self.head.index(b"Content-Length: ") + 16
            body = int(self.head[length : self.head.index(b"\r\n", length)])
            self.left = body - (len(self.head) - end - 4)
            self.head = b""
        else:
            self.left -= len(data)
        if self.left == 0:
            self.left = -1
            self.ask()


async def ask_all(port: int, targets: list[str]) -> float:
    loop = asyncio.get_running_loop()
    futures = []
    start_s = time.perf_counter()
    for first in range(CONNECTIONS):
        done: asyncio.Future[None] = loop.create_future()
        mine = targets[first::CONNECTIONS]
        await loop.create_connection(lambda m=mine, d=done: Client(m, d), "127.0.0.1", port)
        futures.append(done)
    await asyncio.gather(*futures)
    return time.perf_counter() - start_s


def generated(page_bytes: int) -> tuple[float, float]:
    """Return the bytes and seconds per page, the best of three runs."""
    best_s, size = 1e9, 0.0
    for _ in range(3):
        web = Web(pages_per_host=PAGES / 10, page_bytes=page_bytes, cache_bytes=0)
        targets = [url.removeprefix(f"http://{HOST}") for url in web.urls(HOST)][:PAGES]
        for target in targets[:200]:
            web.answer(HOST, target)
        start_s = time.process_time()
        size = sum(len(web.answer(HOST, target).body) for target in targets) / len(targets)
        best_s = min(best_s, (time.process_time() - start_s) / len(targets))
    return size, best_s


def served(web: Web, targets: list[str], *, warm: bool) -> tuple[float, float]:
    """Return requests per second, and the server's CPU seconds per request."""
    with FakeWeb(web, log_path=Path("/dev/null")) as fake:
        server = psutil.Process(fake.pid)
        if warm:
            uvloop.run(ask_all(fake.port, targets))
        before_s = sum(server.cpu_times()[:2])
        took_s = uvloop.run(ask_all(fake.port, targets))
        cpu_s = sum(server.cpu_times()[:2]) - before_s
    return len(targets) / took_s, cpu_s / len(targets)


def main() -> None:
    print("page bytes | generate µs | first requests/s | cached requests/s | server µs, cached")
    print("---|---|---|---|---")
    for page_bytes in SIZES:
        size, generate_s = generated(page_bytes)
        web = Web(pages_per_host=PAGES / 10, page_bytes=page_bytes, cache_bytes=1 << 30)
        targets = [url.removeprefix(f"http://{HOST}") for url in web.urls(HOST)][:PAGES]
        cold, _ = served(web, targets, warm=False)
        cached, cpu_s = served(web, targets * 6, warm=True)
        figures = f"{cold:,.0f} | {cached:,.0f} | {cpu_s * 1e6:.0f}"
        print(f"{size:,.0f} | {generate_s * 1e6:.0f} | {figures}")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "page.html").write_bytes(20_000 * b"x")
        rate, cpu_s = served(Web(docs={HOST: folder}), 9_000 * ["/page.html"], warm=True)
    print(f"a file of 20,000 bytes: {rate:,.0f}/s, server {cpu_s * 1e6:.0f} µs")


if __name__ == "__main__":
    main()
