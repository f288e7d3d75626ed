"""No door hands out a page for a use that its publisher forbids, whatever form says so.

Each page has a word of its own. A door leaks a page if the word is in what it hands out.
"""

from __future__ import annotations

import asyncio
import io
import json
from typing import TYPE_CHECKING, NamedTuple

import pytest
from msgspec import structs

from gossamer.api.documents import CrawlDocuments
from gossamer.cli.document_export import LLMS, LLMS_FULL, PASSAGES, rendered_pieces
from gossamer.cli.export_formats import export
from gossamer.cli.obeyed_wishes import ObeyedWishes
from gossamer.config import PublishersConfig
from gossamer.search.page_info import PageInfo
from gossamer.search.searcher import Searcher
from gossamer.serve.dispatch.front import Dispatcher
from gossamer.serve.dispatch.reloader import OpenIndex
from gossamer.serve.documents import Documents
from gossamer.serve.mcp.tools import MAX_COUNT, Toolbox, ToolError
from gossamer.serve.stored_copy import Refusal
from gossamer.state.lookup import Lookup
from gossamer.status.explanation import explain
from gossamer.tables import DOCUMENTS
from gossamer.web.publisher_wishes import AI_INPUT, AI_TRAIN, BOTH_BY_AI, SEARCH, USES
from tests.support.harvest_steps import run_index
from tests.support.search_server import serving
from tests.support.stored_rounds import Fetched
from tests.support.stored_web import store_and_parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import httpx

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server

SITE = "wishes.example"
PROSE = "A sentence of prose that is long enough to be one of an article's own paragraphs, {}."
BOTH, ALL = frozenset(BOTH_BY_AI), frozenset(USES)
TRAIN, INPUT, FIND = frozenset((AI_TRAIN,)), frozenset((AI_INPUT,)), frozenset((SEARCH,))
NONE = frozenset[str]()
RSL = "application/rsl+xml"
ROBOTS = (
    ("Content-Signal: search=yes, ai-input=no, ai-train=no", BOTH),
    ("Content-Signal: search=yes, ai-train=no", TRAIN),
    ("Content-Signal: search=no", FIND),
    ("Content-Signal: ai-input=no", INPUT),
    ("Content-Signal: search=yes, ai-input=yes, ai-train=yes", NONE),
    ("Content-Usage: train-ai=n", TRAIN),
    ("Content-Usage: ai-use=n, train-ai=y", INPUT),
    ("Content-Usage: train-ai=y, search=n", FIND),
    ("Content-Usage: train-ai=n, ai-use=n, search=n", ALL),
    ("Content-Usage: train-ai=y", NONE),
    ("License: https://example.com/license.xml", BOTH),
    ("RSL: search=yes, ai-input=no, ai-train=yes; https://example.com/r.xml", INPUT),
    ("RSL: search=no, ai-input=no, ai-train=no; https://example.com/license.xml", ALL),
    ("RSL: search=yes, ai-input=yes, ai-train=yes; https://example.com/free.xml", NONE),
    ("TDM-Reservation: 1", BOTH),
    ("TDM-Reservation: 0", NONE),
)
"""Of robots.txt; those of TDMRep are of tdmrep.json."""
HEADERS = (
    ("Content-Usage: train-ai=n", TRAIN),
    ("Content-Usage: ai-use=n, search=y", INPUT),
    ("Content-Usage: search=n", FIND),
    ("Content-Signal: ai-train=yes, search=yes, ai-input=no", INPUT),
    ("TDM-Reservation: 1", BOTH),
    ("TDM-Reservation: 0", NONE),
    ("X-Robots-Tag: noai", BOTH),
    ("X-Robots-Tag: noai, noimageai", BOTH),
    ("X-Robots-Tag: noimageai", NONE),
    ("X-Robots-Tag: otherbot: noai", NONE),
    ("X-Robots-Tag: gossamer: noai", BOTH),
    (f'Link: <https://example.com/l.xml>; rel="license"; type="{RSL}"', BOTH),
    ("Link: <https://example.com/l>; rel=license", NONE),
)
HEADS = (
    ('<meta name="tdm-reservation" content="1">', BOTH),
    ('<meta name="tdm-reservation" content="0">', NONE),
    ('<META NAME="TDM-Reservation" CONTENT=" 1 ">', BOTH),
    ('<meta name="robots" content="noai, noimageai">', BOTH),
    ('<meta name="robots" content="index, no-ai">', BOTH),
    ('<meta name="gossamer" content="noai">', BOTH),
    ('<meta name="robots" content="noimageai">', NONE),
    ('<meta name="content-usage" content="train-ai=n">', TRAIN),
    (f'<link rel="license" type="{RSL}" href="/license.xml">', BOTH),
    ('<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">', NONE),
    (f'<script type="{RSL}"><rsl xmlns="https://rslstandard.org/rsl"></rsl></script>', BOTH),
)


