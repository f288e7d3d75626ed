"""What is stored, shown without rights: the copy of a page in a frame, and a result's picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from gossamer.serve import copies, pictures
from gossamer.serve.copies import Refusal
from gossamer.serve.web import answers
from gossamer.serve.web.headers import HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from gossamer.serve.copies import Copy
    from gossamer.serve.pages import Pages
    from gossamer.workspace import Workspace

_Found = TypeVar("_Found")
FRAMING = {"content-security-policy": HEADERS["content-security-policy"] + "; frame-src 'self'"}


class Copying:
    def __init__(self, work: Workspace, pages: Pages) -> None:
        self._work = work
        self._pages = pages

    def routes(self) -> list[Route]:
        return [
            Route("/copy", self.page),
            Route("/copy/raw", self.raw),
            Route("/image", self.picture),
        ]

    def page(self, request: Request) -> Response:
        shown = answers.page("copy.html", copy=self._copy(request))
        shown.headers.update(FRAMING)
        return shown

    def raw(self, request: Request) -> Response:
        body, headers = copies.body(self._work.root, self._copy(request))
        return Response(body, headers=headers)

    def picture(self, request: Request) -> Response:
        body, headers = self._found(request, pictures.find)
        return Response(body, headers=headers)

    def _copy(self, request: Request) -> Copy:
        return self._found(request, copies.find)

    def _found(
        self, request: Request, find: Callable[[Workspace, Pages, str], _Found | Refusal]
    ) -> _Found:
        url = answers.address(request, self._pages)
        self._work.store.refresh()
        found = find(self._work, self._pages, url)
        if isinstance(found, Refusal):
            raise HTTPException(found.status, found.why)
        return found
