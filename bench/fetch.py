"""How much slower than its HTTP client is the fetcher? Pages per second of CPU, one process.

    python bench/fetch.py [pages]

The peer is aiohttp itself: it gets the same pages of fakeweb, over as many connections, and
throws them away. The fetcher also keeps frontier and robots.txt, hashes, compresses and writes.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pyarrow as pa
import pyarrow.parquet as pq
import uvloop

from gossamer.config import FetchConfig
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fetch.task import Part, fetch_part
from gossamer.tables import FETCHLIST
from gossamer.urls import UrlRules, host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOSTS = 200


def bare(urls: Sequence[str], address: str) -> None:
    hosts: dict[str, list[str]] = {}
    for url in urls:
        hosts.setdefault(host_of(url), []).append(url)

    async def one(session: aiohttp.ClientSession, host: str) -> None:
        for url in hosts[host]:
            path = url.split("/", 3)[3]
            async with session.get(f"http://{address}/{path}", headers={"Host": host}) as answer:
                await answer.read()

    async def everyone() -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            await asyncio.gather(*(one(session, host) for host in hosts))

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(everyone())


def whole(urls: Sequence[str], address: str) -> None:
    config = FetchConfig(
        delay_s=0,
        delay_factor=0,
        address_delay_s=0,
        allow_networks=("127.0.0.0/8",),
        resolve={"*.test": address},
    )
    blank = {"round": 1, "part": 0, "score": 1.0, "depth": 0, "hops": 0, "fetches": 0}
    blank |= {"asked": False}
    rows = [blank | {"url": url, "host": host_of(url)} for url in urls]
    with tempfile.TemporaryDirectory() as root:
        path = Path(root, "fetchlist.parquet")
        pq.write_table(pa.Table.from_pylist(rows, schema=FETCHLIST.schema), path)
        attempts = ("responses/1", "warc/1")
        fetch_part(Part(root, 1, 0, (str(path),), config, UrlRules(), attempts))


def cpu_ms(run: Callable[[Sequence[str], str], None], urls: Sequence[str], address: str) -> float:
    started_s = time.process_time()
    run(urls, address)
    return (time.process_time() - started_s) * 1000 / len(urls)


def main(pages: int) -> None:
    print("page bytes  fetcher ms  aiohttp ms  ratio  fetcher pages/s")
    for size in (20_000, 90_000):
        web = Web(
            hosts=HOSTS,
            pages_per_host=pages / HOSTS,
            page_bytes=size,
            mix=Mix.plain(),
            cache_bytes=1 << 30,
        )
        urls = [url for host in web.hosts() for url in web.urls(host)]
        with FakeWeb(web, warm=len(urls)) as fake:
            bare(urls, fake.address)  # the web makes its pages when they are first asked for
            ours, theirs = cpu_ms(whole, urls, fake.address), cpu_ms(bare, urls, fake.address)
        print(
            f"{size:10,}  {ours:10.3f}  {theirs:10.3f}  {ours / theirs:5.2f}  {1000 / ours:15,.0f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4_000)
