"""The demo: a web on loopback, a crawl of it without end, and its search page.

Folder MARK says which web was crawled, so that a later demo continues with the same one. The
address of the web changes from demo to demo, and with it the setting that leads there.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
import webbrowser
from typing import TYPE_CHECKING
from urllib.request import urlopen

import msgspec
import typer

from gossamer.api.crawl import Crawl
from gossamer.cli.supervisor import keep_crawling
from gossamer.errors import UsageError
from gossamer.fakeweb import FakeWeb, Web, doc_folders

if TYPE_CHECKING:
    from pathlib import Path

MARK = "demo.json"
SETTINGS_FILE = "gossamer.toml"
SETTINGS = """\
# Settings of the demo. Its web is on loopback and needs no delays.
[filter]
scope = "any"
allow = ['^https?://[^/]+\\.test/']  # not the real web, which the manuals also link to

[fetch]
delay_s = 0
delay_factor = 0
address_delay_s = 0
allow_networks = ["127.0.0.0/8"]
host_overrides = {{ "*.test" = "{address}" }}
"""
FIRST_PORT, PORTS = 8080, 20
_WELCOME = """\
A web of {hosts} hosts, {manuals} manuals of this machine, and newspapers that publish while you
watch, on loopback. Search at http://127.0.0.1:{port}/ while the crawl goes on. Ctrl-C ends it; the
same command continues it."""
LOOK_S = 0.2
"""Seconds between two looks at whether the search page answers."""
WAIT_S = 30
"""After so long, no browser is opened."""


class Demo(msgspec.Struct):
    """What a demo leaves for the next one."""

    address: str
    """Where its web was, as in the settings."""
    hosts: int
    since_s: float
    """When its newspapers began to publish, as Unix time."""


def run_demo(folder: Path, hosts: int, port: int | None, *, browser: bool) -> int:
    """Crawl the demo's web and serve its search page until Ctrl-C; return the exit code.

    Raises UsageError if the folder holds anything but a demo.
    """
    known = _known_demo(folder)
    demo = known or Demo("", hosts, time.time())
    port = port or free_port()
    docs = doc_folders()
    web = Web(hosts=demo.hosts, docs=docs, newspapers_since_s=demo.since_s)
    with FakeWeb(web) as fake:
        if known is None:
            Crawl.create(str(folder), SETTINGS.format(address=fake.address)).close()
        else:
            _lead_to(folder, known.address, fake.address)
        demo.address = fake.address
        (folder / MARK).write_bytes(msgspec.json.encode(demo))
        typer.echo(_WELCOME.format(hosts=demo.hosts, manuals=len(docs), port=port))
        if browser and has_screen():
            threading.Thread(target=_open_browser, args=(port,), daemon=True).start()
        return keep_crawling(
            ["crawl", str(folder), "--forever", *web.seeds()],
            ["serve", str(folder), "--port", str(port)],
            page_first=True,
        )


def _known_demo(folder: Path) -> Demo | None:
    """The demo in a folder; None if the folder is new or empty."""
    try:
        return msgspec.json.decode((folder / MARK).read_bytes(), type=Demo)
    except FileNotFoundError:
        if not folder.exists() or not any(folder.iterdir()):
            return None
    except (NotADirectoryError, msgspec.DecodeError):
        pass
    raise UsageError(folder, "is no demo of Gossamer's", "choose another folder with --folder")


def _lead_to(folder: Path, before: str, address: str) -> None:
    """Let the settings lead to where the web is now."""
    settings = folder / SETTINGS_FILE
    settings.write_text(settings.read_text("utf-8").replace(before, address), "utf-8")


def free_port() -> int:
    """The first free port from FIRST_PORT on. Raises UsageError if all that are tried are taken."""
    for port in range(FIRST_PORT, FIRST_PORT + PORTS):
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    ports = f"{FIRST_PORT} to {FIRST_PORT + PORTS - 1}"
    raise UsageError(f"ports {ports}", "are all taken", "choose another one with --port")


def has_screen() -> bool:
    """Whether a browser has a window. Those of terminals would fight for it with the crawl."""
    return sys.platform == "darwin" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def _open_browser(port: int) -> None:
    """Open the search page as soon as it answers."""
    url, until_s = f"http://127.0.0.1:{port}/", time.monotonic() + WAIT_S
    while time.monotonic() < until_s:
        try:
            with urlopen(url, timeout=1):
                webbrowser.open(url)
                return
        except OSError:
            time.sleep(LOOK_S)
