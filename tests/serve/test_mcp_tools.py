"""The tools for language models, without the SDK: their arguments and answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.search.page_info import PageInfo
from gossamer.serve.dispatch.front import Dispatcher
from gossamer.serve.dispatch.reloader import OpenIndex
from gossamer.serve.documents import Documents
from gossamer.serve.mcp.tools import (
    PART_CHARS,
    TOOLS,
    UNTRUSTED,
    Toolbox,
    ToolError,
    check_arguments,
    parts_of,
    query_with_filters,
)
from gossamer.state.lookup import Lookup
from tests.support.changing_pages import GONE, HOST, harvest_pages
from tests.support.read_web import HOSTILE, PROSE, SITE, store_read_web
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server

NAMES = st.sampled_from(["query", "site", "lang", "since", "count", "x"])
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.text()), st.just("2024-01-01")
)


@pytest.fixture(scope="module")
def work(new_work: Callable[[], Workspace]) -> Workspace:
    opened = new_work()
    store_read_web(opened)
    return opened


def call(work: Workspace, name: str, **arguments: Any) -> dict[str, Any]:
    pages = PageInfo(work, Lookup(work))

    async def answer() -> dict[str, Any]:
        front = Dispatcher(OpenIndex(work, crawl=pages))
        toolbox = Toolbox(work, pages, Documents(work, pages), front)
        return await toolbox.call(name, arguments, "test")

    return asyncio.run(answer())


def test_the_calls_of_one_client_do_not_hold_up_those_of_others(work: Workspace) -> None:
    pages = PageInfo(work, Lookup(work))
    ended: list[str] = []

    async def answers() -> None:
        front = Dispatcher(OpenIndex(work, crawl=pages))
        toolbox = Toolbox(work, pages, Documents(work, pages), front)

        async def fetch(client: str) -> None:
            await toolbox.call("fetch", {"url": f"{SITE}pears"}, client)
            ended.append(client)

        async with asyncio.TaskGroup() as group:
            for client in ["greedy"] * 20 + ["polite"]:
                group.create_task(fetch(client))

    asyncio.run(answers())
    assert ended.index("polite") <= 2
    assert len(ended) == 21


def test_a_search_returns_the_passages_that_answer(work: Workspace) -> None:
    found = call(work, "search", query="how to water pears", count=1)
    [result] = found["results"]
    assert result["url"] == f"{SITE}pears#growing"
    assert result["id"] == result["url"]
    assert list(result["headings"]) == ["About pears", "Growing pears"]
    assert result["passage"].startswith("Whoever grows pears waters pears each day.")
    assert result["title"] == "About pears"
    assert result["provenance"]["warc_file"].startswith("warc/")
    assert found["note"] == UNTRUSTED


def test_a_result_can_be_fetched_by_its_id(work: Workspace) -> None:
    [result] = call(work, "search", query="eating plums", count=1)["results"]
    page = call(work, "fetch", id=result["id"])
    assert page["id"] == f"{SITE}plums"
    assert page["text"].startswith(f"# About plums\n\n{PROSE}\n\n## Growing plums")
    assert (page["part"], page["parts"]) == (1, 1)
    assert page == call(work, "fetch", url=f"{SITE}plums")


def test_filters_narrow_a_search(work: Workspace) -> None:
    assert call(work, "search", query="apples", site="example.org", lang="en")["results"]
    assert not call(work, "search", query="apples", site="example.net")["results"]
    assert not call(work, "search", query="apples", lang="de")["results"]
    assert not call(work, "search", query="apples", since="2999-01-01")["results"]


def test_pages_that_must_not_be_shown_are_in_no_answer(work: Workspace) -> None:
    assert not call(work, "search", query="medlars")["results"]
    with pytest.raises(ToolError, match="noarchive"):
        call(work, "fetch", url=f"{SITE}secret")


def test_text_of_pages_is_marked_as_untrusted(work: Workspace) -> None:
    page = call(work, "fetch", url=f"{SITE}hostile")
    assert HOSTILE in page["text"]
    assert page["note"] == UNTRUSTED
    for tool in TOOLS:
        assert HOSTILE not in tool.about


def test_other_tools_answer(work: Workspace) -> None:
    assert call(work, "sites")["sites"] == [{"site": "example.org", "known": 20, "fetched": 5}]
    assert call(work, "sites", containing="net")["sites"] == []
    assert call(work, "explain", url=f"{SITE}apples")["known"]
    assert not call(work, "explain", url=f"{SITE}unknown")["known"]
    related = call(work, "related", url=f"{SITE}apples")["results"]
    assert {each["url"] for each in related} <= {f"{SITE}pears", f"{SITE}plums", f"{SITE}hostile"}


def test_sites_are_hosts_until_their_pages_are_counted(new_work: Callable[[], Workspace]) -> None:
    work = new_work()
    assert call(work, "sites") == {"sites": [], "total": 0}
    put_rows(work, "hosts", [{"host": "b.example"}, {"host": "a.example"}])
    put_rows(work, "hosts", [{"host": "b.example"}])
    names = [each["site"] for each in call(work, "sites")["sites"]]
    assert names == ["a.example", "b.example"]
    assert call(work, "sites", containing="B.")["total"] == 1


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("find", {}, "no tool"),
        ("search", {}, "needs query"),
        ("search", {"query": ""}, "needs query"),
        ("search", {"query": 1}, "of type string"),
        ("search", {"query": "a", "count": True}, "of type integer"),
        ("search", {"query": "a", "count": 21}, "1 to 20"),
        ("search", {"query": "a", "page": 2}, "no argument page"),
        ("search", {"query": "a", "since": "yesterday"}, "since is invalid"),
        ("search", {"query": "a", "site": "a.example OR b"}, "site is invalid"),
        ("fetch", {}, "give the url"),
        ("fetch", {"url": "no url"}, "is not a URL"),
        ("fetch", {"url": f"{SITE}unknown"}, "no copy"),
        ("fetch", {"url": f"{SITE}apples", "part": 2}, "only 1 parts"),
        ("explain", {"url": "mailto:a@b.example"}, "mailto"),
    ],
)
def test_invalid_calls_are_explained(
    work: Workspace, name: str, arguments: dict[str, Any], why: str
) -> None:
    with pytest.raises(ToolError, match=why):
        call(work, name, **arguments)


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_any_arguments_are_checked(given_arguments: dict[str, Any]) -> None:
    search = TOOLS[0]
    try:
        query = query_with_filters(check_arguments(search, given_arguments))
    except ToolError:
        return
    filters = query.removeprefix(given_arguments["query"]).split()
    assert all(each.startswith(("site:", "lang:", "after:")) for each in filters)


@given(st.lists(st.text("ab \n", max_size=9_000), max_size=8).map("".join))
def test_parts_are_the_whole_page(text: str) -> None:
    parts = parts_of(text)
    assert "".join(parts) == text
    assert all(len(part) <= PART_CHARS for part in parts)
    assert all(parts) or parts == [""]


@pytest.mark.engine
def test_changes_are_listed_after_a_cursor_or_the_newest(
    new_work: Callable[[], Workspace],
) -> None:
    work = new_work()
    harvest_pages(work, 1, {"a": "red apples", "b": "green pears"})
    first = call(work, "changes", site=HOST)
    assert [each["change"] for each in first["changes"]] == ["added", "added"]
    assert first["note"] == UNTRUSTED
    harvest_pages(work, 2, {"a": "ripe apples", "b": GONE})
    later = call(work, "changes", since=first["cursor"])
    assert {each["url"][-1]: each["change"] for each in later["changes"]} == {
        "a": "changed",
        "b": "gone",
    }
    assert not call(work, "changes", since=later["cursor"])["changes"]
    assert not call(work, "changes", site="b.example")["changes"]
    assert [each["url"][-1] for each in call(work, "changes")["changes"]] == ["a"]
    with pytest.raises(ToolError, match="is not a cursor"):
        call(work, "changes", since="yesterday")
