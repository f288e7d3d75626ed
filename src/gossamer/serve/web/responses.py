"""Parses the parameters of requests, and builds HTML and JSON responses."""

from __future__ import annotations

import re
from html import unescape
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from gossamer.search.filters import NORWEGIAN
from gossamer.serve.rendering import render
from gossamer.serve.web.site_path import root_of

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence
    from typing import Any

    from starlette.requests import Request

    from gossamer.search.page_info import PageInfo

MAX_NUMBER_DIGITS = 9
MAX_SITE_CHARS = 500
# What separates words or groups them in queries may not occur in a value of `site:`. Spaces are
# listed because \s is another set in Python than in ECMA-262, which the API's description uses.
SITE_PATTERN = (
    r'^[^\u0000-\u0020\u007F-\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000"()]*$'
)
_LANGUAGE = re.compile(r"[a-z]{2}(?![a-z])")
_MATCH = re.compile("</?b>")
_SITE = re.compile(SITE_PATTERN)
_FRESH = {"cache-control": "no-store"}
_OF_304 = ("etag", "cache-control", "last-modified", "vary", "x-robots-tag")


def number_parameter(request: Request, name: str, default: int, *, strict: bool = True) -> int:
    """A parameter as a whole number, or `default` if it is missing.

    If it is not a number: raises HTTPException if `strict`, else returns `default`.
    """
    text = request.query_params.get(name)
    if text is None:
        return default
    if text.isascii() and text.isdigit() and len(text) <= MAX_NUMBER_DIGITS:
        return int(text)
    if strict:
        raise HTTPException(400, f"{name} must be a whole number, 0 or more")
    return default


def span_parameter(request: Request, default: int, most: int) -> tuple[int, int]:
    """The parameters `offset` and `limit`, `default` if it is missing. Raises HTTPException."""
    offset = number_parameter(request, "offset", 0)
    limit = number_parameter(request, "limit", default)
    if limit > most:
        raise HTTPException(400, f"limit may be at most {most}")
    return offset, limit


def address_parameter(request: Request, pages: PageInfo) -> str:
    """The parameter `url`, normalized as the crawl does. Raises HTTPException if that fails."""
    given = request.query_params.get("url", "")
    if not given:
        raise HTTPException(400, f"url is missing: {request.scope['path']}?url=https://…")
    normal = pages.normal(given)
    if normal is None:
        raise HTTPException(404, "url is not a URL that this crawl could contain")
    return normal


def site_parameter(request: Request) -> str:
    """The parameter `site`, a value of the filter `site:`, or "". Raises HTTPException."""
    site = request.query_params.get("site", "")
    if len(site) > MAX_SITE_CHARS or not _SITE.fullmatch(site):
        raise HTTPException(400, "site must be a host or domain, or an address of one with a path")
    return site


def flag(request: Request, name: str) -> bool:
    """Whether a parameter is 1 or true. Raises HTTPException if it is not a Boolean."""
    return choice_parameter(request, name, ("0", "1", "false", "true")) in ("1", "true")


def choice_parameter(request: Request, name: str, among: Sequence[str]) -> str:
    """A parameter that must be one of these; the first if it is missing. Raises HTTPException."""
    text = request.query_params.get(name, among[0])
    if text not in among:
        raise HTTPException(400, f"{name} must be one of {', '.join(among)}")
    return text


def language_parameter(request: Request) -> str:
    """The language that the user prefers: a code of ISO 639-1, "" if there is none.

    It is the parameter `language`, or the first of Accept-Language (RFC 9110, section 12.5.4).
    Browsers list languages in the order of preference.
    """
    tags = request.query_params.get("language") or request.headers.get("accept-language", "")
    code = _LANGUAGE.match(tags.lower())
    return NORWEGIAN.get(code[0], code[0]) if code else ""


def snippet_parts(html: str) -> list[str]:
    """The text of a snippet in pieces, of which every second one is a match.

    In snippets, all markup is `<b>` around matches, which do not contain each other.
    """
    return [unescape(piece) for piece in _MATCH.split(html)]


def unless_known(request: Request, answer: Response) -> Response:
    """The answer, or 304 if the client has it (RFC 9110, section 13.1.2)."""
    tag = answer.headers.get("etag", "")
    given = request.headers.get("if-none-match", "")
    known = {each.strip().removeprefix("W/") for each in given.split(",")}
    if tag and (tag in known or given.strip() == "*"):
        kept = [name for name in _OF_304 if name in answer.headers]
        return Response(status_code=304, headers={name: answer.headers[name] for name in kept})
    return answer


def page(
    scope: MutableMapping[str, Any], template: str, status: int = 200, **values: object
) -> Response:
    """HTML whose links begin with the path of the site."""
    return HTMLResponse(render(template, root=root_of(scope), **values), status, _FRESH)


def json(
    value: object,
    status: int = 200,
    media_type: str = "application/json",
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Response:
    return Response(msgspec.json.encode(value), status, {**_FRESH, **headers}, media_type)
