"""Explanations of scores, and the bounds on what they cost."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.search import explaining
from gossamer.search.explaining import CUT, cut_tree
from gossamer.search.results import Results
from gossamer.search.searcher import Searcher
from gossamer.serve.dispatch import front
from tests.support.search_server import PATIENCE_S, refusals, serving
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.search.messages import Question
    from gossamer.state.workspace import Workspace

TREES = st.recursive(
    st.builds(lambda value: {"value": value, "description": "a leaf"}, st.integers()),
    lambda below: st.builds(
        lambda details: {"value": 0, "description": "sum of", "details": details},
        st.lists(below, max_size=6),
    ),
)


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    work = crawl(tmp_path)
    put_index(work, [{"url": f"http://a.example/{n}", "title": f"apple {n}"} for n in range(30)])
    return work


def steps(tree: dict[str, Any]) -> int:
    return 1 + sum(map(steps, tree.get("details", ())))


def is_cut(tree: dict[str, Any]) -> bool:
    return CUT in tree.get("context", ()) or any(map(is_cut, tree.get("details", ())))


@given(TREES, st.integers(1, 20))
def test_a_tree_is_cut_to_so_many_steps_and_says_so(tree: dict[str, Any], most: int) -> None:
    shown = cut_tree(tree, most)
    assert steps(shown) == min(steps(tree), most)
    assert is_cut(shown) == (steps(tree) > most)
    assert {name: shown[name] for name in ("value", "description")} == {
        name: tree[name] for name in ("value", "description")
    }


def test_a_tree_that_is_small_enough_stays_as_it_is() -> None:
    leaf = {"value": 1.0, "description": "idf", "context": ["Term=apple"]}
    tree = {"value": 2.0, "description": "sum of", "details": [leaf, leaf]}
    assert cut_tree(tree) == tree


def test_the_first_pages_of_an_answer_are_explained(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explaining, "MAX_S", 60)  # on a busy machine, the last hits have none
    hits = Searcher.open(work).search("apple", 0, 30, explain=True).hits
    assert [hit.explanation is not None for hit in hits] == [
        number < explaining.MAX_PAGES for number in range(30)
    ]


@pytest.mark.parametrize("joint", [" OR ", "."])
def test_a_long_query_is_answered_without_explanations(work: Workspace, joint: str) -> None:
    words = joint.join(["apple"] * (explaining.MAX_TERMS + 1))
    hits = Searcher.open(work).search(words, explain=True).hits
    assert len(hits) == 10
    assert not any(hit.explanation for hit in hits)


def test_explaining_ends_when_its_time_is_over(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explaining, "MAX_S", -1.0)
    found = Searcher.open(work).search("apple", explain=True)
    assert len(found.hits) == 10
    assert not any(hit.explanation for hit in found.hits)


@pytest.mark.server
def test_explanations_are_made_one_by_one_and_few_may_wait(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front, "MAX_EXPLAIN_WAITING", 0)
    go, begun = threading.Event(), threading.Semaphore(0)

    def slow(_: Searcher, question: Question, __: float) -> Results:
        if question.explain:
            begun.release()
            assert go.wait(PATIENCE_S)
        return Results(0, [], 0.0)

    monkeypatch.setattr(Searcher, "answer", slow)
    with serving(work) as client, ThreadPoolExecutor() as threads:
        first = threads.submit(client.get, "/api/v1/search?q=one&explain=1")
        assert begun.acquire(timeout=PATIENCE_S)
        assert client.get("/api/v1/search?q=two&explain=1").status_code == 503
        assert client.get("/api/v1/search?q=two").status_code == 200
        go.set()
        assert first.result().status_code == 200
        assert refusals(client, "explain") == 1
