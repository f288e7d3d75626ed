"""The search box and its results, as pages and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.serve.answers import Completions
from gossamer.serve.broker import MAX_QUERY_CHARS, MAX_RESULTS
from gossamer.serve.messages import Question
from gossamer.serve.profiles import PROFILES
from gossamer.serve.query import narrowed
from gossamer.serve.web import answers

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.config import Profile
    from gossamer.serve.cache import Cache
    from gossamer.serve.front import Front
    from gossamer.serve.search import Searcher
    from gossamer.workspace import Workspace

PAGE_HITS = 10
MAX_LIMIT = 100
ORDERS = ("relevance", "date")
SUGGESTIONS = "application/x-suggestions+json"


class Searching:
    """Handlers wait in the event loop, not in threads: a search costs no thread, however long."""

    def __init__(self, work: Workspace, front: Front, cache: Cache) -> None:
        self._root = work.root
        self._pictures = work.config.parse.media
        self._front = front
        self._cache = cache

    def routes(self) -> list[Route]:
        return [
            Route("/", self.home),
            Route("/search", self.results),
            Route("/api/search", self.api),
            Route("/api/complete", self.complete),
            Route("/suggest", self.suggest),
        ]

    async def home(self, _: Request) -> Response:
        searcher = await self._front.searcher()
        pages = searcher and searcher.pages
        return answers.page("home.html", query="", pages=pages, path=self._root)

    async def results(self, request: Request) -> Response:
        query = request.query_params.get("q", "")[:MAX_QUERY_CHARS].strip()
        searcher = await self._front.searcher()
        if searcher is None or not query:
            return await self.home(request)
        last = MAX_RESULTS // PAGE_HITS
        number = min(max(answers.number(request, "page", 1, strict=False), 1), last)
        by_date = request.query_params.get("sort") == "date"
        profile = _profile(request)
        first = (number - 1) * PAGE_HITS
        question = Question(query, first, PAGE_HITS, by_date=by_date, facets=True, profile=profile)
        found = await self._cache.search(self._front, searcher, question)
        last = min(last, -(-found.total // PAGE_HITS))
        asked = {"q": query} | ({"sort": "date"} if by_date else {})
        asked |= {"profile": profile} if profile else {}
        return answers.page(
            "results.html",
            asked=asked,
            narrowed=narrowed(query),
            found=found,
            number=number,
            last=last,
            pictures=self._pictures,
        )

    async def api(self, request: Request) -> Response:
        if "q" not in request.query_params:
            raise HTTPException(400, "q is missing: /api/search?q=words")
        offset = answers.number(request, "offset", 0)
        limit = answers.number(request, "limit", PAGE_HITS)
        if limit > MAX_LIMIT:
            raise HTTPException(400, f"limit: at most {MAX_LIMIT}")
        if offset + limit > MAX_RESULTS:
            raise HTTPException(400, f"offset + limit: at most {MAX_RESULTS}")
        profile = _profile(request)
        if profile is None and "profile" in request.query_params:
            raise HTTPException(400, f"profile: one of {', '.join(PROFILES)}")
        question = Question(
            request.query_params["q"][:MAX_QUERY_CHARS],
            offset,
            limit,
            by_date=answers.choice(request, "sort", ORDERS) == "date",
            facets=answers.flag(request, "facets"),
            explain=answers.flag(request, "explain"),
            profile=profile,
        )
        searcher = await self._searcher()
        return answers.json(await self._cache.search(self._front, searcher, question))

    async def complete(self, request: Request) -> Response:
        if "q" not in request.query_params:
            raise HTTPException(400, "q is missing: /api/complete?q=words")
        text = request.query_params["q"]
        return answers.json(Completions(text, await self._completions(text)))

    async def suggest(self, request: Request) -> Response:
        """The same as browsers ask for it (OpenSearch Suggestions 1.0)."""
        text = request.query_params.get("q", "")
        return answers.json([text, await self._completions(text)], media_type=SUGGESTIONS)

    async def _completions(self, text: str) -> list[str]:
        return await self._front.complete(await self._searcher(), text)

    async def _searcher(self) -> Searcher:
        searcher = await self._front.searcher()
        if searcher is None:
            raise HTTPException(503, f"no index yet: gossamer index {self._root}")
        return searcher


def _profile(request: Request) -> Profile | None:
    given = request.query_params.get("profile")
    return next((profile for profile in PROFILES if profile == given), None)
