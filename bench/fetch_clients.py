"""The clients in bench/fetch.py. Each takes the pages of its process and returns a `run` function.

All of them keep connections alive and have one open request per host, like the frontier, except
Scrapy, which is faster with more. aiohttp, libcurl and Scrapy read the pages and discard them.
`gossamer` is a fetch task as users run it: fetch list, robots.txt, frontier, limits, digests, WARC
with its index, rows, hosts. `run` returns the number of complete pages.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import deque
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[], int]
    Hosts = dict[str, list[str]]


def gossamer(hosts: Hosts, address: str) -> Run:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from gossamer.config import FetchConfig
    from gossamer.fetch.fetch_part import FetchPart
    from gossamer.fetch.fetch_task import fetch_part
    from gossamer.storage.task_output import counts_of
    from gossamer.tables import FETCHLIST
    from gossamer.web.urls import UrlRules

    config = FetchConfig(
        delay_s=0,
        delay_factor=0,
        address_delay_s=0,
        allow_networks=("127.0.0.0/8",),
        host_overrides={"*.test": address},
    )
    blank = {"round": 1, "part": 0, "depth": 0, "hops": 0, "fetches": 0, "asked": False}
    rows = [
        blank | {"url": url, "host": host, "score": 1 / (1 + place)}
        for host, urls in hosts.items()
        for place, url in enumerate(urls)
    ]
    root = tempfile.TemporaryDirectory(prefix="fetch-")
    path = Path(root.name, "fetchlist.parquet")
    pq.write_table(pa.Table.from_pylist(rows, schema=FETCHLIST.schema), path)
    attempts = ("responses/1", "warc/1", "scratch/1", "hosts/1")
    part = FetchPart(root.name, 1, 0, (str(path),), (), config, UrlRules(), attempts, 0)

    def run() -> int:
        counts = counts_of(fetch_part(part))
        root.cleanup()
        return counts["ok"]

    return run


def aiohttp(hosts: Hosts, address: str) -> Run:
    from http import HTTPStatus

    import uvloop
    from aiohttp import ClientSession, TCPConnector

    async def one(session: ClientSession, host: str) -> int:
        whole = 0
        for url in hosts[host]:
            place = f"http://{address}/{url.split('/', 3)[3]}"
            async with session.get(place, headers={"Host": host}) as answer:
                body = await answer.read()
                whole += answer.status == HTTPStatus.OK and bool(body)
        return whole

    async def everyone() -> int:
        async with ClientSession(connector=TCPConnector(limit=0)) as session:
            return sum(await asyncio.gather(*(one(session, host) for host in hosts)))

    def run() -> int:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(everyone())

    return run


def libcurl(hosts: Hosts, address: str) -> Run:
    """The multi interface of libcurl, by pycurl, with one handle per host."""
    import pycurl

    def ask(handle: pycurl.Curl, left: deque[str]) -> BytesIO:
        handle.setopt(pycurl.URL, left.popleft())
        handle.setopt(pycurl.WRITEDATA, body := BytesIO())
        return body

    def run() -> int:
        multi, whole, open_ = pycurl.CurlMulti(), 0, len(hosts)
        multi.setopt(pycurl.M_MAXCONNECTS, len(hosts))
        asked: dict[pycurl.Curl, tuple[deque[str], BytesIO]] = {}
        for urls in hosts.values():
            handle, left = pycurl.Curl(), deque(urls)
            handle.setopt(pycurl.CONNECT_TO, [f"::{address}"])
            asked[handle] = left, ask(handle, left)
            multi.add_handle(handle)
        while open_:
            multi.perform()
            _, ended, failed = multi.info_read()
            for handle in (*ended, *(each[0] for each in failed)):
                left, body = asked[handle]
                whole += handle.getinfo(pycurl.RESPONSE_CODE) == 200 and bool(body.getvalue())
                multi.remove_handle(handle)
                if left:
                    asked[handle] = left, ask(handle, left)
                    multi.add_handle(handle)
                else:
                    open_ -= 1
            if not ended:
                multi.select(1.0)
        return whole

    return run


def scrapy(hosts: Hosts, address: str) -> Run:
    """Scrapy without robots.txt and cookies. URLs alternate between hosts: it keeps their order."""
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy_spider import FAST

    os.environ["http_proxy"] = f"http://{address}"  # the names are not in the DNS
    urls = [url for row in zip_longest(*hosts.values()) for url in row if url is not None]
    done = {"whole": 0}

    class Reader(scrapy.Spider):
        name = "reader"
        start_urls = urls

        def parse(self, response: Any) -> None:
            done["whole"] += bool(response.body)

    process = CrawlerProcess(FAST | {"ROBOTSTXT_OBEY": False})

    def run() -> int:
        process.crawl(Reader)
        process.start()
        return done["whole"]

    return run
