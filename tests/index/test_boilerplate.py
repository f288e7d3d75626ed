"""Lines outside the main text: boilerplate if the site repeats them, else searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

from gossamer.index.boilerplate import split_texts
from gossamer.search.searcher import Searcher
from gossamer.web.lines import line_hash
from gossamer.web.sketches import hash_and_sketch
from tests.support.harvest_steps import run_index
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.state.workspace import Workspace


def put_pages(work: Workspace, beside: dict[str, str], round_: int = 1) -> None:
    """Pages whose lines outside the main text are given, by URL."""
    put(work, "pages", [{"url": url, "status": "fetched"} for url in beside], round_)
    put(
        work,
        "documents",
        [
            {
                "url": url,
                "host": url.split("/")[2],
                "outcome": "parsed",
                "noindex": False,
                "digest": url,
                "title": f"title of {url[-1]}",
                "headings": [f"heading {url[-1]}"],
                "main_text": f"prose {url[-1]}",
                "boilerplate": lines,
                "fetched_ms": 0,
                "round": round_,
            }
            for url, lines in beside.items()
        ],
        round_,
    )


def site(pages: Iterable[int], lines: str = "Home\nnumber{}", name: str = "a") -> dict[str, str]:
    return {f"http://{name}.example/{n}": lines.format(n) for n in pages}


def found(work: Workspace, query: str) -> list[str]:
    """The pages that have all words of a query as their text."""
    results = Searcher.open(work).search(query, limit=100)
    return sorted(hit.url for hit in results.hits if not hit.partial)


def test_what_is_left_out_is_boilerplate_only_if_it_repeats_across_the_site(
    work: Workspace,
) -> None:
    put_pages(work, {**site(range(8)), **site(range(8), "Heim\nnummer{}", name="b")})
    assert run_index(work).counts == {"indexed": 16, "added": 16}
    for n in range(8):
        assert found(work, f"number{n}") == [f"http://a.example/{n}"]
        assert found(work, f"nummer{n} prose") == [f"http://b.example/{n}"]
    assert found(work, "Home") == []
    assert found(work, "Heim prose") == []


@pytest.mark.parametrize(
    ("pages", "having", "searched"),
    [
        (1, 1, False),
        (2, 1, True),
        (2, 2, False),
        (4, 2, True),
        (4, 3, False),
        (9, 3, True),
        (9, 4, False),
    ],
)
def test_a_line_repeats_on_more_than_three_pages_or_half_of_a_small_site(
    work: Workspace, pages: int, having: int, searched: bool
) -> None:
    beside = {**site(range(pages), "Home"), **site(range(having), "Home\nshared")}
    put_pages(work, beside)
    run_index(work)
    assert len(found(work, "shared")) == (having if searched else 0)


@pytest.mark.slow
def test_a_growing_site_is_told_apart_anew_when_it_has_doubled(work: Workspace) -> None:
    put_pages(work, site([0]))
    assert run_index(work).counts == {"indexed": 1, "added": 1}
    assert found(work, "number0") == [], "on one page nothing can repeat"

    put_pages(work, site([1]), round_=2)
    assert run_index(work).counts == {"indexed": 2, "added": 1, "replaced": 1}
    assert found(work, "number0") == ["http://a.example/0"]
    assert found(work, "Home") == []

    put_pages(work, site([2], "Home\nnumber{}\nfooter"), round_=3)
    assert run_index(work).counts == {"indexed": 3, "added": 1}
    rows = by_url(work.read("outer_boilerplate"), "host")
    assert rows["a.example"] == {
        "host": "a.example",
        "pages": 2,
        "changes": 1,
        "lines": [line_hash("Home")],
    }
    assert run_index(work).counts == {"indexed": 3}

    put_pages(work, site([3, 4], "Home\nnumber{}\nfooter"), round_=4)
    assert run_index(work).counts == {"indexed": 5, "added": 2, "replaced": 3}
    assert found(work, "footer") == []


def test_a_redesigned_site_is_told_apart_anew(work: Workspace) -> None:
    put_pages(work, site(range(4)))
    run_index(work)
    put_pages(work, site(range(4), "Start\nnumber{}"), round_=2)
    assert run_index(work).counts == {"indexed": 4, "replaced": 4}
    assert found(work, "Start") == []
    assert found(work, "number3") == ["http://a.example/3"]


def put_texts(work: Workspace, texts: dict[str, str], *, is_doubtful: bool = False) -> None:
    """Pages with these main texts."""
    put(work, "pages", [{"url": url, "status": "fetched"} for url in texts])
    plain = {"host": "a.example", "outcome": "parsed", "noindex": False, "fetched_ms": 0}
    documents = [
        {
            **plain,
            "url": url,
            "digest": url,
            "main_text": text,
            "text_hash": hash_and_sketch(text, None)[0],
            "is_doubtful": is_doubtful,
        }
        for url, text in texts.items()
    ]
    put(work, "documents", documents)


COMMON = {
    f"http://a.example/{n}": f"an oak tree\nplum {n}, oak\ncalled n{n}" if n < 10 else f"pine {n}"
    for n in range(12)
}


def snippet(work: Workspace, query: str) -> str:
    """That of the first result."""
    return " ".join(Searcher.open(work).search(query).hits[0].snippet.split())


def test_lines_of_main_texts_that_repeat_are_searched_but_not_shown(work: Workspace) -> None:
    put_texts(work, COMMON)
    run_index(work)
    assert len(found(work, "oak tree")) == 10
    assert snippet(work, "oak tree n3") == "plum 3, <b>oak</b> called <b>n3</b>"
    assert snippet(work, "tree n3") == "plum 3, oak called <b>n3</b>"
    assert snippet(work, "tree") == "an oak <b>tree</b>"
    # The site gets other lines: all of its pages are written again.
    again = {url: text.replace("an oak tree", "an elm tree") for url, text in COMMON.items()}
    with work.step("test", 1) as draft:
        draft.replace["documents"] = draft.replace["pages"] = ()
    put_texts(work, again)
    assert run_index(work).counts == {"indexed": 12, "replaced": 12}
    assert snippet(work, "tree") == "an elm <b>tree</b>"


def test_where_the_extractor_was_in_doubt_they_are_not_main_text(work: Workspace) -> None:
    put_texts(work, COMMON, is_doubtful=True)
    run_index(work)
    assert found(work, "tree") == []
    assert len(Searcher.open(work).search("tree").hits) == 10, "they are searched as boilerplate"
    assert len(found(work, "plum")) == 10


def test_the_lines_of_a_page_are_told_apart() -> None:
    row: dict[str, Any] = {
        "adds": True,
        "host": "a.example",
        "outer_lines": [line_hash("Home")],
        "inner_lines": [line_hash("terms")],
        "is_doubtful": False,
        "title": "title",
        "headings": ["heading"],
        "text": "prose\nterms",
        "boilerplate": "title\nHome\nheading\nnote",
    }
    texts = "text", "inner_boilerplate", "boilerplate"
    (told,) = split_texts([row.copy()])
    assert [told[name] for name in texts] == ["prose\nnote", "terms", "Home"]
    (told,) = split_texts([row | {"is_doubtful": True}])
    assert [told[name] for name in texts] == ["prose\nnote", "", "Home\nterms"]


def test_lines_are_hashed_as_the_engine_does(work: Workspace) -> None:
    lines = ["Home", "", "日本語 – ünï", "x" * 1000]
    rows = work.engine.spark.createDataFrame([(line,) for line in lines], "line string")
    for row in rows.select("line", F.xxhash64("line").alias("hash")).collect():
        assert line_hash(row["line"]) == row["hash"]


def test_the_repeated_lines_of_a_host_are_bounded(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.index.boilerplate.MAX_LINES", 3)
    put_pages(work, site(range(8), "Home\nUp\nDown\nLeft\nRight\nnumber{}"))
    run_index(work)
    (row,) = work.read("outer_boilerplate").collect()
    assert len(row["lines"]) == 3
    assert len(found(work, "home OR up OR down OR left OR right")) == 8
