"""Which page of those with equal texts survives: dedup/equal_texts.py, changed_documents.py."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from gossamer import dedup
from gossamer.config import Config
from gossamer.dedup import equal_texts
from gossamer.index.indexed_rows import collect_anchors
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from tests.support.planted_duplicates import standing
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gossamer.engine.engine import Engine

DDL = (
    "url string, rank int, text string, canonical string, by_body boolean, found_ms long, "
    "is_mirrored boolean, first_ms long, domain string, voters int, host string"
)


class Page(NamedTuple):
    url: str
    rank: int
    text: str = "text"
    canonical: str | None = None
    left_out: str | None = None


CASES = {
    "the highest rank": ("b", [Page("a", 1), Page("b", 2), Page("c", 1)]),
    "of equal ranks the shortest URL": ("b", [Page("aa", 1), Page("b", 1), Page("c", 1)]),
    "a page without an equal one": ("a", [Page("a", 1, canonical="nowhere")]),
    "a canonical page": ("b", [Page("a", 9, canonical="b"), Page("b", 1)]),
    "with the rank of those that yield to it": (
        "b",
        [Page("a", 9, canonical="b"), Page("b", 1), Page("c", 5)],
    ),
    "not a copy that another copy names": (
        "c",
        [Page("a", 2, canonical="b"), Page("b", 1), Page("c", 5)],
    ),
    "not one that was not crawled": ("a", [Page("a", 9, canonical="b"), Page("c", 5)]),
    "not one of another text": (
        "a",
        [Page("a", 9, canonical="b"), Page("b", 1, text="other"), Page("c", 5)],
    ),
    "not one that cannot be indexed": (
        "a",
        [Page("a", 9, canonical="b"), Page("b", 1, left_out="dropped_noindex"), Page("c", 5)],
    ),
    "of two that name each other the better one": (
        "a",
        [Page("a", 9, canonical="b"), Page("b", 1, canonical="a")],
    ),
    "the end of a chain": (
        "c",
        [Page("a", 1, canonical="b"), Page("b", 9, canonical="c"), Page("c", 1)],
    ),
}


def survivors(work: Workspace, pages: Iterable[Page]) -> dict[str, str | None]:
    pages = list(pages)
    rows = [
        (each.url, float(each.rank), each.text, each.canonical, False, 0, False, 0, "d", 0, "d")
        for each in pages
        if each.left_out is None
    ]
    dropped = by_url(equal_texts.equal_duplicates(work.engine.spark.createDataFrame(rows, DDL)))
    fit = {url for url, *_ in rows}
    return {
        each.url: dropped[each.url]["survivor"]
        if each.url in dropped
        else each.url
        if each.url in fit
        else None
        for each in pages
    }


def by_the_rule(pages: list[Page]) -> dict[str, str | None]:
    """The same, from the words of the module's docstring."""
    fit = {page.url: page for page in pages if page.left_out is None}
    lent: dict[str, float] = {}
    yields = set()
    for page in fit.values():
        named = fit.get(page.canonical or "")
        if named and named.text == page.text and named.canonical is None:
            yields.add(page.url)
            lent[named.url] = max(page.rank, lent.get(named.url, 0))
    order = sorted(
        fit.values(),
        key=lambda page: (
            page.url in yields,
            -max(page.rank, lent.get(page.url, 0)),
            len(page.url),
            page.url,
        ),
    )
    best = {page.text: page.url for page in reversed(order)}
    return {page.url: best[page.text] if page.url in fit else None for page in pages}


def test_the_survivor_of_equal_texts(work: Workspace) -> None:
    """All cases in one query: each has URLs and a text of its own."""
    pages = [
        page._replace(
            url=f"{number}/{page.url}",
            text=f"{number}/{page.text}",
            canonical=page.canonical and f"{number}/{page.canonical}",
        )
        for number, (_, case) in enumerate(CASES.values())
        for page in case
    ]
    found = survivors(work, pages)
    assert found == by_the_rule(pages)
    for number, (name, (expected, case)) in enumerate(CASES.items()):
        assert found[f"{number}/{case[0].url}"] == f"{number}/{expected}", name


