"""How soon can news be found, and how many requests does that take?

    python bench/freshness.py [--minutes 60] [--sites 40] [--a-minute 5] [--warm 3] [--set LINE]

SITES news sites on loopback, each with an address of its own, a home page, a feed of its newest 20
items, and the items. They publish A_MINUTE items a minute each, at random moments (a Poisson
process, the same in each run). Feeds and home pages have an ETag, so that a conditional request is
answered with 304 if nothing has changed.

The crawl is the command `gossamer crawl --forever --serve`, with the default settings, except for
the addresses of hosts and the port of the search page. Once a second, the script searches for the
items that it has not found yet, and asks for the feed of a query that all items match.

Prints, for the items that were published from WARM minutes on: the seconds from publication until
the page was requested, until an answer contained the item, and until the feed did; and the share of
requests in vain, for a page that had not changed since the last request for it. The servers and the
queries share the machine's cores with the crawl.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_right
from collections import Counter
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.request import Request, urlopen

import numpy as np
from harness import Options, default_settings, report

from gossamer.fakeweb.prose import prose
from gossamer.fakeweb.seeded_random import stream

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Iterable

    Served = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

LISTED = 20
"""Items in a feed and on a home page."""
SLOT_S = 10
"""Items published within this time share a word, so that one query finds all of them."""
LOOK_S = 1.0
SENTENCES = 16
GIVE_UP_S = 300
"""Items that were not found by then are not asked for any more, and count as so late."""


class Item(NamedTuple):
    site: int
    number: int
    published_s: float

    @property
    def path(self) -> str:
        return f"/news/{self.number}.html"

    @property
    def url(self) -> str:
        return f"http://site{self.site}.test{self.path}"

    @property
    def title(self) -> str:
        return f"Story {self.number} of site {self.site}"

    @property
    def slot(self) -> int:
        return int(self.published_s // SLOT_S)


class Site:
    """A site: what it answers at any time, in seconds since the web began."""

    def __init__(self, number: int, a_minute: float, seconds: float) -> None:
        draw = stream(1, f"site {number}")
        self.items: list[Item] = []
        at_s = -60 * LISTED / a_minute  # so that the feed is full in the beginning
        while (at_s := at_s + draw.expovariate(a_minute / 60)) < seconds:
            self.items.append(Item(number, len(self.items), at_s))
        self._times = [item.published_s for item in self.items]

    def answer(self, path: str, now_s: float) -> tuple[str, str, str] | None:
        """The version, media type and text of a path; None if nothing is there now."""
        count = bisect_right(self._times, now_s)
        newest = self.items[max(0, count - LISTED) : count][::-1]
        if path == "/feed.xml":
            return str(count), "application/rss+xml", feed(newest)
        if path == "/":
            return str(count), "text/html", home(newest)
        name = path.removeprefix("/news/").removesuffix(".html")
        if name.isdecimal() and int(name) < count:
            return "whole", "text/html", page(self.items[int(name)])
        return None


def feed(items: Iterable[Item]) -> str:
    entries = "".join(
        f"<item><title>{item.title}</title><link>{item.url}</link>"
        f"<pubDate>{formatdate(BEGAN_S + item.published_s)}</pubDate></item>"
        for item in items
    )
    return f'<rss version="2.0"><channel><title>News</title>{entries}</channel></rss>'


def home(items: Iterable[Item]) -> str:
    links = "".join(f'<li><a href="{item.url}">{item.title}</a></li>' for item in items)
    link = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    return f"<html><head><title>News</title>{link}</head><body><ul>{links}</ul></body></html>"


def page(item: Item) -> str:
    drawn = stream(2, item.url)
    text = b"".join(prose("en").sentences(drawn, SENTENCES)).decode()
    return (
        f"<html><head><title>{item.title}</title></head><body><article><h1>{item.title}</h1>"
        f"<p>{word(item.slot)} {text}</p></article></body></html>"
    )


def word(slot: int) -> str:
    """The word that the items of a slot share."""
    return f"slot{slot}x"


class Servers(threading.Thread):
    """All sites, each on a loopback address of its own. Counts and times requests."""

    def __init__(self, sites: list[Site]) -> None:
        super().__init__(daemon=True)
        self._sites = sites
        self.port = 0
        self.ready = threading.Event()
        self.asked_s: dict[str, float] = {}
        """When an item's page was first requested, by URL."""
        self.log: list[tuple[float, str, bool]] = []
        """When, the kind of page, and whether the request was in vain."""
        self._given: dict[tuple[int, str], str] = {}

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        addresses = [address(n) for n in range(len(self._sites))]
        with socket.socket() as free:
            free.bind((addresses[0], 0))
            self.port = free.getsockname()[1]
        for number, where in enumerate(addresses):
            await asyncio.start_server(self._connected(number), where, self.port)
        self.ready.set()
        await asyncio.Event().wait()

    def _connected(self, site: int) -> Served:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                    writer.write(self._answer(site, head))
                    await writer.drain()
            writer.close()

        return connected

    def _answer(self, site: int, head: list[str]) -> bytes:
        path, now_s = head[0].split()[1], time.time() - BEGAN_S
        found = self._sites[site].answer(path, now_s)
        known = next((h.split(":", 1)[1] for h in head if h.lower().startswith("if-none")), "")
        if found is None:
            self.log.append((now_s, "robots.txt" if path == "/robots.txt" else "none", False))
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        version, media_type, text = found
        kind = {"/": "home", "/feed.xml": "feed"}.get(path, "item")
        self.log.append((now_s, kind, self._given.get((site, path)) == version))
        self._given[site, path] = version
        if kind == "item":
            self.asked_s.setdefault(f"http://site{site}.test{path}", now_s)
        etag = f'"{version}"'
        if known.strip() == etag:
            return f"HTTP/1.1 304 Not Modified\r\nETag: {etag}\r\n\r\n".encode()
        body = text.encode()
        header = (
            f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}; charset=utf-8\r\nETag: {etag}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return header.encode() + body


