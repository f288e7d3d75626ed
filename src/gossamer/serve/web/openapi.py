"""The description of the API (OpenAPI 3.1).

Each row of OPERATIONS describes one operation; the schemas are generated from the Structs that are
encoded as responses. A test compares them with real responses, and a fuzzer sends requests inside
and outside the description (tests/serve/test_openapi.py).
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from starlette.routing import Route

import gossamer
from gossamer.index.changes.reading import Changes
from gossamer.links.graph.queries import MAX_NEIGHBOURS, HostLinks, Neighbourhood
from gossamer.search import explaining
from gossamer.search.broker import MAX_RESULTS
from gossamer.search.page_info import KnownPage
from gossamer.search.profiles import PROFILES
from gossamer.search.results import Completions, Results
from gossamer.serve.differences import Difference
from gossamer.serve.documents import Document
from gossamer.serve.web import (
    change_routes,
    embed_routes,
    graph_routes,
    open_webui_route,
    page_routes,
    responses,
    search_routes,
    section_routes,
)
from gossamer.serve.web.document_routes import FORMATS, MARKDOWN
from gossamer.serve.web.problem import MEDIA_TYPE, Problem
from gossamer.serve.web.site_path import root_of
from gossamer.serve.web.status_routes import CrawlStatus, Health

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

OPENAPI = "3.1.1"
TOKEN = "token"  # noqa: S105  # the name of a scheme
_REF = "#/components/schemas/{name}"


class Parameter(NamedTuple):
    """A parameter in the query part of a URL."""

    name: str
    about: str
    schema: dict[str, Any]
    required: bool = False


class Operation(NamedTuple):
    """A GET operation: the type of its response, its parameters, and its error statuses."""

    path: str
    name: str
    about: str
    answer: type[msgspec.Struct]
    parameters: tuple[Parameter, ...] = ()
    problems: tuple[int, ...] = ()


def _count(least: int, most: int, default: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "default": default}


_FLAG = {"type": "string", "enum": ["0", "1", "false", "true"]}
_NAME = {"type": "string", "minLength": 1}
_SITE = {"type": "string", "pattern": responses.SITE_PATTERN, "maxLength": responses.MAX_SITE_CHARS}
URL = Parameter("url", "URL of the page", _NAME, required=True)
_NODE = Parameter("url", "URL of the page; with hosts, name of the host", _NAME, required=True)
_HOSTS = Parameter("hosts", "ask the graph of hosts instead of pages", _FLAG)
_GRAPH_RANGE = (
    Parameter("offset", "number of links to skip", _count(0, 999_999_999, 0)),
    Parameter(
        "limit", "maximum number of links", _count(0, graph_routes.MAX_SHOWN, graph_routes.SHOWN)
    ),
)
_SECTIONS_RANGE = (
    Parameter("offset", "number of rows to skip", _count(0, 999_999_999, 0)),
    Parameter(
        "limit", "maximum number of rows", _count(0, section_routes.MAX_SHOWN, section_routes.SHOWN)
    ),
)
_GRAPH_PROBLEMS = (400, 404, 414, 429, 503)
OPERATIONS = (
    Operation(
        "/api/v1/search",
        "search",
        "Search. The best pages come first; offset + limit may be at most "
        f"{MAX_RESULTS}. The header Link has the URL of the next part, with its state (RFC 8288). "
        "docs/searching.md describes the query language.",
        Results,
        (
            Parameter("q", "the query", {"type": "string"}, required=True),
            Parameter("offset", "number of results to skip", _count(0, MAX_RESULTS, 0)),
            Parameter(
                "limit",
                "maximum number of results",
                _count(0, search_routes.MAX_LIMIT, search_routes.PAGE_HITS),
            ),
            Parameter(
                "sort", "order of the results", {"type": "string", "enum": [*search_routes.ORDERS]}
            ),
            Parameter("facets", "count the pages by host, language, kind and year", _FLAG),
            Parameter(
                "explain", f"explain the scores of the first {explaining.MAX_PAGES} results", _FLAG
            ),
            Parameter(
                "profile",
                "ranking profile; the default is the setting ranking.profile",
                {"type": "string", "enum": [*PROFILES]},
            ),
            Parameter(
                "language",
                "language whose pages are preferred; the default is the first of Accept-Language",
                {"type": "string"},
            ),
            Parameter(
                "verbatim", "search only for the words as typed: no corrections, no synonyms", _FLAG
            ),
            Parameter(
                "provenance",
                "name the records of the archive that hold the pages: gossamer verify",
                _FLAG,
            ),
            Parameter(
                "for",
                "who reads the results; for ai-input, those are left out whose publishers forbid "
                "it, so there may be fewer than limit",
                {"type": "string", "enum": [*search_routes.READERS]},
            ),
            Parameter(
                "state",
                "of the index in an earlier answer: if it is another one by now, the status is 409",
                {"type": "string"},
            ),
        ),
        (400, 409, 414, 429, 503),
    ),
    Operation(
        "/api/v1/complete",
        "complete",
        "Completions of a query that is being typed.",
        Completions,
        (Parameter("q", "the text typed so far", {"type": "string"}, required=True),),
        (400, 414, 429, 503),
    ),
    Operation(
        "/api/v1/instant",
        "instant",
        "Results for a query that is being typed: with its last word as typed, and completed.",
        embed_routes.Instant,
        (
            Parameter("q", "the text typed so far", {"type": "string"}, required=True),
            Parameter("site", "only pages of this host or domain, or below this address", _SITE),
            Parameter(
                "limit",
                "maximum number of results",
                _count(0, embed_routes.MAX_SHOWN, embed_routes.SHOWN),
            ),
            Parameter(
                "language",
                "language whose pages are preferred; the default is the first of Accept-Language",
                {"type": "string"},
            ),
        ),
        (400, 414, 429, 503),
    ),
    Operation(
        "/api/v1/page",
        "page",
        "What the crawl knows about a page, with its links in and out.",
        KnownPage,
        (
            URL,
            Parameter(
                "offset", "number of links to skip, in each direction", _count(0, 999_999_999, 0)
            ),
            Parameter(
                "limit",
                "maximum number of links in each direction",
                _count(0, page_routes.MAX_LINKS, page_routes.SHOWN_LINKS),
            ),
        ),
        (400, 404, 414, 429, 503),
    ),
    Operation(
        "/api/v1/document",
        "document",
        "The main text of a page as Markdown, whole and in passages. With format=markdown, the "
        "Markdown only.",
        Document,
        (
            URL,
            Parameter("format", "json or text/markdown", {"type": "string", "enum": [*FORMATS]}),
        ),
        (400, 403, 404, 414, 429, 503),
    ),
    Operation(
        "/api/v1/changes",
        "changes",
        "The changes of the index since a cursor, in their order; without one, all pages. Status "
        "410: the changes since this cursor are not kept any more, so begin again without one.",
        Changes,
        (
            Parameter(
                "since",
                "cursor of an earlier answer, or now: only later changes",
                {"type": "string"},
            ),
            Parameter(
                "count",
                "maximum number of changes; with site, there may be fewer before the end",
                _count(1, change_routes.MAX_COUNT, change_routes.USUAL_COUNT),
            ),
            Parameter("site", "only pages of this host, or of hosts below it", _SITE),
        ),
        (400, 410, 414, 429, 503),
    ),
    Operation(
        "/api/v1/diff",
        "diff",
        "What is different between two versions of a page, by lines and words of its main text.",
        Difference,
        (
            URL,
            Parameter(
                "from",
                "the older version is the one at that time, a day, a time in ISO 8601, or 14 "
                "digits; by default, the one before the newer version",
                {"type": "string"},
            ),
            Parameter(
                "to", "the newer version likewise; by default, the newest", {"type": "string"}
            ),
        ),
        (400, 403, 404, 414, 429, 503),
    ),
    Operation(
        "/api/v1/graph/outlinks",
        "outlinks",
        "The pages to which a page links.",
        graph_routes.Found,
        (_NODE, _HOSTS, *_GRAPH_RANGE),
        _GRAPH_PROBLEMS,
    ),
    Operation(
        "/api/v1/graph/inlinks",
        "inlinks",
        "The pages that link to a page, with their anchor texts.",
        graph_routes.InlinksFound,
        (_NODE, _HOSTS, *_GRAPH_RANGE),
        _GRAPH_PROBLEMS,
    ),
    Operation(
        "/api/v1/graph/common",
        "common",
        "The pages that link to all of several pages.",
        graph_routes.Found,
        (
            Parameter(
                "url",
                "URLs of the pages; with hosts, names of the hosts",
                {
                    "type": "array",
                    "items": _NAME,
                    "minItems": 2,
                    "maxItems": graph_routes.MAX_COMMON,
                },
                required=True,
            ),
            Parameter("linked", "the pages to which all of them link instead", _FLAG),
            _HOSTS,
            *_GRAPH_RANGE,
        ),
        _GRAPH_PROBLEMS,
    ),
    Operation(
        "/api/v1/graph/path",
        "path",
        "A shortest way along links from one page to another. Status 422: none was found among "
        f"{graph_routes.MAX_VISITED:,} pages around both, but there may be one.",
        graph_routes.Way,
        (
            Parameter("from", "URL or host where the way begins", _NAME, required=True),
            Parameter("to", "URL or host where it ends", _NAME, required=True),
            _HOSTS,
        ),
        (*_GRAPH_PROBLEMS, 422),
    ),
    Operation(
        "/api/v1/graph/neighbourhood",
        "neighbourhood",
        "The pages around a page: the nearest, and of these the most linked.",
        Neighbourhood,
        (
            _NODE,
            Parameter("depth", "links from the page", _count(1, graph_routes.MAX_DEPTH, 1)),
            Parameter(
                "limit",
                "maximum number of pages",
                _count(1, graph_routes.MOST_NEIGHBOURS, MAX_NEIGHBOURS),
            ),
            _HOSTS,
        ),
        _GRAPH_PROBLEMS,
    ),
    Operation(
        "/api/v1/graph/host",
        "host",
        "The pages of a host, and the hosts with which it has the most links. Status 422: the host "
        f"has more than {graph_routes.MAX_HOST_PAGES:,} pages.",
        HostLinks,
        (
            Parameter("host", "name of the host", _NAME, required=True),
            Parameter(
                "limit",
                "maximum number of hosts",
                _count(0, graph_routes.MAX_SHOWN, graph_routes.SHOWN),
            ),
        ),
        (*_GRAPH_PROBLEMS, 422),
    ),
    Operation(
        "/api/v1/sections",
        "sections",
        "What a section of a site holds, as it was counted last, and its largest parts.",
        section_routes.SectionOpened,
        (
            Parameter(
                "domain", "a domain or host; *: all hosts", {"type": "string"}, required=True
            ),
            Parameter("section", "a section of it; without, all of it", {"type": "string"}),
            *_SECTIONS_RANGE,
        ),
        (400, 404, 414, 429, 503),
    ),
    Operation(
        "/api/v1/sections/domains",
        "domains",
        "The domains whose sections were counted.",
        section_routes.DomainsFound,
        (
            Parameter("q", "a part of the names of the domains", {"type": "string"}),
            *_SECTIONS_RANGE,
        ),
        (400, 414, 429, 503),
    ),
    Operation(
        "/api/v1/status",
        "status",
        "The contents and progress of the crawl.",
        CrawlStatus,
        (),
        (429, 503),
    ),
    Operation("/health", "health", "Whether an index is being served.", Health, (), (429, 503)),
)


@cache
def description() -> dict[str, Any]:
    """The OpenAPI document as Python objects."""
    structs = [Problem, *(operation.answer for operation in OPERATIONS)]
    structs += [open_webui_route.Asked, open_webui_route.WebResult]
    _, schemas = msgspec.json.schema_components(structs, ref_template=_REF)
    return {
        "openapi": OPENAPI,
        "info": {
            "title": "Gossamer",
            "version": gossamer.__version__,
            "description": "Search a crawl. Times are milliseconds since 1970, UTC.",
        },
        "paths": {operation.path: {"get": _describe(operation)} for operation in OPERATIONS}
        | {open_webui_route.PATH: {"post": _describe_open_webui()}},
        "components": {
            "schemas": schemas,
            "securitySchemes": {TOKEN: {"type": "http", "scheme": "bearer"}},
        },
    }


def _describe(operation: Operation) -> dict[str, Any]:
    parameters = [
        {
            "name": parameter.name,
            "in": "query",
            "description": parameter.about,
            "required": parameter.required,
            "schema": parameter.schema,
        }
        for parameter in operation.parameters
    ]
    answered = {"200": _answer("The answer.", "application/json", operation.answer)}
    if any(parameter.name == "format" for parameter in operation.parameters):
        answered["200"]["content"][MARKDOWN] = {"schema": {"type": "string"}}
    return {
        "operationId": operation.name,
        "summary": operation.about,
        "parameters": parameters,
        "responses": answered | _problems(*operation.problems),
    }


def _describe_open_webui() -> dict[str, Any]:
    """The search in the form of Open WebUI, which is the only operation that is not a GET."""
    asked = {"application/json": {"schema": _reference(open_webui_route.Asked)}}
    results = {"type": "array", "items": _reference(open_webui_route.WebResult)}
    return {
        "operationId": "open-webui",
        "summary": "Search in the form that Open WebUI expects of an external engine. Pages are "
        "left out whose publishers forbid their use as input of AI. Programs on other machines "
        "need a token, as for /mcp (docs/agents.md). Only if serve.mcp is on.",
        "security": [{}, {TOKEN: []}],
        "requestBody": {"required": True, "content": asked},
        "responses": {
            "200": {
                "description": "The answer.",
                "content": {"application/json": {"schema": results}},
            }
        }
        | _problems(400, 401, 403, 429, 503),
    }


def _problems(*statuses: int) -> dict[str, Any]:
    return {
        str(status): _answer(HTTPStatus(status).phrase, MEDIA_TYPE, Problem) for status in statuses
    }


def _answer(about: str, media_type: str, struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {"description": about, "content": {media_type: {"schema": _reference(struct)}}}


def _reference(struct: type[msgspec.Struct]) -> dict[str, Any]:
    return {"$ref": _REF.format(name=struct.__name__)}


def describe(request: Request) -> Response:
    """The document, with the path below which its own paths are."""
    return responses.json(description() | {"servers": [{"url": root_of(request.scope) or "/"}]})


ROUTES = [Route("/api/v1/openapi.json", describe)]
