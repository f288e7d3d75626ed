"""A picture that a result names, as the crawl has stored it.

Who searches shall not have to ask strangers' servers, which would learn of it. So a result shows
the picture that its page names from our own address, if the crawl has fetched that, too
(`parse.media`). There is no looking it up for each result: the browser asks when the result comes
into sight, and of a picture that is not there it shows nothing.

Its bytes are a stranger's: they are answered as the raster format that they begin like, whatever
they were called. SVG, which may hold scripts, is no such format.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.serve import copies
from gossamer.serve.copies import Refusal

if TYPE_CHECKING:
    from gossamer.serve.pages import Pages
    from gossamer.workspace import Workspace

MAX_PICTURE_BYTES = 2 << 20
"""Ten of a page of results are asked for at a time, by telephones, too."""
HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "x-robots-tag": "noindex",
    "cache-control": "private, max-age=3600",
}
_FORMATS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBPVP", re.DOTALL),
    "image/avif": re.compile(rb".{4}ftypavi[fs]", re.DOTALL),
}
"""What their first bytes are: WHATWG MIME Sniffing §6.1, and of AVIF its specification, §6."""


def find(work: Workspace, pages: Pages, url: str) -> tuple[bytes, dict[str, str]] | Refusal:
    """The bytes of a picture, and their headers. Its URL is in normal form. Raises StoreError."""
    copy = copies.find(work, pages, url)
    if isinstance(copy, Refusal):
        return copy
    body = copies.stored(work.root, copy)
    media = format_of(body)
    if media is None or copy.truncated:
        return Refusal(404, "What the crawl has stored here is no whole picture.")
    if len(body) > MAX_PICTURE_BYTES:
        return Refusal(403, f"The picture is larger than {MAX_PICTURE_BYTES >> 20} MB.")
    return body, HEADERS | {"content-type": media}


def format_of(body: bytes) -> str | None:
    """The raster format that bytes begin like."""
    return next((media for media, begins in _FORMATS.items() if begins.match(body)), None)
