"""Routes for pages as documents: Markdown or JSON, and the llms.txt of a site."""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING

import msgspec
import xxhash
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

import gossamer
from gossamer.search.messages import Question
from gossamer.serve.documents import Entry
from gossamer.serve.llms_txt import llms_txt
from gossamer.serve.stored_copy import Refusal
from gossamer.serve.web import responses
from gossamer.serve.web.expensive_responses import Guard
from gossamer.serve.web.request_limits import client_of
from gossamer.web.publisher_wishes import AI_INPUT

if TYPE_CHECKING:
    from starlette.requests import Request

    from gossamer.search.page_info import PageInfo
    from gossamer.serve.dispatch.front import Dispatcher
    from gossamer.serve.documents import Document, Documents
    from gossamer.state.workspace import Workspace

FORMATS = ("json", "markdown")
MARKDOWN = "text/markdown"
MAX_LISTED = 1_000
"""Pages in an llms.txt over HTTP; `gossamer export` writes all."""
DOCUMENT_HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "x-robots-tag": "noindex",
    "cache-control": "no-cache",
}
"""Clients may keep a document, and ask each time whether it is still the same."""


class Documenting:
    def __init__(
        self, work: Workspace, pages: PageInfo, documents: Documents, front: Dispatcher
    ) -> None:
        self._work = work
        self._pages = pages
        self._documents = documents
        self._front = front
        obeyed = AI_INPUT in work.config.publishers.obey
        self._excluded = f" -wish:{AI_INPUT}=no" if obeyed else ""

    def routes(self, kept_s: float) -> list[Route]:
        guarded = Guard("document", kept_s=kept_s)(self.document)

        async def conditional(request: Request) -> Response:
            return responses.unless_known(request, await guarded(request))

        return [Route("/api/v1/document", conditional), Route("/api/v1/llms.txt", self.listing)]

    def document(self, request: Request) -> Response:
        form = responses.choice_parameter(request, "format", FORMATS)
        url = responses.address_parameter(request, self._pages)
        self._work.store.refresh()
        found = self._documents.find(url)
        if isinstance(found, Refusal):
            raise HTTPException(found.status, found.why)
        body, media_type = encoded(found, form)
        headers = DOCUMENT_HEADERS | {
            "etag": f'"{xxhash.xxh3_64_hexdigest(gossamer.__version__.encode() + body)}"',
            "last-modified": formatdate(found.provenance.fetched_ms // 1000, usegmt=True),
        }
        return Response(body, headers=headers, media_type=media_type)

    async def listing(self, request: Request) -> Response:
        site = responses.site_parameter(request).lower()
        if not site:
            raise HTTPException(400, f"site is missing: {request.scope['path']}?site=example.org")
        question = Question(f"site:{site}{self._excluded}", 0, MAX_LISTED)
        found = await self._front.search(question, client_of(request.scope))
        entries = (
            Entry(hit.url, hit.title, "".join(responses.snippet_parts(hit.snippet)))
            for hit in found.hits
        )
        text = "".join(llms_txt(site, entries))
        return Response(text, headers=DOCUMENT_HEADERS, media_type=MARKDOWN)


def encoded(document: Document, form: str) -> tuple[bytes, str]:
    """A document in one of FORMATS, and its media type."""
    if form == "json":
        return msgspec.json.encode(document), "application/json"
    return document.markdown.encode("utf-8", "replace"), MARKDOWN
