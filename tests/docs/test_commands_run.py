"""What the pages tell a newcomer to type works as written, in an empty account.

Each page's commands run in its order, on the crawls that its first ones make. Only the web is
another one: example.org is a server on loopback that has every page, without TLS. A block that is
not run is listed with the reason, so that a new one is either of the two.
"""

from __future__ import annotations

import gzip
import http.server
import re
import shlex
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.support.blocks_not_run import BLOCKS, COMMANDS
from tests.support.code_blocks import blocks
from tests.support.command_line import gossamer, lent
from tests.support.crawl_settings import loopback_settings
from tests.support.repository import PAGES_OF_DOCS, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.engine.engine import Engine

PAGES = [
    *("README.md", "CONTRIBUTING.md"),
    *(path.relative_to(ROOT).as_posix() for path in PAGES_OF_DOCS),
]
WALKED = ("README.md", "docs/commands.md")
"""The others show some of the same commands, in the middle of an explanation."""
NAMES = ("", "a", "b", "c", "about", "news/1", "news/index.html", "stable/start.html", "tags/a")
UNLINKED = "fresh"
"""A page that only a seed list knows, so that a crawl has something to fetch."""
SETTINGS = "store.warc_versions = 1\n"


def shell_blocks(page: str) -> list[list[str]]:
    found = blocks((ROOT / page).read_text(encoding="utf-8"), "")
    return [block.splitlines() for block in found]


def commands_of(page: str) -> list[str]:
    lines = (line for block in shell_blocks(page) for line in block)
    return [line.partition(" #")[0].strip() for line in lines if line.startswith("gossamer ")]


def reason_not_to_run(command: str) -> str | None:
    return next((why for like, why in COMMANDS.items() if re.search(like, command)), None)


def test_every_block_is_run_or_listed() -> None:
    others = {
        f"{page}: {block[0]}"[:60].rstrip()
        for page in PAGES
        for block in shell_blocks(page)
        if not any(line.startswith("gossamer ") for line in block)
    }
    assert others == BLOCKS.keys()


def test_every_command_of_the_other_pages_is_run_on_these_or_listed() -> None:
    run = {tuple(shlex.split(line)[:2]) for page in WALKED for line in commands_of(page)}
    for page in PAGES:
        for line in commands_of(page):
            assert tuple(shlex.split(line)[:2]) in run or reason_not_to_run(line), page


def test_what_is_listed_is_in_the_pages() -> None:
    commands = [line for page in PAGES for line in commands_of(page)]
    for like in COMMANDS:
        assert any(re.search(like, line) for line in commands), like


class _Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = self.path.lstrip("/")
        body = b"".join(
            b"<p>Some words of %s, and the event loop. <a href='/%s'>%s</a>"
            % ((each.encode(),) * 3)
            for each in NAMES
        )
        page = b"<html lang=en><title>Page %s</title>%s" % (name.encode(), body)
        self.send_response(200 if name in (*NAMES, UNLINKED) else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@contextmanager
def site() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.05,))
        serving.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            serving.join()


def here(command: str) -> str:
    """The command, for the server on loopback."""
    local = command.replace("https://", "http://").replace("example.org", "example.test")
    return local.replace(" example.net", " http://other.test/")


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.server
@pytest.mark.parametrize("page", WALKED)
def test_commands_work_as_written(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "seeds.txt").write_text(f"http://example.test/{UNLINKED}\n")
    (tmp_path / "seeds.txt.gz").write_bytes(gzip.compress(b"http://example.test/a\n"))
    (tmp_path / "blocked-domains.txt").write_text("deny domain ads.example\n")
    (tmp_path / "page.html").write_text("<title>A page</title><p>With text.")
    (tmp_path / "my-web").mkdir()
    with site() as address, lent(engine):
        settings = loopback_settings(address, SETTINGS)
        toml = tmp_path / "my-web" / "gossamer.toml"
        if page == "README.md":  # the other page begins with `init`, which writes the file
            toml.write_text(settings)
        for command in commands_of(page):
            if reason_not_to_run(command) is None:
                said = gossamer(*shlex.split(here(command))[1:])
                assert said.stdout or said.stderr, f"{command} is silent"
                toml.write_text(settings)
