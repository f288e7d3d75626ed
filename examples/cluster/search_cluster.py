"""Two search nodes, each with some of the shards, and the server that asks them, on loopback."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode
from urllib.request import urlopen

from gossamer.engine.processes import start_python
from gossamer.storage import opening, places
from gossamer.storage.names import CONFIG_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine.processes import Process

HOST = "127.0.0.1"
NODES = 2
START_S = 120
STOP_S = 10
LOOK_S = 0.1
GOSSAMER = "from gossamer.cli import main; main()"
UP = re.compile(r'^gossamer_node_up\{address="(.+?)",.*\} 1', re.MULTILINE)


class SearchServer(NamedTuple):
    """`nodes`: the addresses of those that it asks."""

    url: str
    nodes: list[str]

    def search(self, query: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._get(f"api/v1/search?{urlencode({'q': query})}"))
        return found

    def nodes_up(self) -> list[str]:
        """The addresses of the nodes that answered the last request to them."""
        return sorted(UP.findall(self._get("metrics")))

    def _get(self, path: str) -> str:
        with urlopen(self.url + path, timeout=START_S) as answer:
            text: str = answer.read().decode()
            return text


@contextmanager
def search_cluster(crawl: str, settings: str, folder: Path) -> Iterator[SearchServer]:
    """Search a crawl that has an index. Logs, and each process's cache of objects, lie in `folder`.

    The nodes are added to the crawl's `settings`. Raises RuntimeError if a process does not start.
    """
    *nodes, server = _free_ports(NODES + 1)
    addresses = [f"{HOST}:{port}" for port in nodes]
    added = f"[serve]\nnodes = {json.dumps(addresses)}\ngroups = {NODES}\n"
    opening.replace(f"{crawl}/{CONFIG_NAME}", f"{settings}\n{added}".encode())
    with ExitStack() as running:
        for port in nodes:
            words = ["node", crawl, "--port", str(port)]
            running.enter_context(_gossamer(words, port, folder / f"node-{port}"))
        words = ["serve", crawl, "--port", str(server)]
        running.enter_context(_gossamer(words, server, folder / "serve"))
        yield SearchServer(f"http://{HOST}:{server}/", addresses)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as open_:
        held = [open_.enter_context(socket.create_server((HOST, 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in held]


@contextmanager
def _gossamer(words: list[str], port: int, folder: Path) -> Iterator[None]:
    """Run a command that listens on a port."""
    folder.mkdir()
    with (folder / "log").open("wb") as log:
        process = start_python(
            GOSSAMER,
            words,
            end=signal.SIGTERM,
            env=os.environ | {places.CACHE: str(folder / "cache")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _await_announcement(process, port, folder / "log")
        yield
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_announcement(process: Process, port: int, log: Path) -> None:
    """Wait until a process prints the address that it listens on."""
    ends_s = time.monotonic() + START_S
    while f"{HOST}:{port}" not in (printed := log.read_text()):
        if process.poll() is not None or time.monotonic() > ends_s:
            raise RuntimeError(f"nothing listens on {HOST}:{port}: {printed[-2000:]}")
        with suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_S)
