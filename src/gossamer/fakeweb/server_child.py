"""The process that `FakeWeb` starts.

Parent and child exchange lines. The parent writes the settings as JSON to the child's standard
input, and the child answers with its ports on standard output; later, the child answers each
`flush` with `flushed`. The child exits at the end of its input or on SIGTERM, which the kernel
sends when the parent dies.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any

import msgspec
import uvloop

from gossamer.errors import GossamerError
from gossamer.fakeweb.http_server import serve
from gossamer.fakeweb.web import Web


async def _child(lines: asyncio.StreamReader) -> None:
    settings: dict[str, Any] = msgspec.json.decode(await lines.readline())
    web = Web.from_settings(settings["web"])
    if settings["warm"]:
        web.warm(pages=settings["warm"])
    async with serve(
        web, settings["host"], settings["port"], settings["log"], addresses=settings["addresses"]
    ) as server:
        ports = {
            "port": server.port,
            "routes": server.routes,
            "ca_file": str(server.tls.ca_file) if server.tls else None,
        }
        _say(msgspec.json.encode(ports).decode())
        while await lines.readline():
            if server.log is not None:
                server.log.flush()
            _say("flushed")


async def _main() -> None:
    lines = asyncio.StreamReader(limit=16 << 20)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, lines.feed_eof)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    try:
        await _child(lines)
    except GossamerError as error:
        remedy = f" ({error.remedy})" if error.remedy else ""
        _say(f"error {error.subject}: {error.what}{remedy}")


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - the parent reads it


def main() -> None:
    uvloop.run(_main())
