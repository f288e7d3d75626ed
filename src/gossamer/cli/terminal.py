"""Hostile text on a terminal: control characters are replaced by visible ones."""

from __future__ import annotations

import codecs
import json
import os
import sys
import time
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import BinaryIO

STDERR = 2
"""The descriptor of standard error."""
_CONTROLS = {*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)} - {
    ord("\n"),
    ord("\t"),
}
"""Characters that act on a terminal: C0 and C1 controls, and Unicode's direction controls."""
SHOWN: Mapping[int, str] = dict.fromkeys(_CONTROLS, "\N{REPLACEMENT CHARACTER}")
IN_JSON: Mapping[int, str] = {code: f"\\u{code:04x}" for code in _CONTROLS}
"""In JSON these characters occur only within strings, where the escape means the same."""


STOPPED = "stopped; all committed steps are kept. Run the command again to resume"


def open_standard_descriptors() -> None:
    """Open /dev/null in place of standard input, output and error if the calling process closed it.

    The next files and sockets would get their numbers, 0 to 2. Then what a library prints goes into
    a file of the crawl, and libuv aborts when it closes such a socket.

    Messages go to /dev/null then. `sys.stdout` stays None, so that an export can refuse.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stderr is None:
        sys.stderr = open(STDERR, "w", closefd=False)  # noqa: SIM115  # a descriptor


def printable(text: str) -> str:
    """Replace the characters of a hostile text that would act on the terminal."""
    return text.translate(SHOWN)


def echo_json(data: bytes) -> None:
    """Print JSON; on a terminal, control characters are escaped."""
    is_screen = sys.stdout is not None and sys.stdout.isatty()
    typer.echo(data.decode().translate(IN_JSON) if is_screen else data)


def echo_event(event: str, text: str) -> None:
    """Print what happened between two steps as a line of JSON."""
    line = {"event": event, "at_ms": int(time.time() * 1000), "text": text}
    echo_json(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode())


class Screen:
    """A file for UTF-8 bytes that writes to a terminal and translates characters by a table."""

    closed = False

    def __init__(self, out: BinaryIO, replaced: Mapping[int, str]) -> None:
        self._out, self._replaced = out, replaced
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data: bytes) -> int:
        self._out.write(self._decoder.decode(bytes(data)).translate(self._replaced).encode())
        return len(data)

    def writelines(self, lines: list[bytes]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._out.flush()
