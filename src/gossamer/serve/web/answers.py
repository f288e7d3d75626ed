"""What handlers read of a request, and the forms of what they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from gossamer.serve.views import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from gossamer.serve.pages import Pages

MAX_NUMBER_DIGITS = 9
_FRESH = {"cache-control": "no-store"}


def number(request: Request, name: str, default: int, *, strict: bool = True) -> int:
    """A parameter as a whole number. Raises HTTPException where it is `strict` and none."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if text.isascii() and text.isdigit() and len(text) <= MAX_NUMBER_DIGITS:
        return int(text)
    if strict:
        raise HTTPException(400, f"{name}: a whole number from 0")
    return default


def address(request: Request, pages: Pages) -> str:
    """The parameter `url` in the crawl's form. Raises HTTPException where there is none such."""
    given = request.query_params.get("url", "")
    if not given:
        raise HTTPException(400, f"url is missing: {request.scope['path']}?url=https://…")
    normal = pages.normal(given)
    if normal is None:
        raise HTTPException(404, "url: not the URL of a page that a crawl can know")
    return normal


def flag(request: Request, name: str) -> bool:
    """A parameter that is 1 or true. Raises HTTPException for what is neither yes nor no."""
    return choice(request, name, ("0", "1", "false", "true")) in ("1", "true")


def choice(request: Request, name: str, among: Sequence[str]) -> str:
    """A parameter that is one of these, the first where it is left out. Raises HTTPException."""
    text = request.query_params.get(name, among[0])
    if text not in among:
        raise HTTPException(400, f"{name}: one of {', '.join(among)}")
    return text


def page(template: str, status: int = 200, **values: object) -> Response:
    return HTMLResponse(render(template, **values), status, _FRESH)


def json(value: object, status: int = 200, media_type: str = "application/json") -> Response:
    return Response(msgspec.json.encode(value), status, _FRESH, media_type)
