"""The image of a search result, from the crawl's archive.

If results loaded images from strangers' servers, those servers would learn who searches. So a
result shows the image that its page names from our own address, if the crawl has fetched it
(`parse.media`). Images are not looked up when results are computed: the browser requests one when
its result scrolls into view, and shows nothing if it is missing.

The bytes come from a stranger: they are sent with the media type of the raster format that their
first bytes show, whatever the original headers said. SVG, which may contain scripts, is not sent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.serve import cached_copy
from gossamer.serve.cached_copy import Refusal

if TYPE_CHECKING:
    from gossamer.search.page_info import PageInfo
    from gossamer.state.workspace import Workspace

MAX_PICTURE_BYTES = 2 << 20
"""A page of results loads up to ten images at once, on phones too."""
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
"""The first bytes of each format: WHATWG MIME Sniffing §6.1; for AVIF its specification, §6."""


def find(work: Workspace, pages: PageInfo, url: str) -> tuple[bytes, dict[str, str]] | Refusal:
    """The body and headers of the image at a URL in normal form, or why not. Raises StoreError."""
    copy = cached_copy.find(work, pages, url)
    if isinstance(copy, Refusal):
        return copy
    if copy.bytes > MAX_PICTURE_BYTES:
        return Refusal(403, f"The image is larger than {MAX_PICTURE_BYTES >> 20} MB.")
    body = cached_copy.stored(work.root, copy)
    media = format_of(body)
    if media is None or copy.truncated:
        return Refusal(404, "The stored file is not a complete image of a supported format.")
    return body, HEADERS | {"content-type": media}


def format_of(body: bytes) -> str | None:
    """The media type of the raster format that the first bytes show, or None."""
    return next((media for media, begins in _FORMATS.items() if begins.match(body)), None)