def address(site: int) -> str:
    return f"127.0.0.{site + 2}"


class Finder:
    """Asks the search page for new items, and notes when it finds them."""

    def __init__(self, port: int, items: Iterable[Item]) -> None:
        self._port = port
        self.found_s: dict[str, float] = {}
        self.queries = 0
        self._waiting: dict[int, set[str]] = {}
        for item in items:
            self._waiting.setdefault(item.slot, set()).add(item.url)

    def look(self) -> None:
        now_s = time.time() - BEGAN_S
        for slot in [each for each in self._waiting if each * SLOT_S < now_s]:
            if (slot + 1) * SLOT_S + GIVE_UP_S < now_s:
                del self._waiting[slot]
                continue
            self._ask(slot)

    def has_found_all(self) -> bool:
        return not self._waiting

    def _ask(self, slot: int) -> None:
        ask = f"http://127.0.0.1:{self._port}/api/v1/search?verbatim=1&limit=100&q={word(slot)}"
        self.queries += 1
        try:
            with urlopen(ask, timeout=10) as answer:
                hits = json.load(answer)["hits"]
        except OSError:
            return
        now_s, waiting = time.time() - BEGAN_S, self._waiting[slot]
        for url in {hit["url"] for hit in hits} & waiting:
            self.found_s[url] = now_s
            waiting.discard(url)
        if not waiting:
            del self._waiting[slot]


