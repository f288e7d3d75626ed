"""What the answer says about syntax of other search engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.cli.result_printing import print_results
from gossamer.search.query_notes import MAX_NOTES, notes_on
from gossamer.search.searcher import Searcher
from tests.support.search_server import dom, serving
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from gossamer.state.workspace import Workspace


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("harb*", "There are no wildcards: harb* was searched as harb."),
        ("the *arbour", "There are no wildcards: *arbour was searched as arbour."),
        ("har*our", "There are no wildcards: har*our was searched as har our."),
        ("Häfe＊", "There are no wildcards: Häfe* was searched as Häfe."),
        ('"red apple"~3', "~3 was ignored: pages with the words close"),
        ("red AROUND(3) apple", "AROUND(3) was ignored: pages with the words close"),
        ("apple^2 pie", "^2 was ignored: words cannot be given a weight."),
        ('"red apple"^1.5', "^1.5 was ignored: words cannot be given a weight."),
    ],
)
def test_what_is_not_understood_is_said(text: str, note: str) -> None:
    (said,) = notes_on(text)
    assert said.startswith(note)


@pytest.mark.parametrize(
    "text",
    ["red apple", "**kwargs", "*.txt", "a*b", "~*", "HEAD^2", "x^2", "sin^2", "HEAD~3", '"harb*"'],
)
def test_code_and_plain_words_get_no_notes(text: str) -> None:
    assert notes_on(text) == []


@given(st.text(st.sampled_from('harb*^~"2 1AROUND()')) | st.text())
def test_notes_are_few_and_short(text: str) -> None:
    notes = notes_on(text)
    assert len(notes) <= MAX_NOTES
    assert all(len(note) < 200 for note in notes)


NOTE = "There are no wildcards: harb* was searched as harb."


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, [{"url": "http://a.example/", "title": "The harb", "text": "a harb <b>"}])
    return work


@pytest.fixture(scope="module")
def client(work: Workspace) -> Iterator[httpx.Client]:
    with serving(work) as opened:
        yield opened


def test_notes_are_printed(work: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    found = Searcher.open(work).search("harb* <b>*x*")
    assert [hit.title for hit in found.hits] == ["The harb"]
    assert found.notes == [NOTE]
    print_results(found)
    assert NOTE in capsys.readouterr().out


def test_notes_are_on_the_page_and_in_the_api(client: httpx.Client) -> None:
    page = dom(client, "/search", q="harb*")
    assert [hint.text() for hint in page.css(".hint")] == [NOTE]
    assert client.get("/api/v1/search", params={"q": "harb*"}).json()["notes"] == [NOTE]
    nothing = dom(client, "/search", q="harb* AND nowhere")
    assert [hint.text() for hint in nothing.css(".hint")] == [NOTE]
