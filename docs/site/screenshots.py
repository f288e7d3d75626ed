"""Take the pictures of docs/images/ (`make screenshots`).

They show the search server of a real crawl: `gossamer demo` crawls its web until enough pages can
be searched, then the same crawl is served and looked at with Debian's Chromium. Pages differ from
machine to machine, because the demo's web includes the manuals of this one; python3.11-doc must be
among them. The crawl stays in build/demo for later pictures; remove it to begin again.
"""

from __future__ import annotations

import base64
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import msgspec
from playwright.sync_api import sync_playwright

from gossamer.cli.demo import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
IMAGES, CRAWL = ROOT / "docs" / "images", ROOT / "build" / "demo"
MANUAL = "python3-11-docs.test"
ENOUGH_PAGES = 1_500
LONGEST_S = 1_200
TRIES = 20
QUALITY = 60
"""Of WebP: text stays sharp, and all pictures together take less than 400 kB."""
WIDE, PHONE = (1100, 760), (390, 700)


class Picture(NamedTuple):
    """What is shown, and how."""

    path: str
    size: tuple[int, int] = WIDE
    scheme: str = "light"


PICTURES = {
    "results": Picture("/search?q=event+loop"),
    "results-dark": Picture("/search?q=event+loop", PHONE, "dark"),
    "page": Picture(f"/page?url={quote(f'http://{MANUAL}/library/heapq.html')}", (1100, 900)),
    "sections": Picture("/sections?domain=*", (1100, 900)),
    "status": Picture("/status"),
}


@contextmanager
def running(*words: str) -> Iterator[None]:
    """A command that runs meanwhile, and is stopped as by Ctrl-C."""
    command = [sys.executable, "-m", "gossamer", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, process_group=0) as process:
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(LONGEST_S)


def wait_for(address: str, pages: int) -> None:
    """Until so many pages can be searched."""
    until_s = time.monotonic() + LONGEST_S
    while time.monotonic() < until_s:
        try:
            with urllib.request.urlopen(f"{address}/api/v1/status", timeout=30) as answer:
                datasets = msgspec.json.decode(answer.read())["datasets"]
            indexed = datasets["indexed"]["rows"] if "indexed" in datasets else 0
        except OSError:
            indexed = 0
        if indexed >= pages:
            return
        time.sleep(1)
    raise TimeoutError(f"{address}: {pages} pages cannot be searched after {LONGEST_S} s")


def take(browser: Browser, address: str, name: str, picture: Picture) -> None:
    width, height = picture.size
    scheme: Any = picture.scheme
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{address}/search?q=queue+module")  # the first search reads the index from the disk
    for _ in range(TRIES):  # a busy machine may be late with the first searches
        answer = page.goto(address + picture.path, wait_until="networkidle")
        if answer is not None and answer.ok:
            break
    else:
        raise RuntimeError(f"{picture.path}: no answer to show")
    page.evaluate("document.querySelector('.where')?.remove()")  # the folder of this machine
    shot = context.new_cdp_session(page).send(
        "Page.captureScreenshot", {"format": "webp", "quality": QUALITY}
    )
    (IMAGES / f"{name}.webp").write_bytes(base64.b64decode(shot["data"]))
    context.close()


def main() -> None:
    CRAWL.parent.mkdir(exist_ok=True)
    crawl, port = str(CRAWL), str(free_port())
    address = f"http://127.0.0.1:{port}"
    if not CRAWL.exists():
        demo = ("--hosts", "20", "--folder", crawl, "--port", port, "--no-browser")
        with running("demo", *demo):
            wait_for(address, ENOUGH_PAGES)
        counting = [sys.executable, "-m", "gossamer", "sections", crawl]
        subprocess.run(counting, check=True, stdout=subprocess.DEVNULL)
    with running("serve", crawl, "--port", port), sync_playwright() as playwright:
        wait_for(address, ENOUGH_PAGES)
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, picture in PICTURES.items():
            take(browser, address, name, picture)
        browser.close()


if __name__ == "__main__":
    main()