class Reader:
    """Reads the feed of a query as feed readers do, with conditional requests."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/feed.json?q=story"
        self._etag = ""
        self.read_s: dict[str, float] = {}

    def look(self) -> None:
        known = {"if-none-match": self._etag} if self._etag else {}
        try:
            with urlopen(Request(self._url, headers=known), timeout=10) as answer:  # noqa: S310  # ours
                self._etag = answer.headers.get("etag", "")
                items = json.load(answer)["items"]
        except OSError:  # 304 is one, too
            return
        now_s = time.time() - BEGAN_S
        for item in items:
            self.read_s.setdefault(item["url"], now_s)


def crawl(folder: Path, sites: int) -> subprocess.Popen[bytes]:
    program = "from gossamer.cli import main; main()"
    command = [sys.executable, "-c", program, "crawl", str(folder), "--forever", "--serve"]
    seeds = [f"http://site{n}.test/" for n in range(sites)]
    return subprocess.Popen([*command, *seeds], stdout=subprocess.DEVNULL)


def measure(options: argparse.Namespace, scratch: Path) -> None:
    seconds, warm_s = 60 * options.minutes, 60 * options.warm
    sites = [Site(n, options.a_minute, seconds) for n in range(options.sites)]
    servers = Servers(sites)
    servers.start()
    servers.ready.wait()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        search_port = free.getsockname()[1]
    folder = scratch / "crawl"
    folder.mkdir()
    routes = {f"site{n}.test": f"{address(n)}:{servers.port}" for n in range(len(sites))}
    settings = default_settings(routes, {"serve.port": search_port}, options.set)
    (folder / "gossamer.toml").write_text(settings)
    items = [each for site in sites for each in site.items if each.published_s >= warm_s]
    finder, reader = Finder(search_port, items), Reader(search_port)
    child = crawl(folder, len(sites))
    try:
        while child.poll() is None:
            now_s = time.time() - BEGAN_S
            if now_s > seconds and (finder.has_found_all() or now_s > seconds + options.end_s):
                break
            finder.look()
            reader.look()
            time.sleep(max(0.0, LOOK_S - (time.time() - BEGAN_S - now_s)))
    finally:
        child.send_signal(signal.SIGTERM)
        child.wait(60)
    show(items, finder, reader, servers, warm_s, seconds)


def show(
    items: list[Item],
    finder: Finder,
    reader: Reader,
    servers: Servers,
    warm_s: float,
    seconds: float,
) -> None:
    moments = {
        "requested": servers.asked_s,
        "in the feed": reader.read_s,
        "searchable": finder.found_s,
    }
    for name, when_s in moments.items():
        never = GIVE_UP_S
        late = np.array([when_s.get(i.url, i.published_s + never) - i.published_s for i in items])
        median, high = np.percentile(late, (50, 99))
        missed = sum(item.url not in when_s for item in items)
        print(f"published → {name:11} median {median:6.1f} s   p99 {high:6.1f} s", end="")
        print(f"   of {len(items):,} items, {missed:,} never")
    log = [each for each in servers.log if warm_s <= each[0] < seconds]
    asked, vain = Counter(kind for _, kind, _ in log), Counter(k for _, k, vain in log if vain)
    for kind, count in asked.most_common():
        print(f"  {kind:10} {count:8,} requests, {vain[kind]:8,} in vain")
    whole = sum(asked.values())
    print(f"in vain: {sum(vain.values()) / max(whole, 1):.1%} of {whole:,} requests", end="")
    print(f"; {finder.queries:,} queries")
    report(f"news is searchable after {median:.0f} s (median)")


BEGAN_S = time.time()


def main() -> None:
    parser = Options(
        __doc__,
        minutes=(60.0, 0.1),
        sites=(40, 2),
        a_minute=(5.0, 60.0),
        warm=(3.0, 0.0),
        end_s=(60.0, 20.0),
    )
    parser.add_argument("--set", action="append", default=[], help="a line for gossamer.toml")
    options = parser.read()
    if options.tiny:
        options.set.append("fetch.delay_s = 0.1")
    with tempfile.TemporaryDirectory(prefix="freshness-") as scratch:
        measure(options, Path(scratch))


if __name__ == "__main__":
    main()
