"""Which pages are older versions of others, and which only look like it: dedup/versions.py."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from gossamer import dedup
from gossamer.dedup import versions
from tests.support.planted_duplicates import document, edited, prose, standing, store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.state.workspace import Workspace

PAGES = 6
NAMES = ("intro", "install", "library/re", "library/os", "faq", "whatsnew")

Written = list[tuple[str, list[str], str]]


def manual(places: Mapping[str, int], seed: int, title: str = "{name}, version {place}") -> Written:
    """The pages of each place (with a `{}` for their names), with so many words edited."""
    return [
        (
            place.format(f"{name}.html"),
            edited(prose(seed * 100 + at, 200), changed, changed),
            title.format(name=name, place=place.split("/")[3]),
        )
        for place, changed in places.items()
        for at, name in enumerate(NAMES)
    ]


FAMILIES = {
    "numbers": ["3.9", "3.10", "3.11"],
    "evergreen": ["2.7", "3.12", "latest"],
    "in development": ["dev", "1.0", "1.1"],
    "release candidates": ["3.0rc1", "3.0rc2", "3.0"],
    "whole numbers": ["14", "15", "16"],
    "with a prefix": ["v1.2.3", "v1.2.10", "v1.10.0"],
    "with a product": ["python3.9", "python3.10", "python3.11"],
    "with a dash": ["release-1.2", "release-1.3", "release-1.10"],
    "underscores": ["1_79_0", "1_80_0", "1_81_0"],
    "series": ["4.x", "5.x", "6.x"],
    "years with a month": ["2022.1", "2022.10", "2023.1"],
}
"""Names of versions, the oldest first."""


def test_the_newest_version_stands_for_the_others(work: Workspace) -> None:
    documents = []
    newest = {}
    for seed, (name, listed) in enumerate(FAMILIES.items()):
        host = f"http://{name.replace(' ', '-')}.example"
        places = {f"{host}/{each}/{{}}": 12 - 6 * at for at, each in enumerate(listed)}
        documents += manual(places, seed)
        for place in places:
            for page in NAMES:
                newest[place.format(f"{page}.html")] = f"{host}/{listed[-1]}/{page}.html"
    documents.append(("http://numbers.example/3.9/dropped.html", prose(7_777), "Dropped"))
    store(work, [document(url, text, title) for url, text, title in documents])
    dedup.run(work)
    rows = standing(work)
    for url, best in newest.items():
        assert rows[url]["survivor"] == (None if url == best else best), url
        assert rows[url]["reason"] == (None if url == best else "version")
    assert rows["http://numbers.example/3.9/dropped.html"]["disposition"] == "indexed"
    assert {len(rows[best]["copies"]) for best in newest.values()} == {2}


def test_a_page_that_was_rewritten_yields_if_its_manual_is_proven(work: Workspace) -> None:
    old, new = "http://a.example/1.0/{}", "http://a.example/2.0/{}"
    documents = manual({old: 10, new: 0}, 1)
    documents += [
        (old.format("rewritten.html"), prose(901), "Rewritten in 1.0"),
        (new.format("rewritten.html"), prose(902), "Rewritten in 2.0"),
        (old.format("other.html"), prose(903), "One thing"),
        (new.format("other.html"), prose(904), "Another thing"),
    ]
    store(work, [document(url, text, title) for url, text, title in documents])
    dedup.run(work)
    rows = standing(work)
    assert rows[old.format("rewritten.html")]["survivor"] == new.format("rewritten.html")
    assert rows[old.format("other.html")]["disposition"] == "indexed"


NO_FAMILIES: dict[str, Written] = {
    "languages": manual({f"http://l.example/{each}/{{}}": 20 for each in ("en", "de", "fr")}, 1)[
        : 2 * PAGES
    ],
    "years": [
        (f"http://y.example/{year}/{name}.html", edited(prose(at + 1_000, 200), 20, year), name)
        for year in (2021, 2022, 2023)
        for at, name in enumerate(NAMES)
    ],
    "chapters": [
        (f"http://c.example/chapter{number}/{at}", prose(10 * number + at + 2_000, 200), "Page")
        for number in range(3)
        for at in range(PAGES)
    ],
    "other texts under equal titles": [
        (f"http://o.example/{number}/{at}", prose(10 * number + at + 3_000, 200), f"Page {at}")
        for number in range(3)
        for at in range(PAGES)
    ],
    "types": [
        (f"http://t.example/std/{kind}/{name}.html", edited(prose(at + 5_000, 200), 6, 1), name)
        for kind in ("f32", "f64")
        for at, name in enumerate(NAMES)
    ],
    "things of a shop": [
        (f"http://s.example/item/{number}/{name}", edited(prose(at + 4_000, 110), 12, number), name)
        for number in range(versions.MAX_WHOLE + 1)
        for at, name in enumerate(NAMES)
    ],
    "too little evidence": manual({f"http://f.example/{each}/{{}}": 20 for each in (1, 2)}, 5)[:4]
    + manual({f"http://f.example/{each}/{{}}": 20 for each in (1, 2)}, 5)[PAGES : PAGES + 4],
}


def test_other_numbers_are_no_versions(work: Workspace) -> None:
    documents = [
        document(url, text, title)
        for written in NO_FAMILIES.values()
        for url, text, title in written
    ]
    store(work, documents)
    dedup.run(work)
    found = {url for url, row in standing(work).items() if row["reason"] == "version"}
    assert found == set()


@pytest.mark.parametrize("seed", range(2))
def test_hostile_urls(work: Workspace, seed: int) -> None:
    """Whatever URLs there are, each page that is dropped stands behind one that is not."""
    draw = random.Random(seed)  # noqa: S311  # reproducible
    parts = ("1.0", "2.0", "v", "", "..", "latest", "9" * 300, "1." * 50, "%C4%B0", "1.0%2F", "3a1")
    urls = {
        "http://h.example/"
        + "/".join(draw.choice(parts) for _ in range(draw.randint(0, 12)))
        + draw.choice(("", "?v=1.0/2.0/", "?q=/3.0/"))
        for _ in range(300)
    }
    store(work, [document(url, prose(1, 60), "A page") for url in sorted(urls)])
    dedup.run(work)
    rows = standing(work)
    assert set(rows) == urls
    for row in rows.values():
        if row["survivor"]:
            assert rows[row["survivor"]]["disposition"] == "indexed"


def test_the_order_of_versions(work: Workspace) -> None:
    ordered = [
        *("main", "0.9", "1.0a1", "1.0b1", "1.0rc1", "1.0", "1.0.1", "1.2", "1.10", "v2", "10"),
        *("2023.1", "stable"),
    ]
    rows = work.engine.spark.createDataFrame([(each,) for each in ordered], "version string")
    found = rows.select("version", versions.recency_key(F.col("version")).alias("at")).collect()
    placed = {row["version"]: row["at"] for row in found}
    assert sorted(ordered, key=placed.__getitem__) == ordered


def proven(work: Workspace, *pairs: tuple[int, str | None, float | None]) -> int:
    """How many pages are proven: counts of pairs of a version, their newer titles and estimates."""
    rows = [
        ("family", "1", f"{n}/{at}", f"new/{n}/{at}", "a", title, estimate)
        for n, (count, title, estimate) in enumerate(pairs)
        for at in range(count)
    ]
    ddl = "family string, version string, one string, other string, one_title string"
    ddl += ", other_title string, estimate double"
    compared = work.engine.spark.createDataFrame(rows, ddl)
    found = versions.proven_versions(compared).collect()
    assert all(row.survivor == f"new/{row.url}" for row in found)
    return len(found)


@pytest.mark.parametrize(
    ("pairs", "yielding"),
    [
        ([(5, "a", 0.3)], 5),
        ([(4, "a", 0.9)], 0),
        ([(5, "a", 0.29)], 0),
        ([(5, "a", None)], 0),
        ([(4, "a", None), (1, "a", 0.3)], 5),
        ([(6, "a", 0.5), (4, "b", 0.1)], 6),
        ([(5, "a", 0.5), (5, "b", 0.1)], 0),
        ([(6, "a", 0.5), (4, "b", 0.3)], 10),
        ([(6, "a", 0.5), (4, "a", 0.1)], 10),
        ([(5, "b", 0.5), (5, None, 0.5)], 0),
    ],
)
def test_pages_of_proven_versions_yield(
    work: Workspace, pairs: list[tuple[int, str | None, float | None]], yielding: int
) -> None:
    """Six in ten pages, and five at least, have equal titles, and no text that is known differs."""
    assert proven(work, *pairs) == yielding


@pytest.mark.parametrize(("places", "are_versions"), [(40, True), (41, False)])
def test_many_whole_numbers_are_things(work: Workspace, places: int, are_versions: bool) -> None:
    assert versions.MAX_WHOLE == 40
    rows = [(f"http://a.example/{n}/x", 1, "a.example", "t") for n in range(1, places + 1)]
    fit = work.engine.spark.createDataFrame(
        rows, "url string, round long, scope string, title string"
    )
    found = versions.version_counterparts(fit).collect()
    assert len(found) == (places - 1 if are_versions else 0)
    assert {row.other for row in found} <= {f"http://a.example/{places}/x"}


def test_the_segments_that_may_be_versions(work: Workspace) -> None:
    """With what is around them, by which the pages of a manual are found in its versions."""
    rows = [("http://a.example/A/v1.0/b/2.0/X?q=/3.0/", "s")]
    pages = work.engine.spark.createDataFrame(rows, "url string, scope string")
    found = versions._version_segments(pages).select("version", "family", "after").collect()
    assert sorted(tuple(row) for row in found) == [
        ("2.0", "s http://a.example/a/v1.0/b ", "/X?q=/3.0/"),
        ("v1.0", "s http://a.example/a ", "/b/2.0/X?q=/3.0/"),
    ]


@pytest.mark.parametrize(
    ("path", "is_versioned"),
    [
        ("1.0/x", True),
        ("1.0", False),
        ("a/b/c/d/e/f/g/1.0/x", True),
        ("a/b/c/d/e/f/g/h/1.0/x", False),
        ("2024/x", False),
        ("1899/x", True),
    ],
)
def test_which_segment_may_be_a_version(work: Workspace, path: str, is_versioned: bool) -> None:
    rows = [(f"http://a.example/{path}", "a.example")]
    pages = work.engine.spark.createDataFrame(rows, "url string, scope string")
    ((found,),) = versions.add_families(pages).select("families").collect()
    assert (found is not None) is is_versioned


def test_without_families_no_page_is_an_older_version(work: Workspace) -> None:
    ddl = "url string, round long, scope string, title string, families array<long>"
    fit = work.engine.spark.createDataFrame([("http://a.example/", 1, "a", "t", None)], ddl)
    rows, count = versions.older_versions(work, fit)
    assert (rows.collect(), count) == ([], 0)
    assert rows.columns == ["url", "survivor", "reason", "similarity"]
