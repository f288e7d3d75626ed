"""Routes for two versions of a page side by side, as HTML and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.serve.differences import parse_time
from gossamer.serve.stored_copy import Refusal
from gossamer.serve.web import responses
from gossamer.serve.web.expensive_responses import Guard

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.search.page_info import PageInfo
    from gossamer.serve.differences import Difference, Differences
    from gossamer.serve.documents import Documents
    from gossamer.state.workspace import Workspace

NOT_AS_INPUT = (
    "Its publisher does not want the text of this page as input of AI (ai-input=no). For people, "
    "it is at /diff."
)
MAX_TIME_CHARS = 40


class Differing:
    def __init__(
        self,
        work: Workspace,
        pages: PageInfo,
        documents: Documents,
        differences: Differences,
    ) -> None:
        self._work = work
        self._pages = pages
        self._documents = documents
        self._differences = differences

    def routes(self, kept_s: float) -> list[Route]:
        guard = Guard("diff", kept_s=kept_s)
        return [Route("/diff", guard(self.page)), Route("/api/v1/diff", guard(self.api))]

    def page(self, request: Request) -> Response:
        return responses.page(request.scope, "diff.html", found=self._difference(request))

    def api(self, request: Request) -> Response:
        found = self._difference(request)
        if not self._documents.may_be_input(found.url):
            raise HTTPException(403, NOT_AS_INPUT)
        return responses.json(found)

    def _difference(self, request: Request) -> Difference:
        url = responses.address_parameter(request, self._pages)
        since_ms = time_parameter(request, "from")
        until_ms = time_parameter(request, "to", ends=True)
        self._work.store.refresh()
        found = self._differences.of(url, since_ms, until_ms)
        if isinstance(found, Refusal):
            raise HTTPException(found.status, found.why)
        return found


def time_parameter(request: Request, name: str, *, ends: bool = False) -> int | None:
    """A parameter as `parse_time` reads it; None without it. Raises HTTPException."""
    text = request.query_params.get(name, "")
    if not text:
        return None
    try:
        return parse_time(text[:MAX_TIME_CHARS], ends=ends)
    except (ValueError, OverflowError):
        raise HTTPException(
            400, f"{name} must be a day (2026-01-31), a time (2026-01-31T12:00:00Z), or 14 digits"
        ) from None