class Planted(NamedTuple):
    url: str
    word: str
    fetched: Fetched
    forbidden: frozenset[str]


def planted(robots: str, header: str, head: str, forbidden: frozenset[str], number: int) -> Planted:
    word = f"quagga{number:03}"
    url = f"https://{SITE}/{word}"
    text = PROSE.format(word)
    body = f"<title>About {word}</title>{head}<h1>About {word}</h1><p>{text}<p>{text}"
    name, _, value = header.partition(": ")
    file = "tdmrep.json" if robots.startswith("TDM") else "robots.txt"
    columns = [f"{file}: {robots}"] if robots else []
    columns += [f"{name.lower()}: {value}"] if header else []
    sent = ((name.encode(), value.encode()),) if header else ()
    page = Fetched(url, body.encode(), headers=sent, updated="\n".join(columns) or None)
    return Planted(url, word, page, forbidden)


def all_planted() -> list[Planted]:
    """Pages with each form alone, and with forms that differ."""
    given = [(said, "", "", no) for said, no in ROBOTS]
    given += [("", said, "", no) for said, no in HEADERS]
    given += [("", "", said, no) for said, no in HEADS]
    for number in range(80):
        robots, header, head = (
            forms[number * step % len(forms)]
            for forms, step in ((ROBOTS, 1), (HEADERS, 3), (HEADS, 5))
        )
        given.append((robots[0], header[0], head[0], robots[1] | header[1] | head[1]))
    given.append(("", "", "", NONE))
    return [planted(*each, number) for number, each in enumerate(given)]


PAGES = all_planted()
SOME_AND_ALL = pytest.mark.parametrize(
    "pages", [PAGES[::4], pytest.param(PAGES, marks=pytest.mark.slow)], ids=["some", "all"]
)
"""For doors that are asked for each page, and render it."""


@pytest.fixture(scope="module")
def work(new_work: Callable[[], Workspace]) -> Workspace:
    opened = new_work()
    store_and_parse(opened, [page.fetched for page in PAGES])
    run_index(opened)
    return opened


@pytest.fixture(scope="module")
def client(work: Workspace) -> Iterator[httpx.Client]:
    with serving(work) as opened:
        yield opened


def allowed(*uses: str, pages: Sequence[Planted] = PAGES) -> set[str]:
    """The words of the pages that do not forbid any of these uses."""
    return {page.word for page in pages if page.forbidden.isdisjoint(uses)}


def words_in(text: str) -> set[str]:
    return {page.word for page in PAGES if page.word in text}


def lines_of(pieces: Iterable[bytes]) -> str:
    return b"".join(pieces).decode()


def call(work: Workspace, *calls: tuple[str, Mapping[str, object]]) -> list[str]:
    """The answers of tools as JSON; of refused calls the reason."""
    pages = PageInfo(work, Lookup(work))

    async def answers() -> list[str]:
        front = Dispatcher(OpenIndex(work, crawl=pages))
        toolbox = Toolbox(work, pages, Documents(work, pages), front)
        found = []
        for name, arguments in calls:
            try:
                found.append(json.dumps(await toolbox.call(name, arguments, "test")))
            except ToolError as error:
                found.append(str(error))
        return found

    return asyncio.run(answers())


def test_there_are_more_than_a_hundred_pages_with_every_wish() -> None:
    assert len(PAGES) > 100
    assert {page.forbidden for page in PAGES} >= {NONE, TRAIN, INPUT, FIND, BOTH, ALL}


def test_what_is_kept_of_each_page(work: Workspace) -> None:
    pages = PageInfo(work, Lookup(work))
    for page in PAGES:
        captured = pages.capture(page.url)
        assert captured is not None
        assert captured.document is not None
        wishes = (captured.document["wishes"] or "").split()
        forbidden = {wish.removesuffix("=no") for wish in wishes if wish.endswith("=no")}
        assert forbidden == page.forbidden, page
        assert not page.forbidden or captured.document["wishes_said"]


