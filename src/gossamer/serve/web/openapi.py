"""The description of the API (OpenAPI 3.1), made of what its answers are made of.

An operation is a row of OPERATIONS; the schemas of answers are those of the Structs that are
encoded. A test compares both with real answers, and a fuzz asks for what is described and what
is not (tests/test_serve_openapi.py).
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from starlette.routing import Route

import gossamer
from gossamer.serve.answers import Completions, Results
from gossamer.serve.broker import MAX_RESULTS
from gossamer.serve.pages import KnownPage
from gossamer.serve.profiles import PROFILES
from gossamer.serve.web import answers, paging, searching
from gossamer.serve.web.problem import MEDIA_TYPE, Problem
from gossamer.serve.web.status import CrawlStatus, Health

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

OPENAPI = "3.1.1"
_REF = "#/components/schemas/{name}"


class Parameter(NamedTuple):
    """A parameter of the query."""

    name: str
    about: str
    schema: dict[str, Any]
    required: bool = False


class Operation(NamedTuple):
    """A GET request: its answer, what it takes, and the statuses that it may end with."""

    path: str
    name: str
    about: str
    answer: type[msgspec.Struct]
    parameters: tuple[Parameter, ...] = ()
    problems: tuple[int, ...] = ()


def _count(least: int, most: int, default: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "default": default}


_FLAG = {"type": "string", "enum": ["0", "1", "false", "true"]}
URL = Parameter("url", "of the page", {"type": "string", "minLength": 1}, required=True)
OPERATIONS = (
    Operation(
        "/api/search",
        "search",
        "The pages for a query, the best first. offset + limit is at most "
        f"{MAX_RESULTS}. The language of queries: docs/searching.md.",
        Results,
        (
            Parameter("q", "what to look for", {"type": "string"}, required=True),
            Parameter("offset", "of the first answer", _count(0, MAX_RESULTS, 0)),
            Parameter("limit", "of answers", _count(0, searching.MAX_LIMIT, searching.PAGE_HITS)),
            Parameter("sort", "of the answers", {"type": "string", "enum": [*searching.ORDERS]}),
            Parameter("facets", "count the pages by host, language, kind and year", _FLAG),
            Parameter("explain", "tell how each score came about", _FLAG),
            Parameter(
                "profile",
                "of ranking; left out: the one of the settings",
                {"type": "string", "enum": [*PROFILES]},
            ),
        ),
        (400, 414, 503),
    ),
    Operation(
        "/api/complete",
        "complete",
        "What a query that is being typed may become.",
        Completions,
        (Parameter("q", "what was typed", {"type": "string"}, required=True),),
        (400, 414, 503),
    ),
    Operation(
        "/api/page",
        "page",
        "What the crawl knows of a page, and its links in and out.",
        KnownPage,
        (
            URL,
            Parameter("offset", "of the first link in and out", _count(0, 999_999_999, 0)),
            Parameter("limit", "of links", _count(0, paging.MAX_LINKS, paging.SHOWN_LINKS)),
        ),
        (400, 404, 414, 503),
    ),
    Operation("/api/status", "status", "What the crawl holds and does.", CrawlStatus, (), (503,)),
    Operation("/health", "health", "Whether an index is being served.", Health, (), (503,)),
)


@cache
def description() -> dict[str, Any]:
    """The description, as JSON has it."""
    structs = [Problem, *(operation.answer for operation in OPERATIONS)]
    _, schemas = msgspec.json.schema_components(structs, ref_template=_REF)
    return {
        "openapi": OPENAPI,
        "info": {
            "title": "Gossamer",
            "version": gossamer.__version__,
            "description": "Search a crawl. Times are milliseconds since 1970, UTC.",
        },
        "paths": {operation.path: {"get": _described(operation)} for operation in OPERATIONS},
        "components": {"schemas": schemas},
    }


def _described(operation: Operation) -> dict[str, Any]:
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
    problems = {
        str(status): _answer(HTTPStatus(status).phrase, MEDIA_TYPE, Problem)
        for status in operation.problems
    }
    return {
        "operationId": operation.name,
        "summary": operation.about,
        "parameters": parameters,
        "responses": answered | problems,
    }


def _answer(about: str, media_type: str, struct: type[msgspec.Struct]) -> dict[str, Any]:
    schema = {"$ref": _REF.format(name=struct.__name__)}
    return {"description": about, "content": {media_type: {"schema": schema}}}


def describe(_: Request) -> Response:
    return answers.json(description())


ROUTES = [Route("/api/openapi.json", describe)]
