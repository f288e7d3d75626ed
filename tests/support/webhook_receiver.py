"""A server on loopback that gets webhooks, and answers as a test says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.server
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KEY = bytes(range(32))
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"
HANG = 0
"""In place of a status: say nothing."""
CLOSE = 1
"""In place of a status: close the connection."""


class Got(NamedTuple):
    """A request. `status`: what was answered."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    status: int

    @property
    def url(self) -> str:
        data: dict[str, Any] = json.loads(self.body)["data"]
        return str(data["url"])

    @property
    def name(self) -> str:
        return self.headers["webhook-id"]

    def is_signed(self, key: bytes = KEY) -> bool:
        """Standard Webhooks 1.0, Signature scheme."""
        content = f"{self.name}.{self.headers['webhook-timestamp']}.".encode() + self.body
        expected = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
        return f"v1,{expected}" in self.headers["webhook-signature"].split(" ")


class Receiving:
    """What was received. `answers`: the next statuses; when none is left, 204."""

    def __init__(self) -> None:
        self.url = ""
        self.got: list[Got] = []
        self.answers: list[int] = []
        self.more: dict[str, str] = {}
        """Further headers of answers."""
        self.over = threading.Event()

    @property
    def delivered(self) -> list[Got]:
        return [got for got in self.got if got.status == 204]


@contextmanager
def receiving() -> Iterator[Receiving]:
    receiver = Receiving()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status = receiver.answers.pop(0) if receiver.answers else 204
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.got.append(Got(self.path, headers, body, status))
            if status == HANG:
                receiver.over.wait()
            if status in (HANG, CLOSE):
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in receiver.more.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Be quiet."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield receiver
        finally:
            receiver.over.set()
            server.shutdown()
            thread.join()
