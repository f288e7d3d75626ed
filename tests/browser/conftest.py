"""Debian's Chromium, and a page in it that fails a test if the browser finds an error."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext, Page, Playwright

QUIET = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        yield started


def launch(playwright: Playwright, *options: str) -> Browser:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("needs Debian's chromium: apt-get install chromium")
    return playwright.chromium.launch(executable_path=chromium, args=[*QUIET, *options])


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    opened = launch(playwright)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def launch_chromium(playwright: Playwright) -> Callable[..., Browser]:
    """A function that starts another Chromium, with these options."""

    def start(*options: str) -> Browser:
        return launch(playwright, *options)

    return start


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One profile for all pages that need no options and no clock of their own.

    In a new profile, or where no page is open, a page takes Chromium twice the time to open.
    """
    with browser.new_context() as opened:
        opened.new_page()
        yield opened


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.extend([said.text] * (said.type == "error")))
    yield opened
    opened.close()
    assert wrong == []
