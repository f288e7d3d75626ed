"""The deterministic web: what every URL answers, with no I/O but the folders it serves."""

from __future__ import annotations

from dataclasses import asdict, replace
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.errors import UsageError
from gossamer.fakeweb.answer import Answer, AnswerCache, conditional, redirect, refusal
from gossamer.fakeweb.folders import Folder, host_name
from gossamer.fakeweb.hostile import HostileWeb
from gossamer.fakeweb.hosts import Host, Hosts
from gossamer.fakeweb.mix import Mix
from gossamer.fakeweb.odd import ODD, page
from gossamer.fakeweb.pages import Pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gossamer.fakeweb.hostile import Act

CACHE_BYTES = 256 << 20
NO_HEADERS: Mapping[str, str] = {}
BYTES_PER_LINK = 300  # a 90 KB page has some 300 links


class Web:
    """`hosts` synthetic hosts (may be 0), and a host for each folder in `docs` (host name: folder).

    Every synthetic answer is a pure function of the settings and the URL. Sizes are means:
    `pages_per_host` over hosts (Zipfian), `page_bytes` over pages (0.5 to 1.5 times of it),
    `links_per_page` likewise (by default one per 300 bytes). `latency_s` is what slow hosts
    (`Mix.slow`) take to answer. `cache_bytes` bounds the answers kept in memory.

    `hostile` adds the hosts of `gossamer.fakeweb.hostile`, of which slow ones pause for `drip_s`
    after each byte. With `tls` it is also served over TLS, for which trustme must be installed.
    """

    def __init__(
        self,
        seed: int = 7,
        hosts: int = 200,
        docs: Mapping[str, Path | str] | None = None,
        *,
        pages_per_host: float = 60,
        page_bytes: int = 12_000,
        links_per_page: int | None = None,
        mix: Mix | None = None,
        latency_s: float = 0.0,
        cache_bytes: int = CACHE_BYTES,
        hostile: bool = False,
        tls: bool = False,
        drip_s: float = 1.0,
    ) -> None:
        if not 500 <= page_bytes <= 50 << 20:  # noqa: PLR2004 - below, no room for head and tree
            raise UsageError("page_bytes", f"{page_bytes}", "give 500 … 50 MB")
        if not 0 <= seed < 2**64:
            raise UsageError("seed", f"{seed}", "give 0 … 2^64 - 1")
        self.seed = seed
        self.mix = mix or Mix()
        self.page_bytes = page_bytes
        self.links_per_page = max(6, page_bytes // BYTES_PER_LINK)
        if links_per_page is not None:
            self.links_per_page = links_per_page
        self.latency_s = latency_s
        self.tls = tls
        self.hostile = HostileWeb(seed, drip_s, tls=tls) if hostile else None
        self.docs = {host_name(name): Folder(Path(path)) for name, path in (docs or {}).items()}
        fanout = max(2, min(16, self.links_per_page // 3))
        self._hosts = Hosts(seed, hosts, pages_per_host, fanout, self.mix)
        self._pages = Pages(self._hosts, page_bytes, self.links_per_page, self.mix)
        self._cache = AnswerCache(cache_bytes)
        self._settings = {
            "seed": seed,
            "hosts": hosts,
            "docs": {name: str(folder.root) for name, folder in self.docs.items()},
            "pages_per_host": pages_per_host,
            "page_bytes": page_bytes,
            "links_per_page": self.links_per_page,
            "mix": asdict(self.mix),
            "latency_s": latency_s,
            "cache_bytes": cache_bytes,
            "hostile": hostile,
            "tls": tls,
            "drip_s": drip_s,
        }

    def settings(self) -> dict[str, object]:
        """What `from_settings` makes the same web of, in another process; fit for JSON."""
        return self._settings

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Web:
        arguments = dict(settings)
        arguments["mix"] = Mix(**arguments["mix"])  # type: ignore[arg-type]
        return cls(**arguments)  # type: ignore[arg-type]

    # What there is

    def hosts(self) -> Iterator[str]:
        """The names of all hosts: folders first, then synthetic ones, the seed host first."""
        yield from self.docs
        for index in range(self._hosts.count):
            yield self._hosts.name(index)

    def seeds(self) -> list[str]:
        """Where to start: each folder's first page; host 0, which leads to all synthetic hosts.

        And http://hostile.test/, which leads to all hostile ones.
        """
        seeds = [f"http://{name}{folder.entry()}" for name, folder in self.docs.items()]
        if self._hosts.count:
            seeds.append(f"http://{self._hosts.name(0)}/")
        if self.hostile is not None:
            seeds.append(self.hostile.seed_url)
        return seeds

    def size(self, host: str | None = None) -> int:
        """Pages of one synthetic host, or of all of them (time in proportion to the hosts)."""
        if host is not None:
            return self._synthetic(host).pages
        return sum(self._hosts.size(index) for index in range(self._hosts.count))

    def urls(self, host: str) -> Iterator[str]:
        """The pages of a synthetic host, home first: each answers 200 and is reachable.

        Copies, notes, calendars and private pages are further URLs that answer 200.
        """
        known = self._synthetic(host)
        for n in range(known.pages):
            yield f"http://{known.name}{self._pages.path(known, n)}"

    def title(self, url_host: str, n: int) -> str:
        """The title of page `n` of a synthetic host: unique in the web, by its number."""
        return self._pages.title(self._synthetic(url_host), n)

    def _synthetic(self, name: str) -> Host:
        match = self._hosts.find(name)
        if match is None:
            raise UsageError(name, "no synthetic host of this web", "see Web.hosts()")
        return match[0]

    # What it answers

    def reply(
        self, host: str, target: str, headers: Mapping[str, str] = NO_HEADERS
    ) -> Answer | Act:
        """As `answer`, of hostile hosts too."""
        if self.hostile is not None:
            reply = self.hostile.reply(_name(host), target, headers)
            if reply is not None:
                return reply
        return self.answer(host, target, headers)

    def answer(self, host: str, target: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """The answer to GET `target` (path and query) at `host`; never raises for a bad one.

        `host` may carry a port and capitals; a host that is not of this web is 404. `headers`
        has lower-case names; only those of conditional requests matter.
        """
        name = _name(host)
        if (folder := self.docs.get(name)) is not None:
            return folder.answer(target, headers)
        key = (name, target)
        answer = self._cache.get(key)
        if answer is None:
            answer = self._synthesise(name, target)
            self._cache.put(key, answer)
        if "if-none-match" in headers or "if-modified-since" in headers:
            return conditional(answer, headers)
        return answer

    def _synthesise(self, name: str, target: str) -> Answer:
        match = self._hosts.find(name)
        if match is None:
            return refusal(HTTPStatus.NOT_FOUND, "no such host in this web")
        host, elsewhere = match
        if not target.startswith("/"):
            return refusal(HTTPStatus.NOT_FOUND, f"{name}: no such page")
        if elsewhere:
            return redirect(HTTPStatus.MOVED_PERMANENTLY, f"http://{elsewhere}{target}")
        path, _, query = target.partition("?")
        first, *rest = path[1:].split("/")
        if (odd := ODD.get(first)) is not None:
            answer = odd(self._pages, host, rest)
        elif (n := self._pages.find(host, path, query)) is not None:
            answer = page(self._pages, host, n)
        else:
            answer = refusal(HTTPStatus.NOT_FOUND, f"{name}: no such page")
        return replace(answer, delay_s=self.latency_s) if host.slow else answer

    def warm(self, stop: Callable[[], bool] | None = None, pages: int | None = None) -> int:
        """Make pages in advance until `pages` are made or the cache is full; how many were."""
        made = 0
        for name in islice(self.hosts(), len(self.docs), None):
            for url in self.urls(name):
                full = self._cache.used_bytes + 2 * self.page_bytes > self._cache.limit_bytes
                if full or made == pages or (stop is not None and stop()):
                    return made
                self.answer(name, url.removeprefix(f"http://{name}"))
                made += 1
        return made


def _name(host: str) -> str:
    """Of a Host header."""
    return host.partition(":")[0].lower().removesuffix(".")
