"""Captures for tests: exchanges as the archive takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.storage.warc import Capture, WarcWriter, payload_digest, request_head, response_head

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

DATE_MS = 1_700_000_000_123
DATE = "2023-11-14T22:13:20.123Z"
HTML = ((b"Content-Type", b"text/html; charset=utf-8"),)
INFO = {"robots": "obey"}


def http_capture(
    url: str,
    body: bytes,
    headers: Sequence[tuple[bytes, bytes]] = HTML,
    *,
    status: int = 200,
    reason: str = "OK",
    decoded: bool = False,
    truncated: str | None = None,
) -> Capture:
    content_type = next((value for name, value in headers if name.lower() == b"content-type"), b"")
    return Capture(
        url,
        DATE_MS,
        body,
        payload_digest(body),
        response_head(status, reason, headers, len(body), decoded=decoded),
        request_head("/" + url.split("/", 3)[3], [("Host", "a.test"), ("User-Agent", "gossamer")]),
        status,
        content_type.decode("latin-1"),
        "127.0.0.1",
        truncated,
        {"fetchTimeMs": 12},
    )


def file_capture(url: str, body: bytes, content_type: str = "text/plain") -> Capture:
    return Capture(url, DATE_MS, body, payload_digest(body), content_type=content_type)


def write(folder: Path, captures: Iterable[Capture]) -> tuple[Path, list[int]]:
    """A WARC file below the folder, and the offsets of its bodies."""
    writer = WarcWriter(str(folder), "warc/1", INFO)
    offsets = [writer.write(capture) for capture in captures]
    writer.close()
    return folder / writer.path, offsets
