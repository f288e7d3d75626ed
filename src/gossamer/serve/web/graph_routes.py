"""Routes for the link graph, as JSON: who links to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.links.graph.paths import TooMuch
from gossamer.links.graph.queries import MAX_NEIGHBOURS, UnknownName
from gossamer.serve.web import responses
from gossamer.serve.web.expensive_responses import Guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.links.graph.queries import Linked, LinkGraph
    from gossamer.serve.graphs import Graphs

    Answer = TypeVar("Answer")

SHOWN = 50
MAX_SHOWN = 500
MAX_COMMON = 8
MAX_DEPTH = 3
MOST_NEIGHBOURS = 200
MAX_VISITED = 100_000
"""Pages that are visited in search of a path."""
MAX_HOST_PAGES = 10_000
"""Pages of a host whose links are counted."""


class Found(msgspec.Struct, frozen=True):
    """Some of `total` pages or hosts, in the order of their reversed host names and paths.

    Those that were added since the graph was built come last.
    """

    total: int
    names: list[str]


class Inlink(msgspec.Struct, frozen=True):
    """A page that links here, and its anchor text as of the last `invert`, if that recorded one."""

    url: str
    anchor: str | None


class InlinksFound(msgspec.Struct, frozen=True):
    """Some of `total` pages that link here."""

    total: int
    links: list[Inlink]


class Way(msgspec.Struct, frozen=True):
    """A shortest way along links, with both ends; null if there is none."""

    path: list[str] | None


class Graphing:
    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs

    def routes(self, kept_s: float) -> list[Route]:
        guard = Guard("graph", kept_s=kept_s)
        handlers = {
            "outlinks": self.outlinks,
            "inlinks": self.inlinks,
            "common": self.common,
            "path": self.path,
            "neighbourhood": self.neighbourhood,
            "host": self.host,
        }
        return [
            Route(f"/api/v1/graph/{name}", guard(handler)) for name, handler in handlers.items()
        ]

    def outlinks(self, request: Request) -> Response:
        url, (offset, limit) = _graph_parameter(request, "url"), _range(request)
        return responses.json(
            _found(self._ask(request, lambda graph: graph.outlinks(url, limit, offset)))
        )

    def inlinks(self, request: Request) -> Response:
        url, (offset, limit) = _graph_parameter(request, "url"), _range(request)
        of_hosts = _asks_for_hosts(request)

        def question(graph: LinkGraph) -> InlinksFound:
            found = graph.inlinks(url, limit, offset)
            known = {} if of_hosts or not found.names else graph.anchors(url)
            links = [Inlink(name, known.get(name)) for name in found.names]
            return InlinksFound(found.total, links)

        return responses.json(self._ask(request, question))

    def common(self, request: Request) -> Response:
        urls, (offset, limit) = request.query_params.getlist("url"), _range(request)
        if not 2 <= len(urls) <= MAX_COMMON or not all(urls):  # noqa: PLR2004  # of one, see inlinks
            raise HTTPException(400, f"give url=… twice to {MAX_COMMON} times")
        linked = responses.flag(request, "linked")
        return responses.json(
            _found(
                self._ask(request, lambda graph: graph.common(urls, limit, offset, linked=linked))
            )
        )

    def path(self, request: Request) -> Response:
        ends = _graph_parameter(request, "from"), _graph_parameter(request, "to")
        found = self._ask(request, lambda graph: graph.path(*ends, MAX_VISITED))
        return responses.json(Way(None if found is None else list(found)))

    def neighbourhood(self, request: Request) -> Response:
        url = _graph_parameter(request, "url")
        depth = responses.number_parameter(request, "depth", 1)
        limit = responses.number_parameter(request, "limit", MAX_NEIGHBOURS)
        if not 1 <= depth <= MAX_DEPTH:
            raise HTTPException(400, f"depth must be 1 to {MAX_DEPTH}")
        if not 1 <= limit <= MOST_NEIGHBOURS:
            raise HTTPException(400, f"limit must be 1 to {MOST_NEIGHBOURS}")
        return responses.json(
            self._ask(request, lambda graph: graph.neighbourhood(url, depth, limit))
        )

    def host(self, request: Request) -> Response:
        name, (_, limit) = _graph_parameter(request, "host"), _range(request)
        return responses.json(
            self._graph("page", lambda graph: graph.host(name, limit, MAX_HOST_PAGES))
        )

    def _ask(self, request: Request, question: Callable[[LinkGraph], Answer]) -> Answer:
        return self._graph("host" if _asks_for_hosts(request) else "page", question)

    def _graph(self, kind: str, question: Callable[[LinkGraph], Answer]) -> Answer:
        try:
            return self._graphs.ask(kind, question)
        except UnknownName as error:
            raise HTTPException(404, f"{error.what}: {error.remedy}") from None
        except TooMuch as error:
            raise HTTPException(422, f"{error.what}: {error.remedy}") from None


def _found(linked: Linked) -> Found:
    return Found(linked.total, list(linked.names))


def _asks_for_hosts(request: Request) -> bool:
    return responses.flag(request, "hosts")


def _graph_parameter(request: Request, name: str) -> str:
    text = request.query_params.get(name, "")
    if not text:
        raise HTTPException(400, f"{name} is missing: {request.scope['path']}?{name}=…")
    return text


def _range(request: Request) -> tuple[int, int]:
    """Offset and limit."""
    return responses.span_parameter(request, SHOWN, MAX_SHOWN)
