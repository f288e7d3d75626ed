"""Lines outside the main text: boilerplate if the site repeats them, else searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from pyspark.sql import functions as F

from gossamer.index.boilerplate import split_texts
from gossamer.search.searcher import Searcher
from gossamer.web.boilerplate_lines import line_hash
from gossamer.web.sketches import hash_and_sketch
from tests.support.harvest_steps import run_index
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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


def found(searcher: Searcher, query: str) -> list[str]:
    """The pages that have all words of a query as their text."""
    results = searcher.search(query, limit=100)
    return sorted(hit.url for hit in results.hits if not hit.partial)


def put_texts(
    work: Workspace, texts: dict[str, str], round_: int = 1, *, is_doubtful: bool = False
) -> None:
    """Pages with these main texts."""
    put(work, "pages", [{"url": url, "status": "fetched"} for url in texts], round_)
    plain = {"outcome": "parsed", "noindex": False, "fetched_ms": 0, "round": round_}
    documents = [
        {
            **plain,
            "url": url,
            "host": url.split("/")[2],
            "digest": url,
            "main_text": text,
            "text_hash": hash_and_sketch(text, None)[0],
            "is_doubtful": is_doubtful,
        }
        for url, text in texts.items()
    ]
    put(work, "documents", documents, round_)


def woods(name: str, tree: str, kind: str = "tree") -> dict[str, str]:
    """Main texts of twelve pages of a host, ten of which have a line in common."""
    return {
        f"http://{name}.example/{n}": (
            f"an {tree} {kind}\nplum {n}, {tree}\ncalled {name}{n}" if n < 10 else f"pine {name}{n}"
        )
        for n in range(12)
    }


SIZES = {
    (1, 1): False,
    (2, 1): True,
    (2, 2): False,
    (4, 2): True,
    (4, 3): False,
    (9, 3): True,
    (9, 4): False,
}
"""Of hosts with so many pages, so many of which have a line: whether it is searched."""
MAX_LINES = 3


class Site(NamedTuple):
    """A crawl with an index, before and after some sites have changed."""

    counts: dict[str, int]
    searcher: Searcher
    repeated: dict[str, list[int]]
    """The hashes of the lines that each host repeats."""


def harvested(work: Workspace) -> Site:
    counts = run_index(work).counts
    rows = by_url(work.read("outer_boilerplate"), "host")
    return Site(counts, Searcher.open(work), {host: row["lines"] for host, row in rows.items()})


@pytest.fixture(scope="module")
def sites(new_work: Callable[[], Workspace]) -> tuple[Site, Site]:
    work = new_work()
    put_pages(work, {**site(range(8)), **site(range(8), "Heim\nnummer{}", name="b")})
    for pages, having in SIZES:
        name = f"of{pages}-{having}"
        put_pages(
            work,
            {**site(range(pages), "Home", name), **site(range(having), "Home\nshared", name)},
        )
    put_pages(work, site(range(8), "Home\nUp\nDown\nLeft\nRight\nline{}", "menu"))
    put_pages(work, site(range(4), "Home\ncount{}", "redesigned"))
    put_texts(work, woods("oaks", "oak"))
    put_texts(work, woods("doubts", "ivy", "shrub"), is_doubtful=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gossamer.index.boilerplate.MAX_LINES", MAX_LINES)
        before = harvested(work)
        put_pages(work, site(range(4), "Start\ncount{}", "redesigned"), round_=2)
        put_texts(work, woods("oaks", "elm"), 2)
        return before, harvested(work)


@pytest.fixture(scope="module")
def first(sites: tuple[Site, Site]) -> Site:
    return sites[0]


@pytest.fixture(scope="module")
def changed(sites: tuple[Site, Site]) -> Site:
    return sites[1]


def test_what_is_left_out_is_boilerplate_only_if_it_repeats_across_the_site(first: Site) -> None:
    pages = 2 * 8 + sum(pages for pages, _ in SIZES) + 8 + 4 + 2 * 12
    assert first.counts == {"indexed": pages, "added": pages}
    for n in range(8):
        assert found(first.searcher, f"number{n}") == [f"http://a.example/{n}"]
        assert found(first.searcher, f"nummer{n} prose") == [f"http://b.example/{n}"]
    assert found(first.searcher, "Home site:a.example") == []
    assert found(first.searcher, "Heim prose") == []


@pytest.mark.parametrize(("pages", "having"), SIZES)
def test_a_line_repeats_on_more_than_three_pages_or_half_of_a_small_site(
    first: Site, pages: int, having: int
) -> None:
    searched = SIZES[pages, having]
    its = found(first.searcher, f"shared site:of{pages}-{having}.example")
    assert len(its) == (having if searched else 0)


@pytest.mark.slow
def test_a_growing_site_is_told_apart_anew_when_it_has_doubled(work: Workspace) -> None:
    put_pages(work, site([0]))
    assert run_index(work).counts == {"indexed": 1, "added": 1}
    assert found(Searcher.open(work), "number0") == [], "on one page nothing can repeat"

    put_pages(work, site([1]), round_=2)
    assert run_index(work).counts == {"indexed": 2, "added": 1, "replaced": 1}
    assert found(Searcher.open(work), "number0") == ["http://a.example/0"]
    assert found(Searcher.open(work), "Home") == []

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
    assert found(Searcher.open(work), "footer") == []


def test_a_redesigned_site_is_told_apart_anew(changed: Site) -> None:
    assert changed.counts["replaced"] == 4 + 12  # and the woods
    assert found(changed.searcher, "Start") == []
    assert found(changed.searcher, "count3") == ["http://redesigned.example/3"]


def snippet(searcher: Searcher, query: str) -> str:
    """That of the first result of a host."""
    return " ".join(searcher.search(f"{query} site:oaks.example").hits[0].snippet.split())


def test_lines_of_main_texts_that_repeat_are_searched_but_not_shown(
    first: Site, changed: Site
) -> None:
    assert len(found(first.searcher, "oak tree")) == 10
    assert snippet(first.searcher, "oak tree oaks3") == "plum 3, <b>oak</b> called <b>oaks3</b>"
    assert snippet(first.searcher, "tree oaks3") == "plum 3, oak called <b>oaks3</b>"
    assert snippet(first.searcher, "tree") == "an oak <b>tree</b>"
    assert snippet(changed.searcher, "tree") == "an elm <b>tree</b>"
    assert found(changed.searcher, "oak") == []


def test_where_the_extractor_was_in_doubt_they_are_not_main_text(first: Site) -> None:
    assert found(first.searcher, "shrub") == []
    hits = first.searcher.search("shrub", limit=100).hits
    assert len(hits) == 10, "they are searched as boilerplate"
    assert len(found(first.searcher, "plum site:doubts.example")) == 10


def test_the_repeated_lines_of_a_host_are_bounded(first: Site) -> None:
    assert len(first.repeated["menu.example"]) == MAX_LINES
    assert (
        len(found(first.searcher, "(home OR up OR down OR left OR right) site:menu.example")) == 8
    )


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
