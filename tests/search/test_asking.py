"""Queries about pages, profiles and freshness, over an index and what the crawl knows of links."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer.search import explaining
from gossamer.search.messages import Question
from gossamer.search.node import Node
from gossamer.search.profiles import PROFILES
from gossamer.search.searcher import Searcher
from tests.support.broker_nodes import asked
from tests.support.search_server import dom, one, serving
from tests.support.small_index import crawl, put_index
from tests.support.stored_web import put_inlinks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from gossamer.config import Profile
    from gossamer.state.workspace import Workspace

DAY_MS = 86_400_000
NOW_MS = time.time_ns() // 1_000_000
ORCHARD = "How apples are grafted onto rootstocks in an orchard."

SHELF: list[dict[str, Any]] = [
    {"url": "http://a.example/graft", "title": "Grafting", "text": ORCHARD},
    {"url": "http://b.example/graft", "title": "Grafts", "text": f"{ORCHARD} In winter."},
    {"url": "http://c.example/pears", "title": "Pears", "text": "Rootstocks in the orchard."},
    {"url": "http://d.example/stocks", "title": "Money", "text": "News. An exchange and shares."},
    {
        "url": "http://e.example/old",
        "title": "Coins",
        "text": "News. An exchange of shares.",
        "published_ms": NOW_MS - 900 * DAY_MS,
    },
    {
        "url": "http://f.example/new",
        "title": "More",
        "text": "News of the exchange, of shares, of bonds, of funds and of much besides.",
        "published_ms": NOW_MS - DAY_MS,
    },
    {
        "url": "http://h.example/hub",
        "title": "Where to go",
        "text": f"Shares of the exchange. {' '.join(f'Item{n} of the list.' for n in range(9))}",
        "rank": 0.2,
    },
    *({"url": f"http://g.example/{number}", "text": "Nothing."} for number in range(20)),
]
for page in SHELF:
    page["language"] = "en"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, SHELF, shards=1)
    linking = [("http://b.example/graft", "this"), ("http://c.example/pears", "that")]
    put_inlinks(work, "http://a.example/graft", [*linking, ("http://gone.example/", "it")], 3)
    return work


@pytest.fixture(scope="module")
def searcher(work: Workspace) -> Searcher:
    return Searcher.open(work)


@pytest.fixture(scope="module")
def client(work: Workspace) -> Iterator[httpx.Client]:
    with serving(work) as opened:
        yield opened


def found(searcher: Searcher, query: str, profile: Profile | None = None) -> str:
    """The hosts of the answers, a letter each, in their order."""
    hits = searcher.search(query, profile=profile).hits
    return "".join(hit.host[0] for hit in hits if not hit.partial)


@pytest.mark.parametrize(
    ("query", "hosts"),
    [
        ("link:http://a.example/graft", "bc"),
        ("link:a.example/graft", "bc"),
        ("link:HTTP://A.example:80/x/../graft#there", "bc"),
        ("link:a.example/graft pears", "c"),
        ("rootstocks -link:a.example/graft", "a"),
        ("shares OR link:a.example/graft", "bcdefh"),
        ("link:a.example/unknown", ""),
        ("link:mailto:me", ""),
    ],
)
def test_pages_that_link_to_a_page(searcher: Searcher, query: str, hosts: str) -> None:
    assert "".join(sorted(found(searcher, query))) == hosts


@pytest.mark.parametrize(
    ("query", "hosts"),
    [
        ("related:http://a.example/graft", "bc"),
        ("related:a.example/graft", "bc"),
        ("related:a.example/graft pears", "c"),
        ("related:a.example/graft site:b.example", "b"),
        ("related:a.example/unknown", ""),
    ],
)
def test_pages_like_a_page_without_itself_the_likest_first(
    searcher: Searcher, query: str, hosts: str
) -> None:
    assert found(searcher, query) == hosts


def test_why_a_page_is_like_another_is_shown(searcher: Searcher) -> None:
    (first, *_) = searcher.search("related:a.example/graft").hits
    assert "<b>rootstocks</b>" in first.snippet


def test_what_is_new_comes_first_where_it_is_asked_for(searcher: Searcher) -> None:
    assert found(searcher, "shares exchange -hub")[-1] == "f"
    assert found(searcher, "news shares exchange")[0] == "f"


def test_profiles_order_the_same_pages_by_other_formulas(searcher: Searcher) -> None:
    """H alone has a rank; it is long, and has each word once."""
    orders = {profile: found(searcher, "shares exchange", profile) for profile in PROFILES}
    assert {"".join(sorted(order)) for order in orders.values()} == {"defh"}
    assert orders["fields"][0] in "de"
    assert orders["content-pagerank"][0] == "h"
    assert orders["cosine"][-1] == "h"
    for profile in ("content-pagerank", "cosine"):
        scores = [hit.score for hit in searcher.search("shares exchange", profile=profile).hits]
        assert scores == sorted(scores, reverse=True)
        assert 0 < scores[-1] < scores[0] <= 1
    assert found(searcher, "shares exchange") == orders["fields"]


@pytest.mark.parametrize("query", ["shares exchange", "news of shares"])
def test_an_explanation_adds_up_to_the_score(
    searcher: Searcher, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explaining, "MAX_S", 60)  # on a busy machine, the last hits have none
    hits = searcher.search(query, explain=True).hits
    assert hits
    for hit in hits:
        told = hit.explanation or {}
        added = sum(
            told[name]["weight"] * told[name]["value"] for name in ("popularity", "freshness")
        )
        assert hit.score == pytest.approx(told["words"]["value"] + added, rel=1e-5)
        assert told["profile"] == "fields"
        assert (told["freshness"]["value"] > 0.9) == ("news" in query and hit.host[0] == "f")


def test_only_what_asks_for_an_explanation_gets_one(searcher: Searcher) -> None:
    for found in (searcher.search("shares"), searcher.answer(Question("shares"))):
        assert found.hits
        assert all(hit.explanation is None for hit in found.hits)


def test_what_was_meant_is_looked_for_in_words_alone(searcher: Searcher) -> None:
    """Names of filters and URLs are no words that somebody misspelt."""
    assert searcher.search("grafds").corrected == "grafts"
    assert searcher.search("link:grafds.example/grafds").suggestion is None
    assert searcher.search("related:grafds.example").suggestion is None


def test_the_page_keeps_how_it_was_asked(client: httpx.Client) -> None:
    page = dom(client, "/search", q="nothing", profile="cosine", sort="date", page=1)
    assert "profile=cosine" in (one(page, "[rel=next]").attributes["href"] or "")
    assert "sort=date" in (one(page, "[rel=next]").attributes["href"] or "")
    assert dom(client, "/search", q="nothing", profile="best").css(".hits li")


def test_answers_lead_to_pages_like_them(client: httpx.Client) -> None:
    page = dom(client, "/search", q="grafting")
    similar, *_ = [link for link in page.css(".meta a") if link.text() == "More like this"]
    likest = LexborHTMLParser(client.get(similar.attributes["href"] or "").text)
    assert "b.example" in (one(likest, ".hits h2 a").attributes["href"] or "")


def test_the_api_takes_a_profile(client: httpx.Client) -> None:
    asked = {"q": "shares exchange", "profile": "cosine"}
    scores = [hit["score"] for hit in client.get("/api/v1/search", params=asked).json()["hits"]]
    assert 0 < max(scores) < 1


@pytest.fixture(scope="module")
def sharded(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, SHELF, shards=4)
    return work


@pytest.mark.parametrize("query", ["related:a.example/graft", "news of the shares", "graft"])
def test_many_nodes_find_and_weigh_words_as_one(sharded: Workspace, query: str) -> None:
    """Cosines are exact, as they depend on the frequencies of words alone: those of all nodes."""
    weights = sharded.config.ranking
    folders = [Path(path).parent for path in sharded.paths("index") if path.endswith("meta.json")]
    nodes = [Node([folder], weights) for folder in folders]
    assert len(nodes) == 4
    many = asked(sharded, nodes, Question(query, profile="cosine"))
    one = Searcher.open(sharded).search(query, profile="cosine")
    assert [hit.url for hit in many.hits] == [hit.url for hit in one.hits]
    assert [hit.score for hit in many.hits] == pytest.approx([hit.score for hit in one.hits])
    assert len(one.hits) > 1