def test_a_page_without_wishes_costs_nothing(work: Workspace) -> None:
    captured = PageInfo(work, Lookup(work)).capture(PAGES[-1].url)
    assert captured is not None
    assert captured.document is not None
    assert (captured.document["wishes"], captured.document["wishes_said"]) == (None, None)


def test_searches_leave_out_search_no(work: Workspace) -> None:
    searcher = Searcher.open(work)
    found = {hit.url for page in PAGES for hit in searcher.search(page.word).hits}
    assert {page.word for page in PAGES if page.url in found} == allowed(SEARCH)


def test_the_filter_finds_what_publishers_say(work: Workspace) -> None:
    searcher = Searcher.open(work)

    def found(query: str) -> set[str]:
        return {
            page.word
            for hit in searcher.search(query, limit=200).hits
            for page in PAGES
            if page.url == hit.url
        }

    without = {page.word for page in PAGES if AI_TRAIN in page.forbidden} & allowed(SEARCH)
    assert found(f"site:{SITE} wish:ai-train=no") == without
    assert found(f"site:{SITE} -wish:ai-train=no") == allowed(SEARCH, AI_TRAIN)
    assert found(f"site:{SITE} WISH:AI-Train=N") == without
    yes = found(f"site:{SITE} wish:ai-train=yes")
    assert yes
    assert yes.isdisjoint(without)
    assert found(f"site:{SITE} wish:ai-train") == yes | without
    assert found(f"site:{SITE} wish:nothing=no") == set()


@SOME_AND_ALL
def test_documents_leave_out_ai_input_no(client: httpx.Client, pages: Sequence[Planted]) -> None:
    statuses = {
        page.word: client.get("/api/v1/document", params={"url": page.url, "format": form})
        for page in pages
        for form in ("json", "markdown")
    }
    assert {word for word, answer in statuses.items() if answer.status_code == 200} == allowed(
        AI_INPUT, pages=pages
    )
    refused = [answer for answer in statuses.values() if answer.status_code != 200]
    assert {answer.status_code for answer in refused} == {403}
    assert all(PROSE[:40] not in answer.text for answer in refused)
    assert all("ai-input=no" in answer.json()["detail"] for answer in refused)
    listed = client.get("/api/v1/llms.txt", params={"site": SITE}).text
    assert words_in(listed) == allowed(AI_INPUT, SEARCH)


@SOME_AND_ALL
def test_searches_for_a_model_leave_out_ai_input_no(
    client: httpx.Client, pages: Sequence[Planted]
) -> None:
    found = {"people": set[str](), "ai-input": set[str]()}
    for page in pages:
        for reader in found:
            answer = client.get("/api/v1/search", params={"q": page.word, "for": reader})
            found[reader] |= words_in(json.dumps(answer.json()["hits"]))
    assert found["people"] == allowed(SEARCH, pages=pages)
    assert found["ai-input"] == allowed(AI_INPUT, SEARCH, pages=pages)
    assert client.get("/api/v1/search", params={"q": "x", "for": "x"}).status_code == 400


@SOME_AND_ALL
def test_chat_front_ends_get_no_ai_input_no(client: httpx.Client, pages: Sequence[Planted]) -> None:
    found = set[str]()
    for page in pages:
        answer = client.post("/open-webui", json={"query": page.word, "count": 3})
        found |= words_in(answer.text)
    assert found == allowed(AI_INPUT, SEARCH, pages=pages)
    answer = client.post(
        "/open-webui", json={"query": f"site:{SITE} OR {PAGES[0].word}", "count": 9}
    )
    assert 1 <= len(answer.json()) <= 9
    assert words_in(answer.text) <= allowed(AI_INPUT, SEARCH)


def test_exports_of_documents_leave_out_ai_input_no(work: Workspace) -> None:
    documents = CrawlDocuments(work)
    for what in (LLMS, LLMS_FULL, PASSAGES, "documents"):
        text = lines_of(rendered_pieces(documents, what, SITE))
        assert words_in(text) == allowed(AI_INPUT, SEARCH), what


