"""fakeweb, with a judge of robots.txt beside it that sees every request and every link."""

from __future__ import annotations

import asyncio
import html
import re
import threading
from collections import defaultdict
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from gossamer.fakeweb import Mix, Web
from gossamer.fakeweb.http_answer import Answer
from gossamer.fakeweb.http_server import serve
from gossamer.fakeweb.web import NO_HEADERS
from gossamer.web.urls import host_of, normalize
from tests.support.robots_judge import RobotsJudge

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gossamer.fakeweb.hostile.act import Act
    from gossamer.fakeweb.http_server import Server

PATTERNS = (
    *("/*utm_source=", "/*?utm_", "/*&utm_", "/*sid=", "/*?sid=", "/*&sid=", "/*PHPSESSID="),
    *("/*?zid=", "/*?from=", "/*&pos=", "/*?vis=", "/*?r=", "/list?", "/view?", "/*?k=", "/*?"),
    *("/notes/", "/copy/", "/near/", "/go/2/", "/*/go/", "/missing/1*", "/tag/", "/*.txt$"),
    *("/*index.html$", "/*/$", "/*.html$", "/news/", "/shop/*?", "/thread", "/20*/1", "/calendar/"),
)
HREF = re.compile(r"""<a\s[^>]*?href=["']([^"']*)""", re.IGNORECASE)
URL = re.compile(r"https?://([^/?#]+)([^#]*)", re.IGNORECASE)


class Written(NamedTuple):
    """How links write a page: paths with queries."""

    own: set[str]
    others: set[str]


class JudgedWeb(Web):
    """Notes what is requested and what its pages and redirects write.

    If `ruled`, each robots.txt has further rules, which are drawn from PATTERNS. Those of hostile
    hosts are as they are.
    """

    def __init__(self, *, ruled: bool, **settings: Any) -> None:
        super().__init__(mix=Mix(tracked=0.05, sessions=0.05), **settings)
        self._ruled = ruled
        self.asked: list[tuple[str, str]] = []
        self.written: defaultdict[str, Written] = defaultdict(lambda: Written(set(), set()))
        """By page: normal forms of URLs."""
        for url in self.seeds():
            self._note(host_of(url), url)

    def reply(
        self, host: str, target: str, headers: Mapping[str, str] = NO_HEADERS
    ) -> Answer | Act:
        reply = super().reply(host, target, headers)
        if target == "/robots.txt":
            return self._robots(host, reply)
        self.asked.append((host, target))
        if isinstance(reply, Answer):
            base, hrefs = f"http://{host}{target}", [reply.header("Location")]
            kind = reply.header("Content-Type")
            if "html" in kind:  # all that it writes is ASCII, but for encodings of other widths
                encoding = "utf-16" if "charset=utf-16" in kind else "latin-1"
                hrefs += HREF.findall(reply.body.decode(encoding, "replace"))
            for href in filter(None, hrefs):
                self._note(host, urljoin(base, html.unescape(href)))
        return reply

    def _note(self, host: str, url: str) -> None:
        page, found = normalize(url), URL.match(url)
        if page is not None and found is not None:
            written = self.written[page]
            path = found[2] if found[2].startswith("/") else f"/{found[2]}"
            (written.own if found[1].lower() == host else written.others).add(path)

    def _robots(self, host: str, reply: Answer | Act) -> Answer | Act:
        if not self._ruled or not isinstance(reply, Answer) or host.endswith("hostile.test"):
            return reply
        chance = Random(f"{self.seed} {host}")  # noqa: S311  a test server
        drawn = chance.sample(PATTERNS, 3)
        fields = ("Disallow", "Disallow", "Allow")
        rules = "".join(f"{chance.choice(fields)}: {each}\n" for each in drawn)
        before = reply.body.decode() if reply.status == 200 else "User-agent: *\n"
        return Answer(200, (("Content-Type", "text/plain"),), (before + rules).encode())

    def judges(self) -> dict[str, RobotsJudge]:
        """By host that was asked: its rules, unless it misbehaves when it is asked for them."""
        found = {}
        for host in {host for host, _ in self.asked}:
            reply = self.reply(host, "/robots.txt")
            if isinstance(reply, Answer):
                found[host] = RobotsJudge(
                    reply.body.decode(errors="replace") if reply.status == 200 else ""
                )
        return found


@contextmanager
def served(web: Web) -> Iterator[Server]:
    """Serve a web in a thread of this process."""
    started: list[Server] = []
    loop, is_up, is_over = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def run() -> None:
        async with serve(web) as server:
            started.append(server)
            is_up.set()
            await is_over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    try:
        is_up.wait()
        yield started[0]
    finally:
        loop.call_soon_threadsafe(is_over.set)
        thread.join()
        loop.close()
