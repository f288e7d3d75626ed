"""After a change, `index` looks at the pages that it may concern, and at no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from gossamer import index
from gossamer.index import touched_pages
from gossamer.index.format import selection
from gossamer.search.searcher import Searcher
from gossamer.tables import INDEXED
from gossamer.web.boilerplate_lines import line_hash
from tests.support.earlier_states import returning
from tests.support.harvest_steps import run_index
from tests.support.planted_duplicates import document, prose
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.state.workspace import Workspace

HOSTS = ("a.example", "b.example")
URLS = [f"http://{host}/{number}" for host in HOSTS for number in range(6)]
COPY, ORIGINAL = URLS[5], URLS[2]
NEVER = "http://c.example/"
TITLE = "Titled"


def stored(url: str, round_: int = 1, **more: Any) -> dict[str, Any]:
    seed = URLS.index(ORIGINAL if url == COPY else url)
    row = document(url, prose(seed, 30), TITLE, round=round_, host=url.split("/")[2], language="en")
    return row | more


def link(url: str, anchor: str) -> dict[str, Any]:
    return {"dst": url, "count": 1, "sources": [{"src": "http://d.example/", "anchor": anchor}]}


@pytest.fixture(scope="module")
def returned(new_work: Callable[[], Workspace]) -> Callable[[], Workspace]:
    work = new_work()
    work.config = structs.replace(
        work.config, update=structs.replace(work.config.update, merge_share=1)
    )
    put(work, "pages", [{"url": url, "status": "fetched"} for url in URLS])
    put(work, "documents", [stored(url) for url in URLS])
    put(work, "inlinks", [link(url, "words") for url in (*URLS, NEVER)])
    rank(work, {})
    run_index(work)
    return returning(work)


@pytest.fixture
def harvested(returned: Callable[[], Workspace]) -> Workspace:
    """A crawl whose index is up to date, with the copy of a page."""
    return returned()


def rank(work: Workspace, others: dict[str, float]) -> None:
    ranks = dict.fromkeys(URLS, 1 / len(URLS)) | {ORIGINAL: 1.1 / len(URLS)} | others
    with work.step("test", work.round) as draft:
        draft.replace["ranks"] = ()
    put(work, "ranks", [{"url": url, "rank": rank} for url, rank in ranks.items()])


def looked_at(work: Workspace) -> set[str] | None:
    """The pages that are looked at, before the index is brought up to date; None: all."""
    standing, pages = work.scratch(selection.indexed_pages(work))
    mean = standing.agg({"rank": "sum"}).collect()[0][0] / pages
    old = work.read(INDEXED.name)
    new = touched_pages.unread_inputs(work, anew=False)
    found = touched_pages.touched_pages(work, new, old, standing, mean, None)
    return None if found is None else {row["url"] for row in found.urls.collect()}


def test_nothing_is_looked_at_if_nothing_changed(harvested: Workspace) -> None:
    assert looked_at(harvested) == set()
    assert run_index(harvested).counts == {"indexed": 11, "dropped_duplicate": 1}


def test_new_links_concern_a_page_and_the_one_that_stands_for_it(harvested: Workspace) -> None:
    put(harvested, "inlinks", [link(URLS[0], "other"), link(COPY, "new"), link(NEVER, "x")], 2)
    assert looked_at(harvested) == {URLS[0], COPY, ORIGINAL}
    assert run_index(harvested).counts["replaced"] == 2
    (layer,) = harvested.store.manifest.layers("index")
    assert layer.rows == 11


def test_ranks_concern_a_page_if_they_move_much(harvested: Workspace) -> None:
    rank(harvested, {URLS[1]: 1.02 / len(URLS), URLS[8]: 5 / len(URLS)})
    assert looked_at(harvested) == {URLS[8]}
    assert run_index(harvested).counts["replaced"] == 1
    assert Searcher.open(harvested).search(TITLE).hits[0].url == URLS[8]


def test_copies_concern_the_page_that_stands_for_them(harvested: Workspace) -> None:
    put(harvested, "pages", [{"url": COPY, "status": "gone"}])
    assert run_index(harvested).counts["replaced"] == 1
    hits = Searcher.open(harvested).search(TITLE, limit=100).hits
    assert {hit.copies for hit in hits} == {0}


def test_lines_that_a_host_repeats_concern_its_pages(harvested: Workspace) -> None:
    """Also those that nothing else has touched."""
    line = line_hash(stored(URLS[7])["main_text"])
    put(harvested, "boilerplate", [{"host": "z.example", "lines": [line], "source": 1}])
    index.run(harvested)
    put(harvested, "boilerplate", [{"host": "b.example", "lines": [line], "source": 1}], 2)
    assert looked_at(harvested) == set()
    assert index.run(harvested).counts["replaced"] == 6
    put(harvested, "boilerplate", [{"host": "b.example", "lines": None, "source": 1}], 3)
    assert index.run(harvested).counts["replaced"] == 6


@pytest.mark.slow
def test_the_language_of_a_host_concerns_its_pages_without_one(harvested: Workspace) -> None:
    put(harvested, "documents", [stored(URLS[6], 2, language=None)], 2)
    run_index(harvested)
    for number in (7, 8, 9, 10):
        put(harvested, "documents", [stored(URLS[number], 3, language="de")], 3)
    assert run_index(harvested).counts["replaced"] == 5
    held = {row["url"]: row["index_language"] for row in harvested.read(INDEXED.name).collect()}
    assert held[URLS[6]] == "de"


@pytest.mark.parametrize("what", ["settings", "documents", "no links", "record"])
def test_everything_is_looked_at_if_changes_do_not_tell(harvested: Workspace, what: str) -> None:
    work = harvested
    with work.step("test", 2) as draft:
        if what == "documents":
            rows = work.read("documents")
            draft.replace["documents"] = (work.write(rows, "documents", 1),)
        if what == "no links":
            draft.replace["inlinks"] = ()
        if what == "record":
            draft.replace["gathered"] = ()
    if what == "settings":
        work.config = structs.replace(
            work.config, index=structs.replace(work.config.index, anchors=1)
        )
    assert looked_at(work) is None
