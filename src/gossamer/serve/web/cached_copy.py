"""Routes for stored files, without rights: the copy of a page in a frame, and result images."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from gossamer.serve import cached_copy
from gossamer.serve.cached_copy import Refusal
from gossamer.serve.web import answers, pictures
from gossamer.serve.web.guard import Guard
from gossamer.serve.web.headers import HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from gossamer.search.page_info import PageInfo
    from gossamer.serve.cached_copy import Copy
    from gossamer.state.workspace import Workspace

_Found = TypeVar("_Found")
FRAMING = {"content-security-policy": HEADERS["content-security-policy"] + "; frame-src 'self'"}


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
        shown = answers.page("copy.html", copy=self._copy(request))
        shown.headers.update(FRAMING)
        return shown

    def raw(self, request: Request) -> Response:
        body, headers = cached_copy.body(self._work.root, self._copy(request))
        return Response(body, headers=headers)

    def picture(self, request: Request) -> Response:
        body, headers = self._found(request, pictures.find)
        return Response(body, headers=headers)

    def _copy(self, request: Request) -> Copy:
        return self._found(request, cached_copy.find)

    def _found(
        self, request: Request, find: Callable[[Workspace, PageInfo, str], _Found | Refusal]
    ) -> _Found:
        url = answers.address(request, self._pages)
        self._work.store.refresh()
        found = find(self._work, self._pages, url)
        if isinstance(found, Refusal):
            raise HTTPException(found.status, found.why)
        return found
