"""The step boilerplate: lines of main texts that a host repeats, and what its pages say besides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from gossamer import dedup
from gossamer.dedup import boilerplate
from gossamer.dedup.own_texts import BoilerplateSplitter, join_boilerplate_lines, own_sketches
from gossamer.web.boilerplate_lines import line_hash
from gossamer.web.sketches import hash_and_sketch
from tests.support.earlier_states import returning
from tests.support.planted_duplicates import document, edited, prose, similarity, standing, store
from tests.support.rows import by_url, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
    name: str, pages: Iterable[int], template: Iterable[str] = TEMPLATE, seed: int = 0
) -> list[dict[str, Any]]:
    return [page(f"http://{name}.example/{n}", prose(seed + n, 150), template) for n in pages]


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


SIZES = {(9, 9): False, (10, 3): False, (10, 4): True}
"""Of hosts with so many texts, so many of which have a line: whether it is boilerplate."""
SAMPLE = 30
ARTICLE = prose(77, 300)
COPIES = {
    "http://one.example/x": page("http://one.example/x", ARTICLE, TEMPLATE),
    "http://two.example/copy": page("http://two.example/copy", edited(ARTICLE, 3, 1), OTHER),
}


class Decided(NamedTuple):
    counts: Mapping[str, int]
    lines: Mapping[str, set[int] | None]
    pages: Mapping[str, int]
    """The texts of each host, as they were counted."""
    rows: Mapping[str, dict[str, Any]]
    """The dispositions by URL."""

    def survivors(self, *hosts: str) -> dict[str, str]:
        return {
            url: row["survivor"]
            for url, row in self.rows.items()
            if row["survivor"] and url.split("/")[2] in hosts
        }


@pytest.fixture(scope="module")
def decided(new_work: Callable[[], Workspace]) -> Decided:
    """Of sites that each serve a test."""
    work = new_work()
    documents = []
    for pages, having in SIZES:
        for n in range(pages):
            text = f"own {having} {n}\n{'shared' if n < having else f'{having} {n}'}"
            documents.append(document(f"http://of{pages}-{having}.example/{n}", [text]))
    repeating = ["Note\nNote\nNote\nNote\nNote 0", *(f"Note {n}" for n in range(1, 12))]
    documents += [
        *site("copies", range(9), ["Home"], 1_000),
        *(page(f"http://copies.example/c{n}", ["c"], ["first", "last"]) for n in range(30)),
        *(page(f"http://nine.example/{n}", [f"own {n % 9}"], ["first", "last"]) for n in range(30)),
        *(document(f"http://empty.example/{n}", []) for n in range(12)),
        *(document(f"http://repeating.example/{n}", [text]) for n, text in enumerate(repeating)),
        *site("one", range(20), TEMPLATE, 2_000),
        *site("two", range(20, 40), OTHER, 2_000),
        *COPIES.values(),
        *site("own", range(12), TEMPLATE, 3_000),
        page("http://own.example/again", prose(3_003, 150), TEMPLATE[:4]),
        *site("bare", [3], [""], 3_000),
        *(page(f"http://few.example/{n}", prose(4_000 + n, 20)) for n in range(12)),
        *(page(f"http://mirror.example/{n}", prose(4_000 + n, 20)) for n in range(2)),
        *site("large", range(100), TEMPLATE, 5_000),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gossamer.dedup.boilerplate.host_lines.SAMPLE", SAMPLE)
        hosted = [each | {"host": each["url"].split("/")[2]} for each in documents]
        counts = harvest(work, hosted)
    rows = by_url(work.read("boilerplate"), "host")
    sizes = {host: row["pages"] for host, row in rows.items()}
    return Decided(counts, lines(work), sizes, standing(work))


@pytest.mark.parametrize(("pages", "having"), SIZES)
def test_lines_of_more_than_three_tenths_of_ten_texts_are_boilerplate(
    decided: Decided, pages: int, having: int
) -> None:
    found = decided.lines.get(f"of{pages}-{having}.example")
    assert found == ({line_hash("shared")} if SIZES[pages, having] else None)


def test_copies_of_a_text_count_once(decided: Decided) -> None:
    assert decided.lines["copies.example"] == of_template(["Home"])


def test_a_host_needs_ten_different_texts(decided: Decided) -> None:
    assert not {"nine.example", "empty.example"} & decided.lines.keys()
    assert (decided.pages["nine.example"], decided.pages["empty.example"]) == (9, 0)


def test_hosts_and_their_documents_are_counted(decided: Decided) -> None:
    """Only those of hosts with boilerplate are described."""
    of_hosts = {"of10-4": 10, "copies": 39, "one": 21, "two": 21, "own": 13, "few": 12}
    assert {*decided.lines} == {f"{name}.example" for name in (*of_hosts, "large")}
    assert decided.counts == {
        "hosts": len(decided.pages),
        "described": sum(of_hosts.values()) + 100,
    }


def test_a_line_that_a_page_repeats_counts_once(decided: Decided) -> None:
    assert "repeating.example" in decided.pages
    assert "repeating.example" not in decided.lines


def test_an_article_is_found_under_the_templates_of_two_sites(decided: Decided) -> None:
    whole = [each["main_text"].split() for each in COPIES.values()]
    own = similarity(ARTICLE, edited(ARTICLE, 3, 1))
    assert similarity(*whole) < 0.3
    assert own > 0.9
    assert decided.lines["one.example"] == of_template(TEMPLATE)
    assert decided.lines["two.example"] == of_template(OTHER)
    original, copy = COPIES
    assert decided.survivors("one.example", "two.example") == {copy: original}
    row = decided.rows[copy]
    assert row["reason"] == "near"
    assert abs(row["similarity"] - own) < 1e-9


def test_pages_whose_own_texts_are_equal_are_one(decided: Decided) -> None:
    found = decided.survivors("own.example", "bare.example")
    assert found == dict.fromkeys(
        ("http://own.example/again", "http://bare.example/3"), "http://own.example/3"
    )
    assert {decided.rows[url]["similarity"] for url in found} == {1.0}


def test_equal_texts_are_copies_however_little_is_their_own(decided: Decided) -> None:
    named = {f"http://mirror.example/{n}": f"http://few.example/{n}" for n in range(2)}
    assert decided.survivors("few.example", "mirror.example") == named
    assert {decided.rows[url]["reason"] for url in named} == {"text"}


def test_of_a_large_host_a_sample_is_counted(decided: Decided) -> None:
    assert decided.lines["large.example"] == of_template(TEMPLATE)
    assert decided.pages["large.example"] == 100


@pytest.fixture(scope="module")
def returned(new_work: Callable[[], Workspace]) -> Callable[[], Workspace]:
    work = new_work()
    texts = [document(f"http://b.example/{n}", prose(500 + n, 150)) for n in range(12)]
    hosted = [each | {"host": "b.example"} for each in texts]
    assert harvest(work, [*site("a", range(20)), *hosted]) == {"hosts": 2, "described": 20}
    return returning(work)


@pytest.fixture
def described(returned: Callable[[], Workspace]) -> Workspace:
    """A crawl of two sites, one of which has boilerplate."""
    return returned()


def test_only_new_documents_are_described(described: Workspace) -> None:
    assert counted(described, [], 2) == {"hosts": 0, "described": 0}
    changed = page("http://a.example/0", prose(100, 150))
    new = page("http://a.example/more", edited(prose(100, 150), 1, 1))
    assert harvest(described, [changed, new], 3) == {"hosts": 0, "described": 2}
    assert survivors(described) == {new["url"]: changed["url"]}


def test_documents_that_were_parsed_again_are_described_again(described: Workspace) -> None:
    with described.step("test", 1) as draft:
        draft.replace["documents"] = ()
    assert counted(described, site("a", range(12), OTHER)) == {"hosts": 1, "described": 12}
    assert lines(described) == {"a.example": of_template(OTHER)}


@pytest.mark.folder
@pytest.mark.parametrize("name", ["boilerplate", "own_texts"])
def test_damaged_files_are_written_again(described: Workspace, name: str) -> None:
    expected = lines(described)
    path = Path(described.paths(name)[0])
    whole = path.read_bytes()
    path.write_bytes(b"")
    assert boilerplate.run(described).counts == {"hosts": 2, "described": 20}
    assert lines(described) == expected
    assert len(described.read("own_texts").collect()) == 20
    path.write_bytes(whole)


def test_pages_with_little_own_text_are_not_similar(work: Workspace) -> None:
    pages = [page(f"http://a.example/{n}", prose(n, 20)) for n in range(12)]
    store(work, pages)
    dedup.run(work)
    assert len(survivors(work)) == 11, "without the step, their template makes them similar"
    boilerplate.run(work)
    dedup.run(work)
    assert survivors(work) == {}


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
