"""The step boilerplate: lines of main texts that a host repeats, and what its pages say besides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gossamer import dedup
from gossamer.dedup import boilerplate
from gossamer.dedup.own_texts import BoilerplateSplitter, join_boilerplate_lines, own_sketches
from gossamer.web.lines import line_hash
from gossamer.web.sketches import hash_and_sketch
from tests.support.planted_duplicates import document, edited, prose, similarity, standing, store
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gossamer.state.workspace import Workspace

TEMPLATE = [" ".join(prose(seed, 60)) for seed in range(900, 910)]
"""Lines of a site, 600 words."""
OTHER = [" ".join(prose(seed, 60)) for seed in range(800, 810)]


def page(
    url: str, own: Sequence[str], template: Iterable[str] = TEMPLATE, **more: Any
) -> dict[str, Any]:
    """A document with lines of its site before and after its own."""
    first, *rest = template
    return document(url, ["\n".join([first, " ".join(own), *rest])], host=url.split("/")[2], **more)


def site(
    name: str, pages: Iterable[int], template: Iterable[str] = TEMPLATE
) -> list[dict[str, Any]]:
    return [page(f"http://{name}.example/{n}", prose(n, 150), template) for n in pages]


def counted(
    work: Workspace, documents: Sequence[dict[str, Any]], round_: int = 1
) -> dict[str, int]:
    """Run the step on further documents; return its counts."""
    store(work, documents, round_)
    return dict(boilerplate.run(work).counts)


def harvest(
    work: Workspace, documents: Sequence[dict[str, Any]], round_: int = 1
) -> dict[str, int]:
    """Run `dedup`, too."""
    counts = counted(work, documents, round_)
    dedup.run(work)
    return counts


def lines(work: Workspace) -> dict[str, set[int] | None]:
    rows = by_url(work.read("boilerplate").where("lines IS NOT NULL"), "host")
    return {host: {*row["lines"]} for host, row in rows.items()}


def of_template(template: Iterable[str]) -> set[int]:
    return {*map(line_hash, template)}


def survivors(work: Workspace) -> dict[str, str]:
    rows = standing(work)
    return {url: row["survivor"] for url, row in rows.items() if row["survivor"]}


@pytest.mark.parametrize(
    ("pages", "having", "is_found"), [(9, 9, False), (10, 3, False), (10, 4, True)]
)
def test_lines_of_more_than_three_tenths_of_ten_texts_are_boilerplate(
    work: Workspace, pages: int, having: int, is_found: bool
) -> None:
    texts = [f"own {n}\n{'shared' if n < having else n}" for n in range(pages)]
    counted(work, [document(f"http://a.example/{n}", [text]) for n, text in enumerate(texts)])
    assert lines(work) == ({"a.example": {line_hash("shared")}} if is_found else {})


def test_copies_of_a_text_count_once(work: Workspace) -> None:
    copies = [page(f"http://a.example/copy{n}", ["a copy"], ["first", "last"]) for n in range(30)]
    counted(work, [*site("a", range(9), ["Home"]), *copies])
    assert lines(work) == {"a.example": of_template(["Home"])}


def test_a_host_needs_ten_different_texts(work: Workspace) -> None:
    pages = [page(f"http://a.example/{n}", [f"own {n % 9}"], ["first", "last"]) for n in range(30)]
    empty = [document(f"http://b.example/{n}", [], host="b.example") for n in range(12)]
    assert counted(work, [*pages, *empty]) == {"hosts": 2, "described": 0}
    assert lines(work) == {}
    assert {row["pages"] for row in work.read("boilerplate").collect()} == {9, 0}


def test_a_line_that_a_page_repeats_counts_once(work: Workspace) -> None:
    texts = ["Note\nNote\nNote\nNote\nNote 0", *(f"Note {n}" for n in range(1, 12))]
    counted(work, [document(f"http://a.example/{n}", [text]) for n, text in enumerate(texts)])
    assert lines(work) == {}


def test_pages_with_little_own_text_are_not_similar(work: Workspace) -> None:
    pages = [page(f"http://a.example/{n}", prose(n, 20)) for n in range(12)]
    store(work, pages)
    dedup.run(work)
    assert len(survivors(work)) == 11, "without the step, their template makes them similar"
    boilerplate.run(work)
    dedup.run(work)
    assert survivors(work) == {}


def test_an_article_is_found_under_the_templates_of_two_sites(work: Workspace) -> None:
    article = prose(77, 300)
    copies = {
        "http://a.example/x": page("http://a.example/x", article, TEMPLATE),
        "http://b.example/copy": page("http://b.example/copy", edited(article, 3, 1), OTHER),
    }
    whole = [each["main_text"].split() for each in copies.values()]
    own = similarity(article, edited(article, 3, 1))
    assert similarity(*whole) < 0.3
    assert own > 0.9
    harvest(work, [*site("a", range(20)), *site("b", range(20, 40), OTHER), *copies.values()])
    assert lines(work) == {"a.example": of_template(TEMPLATE), "b.example": of_template(OTHER)}
    assert survivors(work) == {"http://b.example/copy": "http://a.example/x"}
    row = standing(work)["http://b.example/copy"]
    assert row["reason"] == "near"
    assert abs(row["similarity"] - own) < 1e-9


def test_pages_whose_own_texts_are_equal_are_one(work: Workspace) -> None:
    pages = site("a", range(12))
    again = page("http://a.example/again", prose(3, 150), TEMPLATE[:4])
    harvest(work, [*pages, again, *site("b", [3], [""])])
    assert survivors(work) == dict.fromkeys(
        ("http://a.example/again", "http://b.example/3"), "http://a.example/3"
    )
    assert {row["similarity"] for row in standing(work).values()} == {None, 1.0}


def test_equal_texts_are_copies_however_little_is_their_own(work: Workspace) -> None:
    pages = [page(f"http://a.example/{n}", prose(n, 20)) for n in range(12)]
    few = [page(f"http://mirror.example/{n}", prose(n, 20)) for n in range(2)]
    harvest(work, [*pages, *few])
    named = {f"http://mirror.example/{n}": f"http://a.example/{n}" for n in range(2)}
    assert survivors(work) == named
    assert {standing(work)[url]["reason"] for url in named} == {"text"}


@pytest.mark.slow
def test_similarities_follow_the_boilerplate(work: Workspace) -> None:
    """They are remembered, but for texts without the boilerplate that is known by then."""
    early = [page(f"http://a.example/{n}", prose(n, 20)) for n in range(9)]
    assert harvest(work, early) == {"hosts": 0, "described": 0}
    assert len(survivors(work)) == 8
    assert harvest(work, site("a", range(50, 60)), 2) == {"hosts": 1, "described": 19}
    assert survivors(work) == {}
    # As many pages change as there were: the site has another template now.
    changed = [
        page(f"http://a.example/{n}", prose(n, 20), OTHER) for n in (*range(9), *range(50, 60))
    ]
    assert harvest(work, changed, 3) == {"hosts": 1, "described": 19}
    assert lines(work) == {"a.example": of_template(OTHER)}
    assert survivors(work) == {}
    # What was boilerplate is the text of other pages now.
    words = " ".join(TEMPLATE).split()
    texts = {f"http://b.example/{n}": edited(words, n, n) for n in (0, 1)}
    again = page("http://a.example/new", (), ["", *TEMPLATE])
    harvest(work, [again, *(document(url, text) for url, text in texts.items())], 4)
    first = "http://b.example/0"
    assert survivors(work) == {"http://b.example/1": first, again["url"]: first}


def test_only_new_documents_are_described(work: Workspace) -> None:
    assert harvest(work, site("a", range(20))) == {"hosts": 1, "described": 20}
    assert harvest(work, [], 2) == {"hosts": 0, "described": 0}
    changed = page("http://a.example/0", prose(100, 150))
    new = page("http://a.example/more", edited(prose(100, 150), 1, 1))
    assert harvest(work, [changed, new], 3) == {"hosts": 0, "described": 2}
    assert survivors(work) == {new["url"]: changed["url"]}


def test_a_site_without_boilerplate_costs_no_description(work: Workspace) -> None:
    texts = [document(f"http://a.example/{n}", prose(n, 150)) for n in range(12)]
    assert counted(work, texts) == {"hosts": 1, "described": 0}
    assert counted(work, [], 2) == {"hosts": 0, "described": 0}


def test_documents_that_were_parsed_again_are_described_again(work: Workspace) -> None:
    counted(work, site("a", range(12)))
    with work.step("test", 1) as draft:
        draft.replace["documents"] = ()
    assert counted(work, site("a", range(12), OTHER)) == {"hosts": 1, "described": 12}
    assert lines(work) == {"a.example": of_template(OTHER)}


@pytest.mark.folder
def test_damaged_files_are_written_again(work: Workspace) -> None:
    counted(work, site("a", range(12)))
    expected = lines(work)
    for name in ("boilerplate", "own_texts"):
        Path(work.paths(name)[0]).write_bytes(b"")
        assert boilerplate.run(work).counts == {"hosts": 1, "described": 12}
        assert lines(work) == expected
        assert len(work.read("own_texts").collect()) == 12


def test_of_a_large_host_a_sample_is_counted(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.dedup.boilerplate.host_lines.SAMPLE", 20)
    pages = site("a", range(100))
    counted(work, pages)
    assert lines(work) == {"a.example": of_template(TEMPLATE)}
    assert by_url(work.read("boilerplate"), "host")["a.example"]["pages"] == 100


def test_own_texts_are_by_definition_the_other_lines(work: Workspace) -> None:
    pages = [*site("a", range(12)), *site("b", range(12, 24), OTHER), *site("c", [30], OTHER)]
    late = page("http://a.example/late", prose(99, 150))
    counted(work, pages)
    put(work, "documents", [late | {"round": 1}], round_=2)  # fetched in 1, parsed in 2
    boilerplate.run(work)
    rows = [(n, each["url"], 1) for n, each in enumerate([*pages, late])]
    wanted = work.engine.spark.createDataFrame(rows, "text long, url string, round int")
    found = join_boilerplate_lines(work, wanted).toArrow().combine_chunks().to_batches()
    texts = {
        number: own
        for batch in found
        for number, (own, _) in zip(
            batch.column("text").to_pylist(), BoilerplateSplitter().split(batch), strict=True
        )
    }
    sketches = {row["text"]: row["sketch"] for row in own_sketches(work, wanted).collect()}
    assert texts.keys() == sketches.keys() == {*range(len(rows))}
    for number, each in enumerate([*pages, late]):
        template = {"a": TEMPLATE, "b": OTHER, "c": ()}[each["url"].split("/")[2][0]]
        own = "\n".join(line for line in each["main_text"].split("\n") if line not in template)
        assert texts[number] == own
        assert sketches[number] == hash_and_sketch(own, "")[1]