@SOME_AND_ALL
def test_tools_leave_out_ai_input_no(work: Workspace, pages: Sequence[Planted]) -> None:
    fetched = call(work, *(("fetch", {"url": page.url}) for page in pages))
    assert {
        page.word for page, answer in zip(pages, fetched, strict=True) if PROSE[:40] in answer
    } == allowed(AI_INPUT, pages=pages)
    searched = call(work, *(("search", {"query": page.word, "count": 5}) for page in pages))
    assert set().union(*map(words_in, searched)) == allowed(AI_INPUT, SEARCH, pages=pages)
    some = pages[::8]  # each answer has twenty pages, which are rendered
    related = call(work, *(("related", {"url": page.url, "count": MAX_COUNT}) for page in some))
    leaked = set().union(*(words_in(answer) for answer in related)) - allowed(AI_INPUT, SEARCH)
    assert not leaked


def test_the_export_for_training_leaves_out_ai_train_no(work: Workspace) -> None:
    for form in ("jsonl", "csv"):
        out = io.BytesIO()
        obeyed = ObeyedWishes(work.paths(DOCUMENTS.name))
        rows = export(work.paths(DOCUMENTS.name), DOCUMENTS.schema, form, out, obeyed)
        assert words_in(out.getvalue().decode()) == allowed(AI_TRAIN)
        assert (rows, obeyed.left_out) == (len(allowed(AI_TRAIN)), len(PAGES) - rows)


def test_what_is_known_about_a_page_has_its_wishes(client: httpx.Client) -> None:
    page = next(each for each in PAGES if each.forbidden == TRAIN)
    assert "ai-train=no" in client.get("/api/v1/page", params={"url": page.url}).json()["wishes"]
    assert "ai-train=no" in client.get("/page", params={"url": page.url}).text
    silent = client.get("/api/v1/page", params={"url": PAGES[-1].url}).json()
    assert silent["wishes"] is None
    assert "wishes</th>" not in client.get("/page", params={"url": PAGES[-1].url}).text


def test_a_page_is_explained_with_the_evidence(work: Workspace) -> None:
    page = next(each for each in PAGES if each.forbidden == FIND)
    facts = {fact.topic: fact.text for fact in explain(work, page.url).facts}
    assert facts["wishes"] == "search=no, by robots.txt Content-Signal: search=no"
    assert "its publisher does not want it in search" in facts["index"]


def test_wishes_that_the_owner_does_not_obey_are_still_known(work: Workspace) -> None:
    ignoring = structs.replace(work.config, publishers=PublishersConfig(obey=("search",)))
    page = next(each for each in PAGES if each.forbidden == INPUT)
    before, work.config = work.config, ignoring
    try:
        assert CrawlDocuments(work).read(page.url).title == f"About {page.word}"
        facts = {fact.topic: fact.text for fact in explain(work, page.url).facts}
    finally:
        work.config = before
    assert facts["wishes"].endswith("; not obeyed, by publishers.obey: ai-input")


def test_a_new_wish_takes_effect_at_doors_at_once_and_in_the_index_at_the_next_harvest(
    new_work: Callable[[], Workspace],
) -> None:
    work = new_work()
    url, body = f"https://{SITE}/", PAGES[-1].fetched.body
    other = Fetched(f"https://{SITE}/other", b"<title>Other</title><p>Another text.")
    store_and_parse(work, [Fetched(url, body), other])
    run_index(work)

    def found() -> set[str]:
        return {hit.url for hit in Searcher.open(work).search(f"site:{SITE}").hits}

    def is_document() -> bool:
        return not isinstance(Documents(work, PageInfo(work, Lookup(work))).find(url), Refusal)

    assert (found(), is_document()) == ({url, other.url}, True)
    said = "robots.txt: Content-Signal: search=no, ai-input=no"
    store_and_parse(work, [Fetched(url, body, updated=said)], round_=2)
    assert (found(), is_document()) == ({url, other.url}, False)
    run_index(work)
    assert found() == {other.url}
    work.config = structs.replace(work.config, publishers=PublishersConfig(obey=("ai-train",)))
    assert is_document()
    run_index(work)
    assert found() == {url, other.url}
    work.config = structs.replace(work.config, publishers=PublishersConfig())
    store_and_parse(work, [Fetched(url, body)], round_=3)
    run_index(work)
    assert (found(), is_document()) == ({url, other.url}, True)
