"""How soon do instant results appear while somebody types?

    python bench/instant.py [--documents 100_000] [--folder FOLDER]

The documents are those of corpus.py. Their crawl is created in FOLDER, unless it is there already,
and left there for the next run. Texts are one to three neighbouring words of a line, typed letter
by letter from the third one on. The server is `gossamer serve` with its cache disabled; it, its
search processes and this process share the machine.

  server   one client asks for /api/v1/instant after each letter, one request after the other
  browser  a page of another origin with embed.js in Chromium: from the request to the results in
           the page. The pause that the script waits before it asks is not in it.
"""

from __future__ import annotations

import http.server
import random
import re
import shutil
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pyarrow.parquet as pq
from corpus import CorpusOptions, crawl, requested_documents
from harness import report, skip
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table
from serve import SETTINGS, percent, serving

from gossamer import dedup, index
from gossamer.api.crawl import Crawl
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

PORT = 8_931
"""Of the other origin, which the settings of the crawl name."""
PAGE = '<!doctype html><title>A site</title><body><script src="{server}/embed.js"></script>'
TYPE = """async (text) => {
    const root = document.querySelector(".gossamer-search").shadowRoot;
    const box = root.querySelector("input");
    const list = root.querySelector("[role=listbox]");
    const status = root.querySelector("[role=status]");
    const ask = window.fetch;
    let began = 0;
    window.fetch = (...given) => { began = performance.now(); return ask(...given); };
    status.textContent = "";
    const shown = new Promise((done) => {
        const watch = new MutationObserver(() => {
            if (status.textContent === "") return;
            watch.disconnect();
            requestAnimationFrame(() => done(performance.now() - began));
        });
        watch.observe(status, { childList: true });
    });
    box.value = text;
    box.dispatchEvent(new InputEvent("input"));
    const took = await shown;
    window.fetch = ask;
    return took / 1000;
}"""
"""JavaScript: the seconds from the request of embed.js to the frame that shows the answer."""


def typed_texts(path: str, count: int) -> list[str]:
    """Draw texts as they are after each letter, the same on each run."""
    rows = pq.ParquetFile(path).read_row_group(0, ["main_text"]).drop_null()
    texts = rows["main_text"].to_pylist()
    draw = random.Random(7)  # noqa: S311  # reproducible
    typed: list[str] = []
    while len(typed) < count:
        words = re.findall(r"[^\W\d_]{3,}", draw.choice(draw.choice(texts).split("\n")))
        if not words:
            continue
        at = draw.randrange(len(words))
        whole = " ".join(words[at : at + draw.choice((1, 1, 2, 2, 3))]).lower()
        typed += [whole[:end] for end in range(3, len(whole) + 1)]
    return typed[:count]


def from_server(url: str, texts: Sequence[str]) -> list[float]:
    """The seconds of each request."""
    took = []
    with httpx.Client(base_url=url) as client:
        for text in texts:
            started_s = time.perf_counter()
            client.get("/api/v1/instant", params={"q": text}).raise_for_status()
            took.append(time.perf_counter() - started_s)
    return took


def in_browser(url: str, texts: Sequence[str]) -> list[float]:
    """The seconds from each request to the results in the page."""
    with other_origin(url) as address, sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=options
        )
        page = chromium.new_page()
        page.goto(address)
        took = [page.evaluate(TYPE, text) for text in texts]
        chromium.close()
    return took


@contextmanager
def other_origin(server: str) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(PAGE.format(server=server.rstrip("/")).encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with http.server.HTTPServer(("127.0.0.1", PORT), Handler) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{PORT}/"
        finally:
            site.shutdown()
            thread.join()


def measure(folder: Path, options: argparse.Namespace) -> None:
    with Crawl.open(str(folder)) as opened:
        texts = typed_texts(opened.work.paths("documents")[0], options.letters)
    server, url = serving(folder)
    try:
        from_server(url, texts[: len(texts) // 4])  # warm up files and processes
        took = {"server": from_server(url, texts), "browser": in_browser(url, texts)}
    finally:
        server.terminate()
        server.wait()
    table = Table("instant results", "p50 ms", "p95 ms", "p99 ms", "slowest")
    for name, each in took.items():
        table.add_row(name, *(f"{percent(each, share):.1f}" for share in (0.5, 0.95, 0.99, 1)))
    Console().print(table)
    of_all = percent(took["browser"], 0.95)
    report(f"p95 {of_all:.0f} ms in a browser, with {options.documents:,} documents")


def main() -> None:
    parser = CorpusOptions(__doc__, documents=(100_000, 200), letters=(1_000, 20))
    parser.add_argument("--folder", type=Path)
    options = parser.read()
    if shutil.which("chromium") is None:
        skip("needs Debian's chromium")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(options.folder or scratch, "crawl")
        if not folder.exists():
            settings = f'{SETTINGS}serve.origins = ["http://127.0.0.1:{PORT}"]\n'
            with Engine(EngineConfig()) as engine:
                work = crawl(folder, requested_documents(options), engine, settings).work
                dedup.run(work)
                index.run(work)
        measure(folder, options)


if __name__ == "__main__":
    main()
