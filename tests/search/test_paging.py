"""Whoever pages on gets every page that matches, each once, in the same order however it is cut."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.search import ranking
from gossamer.search.index_search import continued_hits
from gossamer.search.matching import SHORT_LIST
from gossamer.search.messages import MAX_LIMIT, REORDERED, Question
from gossamer.search.searcher import Searcher
from tests.support.broker_nodes import asked
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gossamer.search.results import Results
    from gossamer.state.workspace import Workspace

    Asking = Callable[[Question], Results]

PAGES, FIRST = 350, 100
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
SHARES = (0.6, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.005)
DRAW = random.Random(45)  # noqa: S311  # reproducible


def page(number: int) -> dict[str, Any]:
    """Many pages have equal scores: the same few words, on few hosts."""
    words = [word for word, share in zip(WORDS, SHARES, strict=True) if DRAW.random() < share]
    return {
        "url": f"http://{number % 7}.example/{number}",
        "title": DRAW.choice(("Page", "Alpha beta", f"Number {number}")),
        "text": " ".join(["text", *words, *(["describe"] * (number % 13 == 0))]),
        "language": DRAW.choice(("en", "en", "de", None)),
        "rank": 1 / (1 + number) / 10,
        "published_ms": DRAW.choice((None, 1_700_000_000_000, 1_600_000_000_000 + number)),
    }


SHELF = [page(number) for number in range(PAGES)]
QUERIES = [
    "alpha",
    "theta",
    "alpha beta",
    "theta eta",
    "alpha beta gamma describe",
    "describe spaceship",
    "alpha AND beta",
    "beta OR theta",
    '"alpha beta" gamma',
    "alpha beta -gamma",
    "gamma delta host:3.example",
    "alpha beta lang:de",
    "intitle:alpha gamma",
    "AlphaBeta gamma",
    "site:example",
    *(" ".join(DRAW.sample(WORDS, DRAW.randint(2, 6))) for _ in range(3)),
]


@pytest.fixture(scope="module")
def tiered(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("tiered"))
    put_index(work, SHELF, shards=3, first=FIRST)
    return work


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("plain"))
    put_index(work, SHELF, shards=2)
    return work


@pytest.fixture(scope="module", params=["plain", "tiered", "nodes"])
def asking(request: pytest.FixtureRequest, plain: Workspace, tiered: Workspace) -> Asking:
    """An index as a whole, one with a first tier, and three nodes, one of them with that tier."""
    if request.param == "nodes":
        nodes = [Searcher.open(tiered, shards=shards).node for shards in ([0, 1], [2], [3])]
        return lambda question: asked(tiered, nodes, question)
    return Searcher.open({"plain": plain, "tiered": tiered}[request.param]).answer


def walk(asking: Asking, query: str, steps: Iterator[int], **given: Any) -> Iterator[Results]:
    """The pages of results until one is not full."""
    offset = 0
    for limit in steps:
        found = asking(Question(query, offset, limit, verbatim=True, **given))
        yield found
        offset += len(found.hits)
        if len(found.hits) < limit:
            return


def uneven(seed: int) -> Iterator[int]:
    draw = random.Random(seed)  # noqa: S311  # reproducible
    while True:
        yield draw.choice((1, 37, 100, 150))


def matching(query: str) -> set[str]:
    """By definition: the pages with any of the words, if nothing else is required."""
    words = query.lower().split()
    texts = {each["url"]: f"{each['title']} {each['text']}".lower().split() for each in SHELF}
    return {url for url, text in texts.items() if {*words} & {*text}}


@pytest.mark.parametrize("query", QUERIES)
def test_a_walk_reaches_every_page_once(asking: Asking, query: str) -> None:
    answers = [*walk(asking, query, uneven(1))]
    urls = [hit.url for found in answers for hit in found.hits]
    assert len({*urls}) == len(urls)
    at_once = [hit.url for hit in asking(Question(query, 0, PAGES + 1, verbatim=True)).hits]
    assert urls == at_once
    assert (answers[-1].total, answers[-1].estimated) == (len(urls), False)
    assert answers[-1].reachable == len(urls)
    for found in answers:
        if not found.estimated:
            assert found.total == len(urls)
        elif not found.sampled:
            assert found.total <= len(urls)
    if query.replace(" ", "").islower() and query.replace(" ", "").isalpha():
        assert {*urls} == matching(query)


@pytest.mark.parametrize("query", QUERIES[:8])
def test_a_walk_by_date_reaches_the_same_pages(asking: Asking, query: str) -> None:
    urls = [hit.url for found in walk(asking, query, uneven(2), by_date=True) for hit in found.hits]
    assert len({*urls}) == len(urls)
    assert {*urls} == {hit.url for hit in asking(Question(query, 0, PAGES + 1)).hits}


def test_pages_with_all_words_do_not_hide_those_that_lack_one(asking: Asking) -> None:
    """More than ten pages have all words, so few of the others come before the tenth."""
    found = asking(Question("alpha beta describe", 0, PAGES))
    assert found.whole > 10
    lacking = {hit.url for hit in found.hits if hit.partial}
    assert {hit.url for hit in found.hits} == matching("alpha beta describe")
    assert len(lacking) == found.total - found.whole > REORDERED


def test_long_lists_are_not_counted_before_their_end(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "COUNTED_MATCHES", 0)
    query = "alpha beta gamma delta"
    answers = [*walk(asking, query, uneven(3))]
    urls = [hit.url for found in answers for hit in found.hits]
    assert answers[0].estimated
    assert not answers[-1].estimated
    assert len({*urls}) == len(urls) == answers[-1].total
    assert {*urls} == matching(query)


def test_a_stem_of_another_language_adds_to_scores_but_not_to_the_list(tmp_path: Path) -> None:
    """In German, `documentation` has another stem, which German pages have for another word."""
    work = crawl(tmp_path)
    english = [f"documentation of documents {n}" for n in range(30)]
    german = ["die documentation", "ein document", "noch ein document und mehr"]
    texts = [*((text, "en") for text in english), *((text, "de") for text in german)]
    put_index(
        work,
        [
            {"url": f"http://{n}.example/", "text": text, "language": language}
            for n, (text, language) in enumerate(texts)
        ],
    )
    searcher = Searcher.open(work)
    found = searcher.search("documentation", limit=10)
    listed = searcher.search("documentation", limit=100).hits
    assert (len(listed), found.total, found.estimated) == (31, 31, False)


def test_the_state_of_the_index_is_named(plain: Workspace) -> None:
    searcher = Searcher.open(plain)
    assert searcher.search("alpha").state == searcher.search("beta", 20).state == searcher.state


class At:
    def __init__(self, number: int) -> None:
        self.segment_ord, self.doc = divmod(number, 100)


def test_a_longer_search_continues_a_shorter_one() -> None:
    """Pages with equal scores may have other places, and scores other last bits."""
    equal: list[Any] = [(2.0, At(number)) for number in range(3 * REORDERED)]
    best = equal[50 : 50 + REORDERED]
    noisy: list[Any] = [
        (2.0000001 if number % 2 else 2.0, at) for number, (_, at) in enumerate(equal)
    ]
    hits = continued_hits(best, noisy)
    assert hits[:REORDERED] == best
    places = [(at.segment_ord, at.doc) for _, at in hits]
    assert len({*places}) == len(places) == 3 * REORDERED
    assert all(score < 2.0 for score, _ in hits[REORDERED:])
    assert continued_hits(best[:5], noisy[:5]) == best[:5]


def test_limits_are_in_order() -> None:
    assert REORDERED < SHORT_LIST <= MAX_LIMIT
