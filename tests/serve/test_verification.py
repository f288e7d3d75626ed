"""Answers are proved from the archive, and answers that somebody changed are not."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.api.documents import CrawlDocuments
from gossamer.cli.document_export import PASSAGES, rendered_pieces
from gossamer.search.page_info import PageInfo
from gossamer.serve.dispatch.front import Dispatcher
from gossamer.serve.dispatch.reloader import OpenIndex
from gossamer.serve.documents import Documents
from gossamer.serve.mcp.tools import Toolbox
from gossamer.serve.verification import (
    AGAIN,
    CHANGED,
    CHECK,
    UNKNOWN,
    Claim,
    Verdict,
    Verifier,
    claims_of,
)
from gossamer.state.lookup import Lookup
from tests.support.harvest_steps import run_index
from tests.support.search_server import serving
from tests.support.stored_rounds import Fetched
from tests.support.stored_web import store_and_parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server

HOME = "https://example.org/"
PROSE = (
    "A sentence of prose about {} & caf\u0065\u0301s, long enough to be a paragraph of an article."
)


def page_about(topic: str) -> bytes:
    text = PROSE.format(topic)
    return (
        f"<meta charset=utf-8><title>About {topic}</title><h1>About {topic}</h1><p>{text} {text}"
        f"<h2 id=more>More \u2026</h2><table><tr><td>a<td>{topic}</table>"
        f"<pre><code>x = 1  # {topic}</code></pre><p>{text} The end \u2026 of {topic}. {text}"
    ).encode()


TOPICS = ("apples", "pears")


def make(new_work: Callable[[], Workspace]) -> Workspace:
    work = new_work()
    fetched = [Fetched(HOME + topic, page_about(topic)) for topic in TOPICS]
    store_and_parse(work, fetched)
    run_index(work)
    return work


@pytest.fixture(scope="module")
def work(new_work: Callable[[], Workspace]) -> Workspace:
    return make(new_work)


@pytest.fixture(scope="module")
def client(work: Workspace) -> Iterator[httpx.Client]:
    with serving(work) as opened:
        yield opened


def tool(work: Workspace, name: str, **arguments: Any) -> Any:
    pages = PageInfo(work, Lookup(work))

    async def answer() -> dict[str, Any]:
        front = Dispatcher(OpenIndex(work, crawl=pages))
        return await Toolbox(work, pages, Documents(work, pages), front).call(name, arguments, "t")

    return msgspec.json.decode(msgspec.json.encode(asyncio.run(answer())))


@pytest.fixture(scope="module")
def answers(work: Workspace, client: httpx.Client) -> dict[str, Any]:
    """One answer of each kind."""
    lines = b"".join(rendered_pieces(CrawlDocuments(work), PASSAGES, "")).splitlines()
    found = {"query": "about apples", "count": 5}
    return {
        "document": client.get("/api/v1/document", params={"url": f"{HOME}apples"}).json(),
        "search": client.get(
            "/api/v1/search", params={"q": "end of prose", "provenance": "1"}
        ).json(),
        "tool search": tool(work, "search", **found),
        "tool fetch": tool(work, "fetch", url=f"{HOME}pears"),
        "envelope": {"content": [], "structuredContent": tool(work, "search", **found)},
        "passages": [msgspec.json.decode(line) for line in lines],
    }


KINDS = ("document", "search", "tool search", "tool fetch", "envelope", "passages")


def verified(work: Workspace, answer: object) -> list[Verdict]:
    lookup = Lookup(work)
    verifier = Verifier(work, PageInfo(work, lookup), lookup)
    return [verifier.verify(claim) for claim in claims_of(answer)]


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_proved(work: Workspace, answers: dict[str, Any], kind: str) -> None:
    found = verified(work, answers[kind])
    assert [verdict.why for verdict in found] == [""] * len(found)
    assert all(verdict.verified for verdict in found)
    assert all(verdict.texts for verdict in found)
    assert {verdict.url for verdict in found} <= {HOME + topic for topic in TOPICS}


@pytest.mark.folder
def test_provenance_names_the_whole_record(work: Workspace, answers: dict[str, Any]) -> None:
    for hit in answers["search"]["hits"]:
        place = hit["provenance"]
        path = Path(str(work.root), place["warc_file"])
        end = place["warc_offset"] + place["warc_length"]
        assert path.read_bytes()[end : end + 2] in (b"\x1f\x8b", b"")
        (document,) = (each for each in CrawlDocuments(work).all() if each.url == hit["url"])
        assert msgspec.to_builtins(document.provenance) == place


def test_no_provenance_is_sent_unasked(client: httpx.Client) -> None:
    hits = client.get("/api/v1/search", params={"q": "apples"}).json()["hits"]
    assert [hit["provenance"] for hit in hits] == [None] * len(hits)


def changed(answer: Any, field: str, value: Any) -> Any:
    """A copy in which all fields of a name have another value."""
    if isinstance(answer, dict):
        return {
            name: (value(each) if callable(value) else value)
            if name == field
            else changed(each, field, value)
            for name, each in answer.items()
        }
    if isinstance(answer, list):
        return [changed(each, field, value) for each in answer]
    return copy.copy(answer)


@pytest.mark.parametrize(
    ("kind", "field", "value", "remedy"),
    [
        ("document", "markdown", lambda text: text.replace("apples", "plums"), CHANGED),
        ("tool search", "passage", lambda text: text + " Buy now!", CHANGED),
        ("tool fetch", "text", "Pears are blue.", CHANGED),
        ("passages", "text", lambda text: text[:-3] + "!!!", CHANGED),
        ("search", "snippet", lambda text: "An <b>offer</b> &amp; more \u2026" + text, CHANGED),
        ("search", "digest", "A" * 32, CHANGED),
        ("search", "warc_length", 7, CHANGED),
        ("document", "warc_file", "/etc/passwd", None),
        ("document", "warc_offset", 1, None),
        ("tool fetch", "url", f"{HOME}unknown", UNKNOWN),
    ],
)
def test_answers_that_were_changed_are_not_proved(
    work: Workspace,
    answers: dict[str, Any],
    kind: str,
    field: str,
    value: Any,
    remedy: str | None,
) -> None:
    found = verified(work, changed(answers[kind], field, value))
    if remedy is None:  # the body is where the crawl knows it to be, with the same digest
        assert all(verdict.verified for verdict in found)
        return
    assert not any(verdict.verified for verdict in found)
    assert {verdict.remedy for verdict in found} == {remedy}
    assert all(verdict.why for verdict in found)


def test_a_body_that_the_archive_does_not_have_any_more_is_named(work: Workspace) -> None:
    lost = {"warc_file": "warc/x.warc.gz", "warc_offset": 0, "digest": "B" * 32}
    (found,) = verified(work, {"url": f"{HOME}apples", "provenance": lost})
    assert (found.verified, found.remedy) == (False, AGAIN)
    assert "BBBB" in found.why


@pytest.mark.folder
def test_a_damaged_archive_proves_nothing(new_work: Callable[[], Workspace]) -> None:
    work = make(new_work)
    claim = {"url": f"{HOME}apples"}
    (sound,) = verified(work, claim)
    assert sound.verified
    assert sound.provenance is not None
    path = Path(str(work.root), sound.provenance.warc_file)
    whole = path.read_bytes()
    middle = sound.provenance.warc_offset + (sound.provenance.warc_length or 0) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
    (found,) = verified(work, claim)
    assert (found.verified, found.remedy) == (False, CHECK)
    path.unlink()
    (found,) = verified(work, claim)
    assert (found.verified, found.remedy) == (False, CHECK)
    assert "is gone" in found.why


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                (
                    *("url", "results", "hits", "passages", "provenance", "metadata", "warc_file"),
                    *("structuredContent", "text", "digest", "warc_offset"),
                )
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def test_what_is_nested_too_deep_is_no_answer() -> None:
    answer: object = {"url": HOME}
    for _ in range(900):
        answer = [answer]
    assert claims_of(answer) == []


@given(JSON)
def test_anything_may_be_given_for_an_answer(answer: Any) -> None:
    for claim in claims_of(answer):
        assert isinstance(claim, Claim)
        assert claim.url


@given(JSON)
def test_no_provenance_is_believed(work: Workspace, place: Any) -> None:
    lookup = Lookup(work)
    verifier = Verifier(work, PageInfo(work, lookup), lookup)
    given_ = place if isinstance(place, dict) else {"digest": place}
    verdict = verifier.verify(Claim(f"{HOME}apples", (), given_))
    assert isinstance(verdict, Verdict)
