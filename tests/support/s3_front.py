"""A front of an object store that counts requests, and fails as those of clouds do.

It passes requests on. Some it answers itself, with 503 SlowDown; of some answers it sends a part,
and then resets the connection; or it drops the header by which objects are created only once.
"""

from __future__ import annotations

import http.client
import socket
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.support.loopback import LINGER_NOT

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOW_DOWN = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>SlowDown</Code>'
    b"<Message>Please reduce your request rate.</Message></Error>"
)
CONDITION = ("if-none-match", "authorization")
"""The signature would no longer hold, and the store takes requests that have none."""
OF_A_CONNECTION = ("content-length", "transfer-encoding", "connection")
TIMEOUT_S = 60


class Front(ThreadingHTTPServer):
    """What it does to which requests may be changed at any time."""

    request_queue_size = 128
    daemon_threads = True
    block_on_close = False

    def __init__(self, url: str, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        where = urlsplit(url)
        self.server = (where.hostname or "", where.port)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.busy = 0.0
        """The share of requests that are answered with 503."""
        self.cut = 0.0
        """The share of answers that end within their body."""
        self.forgets = False
        """Whether `If-None-Match` is dropped."""
        self.recovers_after: int | None = None
        """The number of further failures with which both end."""
        self.asked: list[tuple[str, str]] = []
        """The kind and path of each request. Kinds are methods, LIST, and DELETE also of several
        objects."""
        self.refused = self.were_cut = 0
        self._draw, self._alone = Random(seed), threading.Lock()  # noqa: S311  # reproducible

    def be_busy(self, seconds: float) -> None:
        """Refuse all requests for a while; return when it is over."""
        before, self.busy = self.busy, 1.0
        threading.Event().wait(seconds)
        self.busy = before

    def requests(self) -> Counter[str]:
        """The requests since the last call, by kind."""
        with self._alone:
            asked, self.asked = self.asked, []
        return Counter(kind for kind, _ in asked)

    def note(self, method: str, path: str) -> None:
        kind = "LIST" if "list-type=" in path else "DELETE" if "?delete" in path else method
        with self._alone:
            self.asked.append((kind, path))

    def refuses(self) -> bool:
        with self._alone:
            refused = self._draw.random() < self.busy
            self.refused += refused
            self._count(refused)
        return refused

    def cuts(self, body: bytes) -> int | None:
        """Of an answer that is to be cut, the bytes that are sent."""
        with self._alone:
            if not body or self._draw.random() >= self.cut:
                return None
            self.were_cut += 1
            self._count(True)
            return self._draw.randrange(len(body))

    def _count(self, failed: bool) -> None:
        if self.recovers_after is not None:
            self.recovers_after -= failed
            if self.recovers_after <= 0:
                self.busy, self.cut, self.recovers_after = 0.0, 0.0, None

    def handle_error(self, *_: object) -> None:
        """Do nothing: clients may leave."""


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Front
    disable_nagle_algorithm = True

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.note(self.command, self.path)
        if self.server.refuses():
            self._answer(503, "Slow Down", [("Content-Type", "application/xml")], SLOW_DOWN)
            return
        onward = http.client.HTTPConnection(*self.server.server, timeout=TIMEOUT_S)
        try:
            onward.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if not (self.server.forgets and name.lower() in CONDITION):
                    onward.putheader(name, value)
            onward.endheaders(body or None)
            answer = onward.getresponse()
            self._answer(answer.status, answer.reason, answer.getheaders(), answer.read())
        finally:
            onward.close()

    def __getattr__(self, name: str) -> object:
        if name.startswith("do_"):  # by which the base class finds a method of HTTP
            return self._pass_on
        raise AttributeError(name)

    def _answer(
        self, status: int, reason: str, headers: list[tuple[str, str]], body: bytes
    ) -> None:
        self.send_response_only(status, reason)
        length = len(body)
        for name, value in headers:
            if name.lower() == "content-length" and self.command == "HEAD":
                length = int(value)
            elif name.lower() not in OF_A_CONNECTION:
                self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command == "HEAD":
            return
        sent = self.server.cuts(body)
        self.wfile.write(body[:sent])
        if sent is not None:
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)

    def log_message(self, *_: object) -> None:
        """Do nothing."""


@contextmanager
def front(url: str, seed: int = 1) -> Iterator[Front]:
    with Front(url, seed) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
