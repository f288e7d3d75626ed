"""A folder as a host on loopback: served by nginx, or by FakeWeb where there is no nginx."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from http import HTTPStatus
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gossamer.fakeweb import FakeWeb, Web

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ADDRESS = "127.0.0.1"
STARTED_WITHIN_S = 10
CONFIGURATION = """\
daemon off;
master_process off;
user root;
pid {scratch}/pid;
error_log {scratch}/errors;
events {{ worker_connections 1024; }}
http {{
    include /etc/nginx/mime.types;
    log_format answers "$status $body_bytes_sent $request_uri";
    access_log {scratch}/answers answers;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    server {{ listen {address}:{port}; root {folder}; }}
}}
"""


class LoopbackHost(NamedTuple):
    url: str
    pid: int
    answers: Callable[[], Iterable[tuple[int, int, str]]]
    """Returns status, bytes and path of all answers so far."""

    def pages(self) -> dict[str, int]:
        """The paths of the pages, HTML or folders, that clients were sent so far, with bytes."""
        return {
            target: size
            for status, size, target in self.answers()
            if status == HTTPStatus.OK and is_page(target.partition("?")[0])
        }


def is_page(path: str) -> bool:
    return path.endswith("/") or guess_type(path)[0] == "text/html"


def server_name() -> str:
    return "nginx" if shutil.which("nginx") else "FakeWeb"


@contextmanager
def serve(folder: Path) -> Iterator[LoopbackHost]:
    """Serve a folder with its index.html, in one process."""
    if server_name() == "nginx":
        with nginx(folder) as host:
            yield host
        return
    with FakeWeb(Web(hosts=0, docs={ADDRESS: folder})) as fake:

        def answers() -> Iterator[tuple[int, int, str]]:
            return ((entry.status, entry.bytes, entry.target) for entry in fake.log())

        yield LoopbackHost(f"http://{fake.address}/", fake.pid, answers)


@contextmanager
def nginx(folder: Path) -> Iterator[LoopbackHost]:
    with socket.socket() as free:
        free.bind((ADDRESS, 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="nginx-") as scratch:
        configuration = Path(scratch, "nginx.conf")
        configuration.write_text(
            CONFIGURATION.format(scratch=scratch, address=ADDRESS, port=port, folder=folder)
        )
        process = subprocess.Popen(["nginx", "-e", f"{scratch}/errors", "-c", str(configuration)])
        try:
            wait_for(port)
            log = Path(scratch, "answers")
            yield LoopbackHost(f"http://{ADDRESS}:{port}/", process.pid, lambda: answers_in(log))
        finally:
            process.terminate()
            process.wait()


def wait_for(port: int) -> None:
    ends_s = time.monotonic() + STARTED_WITHIN_S
    while True:
        try:
            socket.create_connection((ADDRESS, port)).close()
        except ConnectionRefusedError:
            if time.monotonic() > ends_s:
                raise
            time.sleep(0.02)
        else:
            return


def answers_in(log: Path) -> Iterator[tuple[int, int, str]]:
    for line in log.read_text(encoding="latin-1").splitlines():
        status, size, target = line.split(" ", 2)
        yield int(status), int(size), target
