"""Routes for the search box, results and completions, as HTML and as JSON."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from xml.sax.saxutils import escape, quoteattr

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from gossamer.search.broker import MAX_RESULTS
from gossamer.search.messages import Question
from gossamer.search.profiles import PROFILES
from gossamer.search.provenance import find_provenance, measure_record
from gossamer.search.query import removable_filters
from gossamer.search.query_text import MAX_QUERY_CHARS
from gossamer.search.results import Completions
from gossamer.serve.web import responses
from gossamer.serve.web.request_limits import client_of
from gossamer.web.publisher_wishes import AI_INPUT

if TYPE_CHECKING:
    from starlette.requests import Request

    from gossamer.config import Profile
    from gossamer.search.page_info import PageInfo
    from gossamer.search.results import Results
    from gossamer.serve.dispatch.front import Dispatcher
    from gossamer.serve.documents import Documents
    from gossamer.state.workspace import Workspace

PAGE_HITS = 10
MAX_PAGES = MAX_RESULTS // PAGE_HITS
MAX_LIMIT = 100
ORDERS = ("relevance", "date")
MAX_LINK_CHARS = 2_000
"""Of the header Link, for queries may be long: nginx refuses answers whose head exceeds 4 kB."""
PEOPLE = "people"
READERS = (PEOPLE, AI_INPUT)
"""Who reads the results: people, or a model."""
SUGGESTIONS = "application/x-suggestions+json"

OPENSEARCH = "application/opensearchdescription+xml"
_DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
  <ShortName>Gossamer</ShortName>
  <Description>Search the crawl at {name}</Description>
  <InputEncoding>UTF-8</InputEncoding>
  <Image width="16" height="16" type="image/svg+xml">{base}static/mark.svg</Image>
  <Url type="text/html" template={pages}/>
  <Url type="application/x-suggestions+json" template={suggestions}/>
  <Url type="application/json" rel="results" indexOffset="0" template={api}/>
  <Url type="application/opensearchdescription+xml" rel="self" template={own}/>
</OpenSearchDescription>
"""


