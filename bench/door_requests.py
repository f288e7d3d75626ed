"""Requests to the doors for programs, and a crawl that has something behind each of them.

The crawl is that of a manual whose pages have changed since, so that each has two versions, and
there are changes to follow.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from harness import local_settings, manual

from gossamer import Crawl
from gossamer.fakeweb import FakeWeb, Web

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

HOST = "manual.test"
ADDED = "<p>A paragraph that was added later.</p>"
DIFFERENT = 2_000
MCP_FIELDS = (
    ("Accept", "application/json, text/event-stream"),
    ("Content-Type", "application/json"),
    ("MCP-Protocol-Version", "2025-11-25"),
)


class Ask(NamedTuple):
    """A request: with a body a POST, as clients of MCP send it."""

    path: str
    body: str = ""

    def encode(self, host: str) -> bytes:
        fields = [("Host", host)]
        if self.body:
            fields += [*MCP_FIELDS, ("Content-Length", str(len(self.body.encode())))]
        head = f"{'POST' if self.body else 'GET'} {self.path} HTTP/1.1\r\n"
        return "".join([head, *(f"{n}: {v}\r\n" for n, v in fields), "\r\n", self.body]).encode()


def _pair(draw: random.Random, words: Sequence[str]) -> str:
    return " ".join(draw.sample(words, 2))


def _tool(name: str, arguments: dict[str, object]) -> Ask:
    call = {"name": name, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return Ask("/mcp", json.dumps(message))


DOORS: dict[str, tuple[int, Callable[[random.Random, Sequence[str], Sequence[str]], Ask]]] = {
    "/api/v1/instant": (200, lambda d, w, _: Ask(f"/api/v1/instant?q={quote(_pair(d, w))}")),
    "/api/v1/document": (
        100,
        lambda d, _, u: Ask(f"/api/v1/document?url={quote(d.choice(u))}&x={d.random()}"),
    ),
    "/api/v1/diff": (
        50,
        lambda d, _, u: Ask(f"/api/v1/diff?url={quote(d.choice(u))}&x={d.random()}"),
    ),
    "/api/v1/changes": (50, lambda d, _, _u: Ask(f"/api/v1/changes?count=1000&x={d.random()}")),
    "/feed": (50, lambda d, w, _: Ask(f"/feed?q={quote(_pair(d, w))}")),
    "/mcp search": (50, lambda d, w, _: _tool("search", {"query": _pair(d, w), "count": 20})),
    "/mcp fetch": (100, lambda d, _, u: _tool("fetch", {"url": d.choice(u)})),
}
"""By name: how many requests per second attackers send at most, and how one is drawn from words
and URLs. Each differs from all others, so that no cache answers it."""


def door_requests(name: str, words: Sequence[str], urls: Sequence[str]) -> list[Ask]:
    draw = random.Random(1)  # noqa: S311  # reproducible
    return [DOORS[name][1](draw, words, urls) for _ in range(DIFFERENT)]


def crawl_changing_manual(folder: Path, options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        site = Path(scratch, "site")
        shutil.copytree(manual(options, scratch), site)
        with (
            FakeWeb(Web(hosts=0, docs={HOST: site}), log_path="/dev/null") as fake,
            Crawl.create(
                str(folder), local_settings(fake.address, {"filter.scope": "host"})
            ) as crawl,
        ):
            crawl.inject([f"http://{HOST}/"])
            crawl.run()
            for page in site.rglob("*.html"):
                page.write_bytes(page.read_bytes() + ADDED.encode())
            crawl.refresh()
            crawl.run()
