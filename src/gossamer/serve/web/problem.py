"""An error as an answer: problem details (RFC 9457) for programs, a page for people."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from gossamer.errors import StoreError
from gossamer.serve.web import answers

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

FOR_PROGRAMS = ("/api/", "/health")


def problem(request: Request, error: Exception) -> Response:
    match error:
        case HTTPException():
            status, detail = error.status_code, error.detail
        case StoreError():  # a commit may come to put it right
            status, detail = 503, str(error)
        case _:
            status, detail = 500, "the log of the server tells more"
    title = HTTPStatus(status).phrase
    if request.scope["path"].startswith(FOR_PROGRAMS):
        details = {"title": title, "status": status, "detail": detail}
        return answers.json(details, status, "application/problem+json")
    return answers.page("problem.html", status, title=title, detail=detail)


HANDLERS = {HTTPException: problem, StoreError: problem, Exception: problem}
