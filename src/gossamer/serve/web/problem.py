"""An error as an answer: problem details (RFC 9457) for programs, a page for people."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec
from starlette.exceptions import HTTPException

from gossamer.errors import StoreError
from gossamer.serve.web import answers

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"
FOR_PROGRAMS = ("/api/", "/health", "/metrics")
_ABOUT = {
    404: "There is nothing at this address.",
    405: "This address is only to be read: GET, HEAD.",
}


class Problem(msgspec.Struct, frozen=True):
    """Problem details: `title` is that of the HTTP status, `detail` what to do about it."""

    title: str
    status: int
    detail: str


def problem(request: Request, error: Exception) -> Response:
    return refusal(request.scope["path"], error)


def refusal(path: str, error: Exception) -> Response:
    """The answer to a request for `path` that ended with an error."""
    headers = None
    match error:
        case HTTPException():
            status, detail, headers = error.status_code, error.detail, error.headers
        case StoreError():  # a commit may come to put it right
            status, detail = 503, str(error)
        case _:
            status, detail = 500, "the log of the server tells more"
    title = HTTPStatus(status).phrase
    if detail == title:
        detail = _ABOUT.get(status, detail)
    if path.startswith(FOR_PROGRAMS):
        answer = answers.json(Problem(title, status, detail), status, MEDIA_TYPE)
    else:
        answer = answers.page("problem.html", status, title=title, detail=detail)
    answer.headers.update(headers or {})
    return answer


HANDLERS = {HTTPException: problem, StoreError: problem, Exception: problem}
