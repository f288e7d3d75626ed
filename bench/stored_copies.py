"""Stored copies of pages and images in a crawl, as fetch and parse write them, for attacks.py."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa

from gossamer.tables import DOCUMENTS, PAGES, RESPONSES
from gossamer.task_output import ParquetWriter, layers_of
from gossamer.warc import Capture, WarcWriter, payload_digest, request_head, response_head

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.api import Crawl

COPIES = 2_000
LARGE_BYTES = 12_000_000
PICTURES = 20
PICTURE_BYTES = 1_900_000
DATE_MS = 1_800_000_000_000
HOST = "https://copies.example/"


def with_copies(made: Crawl) -> None:
    """Add them to a crawl."""
    draw = random.Random(3)  # noqa: S311  # reproducible
    warc = WarcWriter(made.path, made.work.store.attempt("warc"), {})
    bodies = list(_bodies(draw))
    responses, documents, pages = [], [], []
    for url, body, media in bodies:
        headers = [(b"Content-Type", media.encode())]
        capture = Capture(
            url, DATE_MS, body, payload_digest(body),
            response_head(200, "OK", headers, len(body), decoded=False),
            request_head("/", [("Host", "copies.example")]),
            200, media, "127.0.0.1", None, {},
        )  # fmt: skip
        key = {"url": url, "host": "copies.example", "fetched_ms": DATE_MS, "round": 1}
        responses.append(
            {**key, "outcome": "ok", "http_status": 200, "body_bytes": len(body),
             "truncated": False, "warc_offset": warc.write(capture), "warc_file": warc.path}
        )  # fmt: skip
        is_page = media.startswith("text/")
        documents.append(
            {**key, "outcome": "parsed" if is_page else "stored", "content_type": media,
             "charset": "utf-8" if is_page else None, "title": "Copy of Linux", "language": "en",
             "text": "linux system\n" * 20, "main_text": "linux system " * 20, "boilerplate": "",
             "truncated": False, "noindex": not is_page, "noarchive": False, "nosnippet": False,
             "nofollow": False}
        )  # fmt: skip
        pages.append(
            {"url": url, "host": "copies.example", "status": "fetched", "source": "seed",
             "depth": 0, "fetches": 1, "failures": 0}
        )  # fmt: skip
    written = warc.close()
    for form, rows in ((RESPONSES, responses), (DOCUMENTS, documents), (PAGES, pages)):
        writer = ParquetWriter(made.path, form.name, made.work.store.attempt(form.name))
        blank = dict.fromkeys(form.column_names)
        writer.write(pa.Table.from_pylist([blank | row for row in rows], form.schema))
        written += writer.close()
    with made.work.step("test", 1) as draft:
        draft.append = layers_of(written, 1)


def _bodies(draw: random.Random) -> Iterator[tuple[str, bytes, str]]:
    line = "<p>A paragraph of <a href='/x'>some</a> words, number {}.</p>\n"
    for number in range(COPIES):
        body = "".join(line.format(draw.random()) for _ in range(200))
        yield f"{HOST}{number}.html", body.encode(), "text/html"
    large = "".join(line.format(number) for number in range(LARGE_BYTES // len(line)))
    yield f"{HOST}large.html", large.encode(), "text/html"
    for number in range(PICTURES):
        body = b"\x89PNG\r\n\x1a\n" + draw.randbytes(PICTURE_BYTES)
        yield f"{HOST}{number}.png", body, "image/png"
