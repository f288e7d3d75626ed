"""The parser's process can parse, and nothing else. Real kernels, real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, Rules
from gossamer.parse.process import sandbox
from gossamer.parse.process.guarded_parser import GuardedParser
from tests.support.binary_files import docx
from tests.support.machine_needs import lacking

pytestmark = pytest.mark.server


@pytest.fixture(scope="module", autouse=True)
def supported() -> None:
    if len(sandbox.supported_mechanisms()) < 2:
        has = " and ".join(sandbox.supported_mechanisms()) or "neither"
        lacking(f"this kernel lacks Landlock or seccomp (it has {has}): the sandbox is untested")


ATTEMPTS = {
    "read a file": "open('/etc/passwd')",
    "list a folder": "os.listdir('/')",
    "write a file": "open({folder!r} + '/new', 'w')",
    "write where modules are": "open(os.path.dirname(os.__file__) + '/new', 'w')",
    "remove a file": "os.unlink({folder!r} + '/kept')",
    "rename a file": "os.rename({folder!r} + '/kept', {folder!r} + '/moved')",
    "open a socket": "socket.socket()",
    "open a pair of sockets": "socket.socketpair()",
    "start a program": "os.execv('/bin/true', ['true'])",
    "start a process": "os.fork()",
    "start one by posix_spawn": "os.posix_spawn('/bin/true', ['true'], {{}})",
    "signal another process": "os.kill(os.getppid(), 0)",
}
PROGRAM = """
import os, socket, sys
from gossamer.parse.process import sandbox
free = os.dup(0)
os.close(free)
assert len(sandbox.enter()) == 2
assert os.dup(0) == free, "a file is left open"
try:
    {attempt}
except PermissionError:
    sys.exit(7)
"""


@pytest.mark.parametrize("what", ATTEMPTS)
def test_the_parser_s_process_may_not(what: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("")
    attempt = ATTEMPTS[what].format(folder=str(tmp_path))
    ended = subprocess.run([sys.executable, "-c", PROGRAM.format(attempt=attempt)], check=False)
    assert ended.returncode == 7
    assert kept.exists()


def test_threads_and_modules_may_still_be_started() -> None:
    attempt = """
    import threading, zoneinfo, markdown_it
    thread = threading.Thread(target=zoneinfo.ZoneInfo, args=['Europe/Paris'])
    thread.start(); thread.join(); sys.exit(8)"""
    ended = subprocess.run([sys.executable, "-c", PROGRAM.format(attempt=attempt)], check=False)
    assert ended.returncode == 8


@pytest.mark.parametrize("on", [True, False])
def test_the_process_of_pages_is_in_the_sandbox_unless_a_setting_says_otherwise(on: bool) -> None:
    page = Page("http://a.example/", {}, b"<p>text")
    with GuardedParser(Rules(sandbox=on)) as parser:
        assert parser.parse(page).text == "text"
        process = parser._process
        assert process is not None
        status = Path("/proc", str(process.pid), "status").read_text().split("\n")
    assert f"NoNewPrivs:\t{int(on)}" in status
    assert f"Seccomp:\t{2 * on}" in status


PAGES = {
    "text/html; charset=shift_jis": "<p>日本語のページ".encode("shift_jis"),
    "text/html; charset=gb18030": "<p>中文网页".encode("gb18030"),
    "text/html": b"<html lang=de><title>T</title><p>Das ist ein deutscher Satz.<a href=/x>y</a>",
    "text/markdown": b"# Title\n\n[a](/b)",
    "application/rtf": rb"{\rtf1\ansi\ansicpg1252 caf\'e9}",
    "application/json": b'{"title": "T", "url": "http://a.example/b"}',
    "text/xml": b"<a><title>T</title></a>",
    "application/rss+xml": b"<rss><channel><item><link>/a</link></item></channel></rss>",
    "application/pdf": b"%PDF-1.7 \0",
    "application/zip": docx("<w:p><w:r><w:t>word</w:t></w:r></w:p>"),
    "image/gif": b"GIF89a\1\0\1\0\0\0\0;",
    "text/plain": b"plain text",
}


def test_every_format_is_read_in_the_sandbox_as_outside() -> None:
    """Parsers import modules and codecs on first use, inside the sandbox."""
    with GuardedParser(Rules()) as parser:
        for mime, body in PAGES.items():
            page = Page("http://a.example/", {"content-type": mime}, body)
            assert parser.parse(page) == parse_page(page, Rules()), mime
        assert os.getpid() != (parser._process and parser._process.pid)
