"""The API behaves exactly as its OpenAPI description says, for valid and invalid requests."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings

from gossamer.links import graph
from gossamer.search.broker import MAX_RESULTS
from gossamer.serve.web import openapi
from tests.support.search_server import serving
from tests.support.small_index import put_index
from tests.support.stored_rounds import Fetched, commit_fetch, write_shares
from tests.support.stored_web import put_inlinks, put_pages, put_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx
    from schemathesis import Case
    from schemathesis.schemas import BaseSchema

    from gossamer.state.workspace import Workspace

HOME = "http://a.example/"
DOCUMENT = f"{HOME}document"
ASKED = {"q": "apple", "from": HOME, "to": f"{HOME}0", "host": "a.example"} | {
    "domain": "a.example"
}


def _urls(operation: openapi.Operation) -> dict[str, Any]:
    if operation.name in ("document", "diff"):
        return {"url": DOCUMENT, "from": "", "to": ""}
    return {"url": [HOME, HOME] if operation.name == "common" else HOME}


@pytest.fixture(scope="module")
def client(new_work: Callable[[], Workspace]) -> Iterator[httpx.Client]:
    work = new_work()
    put_index(work, [{"url": f"{HOME}{n}", "title": f"Apple {n}"} for n in range(30)])
    put_pages(work, {HOME: "fetched", f"{HOME}0": "unfetched"})
    put_inlinks(work, HOME, [("http://b.example/", "words")], 1)
    put_rows(work, "links", [{"src": HOME, "dst": f"{HOME}0", "anchor": "zero", "relation": "a"}])
    put_rows(work, "responses", [{"url": HOME, "outcome": "ok"}])
    commit_fetch(work, write_shares(work, [Fetched(DOCUMENT, b"<h1>A page</h1><p>A text.")]))
    parsed = {"outcome": "parsed", "content_type": "text/html", "charset": "utf-8"}
    put_rows(work, "documents", [{"url": DOCUMENT, "round": 1, **parsed}])
    put_pages(work, {DOCUMENT: "fetched"})
    graph.run(work)
    counts = {"known": 20, "fetched": 12, "asked": 15, "changed": 3, "fit": 7}
    row = {"section": "a.example/", "domain": "a.example", "level": 1, **counts}
    put_rows(work, "sections", [row])
    with serving(work) as opened:
        yield opened


@pytest.fixture(scope="module")
def api(client: httpx.Client) -> BaseSchema:
    import schemathesis  # takes a second, in each process that collects tests

    return schemathesis.openapi.from_url(str(client.base_url.join("/api/v1/openapi.json")))


@pytest.mark.slow
@pytest.mark.parametrize("valid", [True, False])
@pytest.mark.parametrize("operation", openapi.OPERATIONS, ids=lambda operation: operation.name)
def test_whatever_is_asked_is_answered_as_described(
    api: BaseSchema, operation: openapi.Operation, valid: bool
) -> None:
    """Draw parameters that follow the description, or violate it."""
    from schemathesis import GenerationMode

    described = api[operation.path]["GET"]
    if not valid and not operation.parameters:
        return  # it has no parameters to violate
    mode = GenerationMode.POSITIVE if valid else GenerationMode.NEGATIVE

    @settings(max_examples=20, suppress_health_check=list(HealthCheck))
    @given(case=described.as_strategy(generation_mode=mode))
    def ask(case: Case[Any]) -> None:
        if valid:  # what a schema cannot say
            reach = int(case.query.get("offset", 0)) + int(case.query.get("limit", 10))
            assume(operation.name != "search" or reach <= MAX_RESULTS)
            if operation.name == "changes":  # not every text is a cursor
                case.query.pop("since", None)
        case.call_and_validate()

    ask()


@pytest.mark.slow
@pytest.mark.parametrize("valid", [True, False])
def test_whatever_open_webui_sends_is_answered_as_described(api: BaseSchema, valid: bool) -> None:
    from schemathesis import GenerationMode

    mode = GenerationMode.POSITIVE if valid else GenerationMode.NEGATIVE
    described = api["/open-webui"]["POST"].as_strategy(generation_mode=mode)

    @settings(max_examples=20, suppress_health_check=list(HealthCheck))
    @given(case=described)
    def ask(case: Case[Any]) -> None:
        case.call_and_validate()

    ask()


@pytest.mark.parametrize("path", ["instant", "changes"])
def test_a_site_has_none_of_the_characters_that_separate_words(
    client: httpx.Client, path: str
) -> None:
    separators = [each for each in map(chr, range(sys.maxunicode + 1)) if each.isspace()]
    assert len(separators) > 20  # some of which ECMA-262's \s does not contain
    for each in (*separators, '"', "(", ")"):
        answer = client.get(f"/api/v1/{path}", params={"q": "apple", "site": f"a.{each}example"})
        assert answer.status_code == 400


def test_the_description_names_all_of_the_api(client: httpx.Client) -> None:
    told: dict[str, Any] = client.get("/api/v1/openapi.json").json()
    assert told["openapi"].startswith("3.1")
    paths = {
        "/api/v1/search",
        "/api/v1/complete",
        "/api/v1/diff",
        "/api/v1/instant",
        "/api/v1/page",
        "/api/v1/status",
        "/health",
    }
    kinds = ("outlinks", "inlinks", "common", "path", "neighbourhood", "host")
    paths |= {f"/api/v1/graph/{kind}" for kind in kinds}
    paths |= {
        "/open-webui",
        "/api/v1/document",
        "/api/v1/changes",
        "/api/v1/sections",
        "/api/v1/sections/domains",
    }
    assert set(told["paths"]) == paths
    for path in told["paths"]:
        assert client.get(path).headers["content-type"].startswith("application/")


@pytest.mark.parametrize("operation", openapi.OPERATIONS, ids=lambda operation: operation.name)
def test_answers_have_no_field_that_is_not_described(
    client: httpx.Client, operation: openapi.Operation
) -> None:
    answer = client.get(operation.path, params=ASKED | _urls(operation))
    assert answer.status_code == 200
    decoded = msgspec.json.decode(answer.content, type=operation.answer)
    assert msgspec.json.decode(msgspec.json.encode(decoded)) == answer.json()


def test_limits_that_are_described_hold(client: httpx.Client) -> None:
    limits = [
        (operation, parameter.schema["maximum"])
        for operation in openapi.OPERATIONS
        for parameter in operation.parameters
        if parameter.name == "limit"
    ]
    assert len(limits) == 10
    for operation, most in limits:
        asked = ASKED | _urls(operation) | {"limit": most}
        assert client.get(operation.path, params=asked).status_code == 200
        assert client.get(operation.path, params=asked | {"limit": most + 1}).status_code == 400
