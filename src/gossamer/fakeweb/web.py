"""The deterministic web: the answer for every URL, without I/O except for the folders it serves."""

from __future__ import annotations

from dataclasses import asdict, replace
from http import HTTPStatus
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.errors import UsageError
from gossamer.fakeweb.dust_sites import DustWeb
from gossamer.fakeweb.folders import Folder, host_name
from gossamer.fakeweb.hostile import HostileWeb
from gossamer.fakeweb.http_answer import Answer, AnswerCache, conditional, redirect, refusal
from gossamer.fakeweb.link_mix import Mix
from gossamer.fakeweb.news_sites import NewsWeb
from gossamer.fakeweb.newspapers import Newspapers
from gossamer.fakeweb.special_urls import HANDLERS, page
from gossamer.fakeweb.synthetic_hosts import Host, Hosts
from gossamer.fakeweb.synthetic_pages import Pages
from gossamer.fakeweb.topic_sites import TopicWeb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gossamer.fakeweb.hostile import Act

CACHE_BYTES = 256 << 20
NO_HEADERS: Mapping[str, str] = {}
BYTES_PER_LINK = 300  # a 90 KB page has about 300 links


class Web:
    """A web of `hosts` synthetic hosts (may be 0), and one host per folder in `docs`.

    `docs` maps host names to folders. Every synthetic answer is a pure function of the settings
    and the URL; those of newspapers also depend on the time.

    Sizes are means: `pages_per_host` over hosts (Zipfian), `page_bytes` over pages
    (each has 0.5 to 1.5 times this), `links_per_page` likewise (by default one per 300 bytes).
    Slow hosts (`Mix.slow`) answer after `latency_s`. `cache_bytes` bounds the cache of answers.

    `hostile` adds the hosts of `gossamer.fakeweb.hostile`; the slow ones among them pause for
    `drip_s` after each byte. With `tls`, the web is also served over TLS, which requires trustme.
    `dust_pages` adds the sites of `gossamer.fakeweb.dust_sites`, each with so many pages;
    `news_sites` adds so many of `gossamer.fakeweb.news_sites`, each with `news_articles` articles;
    `topic_sites` so many of `gossamer.fakeweb.topic_sites`, each with `topic_pages` pages;
    `newspapers_since_s` adds `gossamer.fakeweb.newspapers`, which have published since then.
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
        dust_pages: int = 0,
        news_sites: int = 0,
        news_articles: int = 300,
        topic_sites: int = 0,
        topic_pages: int = 1_000,
        newspapers_since_s: float = 0.0,
    ) -> None:
        if not 500 <= page_bytes <= 50 << 20:  # noqa: PLR2004 - 500 bytes: head and tree links
            raise UsageError("page_bytes", f"{page_bytes} is out of range", "choose 500 … 50 MB")
        if not 0 <= seed < 2**64:
            raise UsageError("seed", f"{seed} is out of range", "choose 0 … 2^64 - 1")
        self.seed = seed
        self.mix = mix or Mix()
        self.page_bytes = page_bytes
        self.links_per_page = max(6, page_bytes // BYTES_PER_LINK)
        if links_per_page is not None:
            self.links_per_page = links_per_page
        self.latency_s = latency_s
        self.tls = tls
        self.hostile = HostileWeb(seed, drip_s, tls=tls) if hostile else None
        self.dust = DustWeb(seed, dust_pages) if dust_pages else None
        self.news = NewsWeb(seed, news_sites, news_articles) if news_sites else None
        self.topics = TopicWeb(seed, topic_sites, topic_pages) if topic_sites else None
        self.newspapers = Newspapers(seed, newspapers_since_s) if newspapers_since_s else None
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
            "dust_pages": dust_pages,
            "news_sites": news_sites,
            "news_articles": news_articles,
            "topic_sites": topic_sites,
            "topic_pages": topic_pages,
            "newspapers_since_s": newspapers_since_s,
        }

    def settings(self) -> dict[str, object]:
        """The settings as JSON types; `from_settings` rebuilds the same web in another process."""
        return self._settings

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Web:
        arguments = dict(settings)
        arguments["mix"] = Mix(**arguments["mix"])  # type: ignore[arg-type]
        return cls(**arguments)  # type: ignore[arg-type]

    # The hosts and pages of this web

    def hosts(self) -> Iterator[str]:
        """Iterate over the names of all hosts: folders, then synthetic hosts from host 0 on."""
        yield from self.docs
        for index in range(self._hosts.count):
            yield self._hosts.name(index)

    def seeds(self) -> list[str]:
        """Return seed URLs for a crawl of the whole web.

        They are each folder's first page, the home page of host 0, which leads to all synthetic
        hosts, http://hostile.test/, which leads to all hostile hosts, and the sites of dust,
        news and topics.
        """
        seeds = [f"http://{name}{folder.entry()}" for name, folder in self.docs.items()]
        if self._hosts.count:
            seeds.append(f"http://{self._hosts.name(0)}/")
        if self.hostile is not None:
            seeds.append(self.hostile.seed_url)
        if self.dust is not None:
            seeds += self.dust.seeds()
        if self.news is not None:
            seeds += self.news.seeds()
        if self.topics is not None:
            seeds += self.topics.seeds()
        if self.newspapers is not None:
            seeds += self.newspapers.seeds()
        return seeds

    def size(self, host: str | None = None) -> int:
        """Return the number of pages of one synthetic host, or of all, which costs O(hosts)."""
        if host is not None:
            return self._synthetic(host).pages
        return sum(self._hosts.size(index) for index in range(self._hosts.count))

    def urls(self, host: str) -> Iterator[str]:
        """Iterate over the pages of a synthetic host, home page first; all are 200 and reachable.

        Copies, notes, calendars and private pages also answer 200, but are not included.
        """
        known = self._synthetic(host)
        for n in range(known.pages):
            yield f"http://{known.name}{self._pages.path(known, n)}"

    def title(self, url_host: str, n: int) -> str:
        """Return the title of page `n` of a synthetic host; its number makes it unique."""
        return self._pages.title(self._synthetic(url_host), n)

    def _synthetic(self, name: str) -> Host:
        match = self._hosts.find(name)
        if match is None:
            raise UsageError(name, "is not a synthetic host of this web", "see Web.hosts()")
        return match[0]

    # Answers

    def reply(
        self, host: str, target: str, headers: Mapping[str, str] = NO_HEADERS
    ) -> Answer | Act:
        """Like `answer`, but hostile hosts answer too."""
        if self.hostile is not None:
            reply = self.hostile.reply(_name(host), target, headers)
            if reply is not None:
                return reply
        return self.answer(host, target, headers)

    def answer(self, host: str, target: str, headers: Mapping[str, str] = NO_HEADERS) -> Answer:
        """Return the answer to GET `target` (path and query) at `host`; never raises.

        `host` may have a port and capitals. Unknown hosts and invalid targets are 404. The names
        in `headers` are in lower case; only those of conditional requests matter.
        """
        name = _name(host)
        for sites in (self.dust, self.news, self.topics, self.newspapers):
            if sites is not None and (found := sites.answer(name, target)) is not None:
                return conditional(found, headers)
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
        if (handler := HANDLERS.get(first)) is not None:
            answer = handler(self._pages, host, rest)
        elif (n := self._pages.find(host, path, query)) is not None:
            answer = page(self._pages, host, n)
        else:
            answer = refusal(HTTPStatus.NOT_FOUND, f"{name}: no such page")
        return replace(answer, delay_s=self.latency_s) if host.slow else answer

    def warm(self, stop: Callable[[], bool] | None = None, pages: int | None = None) -> int:
        """Generate up to `pages` pages into the cache until it is full; return how many."""
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
    """Return the host name in a Host header."""
    return host.partition(":")[0].lower().removesuffix(".")
