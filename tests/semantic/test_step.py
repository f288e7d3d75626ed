"""The step `embed`: after any changes, its vectors are those of a run from scratch."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from gossamer.config import SemanticConfig
from gossamer.index.format.page_keys import page_key
from gossamer.search.searcher import Searcher
from gossamer.semantic import step
from gossamer.semantic.models import load_model
from gossamer.semantic.segments import open_segment
from gossamer.semantic.vector_parts import group_by_part
from gossamer.storage import local_copies
from gossamer.web.urls import host_of
from tests.support.concept_encoder import ConceptEncoder, install, run_tasks_here
from tests.support.harvest_steps import run_index
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

pytestmark = pytest.mark.embedded
URLS = [f"http://{host}.example/{n}" for host in ("a", "b") for n in range(6)]
TEXTS = [
    f"{animal} {place} number{n}"
    for n, (animal, place) in enumerate(
        zip(["katze", "hund"] * 6, ["baum", "haus", "brücke"] * 4, strict=True)
    )
]


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> Iterator[ConceptEncoder]:
    encoder = ConceptEncoder()
    install(monkeypatch, encoder)
    yield encoder
    load_model.cache_clear()


@pytest.fixture
def work(
    new_work: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch, encoder: ConceptEncoder
) -> Workspace:
    assert encoder
    made = new_work()
    made.config = replace(made.config, semantic=SemanticConfig(model="concepts", passages=3))
    run_tasks_here(monkeypatch, made.engine)
    return made


def document(url: str, text: str, **more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "outcome": "parsed",
        "noindex": False,
        "digest": url,
        "fetched_ms": 0,
        "headings": [],
        "text_hash": hash(url) % 2**60,
        "language": "de",
    }
    plain |= {"url": url, "host": host_of(url), "title": f"title of {url}", "main_text": text}
    return plain | more


def put_pages(work: Workspace, texts: dict[str, str], round_: int = 1, **more: Any) -> None:
    put(work, "pages", [{"url": url, "status": "fetched"} for url in texts], round_)
    rows = [document(url, text, round=round_, **more) for url, text in texts.items()]
    put(work, "documents", rows, round_)


def embed(work: Workspace) -> StepReport:
    run_index(work)
    return step.run(work)


def held(work: Workspace) -> dict[tuple[int, str], Counter[tuple[int, bytes]]]:
    """By part, the pages and vectors that are in force."""
    digest = load_model(work.config.semantic).digest
    found = {}
    for key, files in group_by_part(work.store.files("vectors"), digest).items():
        pairs: dict[int, Counter[tuple[int, bytes]]] = {}
        for file in files:
            path = f"{work.root}/{file.path}"
            segment = open_segment(local_copies.local_copy(path, file.xxh3), path)
            for page in segment.covered.tolist():
                pairs.pop(page, None)
            for place in range(segment.texts):
                for page in segment.owners_of(place).tolist():
                    vector = segment.vectors.numbers[place].tobytes()
                    pairs.setdefault(page, Counter())[page, vector] += 1
        if merged := sum(pairs.values(), Counter[tuple[int, bytes]]()):
            found[key] = merged
    return found


def from_scratch(work: Workspace) -> dict[tuple[int, str], Counter[tuple[int, bytes]]]:
    with work.step("test", work.round) as draft:
        draft.replace |= {"vectors": (), "embedded": ()}
    step.run(work)
    return held(work)


def test_pages_that_are_indexed_have_vectors(work: Workspace, encoder: ConceptEncoder) -> None:
    put_pages(work, dict(zip(URLS, TEXTS, strict=True)))
    report = embed(work)
    assert report.counts["changed"] == len(URLS)
    assert report.counts["passages"] == 2 * len(URLS)
    pages = {page for part in held(work).values() for page, _ in part}
    assert pages == {page_key(url, host_of(url)) for url in URLS}
    assert len(encoder.texts) == len({*encoder.texts})


def test_what_has_not_changed_is_not_written_again(work: Workspace) -> None:
    put_pages(work, dict(zip(URLS, TEXTS, strict=True)))
    embed(work)
    before = work.store.listed("vectors")
    report = step.run(work)
    assert report.counts == {"changed": 0}
    assert work.store.listed("vectors") == before


def test_only_new_texts_are_encoded(work: Workspace, encoder: ConceptEncoder) -> None:
    put_pages(work, dict(zip(URLS, TEXTS, strict=True)))
    embed(work)
    encoder.texts.clear()
    # fetched again: one page as it was, one with a new text, one with a text of another page
    changed = {URLS[0]: TEXTS[0], URLS[1]: "new words about a bridge", URLS[2]: TEXTS[7]}
    put_pages(work, changed, 2)
    report = embed(work)
    assert report.counts["changed"] == 3
    assert encoder.texts == ["new words about a bridge"]
    assert held(work) == from_scratch(work)


def test_pages_that_leave_or_change_their_language(work: Workspace) -> None:
    put_pages(work, dict(zip(URLS, TEXTS, strict=True)))
    embed(work)
    put(work, "pages", [{"url": URLS[3], "status": "gone"}], 2)
    put_pages(work, {URLS[4]: TEXTS[4]}, 3, language="fr")
    embed(work)
    kept = held(work)
    pages = {page for part in kept.values() for page, _ in part}
    assert page_key(URLS[3], host_of(URLS[3])) not in pages
    assert {language for _, language in kept} == {"de", "fr"}
    assert kept == from_scratch(work)


@pytest.mark.slow
def test_many_rounds_leave_few_segments(work: Workspace) -> None:
    texts = dict(zip(URLS, TEXTS, strict=True))
    for round_ in range(1, 6):
        texts |= {f"http://c.example/{round_}": f"page {round_}", URLS[round_]: f"dog {round_}"}
        put_pages(work, texts if round_ == 1 else dict([*texts.items()][-2:]), round_)
        embed(work)
    assert len(work.store.listed("vectors")) <= 2 * 3
    assert held(work) == from_scratch(work)


def test_another_model_makes_all_vectors_again(
    work: Workspace, encoder: ConceptEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_pages(work, dict(zip(URLS, TEXTS, strict=True)))
    embed(work)
    before = held(work)
    encoder.texts.clear()
    install(monkeypatch, other := ConceptEncoder("other"))
    assert step.run(work).counts["changed"] == len(URLS)
    assert len(other.texts) == 2 * len(URLS)
    assert held(work) == before  # the same vectors, under another name


def test_damaged_vectors_are_made_again(work: Workspace) -> None:
    put_pages(work, dict(zip(URLS, TEXTS, strict=True)))
    embed(work)
    before = held(work)
    work.store.backend.delete([work.store.listed("vectors")[0].path])
    step.run(work)
    assert held(work) == before


def test_a_search_finds_pages_in_another_language(work: Workspace) -> None:
    put_pages(work, dict(zip(URLS, TEXTS, strict=True)))
    put_pages(work, {"http://en.example/": "the cat sits on a bridge"}, 2, language="en")
    embed(work)
    found = Searcher.open(work).search("cat bridge").hits
    assert found[0].url == "http://en.example/"
    assert {hit.url for hit in found[1:3]} == {URLS[2], URLS[8]}
    assert all(hit.near and hit.partial and hit.language == "de" for hit in found[1:])
    restricted = Searcher.open(work).search("cat tree lang:de").hits
    assert {hit.url for hit in restricted[:2]} == {URLS[0], URLS[6]}
    assert {hit.language for hit in restricted} == {"de"}
    assert not Searcher.open(work).search("cat tree lang:fr").hits


def test_without_a_model_vectors_are_left_alone(work: Workspace) -> None:
    put_pages(work, dict(zip(URLS, TEXTS, strict=True)))
    embed(work)
    work.config = replace(work.config, semantic=SemanticConfig())
    searcher = Searcher.open(work)
    assert searcher.node.meanings is None
    assert not searcher.search("cat tree").hits


def test_an_empty_index_has_no_vectors(work: Workspace) -> None:
    put_pages(work, {URLS[0]: TEXTS[0]})
    embed(work)
    put(work, "pages", [{"url": URLS[0], "status": "gone"}], 2)
    embed(work)
    assert work.store.listed("vectors") == []
    assert held(work) == {}
