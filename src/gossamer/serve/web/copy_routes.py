"""Routes for stored files, without rights: the copy of a page in a frame, and result images.

If results loaded images from strangers' servers, those servers would learn who searches. So a
result shows the image that its page names from our own address, if the crawl has fetched it
(`parse.media`). Images are not looked up when results are computed: the browser requests one when
its result scrolls into view, and shows nothing if it is missing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from gossamer.serve import stored_copy
from gossamer.serve.stored_copy import Refusal
from gossamer.serve.web import responses
from gossamer.serve.web.expensive_responses import Guard
from gossamer.serve.web.headers import HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from gossamer.search.page_info import PageInfo
    from gossamer.serve.stored_copy import Copy
    from gossamer.state.workspace import Workspace

_Found = TypeVar("_Found")
FRAMING = {"content-security-policy": HEADERS["content-security-policy"] + "; frame-src 'self'"}

MAX_PICTURE_BYTES = 2 << 20
"""A page of results loads up to ten images at once, on phones too."""
PICTURE_HEADERS = {
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


class Copying:
    def __init__(self, work: Workspace, pages: PageInfo) -> None:
        self._work = work
        self._pages = pages

    def routes(self, kept_s: float) -> list[Route]:
        copy, image = Guard("copy", kept_s=kept_s), Guard("image", 2, kept_s)
        return [
            Route("/copy", copy(self.page)),
            Route("/copy/raw", copy(self.raw)),
            Route("/image", image(self.picture)),
        ]

    def page(self, request: Request) -> Response:
        shown = responses.page(request.scope, "copy.html", copy=self._copy(request))
        shown.headers.update(FRAMING)
        return shown

    def raw(self, request: Request) -> Response:
        body, headers = stored_copy.copy_body(self._work.root, self._copy(request))
        return Response(body, headers=headers)

    def picture(self, request: Request) -> Response:
        body, headers = self._found(request, find_picture)
        return Response(body, headers=headers)

    def _copy(self, request: Request) -> Copy:
        return self._found(request, stored_copy.find_copy)

    def _found(
        self, request: Request, find: Callable[[Workspace, PageInfo, str], _Found | Refusal]
    ) -> _Found:
        url = responses.address_parameter(request, self._pages)
        self._work.store.refresh()
        found = find(self._work, self._pages, url)
        if isinstance(found, Refusal):
            raise HTTPException(found.status, found.why)
        return found


def find_picture(
    work: Workspace, pages: PageInfo, url: str
) -> tuple[bytes, dict[str, str]] | Refusal:
    """The body and headers of the image at a URL in normal form, or why not. Raises StoreError.

    The bytes come from a stranger: they are sent with the media type of the raster format that
    their first bytes show, whatever the original headers said. SVG, which may contain scripts, is
    not sent.
    """
    copy = stored_copy.find_copy(work, pages, url)
    if isinstance(copy, Refusal):
        return copy
    if copy.bytes > MAX_PICTURE_BYTES:
        return Refusal(403, f"The image is larger than {MAX_PICTURE_BYTES >> 20} MB.")
    body = stored_copy.read_body(work.root, copy)
    media = format_of(body)
    if media is None or copy.truncated:
        return Refusal(404, "The stored file is not a complete image of a supported format.")
    return body, PICTURE_HEADERS | {"content-type": media}


def format_of(body: bytes) -> str | None:
    """The media type of the raster format that the first bytes show, or None."""
    return next((media for media, begins in _FORMATS.items() if begins.match(body)), None)