@pytest.mark.parametrize("seed", range(2))
def test_random_pages_survive_by_the_rule(work: Workspace, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  # reproducible
    urls = [f"{'x' * draw.randint(0, 2)}{number}" for number in range(400)]
    pages = [
        Page(
            url,
            draw.randint(1, 4),
            f"text {draw.randint(0, 60)}",
            draw.choice([None, draw.choice(urls)]) if draw.random() < 0.7 else None,
            "dropped_status" if draw.random() < 0.1 else None,
        )
        for url in urls
    ]
    pages = [
        page._replace(canonical=None) if page.canonical == page.url else page for page in pages
    ]
    for number in range(0, 400, 10):  # most random canonical links lead to other texts
        target = draw.choice([page for page in pages if page.text == pages[number].text])
        if target.url != pages[number].url:
            pages[number] = pages[number]._replace(canonical=target.url)
    assert survivors(work, pages) == by_the_rule(pages)


def test_documents_become_dispositions(work: Workspace) -> None:
    def document(name: str, round_: int = 1, **more: Any) -> dict[str, Any]:
        plain = {"outcome": "parsed", "noindex": False, "digest": name, "round": round_}
        return plain | {"url": f"http://a.example/{name}"} | more

    documents = {
        "best": document("best", text_hash=1),
        "copy": document("copy", text_hash=1),
        "self": document("self", text_hash=1, canonical="http://a.example/self"),
        "same-body": document("same-body", digest="D"),
        "body": document("body", digest="D"),
        "body-with-text": document("body-with-text", digest="D", text_hash=-2),
        "nothing-known": document("nothing-known", digest=None),
        "nothing-either": document("nothing-either", digest=None),
        "changed": document("changed", text_hash=1),
    }
    put(work, "pages", [{"url": each["url"], "status": "fetched"} for each in documents.values()])
    put(work, "ranks", [{"url": documents["best"]["url"], "rank": 0.5}])
    put(work, "documents", documents.values())
    put(work, "documents", [document("changed", 2, text_hash=3)], 2)
    dedup.run(work)
    rows = standing(work)
    found = {
        name: (rows[each["url"]]["reason"], rows[each["url"]]["survivor"].rpartition("/")[2])
        for name, each in documents.items()
        if rows[each["url"]]["survivor"]
    }
    assert found == {
        "copy": ("text", "best"),
        "self": ("text", "best"),
        "same-body": ("body", "body"),
    }


def test_copies_lend_anchors(work: Workspace) -> None:
    """The page's own anchors come first, then those of its copies, then those of its versions.

    Of copies, the best of each come before the second of any.
    """
    names = {
        "a version": ["5"],
        "own": ["", "1"],
        "copy b": ["4"],
        "copy a": ["2", "", "3"],
        "other": [],
        "lone": ["6"],
    }
    inlinks = [
        {"dst": name, "sources": [{"src": "x", "anchor": anchor} for anchor in anchors]}
        for name, anchors in names.items()
    ]
    put(work, "inlinks", inlinks)
    rows = [
        ("own", "own", "indexed", None),
        ("a version", "own", "dropped_duplicate", "version"),
        ("copy a", "own", "dropped_duplicate", "text"),
        ("copy b", "own", "dropped_duplicate", "near"),
        ("other", "other", "indexed", None),
        ("lone", None, "dropped_status", None),
    ]
    ddl = "url string, survivor string, disposition string, reason string"
    dispositions = work.engine.spark.createDataFrame(rows, ddl)
    pages = work.engine.spark.createDataFrame([("own",), ("other",), ("none",)], "url string")
    found = by_url(collect_anchors(work, pages, dispositions))
    assert {url: row["anchors"] for url, row in found.items()} == {
        "own": ["1", "2", "4", "3", "5"],
        "other": [],
    }


@pytest.mark.spark
def test_a_cluster_chooses_the_same_survivors(spark_engine: Engine, tmp_path: Path) -> None:
    for number, test in enumerate((test_the_survivor_of_equal_texts, test_copies_lend_anchors)):
        store = Store.create(LocalBackend(tmp_path / str(number)))
        test(Workspace(store, Config(), _engine=spark_engine))
