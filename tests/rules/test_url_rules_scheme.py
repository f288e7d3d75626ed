"""A host that answers http and https alike teaches a crawl that one of the two is enough."""

from __future__ import annotations

import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from gossamer.api.crawl import Crawl
from tests.support.crawl_settings import loopback_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine.engine import Engine

pytestmark = pytest.mark.long
HOST = "twin.test"
FIRST, FURTHER = 8, 5
"""Pages that the home page links to, and pages that each of these links to."""
PAGES = FIRST + FIRST * FURTHER
SETTINGS = """
url_rules.evidence = 6
fetch.verify_tls = false
"""


def both(number: int) -> str:
    return "".join(
        f'<a href="{scheme}://{HOST}/d/{number}">{number}</a>' for scheme in ("http", "https")
    )


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        home = self.path == "/"
        number = -1 if home else int(self.path.rpartition("/")[2]) if "/d/" in self.path else PAGES
        children = range(FIRST + number * FURTHER, FIRST + (number + 1) * FURTHER)
        links = range(FIRST) if home else children if number < FIRST else ()
        body = f"<title>{number}</title><p>Page {number} {'x' * number} {''.join(map(both, links))}"
        self.send_response(200 if number < PAGES else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


class Twin(ThreadingHTTPServer):
    """Speaks http and https on one port, as the names of a crawl resolve to a single one."""

    daemon_threads = True

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), Site)
        self._context = context

    def get_request(self) -> tuple[socket.socket, Any]:
        plain, address = super().get_request()
        if plain.recv(1, socket.MSG_PEEK) == b"\x16":  # a handshake (RFC 8446 §5.1)
            return self._context.wrap_socket(plain, server_side=True), address
        return plain, address


@pytest.fixture
def address() -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert(HOST).configure_cert(context)
    with Twin(context) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_one_scheme_is_enough(address: str, engine: Engine, tmp_path: Path) -> None:
    settings = loopback_settings(address, SETTINGS)
    crawl = Crawl.create(str(tmp_path / "crawl"), settings, engine)
    crawl.inject([f"http://{HOST}/"])
    crawl.run()
    rule = next(rule for rule in crawl.url_rules(HOST) if rule.section == "/d/")
    assert (rule.kind, rule.state, rule.target) == ("scheme", "active", "https")
    assert rule.examples[0].replace("http://", "https://") == rule.examples[1]
    rows = crawl.dataset("responses").where("outcome = 'ok'").select("url").collect()
    fetched = {row.url for row in rows}
    assert {url.rpartition("/")[2] for url in fetched} == {"", *map(str, range(PAGES))}
    twins = [url for url in fetched if url.startswith("http:") and "/d/" in url]
    assert FIRST <= len(twins) < FIRST + FIRST * FURTHER // 2
    assert crawl.dataset("aliases").where("active AND NOT sampled").count() > FIRST
