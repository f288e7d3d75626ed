"""Turns errors into responses: problem details (RFC 9457) for programs, a page for people."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec
from starlette.exceptions import HTTPException

from gossamer.errors import StoreError
from gossamer.serve.dispatch.fair_queue import Busy
from gossamer.serve.web import responses
from gossamer.serve.web.site_path import route_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import MutableMapping
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"
RETRY = {"retry-after": "1"}
"""Seconds. Most overloads are over by then."""
FOR_PROGRAMS = ("/api/", "/health", "/mcp", "/metrics", "/open-webui", "/feed")
_ABOUT = {404: "There is nothing at this address.", 405: "This address only answers GET and HEAD."}


class Problem(msgspec.Struct, frozen=True):
    """Problem details: `title` is the phrase of the HTTP status, `detail` the error and remedy."""

    title: str
    status: int
    detail: str


def problem(request: Request, error: Exception) -> Response:
    return refusal_problem(request.scope, error)


def busy_problem(refused: Counter[str], request: Request, error: Exception) -> Response:
    """Like `problem`, but count the error in `refused`."""
    if isinstance(error, Busy):
        refused[error.kind] += 1
    return problem(request, error)


def refusal_problem(scope: MutableMapping[str, Any], error: Exception) -> Response:
    """The response to a request that ended with an error."""
    headers = None
    match error:
        case HTTPException():
            status, detail, headers = error.status_code, error.detail, error.headers
        case Busy():
            status, detail, headers = 503, str(error), RETRY
        case StoreError():  # a later commit may repair it
            status, detail = 503, str(error)
        case _:
            status, detail = 500, "See the server's log for details."
    title = HTTPStatus(status).phrase
    if detail == title:
        detail = _ABOUT.get(status, detail)
    if route_of(scope).startswith(FOR_PROGRAMS):
        answer = responses.json(Problem(title, status, detail), status, MEDIA_TYPE)
    else:
        answer = responses.page(scope, "problem.html", status, title=title, detail=detail)
    answer.headers.update(headers or {})
    return answer


HANDLERS = {HTTPException: problem, StoreError: problem, Exception: problem}
