"""The search box for other sites, /embed.js, and the instant results that it asks for.

    /embed.js                        the script; docs/front-ends.md describes its attributes
    /api/v1/instant?q=&site=&limit=  results for a text that is being typed, as JSON

The last word of such a text may be a part of the word that is meant, unless a space follows it. So
half of the results have all words as typed, and the others those of the text's most frequent
completions. Only if there are none of both, the text is corrected, and pages may lack words of it.

`cors.py` decides which sites may read the answers.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse
from starlette.routing import Route

from gossamer.search.messages import Question
from gossamer.serve.web import responses
from gossamer.serve.web.request_limits import client_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.search.results import Hit, Results
    from gossamer.serve.dispatch.front import Dispatcher

SCRIPT = Path(__file__).parents[1] / "static" / "embed.js"
SCRIPT_HEADERS = {
    "access-control-allow-origin": "*",  # for script elements with `integrity`
    "cache-control": "public, max-age=3600",
    "cross-origin-resource-policy": "cross-origin",
}
SHOWN, MAX_SHOWN = 6, 20
MAX_COMPLETIONS = 3
MAX_TYPED_CHARS = 500
"""Characters of a text that are read: the query for its completions is three times as long."""


class InstantHit(msgspec.Struct, frozen=True):
    """A found page. `snippet`: pieces of plain text, of which every second one is a match."""

    url: str
    title: str
    snippet: list[str]


class Instant(msgspec.Struct, frozen=True):
    """Results for a text that is being typed."""

    query: str
    hits: list[InstantHit]


class Embedding:
    def __init__(self, front: Dispatcher) -> None:
        self._front = front

    def routes(self) -> list[Route]:
        return [Route("/embed.js", script), Route("/api/v1/instant", self.instant)]

    async def instant(self, request: Request) -> Response:
        if "q" not in request.query_params:
            raise HTTPException(400, f"q is missing: {request.scope['path']}?q=words")
        limit = responses.number_parameter(request, "limit", SHOWN)
        if limit > MAX_SHOWN:
            raise HTTPException(400, f"limit may be at most {MAX_SHOWN}")
        text = request.query_params["q"][:MAX_TYPED_CHARS]
        asking = _Asking(self._front, request, limit)
        hits = await asking.hits(text) if text.strip() else []
        shown = [
            InstantHit(hit.url, hit.title, responses.snippet_parts(hit.snippet)) for hit in hits
        ]
        return responses.json(Instant(text, shown))


class _Asking:
    """The searches for one text."""

    def __init__(self, front: Dispatcher, request: Request, limit: int) -> None:
        """Raises HTTPException if a parameter is invalid."""
        self._front = front
        self._client = client_of(request.scope)
        self._language = responses.language_parameter(request)
        self._limit = limit
        self._site = responses.site_parameter(request)

    async def hits(self, text: str) -> list[Hit]:
        typed, completed = await asyncio.gather(self._whole(text), self._completed(text))
        half = -(-self._limit // 2)
        by_url = {hit.url: hit for hit in (*typed[:half], *completed, *typed[half:])}
        return list(by_url.values())[: self._limit] or (await self._search(text)).hits

    async def _completed(self, text: str) -> list[Hit]:
        """Pages that have the words before the last one, and a completion of that."""
        if text[-1].isspace():
            return []
        completions = await self._complete(text)
        before, _, last = text.rpartition(" ")
        if before and not completions:  # no title or heading has the words together
            completions = [f"{before} {word}" for word in await self._complete(last)]
        return await self._whole(" OR ".join(completions)) if completions else []

    async def _complete(self, text: str) -> list[str]:
        return await self._front.complete(text, self._client, MAX_COMPLETIONS)

    async def _whole(self, query: str) -> list[Hit]:
        """Pages that have all words as they were typed."""
        found = await self._search(query, verbatim=True)
        return [hit for hit in found.hits if not hit.partial]

    async def _search(self, query: str, *, verbatim: bool = False) -> Results:
        asked = query
        if self._site:  # which binds closer than OR
            asked = (
                f"({query}) site:{self._site}" if " OR " in query else f"{query} site:{self._site}"
            )
        question = Question(asked, 0, self._limit, verbatim=verbatim, language=self._language)
        return await self._front.search(question, self._client)


def script(_: Request) -> Response:
    return FileResponse(SCRIPT, headers=SCRIPT_HEADERS, media_type="text/javascript")
