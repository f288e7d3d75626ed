"""The route /open-webui: the search in the form that Open WebUI expects of an external engine.

Facts (Open WebUI 0.12)
  * It sends `POST` with `{"query": …, "count": …}` and a bearer token, which may be empty, and
    expects a list of `{"link": …, "title": …, "snippet": …}`, all of them plain text.
  * It takes each error for an answer without results, and logs it.
  * The snippets become the text of a prompt if its setting to bypass the loader is on; otherwise it
    fetches the pages itself. So pages are left out whose publishers forbid that use.
"""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta
from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.search.messages import Question
from gossamer.search.query_text import MAX_QUERY_CHARS
from gossamer.serve.web import responses
from gossamer.serve.web.request_limits import client_of
from gossamer.serve.web.search_routes import MAX_LIMIT, PAGE_HITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.search.results import Hit
    from gossamer.serve.dispatch.front import Dispatcher
    from gossamer.serve.documents import Documents
    from gossamer.serve.web.token_gate import TokenGate
    from gossamer.state.workspace import Workspace

PATH = "/open-webui"
MORE = 2
"""Pages that are searched for each that is wanted, since some may be left out."""


class Asked(msgspec.Struct, frozen=True):
    """A search of Open WebUI."""

    query: str
    count: Annotated[float, Meta(ge=0, multiple_of=1)] = PAGE_HITS
    """In JSON, 5 and 5.0 are the same number."""


class WebResult(msgspec.Struct, frozen=True):
    """A result for Open WebUI."""

    link: str
    title: str
    snippet: str


class OpenWebui:
    def __init__(
        self, work: Workspace, documents: Documents, front: Dispatcher, gate: TokenGate
    ) -> None:
        self._work = work
        self._documents = documents
        self._front = front
        self._gate = gate

    def routes(self) -> list[Route]:
        return [Route(PATH, self.search, methods=["POST"])]

    async def search(self, request: Request) -> Response:
        self._gate.admit(request.scope)
        try:
            asked = msgspec.json.decode(await request.body(), type=Asked)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise HTTPException(400, f'expected {{"query": WORDS, "count": N}}: {error}') from None
        count = int(min(asked.count, MAX_LIMIT))
        question = Question(asked.query[:MAX_QUERY_CHARS], 0, min(MORE * count, MAX_LIMIT))
        found = await self._front.search(question, client_of(request.scope))
        hits = await asyncio.to_thread(self._allowed, found.hits, count)
        results = (
            WebResult(hit.url, hit.title or hit.url, "".join(responses.snippet_parts(hit.snippet)))
            for hit in hits
        )
        return responses.json(list(results))

    def _allowed(self, hits: Iterable[Hit], count: int) -> list[Hit]:
        """The first hits whose publishers do not forbid that their text becomes input of AI."""
        self._work.store.refresh()
        allowed = (hit for hit in hits if self._documents.may_be_input(hit.url))
        return list(islice(allowed, count))
