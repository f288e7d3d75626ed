"""Results for files and folders, with the headers that HTTP would send, for schemes without any.

A folder becomes a page of links to its entries. The archive stores body and headers as a `resource`
record (WARC 1.1 §6.5), from which the parser takes the type.
"""

from __future__ import annotations

from html import escape
from itertools import islice
from mimetypes import MimeTypes
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from gossamer.web.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.fetch.exchange import FetchResult, Request
    from gossamer.web.urls import UrlRules

FOLDER_TYPE = "text/html; charset=utf-8"
MAX_ENTRIES = 10_000
"""Entries listed per folder. The page of a larger folder is marked as truncated."""

_TYPES = MimeTypes()  # Python's own table, not the machine's, so that all tasks agree
_TYPES.add_type("text/markdown", ".md")  # RFC 7763; it cannot be detected from the body
_TYPES.add_type("text/markdown", ".markdown")


class FolderEntry(NamedTuple):
    name: bytes
    is_folder: bool


def media_type(path: bytes) -> str | None:
    """The type by the ending of a file name; None if only the body can show it."""
    kind, coding = _TYPES.guess_type(path.decode("latin-1"))
    if coding is None:
        return kind
    return "application/gzip" if coding == "gzip" else "application/octet-stream"


def set_body(
    answer: FetchResult, body: bytes, content_type: str | None, *, truncated: bool = False
) -> None:
    """Set the outcome ok, the body, and the headers that HTTP would have sent with it."""
    answer.outcome = "ok"
    answer.body, answer.truncated, answer.content_type = body, truncated, content_type
    headers = {
        "Content-Type": content_type,
        "Content-Length": None if truncated else str(len(body)),
        "Last-Modified": answer.last_modified,
        "ETag": answer.etag,
    }
    answer.headers = [
        (name.encode(), value.encode()) for name, value in headers.items() if value is not None
    ]


def set_folder_page(
    answer: FetchResult,
    path: bytes,
    entries: Iterable[FolderEntry],
    limit: int,
    *,
    truncated: bool = False,
) -> None:
    """Set a page of at most `limit` bytes that links to the entries of a folder, sorted by name.

    The links are relative, so the folder's URL must end in a slash. `truncated` means that
    `entries` is incomplete.
    """
    title = escape(path.decode("utf-8", "replace"))
    start = f'<!DOCTYPE html>\n<meta charset="utf-8">\n<title>{title}</title>\n<h1>{title}</h1>\n'
    page = bytearray(f"{start}<ul>\n".encode())
    for number, entry in enumerate(sorted(islice(entries, MAX_ENTRIES + 1))):
        item = _item(entry)
        if number >= MAX_ENTRIES or len(page) + len(item) > limit:
            truncated = True
            break
        page += item
    truncated = truncated or len(page) > limit
    set_body(answer, bytes(page[:limit]), FOLDER_TYPE, truncated=truncated)


def redirect_to_folder(answer: FetchResult, request: Request, rules: UrlRules) -> None:
    """Redirect a folder's URL that lacks its slash to the one that has it."""
    answer.redirect_url = normalize(f"{request.url}/", request.url, rules)
    answer.outcome = "redirect" if answer.redirect_url else "bad_redirect"
    answer.detail = "a folder"


def _item(entry: FolderEntry) -> bytes:
    slash = "/" if entry.is_folder else ""
    href = quote(entry.name, safe="") + slash
    text = escape(entry.name.decode("utf-8", "replace"))
    return f'<li><a href="{href}">{text}{slash}</a></li>\n'.encode()
