"""Sites that write the URL of a page in many ways, each with a robots.txt about some of them."""

from __future__ import annotations

import threading
from collections import defaultdict
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PATTERNS = (
    *("/*?sort=", "/*&sort=", "/search?q=", "/*?", "/*?$", "/*?*sid=", "/*;jsessionid", "/(S("),
    *("/*utm_", "/private", "/%7Euser/", "/~user/t", "/*%c3%bc", "/ü/", "/*=$", "/a", "/a?", "/a$"),
    *("/index.php?option=", "/index.php?option=b&view=", "/*&&", "/*PHPSESSID=", "/*.html$", "/"),
)
PATHS = ("/", "/a", "/search", "/index.php", "/private/x", "/~user/x", "/t.html", "/%C3%BC/x")
PARAMETERS = ("sort=price", "cat=3", "q=x", "option=b", "view=c", "page=2", "thread/1-t/", "b=")
SESSIONS = ("PHPSESSID=0a1b", "jsessionid=7", "sid=0123456789abcdef0123456789abcdef")
TRACKING = ("utm_source=n", "UTM_Medium=m", "fbclid=1")
SESSION_FOLDER = "/(S(abcdefghij0123456789abcd))"
LINKS = 8
MOVED_SHARE = 0.1
"""Share of the requests that are answered with a redirect to another spelling."""


def robots_txt(chance: Random) -> str:
    fields = ("Disallow", "Disallow", "Allow")
    rules = [f"{chance.choice(fields)}: {each}" for each in chance.sample(PATTERNS, 4)]
    return "\n".join(("User-agent: *", *rules))


def robots_txt_of(host: str) -> str:
    return robots_txt(Random(f"{host} /robots.txt"))  # noqa: S311  a test server


def any_link(chance: Random) -> str:
    return spell(chance, chance.choice(PATHS), chance.sample(PARAMETERS, chance.randrange(3)))


def respelled(chance: Random, target: str) -> str:
    """Another spelling of a URL of which only the percent-encoding and additions differ."""
    path, _, query = target.partition("?")
    return _dressed(chance, path, query.split("&") if query else [])


def spell(chance: Random, path: str, parameters: list[str]) -> str:
    """One of the spellings of a page, as a browser would request it."""
    parameters = chance.sample(parameters, len(parameters))
    return _dressed(chance, path, parameters)


def _dressed(chance: Random, path: str, parameters: list[str]) -> str:
    query = list(parameters)
    for each in (*SESSIONS, *TRACKING):
        if chance.random() < 0.1:
            query.insert(chance.randint(0, len(query)), each)
    if chance.random() < 0.1:
        path = SESSION_FOLDER + path
    if chance.random() < 0.2:
        path = path.replace("~", chance.choice(("%7E", "%7e"))).replace("%C3%BC", "%c3%bc")
    if chance.random() < 0.1:
        path += ";jsessionid=0A1B2C"
    joined = ("&&" if chance.random() < 0.05 else "&").join(query)
    return path + ("?" + joined if joined or chance.random() < 0.1 else "")


class SpelledSites(ThreadingHTTPServer):
    """Serves any host. Notes what it was asked for, and which URLs its pages and redirects have."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.asked: list[tuple[str, str]] = []
        self.heard: defaultdict[str, set[str]] = defaultdict(set)
        """By host: paths with queries, as they were written."""

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: SpelledSites

    def do_GET(self) -> None:
        host, target = self.headers["Host"], self.path
        self.server.asked.append((host, target))
        chance = Random(f"{host} {target}")  # noqa: S311  a test server
        if target == "/robots.txt":
            self._send(200, "text/plain", robots_txt_of(host))
        elif chance.random() < MOVED_SHARE:
            elsewhere = respelled(chance, target)
            self.server.heard[host].add(elsewhere)
            self._send(302, "text/plain", "", elsewhere)
        else:
            links = [any_link(chance) for _ in range(LINKS)]
            self.server.heard[host].update(links)
            hrefs = "".join(f'<a href="{each.replace("&", "&amp;")}">x</a>' for each in links)
            self._send(200, "text/html", f"<title>{target}</title>{hrefs}")

    def _send(self, status: int, content_type: str, body: str, location: str = "") -> None:
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@contextmanager
def spelled_sites() -> Iterator[SpelledSites]:
    with SpelledSites() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
