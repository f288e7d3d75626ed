"""Pages and API over HTTP.

    /                     the search box
    /search?q=&page=      results
    /status               what the crawl does
    /api/search?q=&offset=&limit=      Results (search.py) as JSON
    /api/status           overview.py as JSON
    /health               200 where an index is being served, else 503

Everything works without JavaScript. What comes from the web is escaped by the templates, links
lead to http and https alone, and the Content-Security-Policy forbids any script but our file.
Errors of the API are problem details (RFC 9457).
"""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from gossamer.errors import StoreError
from gossamer.overview import overview
from gossamer.serve.live import Live
from gossamer.serve.search import MAX_QUERY_CHARS, MAX_RESULTS
from gossamer.serve.views import render

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from gossamer.workspace import Workspace

PAGE_HITS = 10
MAX_LIMIT = 100
MAX_NUMBER_DIGITS = 9
OWN_NAMES = ("localhost", "127.0.0.1", "[::1]")
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


def app(work: Workspace) -> ASGIApp:
    """The application of one crawl."""
    site = _Site(work)
    routed = Starlette(
        routes=[
            Route("/", site.home),
            Route("/search", site.results),
            Route("/status", site.status),
            Route("/api/search", site.api_search),
            Route("/api/status", site.api_status),
            Route("/health", site.health),
            Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
        ],
        exception_handlers={HTTPException: _problem, StoreError: _problem, Exception: _problem},
    )
    # A web page elsewhere may point a name of its own at this machine and read the answers in
    # its visitor's browser (DNS rebinding), unless only our own names are answered to.
    names = [*OWN_NAMES, work.config.serve.host, *work.config.serve.names]
    known = TrustedHostMiddleware(routed, allowed_hosts=names, www_redirect=False)
    return _Headers(known)  # outermost, so that errors have them too


class _Site:
    """Handlers are plain functions: starlette runs them in threads, beside the event loop."""

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._live = Live(work)

    def home(self, _: Request) -> Response:
        searcher = self._live.searcher()
        return _page("home.html", query="", pages=searcher and searcher.pages, path=self._work.root)

    def results(self, request: Request) -> Response:
        query = request.query_params.get("q", "")[:MAX_QUERY_CHARS].strip()
        searcher = self._live.searcher()
        if searcher is None or not query:
            return self.home(request)
        last = MAX_RESULTS // PAGE_HITS
        number = min(max(_number(request, "page", 1, strict=False), 1), last)
        found = searcher.search(query, (number - 1) * PAGE_HITS, PAGE_HITS)
        last = min(last, -(-found.total // PAGE_HITS))
        return _page("results.html", query=query, found=found, number=number, last=last)

    def status(self, _: Request) -> Response:
        return _page("status.html", crawl=overview(self._work))

    def api_search(self, request: Request) -> Response:
        if "q" not in request.query_params:
            raise HTTPException(400, "q is missing: /api/search?q=words")
        offset = _number(request, "offset", 0)
        limit = _number(request, "limit", PAGE_HITS)
        if limit > MAX_LIMIT:
            raise HTTPException(400, f"limit: at most {MAX_LIMIT}")
        if offset + limit > MAX_RESULTS:
            raise HTTPException(400, f"offset + limit: at most {MAX_RESULTS}")
        searcher = self._live.searcher()
        if searcher is None:
            raise HTTPException(503, f"no index yet: gossamer index {self._work.root}")
        return _json(searcher.search(request.query_params["q"], offset, limit))

    def api_status(self, _: Request) -> Response:
        return _json(overview(self._work))

    def health(self, _: Request) -> Response:
        searcher = self._live.searcher()
        if searcher is None:
            raise HTTPException(503, "no index yet")
        return _json({"status": "ok", "pages": searcher.pages})


def _number(request: Request, name: str, default: int, *, strict: bool = True) -> int:
    text = request.query_params.get(name, "")
    if text.isascii() and text.isdigit() and len(text) <= MAX_NUMBER_DIGITS:
        return int(text)
    if text and strict:
        raise HTTPException(400, f"{name}: a whole number from 0")
    return default


def _page(template: str, status: int = 200, **values: object) -> Response:
    return HTMLResponse(render(template, **values), status, {"cache-control": "no-store"})


def _json(value: object, status: int = 200, media_type: str = "application/json") -> Response:
    return Response(msgspec.json.encode(value), status, {"cache-control": "no-store"}, media_type)


def _problem(request: Request, error: Exception) -> Response:
    match error:
        case HTTPException():
            status, detail = error.status_code, error.detail
        case StoreError():  # a commit may come to put it right
            status, detail = 503, str(error)
        case _:
            status, detail = 500, "the log of the server tells more"
    title = HTTPStatus(status).phrase
    if request.scope["path"].startswith(("/api/", "/health")):
        problem = {"title": title, "status": status, "detail": detail}
        return _json(problem, status, "application/problem+json")
    return _page("problem.html", status, title=title, detail=detail)


class _Headers:
    """Sends HEADERS with every answer, errors too."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                raw: list[Any] = list(message["headers"])
                raw += [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": raw}
            await send(message)

        await self._inner(scope, receive, send_with_headers)
