"""How fast is a site of one's own crawled, beside a stranger's, and beside bare aiohttp?

    python bench/own.py [--pages 2000] [--bytes 20000] [--repeat 3]

One host of a fakeweb on loopback, which runs in its own process and has generated its pages before.
With the default politeness only a few pages are fetched, because each takes a second. Bare aiohttp
stores nothing, does not request robots.txt, and uses the same number of connections: this is the
speed that server and network permit. The fastest of `repeat` runs counts; compare figures only
within one table.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from itertools import islice
from typing import TYPE_CHECKING

import aiohttp
from politeness import fetch

from gossamer.config import FetchConfig
from gossamer.fakeweb import FakeWeb, Mix, Web

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FEW = 8
"""Pages fetched with the default delay of one second."""


def gossamer(config: FetchConfig) -> Callable[[str, Sequence[str]], int]:
    def run(host: str, urls: Sequence[str]) -> int:
        with tempfile.TemporaryDirectory() as root:
            return fetch(root, {host: list(urls)}, config)["ok"]

    return run


def bare(address: str, connections: int) -> Callable[[str, Sequence[str]], int]:
    async def ask(session: aiohttp.ClientSession, host: str, todo: list[str]) -> int:
        done = 0
        while todo:
            url = todo.pop().replace(host, address)
            async with session.get(url, headers={"Host": host}) as response:
                await response.read()
                done += response.status == 200
        return done

    async def run(host: str, urls: Sequence[str]) -> int:
        todo = list(urls)
        connector = aiohttp.TCPConnector(limit=connections)
        async with aiohttp.ClientSession(connector=connector) as session:
            asking = (ask(session, host, todo) for _ in range(connections))
            return sum(await asyncio.gather(*asking))

    return lambda host, urls: asyncio.run(run(host, urls))


def pages_per_s(
    run: Callable[[str, Sequence[str]], int], host: str, urls: Sequence[str], repeat: int
) -> float:
    best = 0.0
    for _ in range(repeat):
        began_s = time.monotonic()
        done = run(host, urls)
        assert done == len(urls), f"{len(urls) - done} pages were missed"
        best = max(best, done / (time.monotonic() - began_s))
    return best


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--bytes", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    web = Web(
        hosts=1,
        pages_per_host=8 * options.pages,
        page_bytes=options.bytes,
        mix=Mix.plain(),
        cache_bytes=4 << 30,
    )
    (host,) = web.hosts()
    urls = list(islice(web.urls(host), options.pages))
    assert len(urls) == options.pages, f"the host has only {len(urls)} pages"
    with FakeWeb(web, log_path="/dev/null") as fake:
        local = {"allow_networks": ("127.0.0.0/8",), "resolve": {host: fake.address}}
        bare(fake.address, 8)(host, urls)  # the web generates pages on their first request
        default = gossamer(FetchConfig(**local))
        rows = [("default", 1, pages_per_s(default, host, urls[:FEW], 1))]
        for connections in (1, 8, 32):
            own = FetchConfig(own=(host,), own_connections=connections, **local)
            speed = pages_per_s(gossamer(own), host, urls, options.repeat)
            rows.append(("own", connections, speed))
            ideal = pages_per_s(bare(fake.address, connections), host, urls, options.repeat)
            rows.append(("aiohttp", connections, ideal))
    print(f"{options.pages:,} pages of {options.bytes / 1000:.0f} KB")
    print("           connections  pages/s")
    for name, connections, speed in rows:
        print(f"{name:>9}{connections:13}{speed:10,.1f}")


if __name__ == "__main__":
    main()
