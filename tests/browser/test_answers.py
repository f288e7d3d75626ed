"""What a real Chromium shows of answers of the wild is an answer here: text and final URL.

Of some it shows nothing, or something else, for reasons that are no reasons here. These are in the
table of docs/browsers.md, which is read below: a case that is not in it must be equal.
"""

from __future__ import annotations

import re
import socketserver
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pytest
from playwright.sync_api import Error

from gossamer.config import FetchConfig
from gossamer.fetch.exchange import Request
from gossamer.parse.page_parsing import parse_response
from gossamer.storage.warc.reader import header_values
from gossamer.web.urls import UrlRules, normalize
from tests.support.loopback_fetches import fetch
from tests.support.repository import ROOT
from tests.support.wild_answers import TARGET, WILD, Wild, answer, html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

HOPS, LIMIT = 5, 1 << 20
FRAMES = 40
"""Of a page; each shows a case, for a tenth of the processor time of a page of its own."""
WAIT_MS = 2_000
TABLE = ROOT / "docs" / "browsers.md"
TARGET_ANSWER = answer(b"Content-Type: text/html", body=TARGET)
FRAMED = "frames.test"


class Shown(NamedTuple):
    url: str
    text: str


class _Handler(socketserver.StreamRequestHandler):
    """Say what the host says, and close."""

    server: _Server

    def handle(self) -> None:
        path = self.rfile.readline(65_536).split(b" ")[1:2]
        host = ""
        while line := self.rfile.readline(65_536).strip():
            if line.lower().startswith(b"host:"):
                host = line[5:].strip().decode().partition(":")[0]
        said = self.server.answers.get(host) if path == [b"/page"] else None
        self.wfile.write(TARGET_ANSWER if said is None else said)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port: int = self.server_address[1]
        self.answers = {case.host: case.raw for case in WILD}

    def handle_error(self, *_: object) -> None:
        """Clients may go away."""


@pytest.fixture(scope="module")
def server() -> Iterator[_Server]:
    with _Server() as opened:
        threading.Thread(target=opened.serve_forever, daemon=True).start()
        yield opened
        opened.shutdown()


@pytest.fixture(scope="module")
def page(server: _Server, launch_chromium: Callable[..., Browser]) -> Iterator[Page]:
    """A page whose frames share its process."""
    rules = f"MAP *.test 127.0.0.1:{server.port}, MAP *.test. 127.0.0.1:{server.port}"
    options = f"--host-resolver-rules={rules}", "--disable-site-isolation-trials"
    with launch_chromium(*options) as browser:
        yield browser.new_page()


def _show(page: Page, server: _Server, answers: Mapping[Wild, Shown]) -> Iterator[Shown]:
    """Show each case in a frame. `answers` are expected: a refresh may take a while."""
    frames = "".join(f"<iframe src={case.url} width=90 height=90></iframe>" for case in answers)
    server.answers[FRAMED] = html(body=frames.encode())
    page.goto(f"http://{FRAMED}/page")  # until each frame has its page, or an error
    shown = page.main_frame.child_frames
    for frame, (case, answered) in zip(shown, answers.items(), strict=True):
        if case.kind == "refreshes":
            with suppress(Error):
                frame.wait_for_url(partial(_is_at, answered), timeout=WAIT_MS)
    for frame in shown:
        try:
            text = frame.evaluate("document.body ? document.body.innerText : ''")
        except Error:  # a page that refreshes itself again and again
            text = ""
        is_page = frame.url.startswith("http")
        yield Shown(_normal(frame.url), _words(text)) if is_page else Shown("", "")


def _is_at(shown: Shown, url: str) -> bool:
    return _normal(url) == shown.url


def _normal(url: str) -> str:
    return normalize(url, None, UrlRules()) or url


def _answered(port: int, case: Wild) -> Shown:
    """What the fetcher and the parser make of it, with redirects and refreshes followed."""
    overrides = {"*.test": f"127.0.0.1:{port}"}
    config = FetchConfig(allow_networks=("127.0.0.0/8",), host_overrides=overrides, timeout_s=5)
    url = case.url
    for _ in range(HOPS):
        with ThreadPoolExecutor(1) as thread:  # playwright's own event loop runs in this one
            (found,) = thread.submit(fetch, config, Request(url, LIMIT)).result()
        if found.outcome == "redirect" and found.redirect_url:
            url = found.redirect_url
            continue
        if found.outcome != "ok":
            return Shown("", "")
        headers = header_values(
            f"{name.decode()}: {value.decode('latin-1')}" for name, value in found.headers
        )
        if found.decoded:
            headers.pop("content-encoding")
        parsed = parse_response(url, headers, found.body)
        target = next((link.dst for link in parsed.links if link.relation == "refresh"), url)
        if target == url:
            return Shown(url, _words(parsed.text or ""))
        url = target
    return Shown("", "")


def _words(text: str) -> str:
    return " ".join(re.sub("[\u200e\u200f]", "", text).split())


def _argued(kind: str) -> set[str]:
    """The table's cases of a kind."""
    rows = re.findall(rf"^\| {kind} \| (.+?) \|", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name for cases in rows for name in re.findall(r"`([^`]+)`", cases)}


def test_enough_cases() -> None:
    assert len(WILD) >= 300


@pytest.mark.parametrize("kind", sorted({case.kind for case in WILD}))
def test_what_chromium_shows_is_an_answer(kind: str, server: _Server, page: Page) -> None:
    """Or an argued difference. An argued case that has become equal leaves the table."""
    different = {}
    cases = [case for case in WILD if case.kind == kind]
    for at in range(0, len(cases), FRAMES):
        answers = {case: _answered(server.port, case) for case in cases[at : at + FRAMES]}
        shown = _show(page, server, answers)
        for theirs, (case, ours) in zip(shown, answers.items(), strict=True):
            if theirs.text and theirs != ours:
                different[case.name] = (theirs, ours)
    argued = _argued(kind)
    assert {name: both for name, both in different.items() if name not in argued} == {}
    assert argued <= set(different)
