"""Routes for feeds of a query, a site or a page: Atom and JSON Feed."""

from __future__ import annotations

import asyncio
import re
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import xxhash
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from gossamer.search.query_text import MAX_QUERY_CHARS
from gossamer.serve.feeds.feed_formats import (
    ATOM,
    JSON,
    NAME,
    FeedHead,
    encode_atom,
    encode_json,
    newest_ms,
)
from gossamer.serve.feeds.newest_matches import NewestMatches, Wanted
from gossamer.serve.web import responses
from gossamer.serve.web.request_limits import client_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from gossamer.serve.dispatch.front import Dispatcher

FORMATS = {"atom": (ATOM, encode_atom), "json": (JSON, encode_json)}
_SITE = re.compile(r"[\w.:-]{0,255}\Z", re.ASCII)
_JSON_ASKED = re.compile(r"application/(?:feed\+)?json", re.IGNORECASE)
FEED_HEADERS = {"cache-control": "no-cache", "vary": "Accept", "x-robots-tag": "noindex"}
"""Readers may keep a feed, and ask each time whether it is still the same."""


class Feeding:
    def __init__(self, matches: NewestMatches, front: Dispatcher) -> None:
        self._matches, self._front = matches, front

    def routes(self) -> list[Route]:
        return [Route(path, self.feed) for path in ("/feed", "/feed.atom", "/feed.json")]

    async def feed(self, request: Request) -> Response:
        wanted = wanted_of(request)
        form = form_of(request)
        index = await asyncio.to_thread(self._front.opened)
        state = "" if index is None else index.state
        entries = await self._matches.entries(wanted, state, client_of(request.scope))
        media_type, encode = FORMATS[form]
        body = encode(head_of(request, wanted, form), entries)
        headers = FEED_HEADERS | {
            "etag": f'"{xxhash.xxh3_64_hexdigest(body)}"',
            "last-modified": formatdate(newest_ms(entries) // 1000, usegmt=True),
        }
        answer = Response(body, headers=headers, media_type=media_type)
        return responses.unless_known(request, answer)


def wanted_of(request: Request) -> Wanted:
    """What the feed is about. Raises HTTPException."""
    given = request.query_params
    site = given.get("site", "").strip().lower()
    if not _SITE.match(site):
        raise HTTPException(400, "site must be a host name")
    query = " ".join(given.get("q", "")[:MAX_QUERY_CHARS].split())
    url = given.get("url", "").strip()
    if url:
        if '"' in url or any(map(str.isspace, url)):
            raise HTTPException(400, "url must be the URL of a page")
        query = f'{query} url:"{url}"'.strip()
    return Wanted(query, site)


def form_of(request: Request) -> str:
    """The format: by the ending of the path, a parameter, or the media types that are accepted."""
    ending = request.url.path.rpartition("/")[2].partition(".")[2]
    if ending:
        return ending
    if "format" in request.query_params:
        return responses.choice_parameter(request, "format", tuple(FORMATS))
    accepted = request.headers.get("accept", "")
    asks_for_json = _JSON_ASKED.search(accepted) and "xml" not in accepted.lower()
    return "json" if asks_for_json else "atom"


def head_of(request: Request, wanted: Wanted, form: str) -> FeedHead:
    """KnownNames has checked the host name of the addresses."""
    base = str(request.base_url)
    asked = {name: value for name, value in (("q", wanted.query), ("site", wanted.site)) if value}
    asked_for = f"?{urlencode(asked)}" if asked else ""
    results = f"{base}search?{urlencode({'q': wanted.text})}" if wanted.text else base
    title = " ".join(filter(None, (wanted.query, wanted.site and f"({wanted.site})")))
    return FeedHead(
        f"{title or 'All pages'} – {NAME}",
        f"{base}feed{asked_for}",
        f"{base}feed.{form}{asked_for}",
        results,
    )
