"""The stored copy of a page: our bar above a frame that has no rights, and what the frame shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from gossamer.serve import copies
from gossamer.serve.web import answers
from gossamer.serve.web.headers import HEADERS

if TYPE_CHECKING:
    from starlette.requests import Request

    from gossamer.serve.copies import Copy
    from gossamer.serve.pages import Pages
    from gossamer.workspace import Workspace

FRAMING = {"content-security-policy": HEADERS["content-security-policy"] + "; frame-src 'self'"}


class Copying:
    def __init__(self, work: Workspace, pages: Pages) -> None:
        self._work = work
        self._pages = pages

    def routes(self) -> list[Route]:
        return [Route("/copy", self.page), Route("/copy/raw", self.raw)]

    def page(self, request: Request) -> Response:
        shown = answers.page("copy.html", copy=self._copy(request))
        shown.headers.update(FRAMING)
        return shown

    def raw(self, request: Request) -> Response:
        body, headers = copies.body(self._work.root, self._copy(request))
        return Response(body, headers=headers)

    def _copy(self, request: Request) -> Copy:
        url = answers.address(request, self._pages)
        self._work.store.refresh()
        found = copies.find(self._work, self._pages, url)
        if isinstance(found, copies.Refusal):
            raise HTTPException(found.status, found.why)
        return found