class Searching:
    """Handlers wait in the event loop, so that a waiting search does not occupy a thread."""

    def __init__(
        self, work: Workspace, pages: PageInfo, documents: Documents, front: Dispatcher
    ) -> None:
        self._documents = documents
        self._root, self._backend = work.root, work.store.backend
        self._store, self._known = work.store, pages
        self._pictures = work.config.parse.media
        self._front = front

    def routes(self) -> list[Route]:
        return [
            Route("/", self.results),
            Route("/opensearch.xml", describe_search),
            Route("/search", self.results),
            Route("/api/v1/search", self.api),
            Route("/api/v1/complete", self.complete),
            Route("/suggest", self.suggest),
        ]

    async def _home(self, request: Request) -> Response:
        pages = await self._front.pages()
        crawls = pages is None and self._backend.holder() is not None
        scope, path = request.scope, self._root
        return responses.page(scope, "home.html", query="", pages=pages, crawls=crawls, path=path)

    async def results(self, request: Request) -> Response:
        """The results; the search box if nothing is searched for, or nothing is indexed."""
        query = request.query_params.get("q", "")[:MAX_QUERY_CHARS].strip()
        if not query or await self._front.pages() is None:
            return await self._home(request)
        number = responses.number_parameter(request, "page", 1, strict=False)
        number = min(max(number, 1), MAX_PAGES)
        by_date = request.query_params.get("sort") == "date"
        profile = _profile(request)
        verbatim = request.query_params.get("verbatim") == "1"
        question = Question(
            query,
            (number - 1) * PAGE_HITS,
            PAGE_HITS,
            by_date=by_date,
            facets=True,
            profile=profile,
            verbatim=verbatim,
            language=responses.language_parameter(request),
        )
        found = await self._front.search(question, client_of(request.scope))
        last = -(-found.reachable // PAGE_HITS)
        if number > last > 0:
            number = last
            question = msgspec.structs.replace(question, offset=(last - 1) * PAGE_HITS)
            found = await self._front.search(question, client_of(request.scope))
            last = max(-(-found.reachable // PAGE_HITS), 1)
        asked = {"q": query} | ({"sort": "date"} if by_date else {})
        asked |= {"profile": profile} if profile else {}
        asked |= {"verbatim": "1"} if verbatim else {}
        if language := request.query_params.get("language"):
            asked["language"] = language
        return responses.page(
            request.scope,
            "results.html",
            asked=asked,
            narrowed=removable_filters(query),
            found=found,
            number=number,
            last=last,
            follows=found.estimated and len(found.hits) == PAGE_HITS and number < MAX_PAGES,
            most_pages=MAX_PAGES,
            pictures=self._pictures,
        )

    async def api(self, request: Request) -> Response:
        if "q" not in request.query_params:
            raise HTTPException(400, f"q is missing: {request.scope['path']}?q=words")
        offset = responses.number_parameter(request, "offset", 0)
        limit = responses.number_parameter(request, "limit", PAGE_HITS)
        if limit > MAX_LIMIT:
            raise HTTPException(400, f"limit may be at most {MAX_LIMIT}")
        if offset + limit > MAX_RESULTS:
            raise HTTPException(400, f"offset + limit may be at most {MAX_RESULTS}")
        profile = _profile(request)
        if profile is None and "profile" in request.query_params:
            raise HTTPException(400, f"profile must be one of {', '.join(PROFILES)}")
        reader = responses.choice_parameter(request, "for", READERS)
        question = Question(
            request.query_params["q"][:MAX_QUERY_CHARS],
            offset,
            limit,
            by_date=responses.choice_parameter(request, "sort", ORDERS) == "date",
            facets=responses.flag(request, "facets"),
            explain=responses.flag(request, "explain"),
            profile=profile,
            verbatim=responses.flag(request, "verbatim"),
            language=responses.language_parameter(request),
        )
        found = await self._front.search(question, client_of(request.scope))
        if request.query_params.get("state") not in (None, "", found.state):
            raise HTTPException(409, "the index has changed: begin again with offset=0")
        headers = _next_part(request, question, found)
        if reader == AI_INPUT:
            found = await asyncio.to_thread(self._for_models, found)
        if responses.flag(request, "provenance"):
            found = await asyncio.to_thread(self._with_provenance, found)
        return responses.json(found, headers=headers)

    def _for_models(self, found: Results) -> Results:
        """Leave out the hits whose publishers forbid that their text becomes input of AI."""
        self._store.refresh()
        hits = [hit for hit in found.hits if self._documents.may_be_input(hit.url)]
        return msgspec.structs.replace(found, hits=hits)

    def _with_provenance(self, found: Results) -> Results:
        self._store.refresh()
        hits = []
        for hit in found.hits:
            place = find_provenance(self._known, hit.url)
            place = place and measure_record(self._root, place)
            hits.append(msgspec.structs.replace(hit, provenance=place))
        return msgspec.structs.replace(found, hits=hits)

    async def complete(self, request: Request) -> Response:
        if "q" not in request.query_params:
            raise HTTPException(400, f"q is missing: {request.scope['path']}?q=words")
        text = request.query_params["q"]
        found = await self._front.complete(text, client_of(request.scope))
        return responses.json(Completions(text, found))

    async def suggest(self, request: Request) -> Response:
        """Completions in the form that browsers expect (OpenSearch Suggestions 1.0)."""
        text = request.query_params.get("q", "")
        found = await self._front.complete(text, client_of(request.scope))
        return responses.json([text, found], media_type=SUGGESTIONS)


def _profile(request: Request) -> Profile | None:
    given = request.query_params.get("profile")
    return next((profile for profile in PROFILES if profile == given), None)


def _next_part(request: Request, question: Question, found: Results) -> dict[str, str]:
    """A header with the link to the next part of the list (RFC 8288), if there is one.

    Nor is there one if it would have more than MAX_LINK_CHARS.
    """
    offset, shown = question.offset + question.limit, len(found.hits)
    limit = min(question.limit, MAX_RESULTS - offset)
    follows = offset < found.reachable or (found.estimated and shown == question.limit)
    if not (shown and follows and limit > 0):
        return {}
    asked = dict(request.query_params) | {"offset": str(offset), "limit": str(limit)}
    asked |= {"state": found.state} if found.state else {}
    link = f'<?{urlencode(asked)}>; rel="next"'
    return {"link": link} if len(link) <= MAX_LINK_CHARS else {}


def describe_search(request: Request) -> Response:
    """The OpenSearch 1.1 description, with which browsers add this server as a search engine.

    KnownNames has checked the host name that it is built from.
    """
    base = str(request.base_url)
    text = _DESCRIPTION.format(
        name=escape(request.base_url.netloc)[:900],
        base=escape(base),
        pages=quoteattr(f"{base}search?q={{searchTerms}}&page={{startPage?}}"),
        api=quoteattr(
            f"{base}api/v1/search?q={{searchTerms}}&offset={{startIndex?}}&limit={{count?}}"
        ),
        suggestions=quoteattr(f"{base}suggest?q={{searchTerms}}"),
        own=quoteattr(f"{base}opensearch.xml"),
    )
    return Response(text, media_type=OPENSEARCH)
