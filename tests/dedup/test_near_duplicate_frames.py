"""Pairs of similar pages, from the places of their pages to decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from gossamer.dedup import near_duplicates
from gossamer.web.urls import host_of
from tests.support.computed_columns import computed, rows_as_frame
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.embedded, pytest.mark.folder]

Row = dict[str, Any]
TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(("host", "one_canonical", "other_canonical"), pa.string()),
    **dict.fromkeys(("rank", "one_rank", "other_rank", "yields"), pa.int32()),
    **dict.fromkeys(("first_ms", "found_ms", "one_first_ms", "other_first_ms"), pa.int64()),
    **dict.fromkeys(("url", "one_url", "other_url", "canonical", "title", "reason"), pa.string()),
    **dict.fromkeys(("page", "place", "by", "one", "other", "text_hash"), pa.int64()),
    "similarity": pa.float64(),
    "is_mirrored": pa.bool_(),
}


def made(engine: Engine, *rows: Row) -> DataFrame:
    """Rows with the columns that any of them has."""
    named = [name for name in TYPES if any(name in row for row in rows)]
    return rows_as_frame(engine, {name: TYPES[name] for name in named}, rows)


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def edges(engine: Engine, pairs: Sequence[tuple[int, int]]) -> DataFrame:
    return made(engine, *({"one": one, "other": other, "similarity": 0.9} for one, other in pairs))


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Sine", "sine"),
        ("  Sine -- and Cosine! ", "sine and cosine"),
        ("Größe_2", "größe 2"),
        ("…", ""),
        (None, ""),
    ],
)
def test_titles_agree_in_their_words(engine: Engine, title: str | None, words: str) -> None:
    rows = made(engine, {"title": title})
    found = computed(rows, {"words": near_duplicates.title_words(rows["title"])})
    assert found == [{"words": words}]


def test_pairs_are_those_of_places_the_better_one_first(engine: Engine) -> None:
    places = made(engine, *({"url": f"u{place}", "place": place} for place in (1, 2, 3)))
    pairs = made(
        engine,
        {"one_url": "u3", "other_url": "u1", "similarity": 0.5},
        {"one_url": "u2", "other_url": "u3", "similarity": 0.75},
    )
    found = near_duplicates._pairs_by_place(places, pairs)
    assert found.columns == ["one", "other", "similarity"]
    assert rows_of(found) == [(1, 3, 0.5), (2, 3, 0.75)]


def test_a_dropped_page_names_its_survivor_and_the_reason(engine: Engine) -> None:
    """A mirror is one that names its survivor, and is known as a mirror's page."""
    near: Row = {"is_mirrored": False, "canonical": None}
    places = made(
        engine,
        {"url": "best", "place": 1} | near,
        {"url": "near", "place": 2} | near,
        {"url": "named", "place": 3, "is_mirrored": False, "canonical": "best"},
        {"url": "mirror", "place": 4, "is_mirrored": True, "canonical": "best"},
        {"url": "other", "place": 5, "is_mirrored": True, "canonical": "near"},
    )
    lost = made(engine, *({"page": n, "by": 1, "similarity": n / 10} for n in (2, 3, 4, 5)))
    assert rows_of(near_duplicates._duplicates_by_url(lost, places)) == [
        ("mirror", "best", "mirror", 0.4),
        ("named", "best", "near", 0.3),
        ("near", "best", "near", 0.2),
        ("other", "best", "near", 0.5),
    ]


def overlooked(
    engine: Engine, pairs: Sequence[tuple[int, int]], lost: Sequence[tuple[int, int]]
) -> list[tuple[Any, ...]]:
    """The pairs of texts, where a page's text is ten times its place."""
    places = made(engine, *({"place": n, "text_hash": 10 * n} for n in range(1, 10)))
    dropped = made(engine, *({"page": page, "by": by} for page, by in lost))
    return rows_of(near_duplicates._overlooked_pairs(edges(engine, pairs), dropped, places))


def test_what_is_like_a_dropped_page_may_be_like_its_survivor(engine: Engine) -> None:
    assert overlooked(engine, [(1, 3), (3, 5)], [(3, 1)]) == [(10, 50)]
    assert overlooked(engine, [(1, 5), (3, 5)], [(5, 1)]) == [(10, 30)]


def test_a_survivor_that_is_no_better_than_what_stands_for_a_page_is_left_out(
    engine: Engine,
) -> None:
    assert overlooked(engine, [(2, 3), (1, 4), (3, 4)], [(3, 2), (4, 1)]) == [(10, 30)]
    assert overlooked(engine, [(1, 3), (1, 4), (3, 4)], [(3, 1), (4, 1)]) == []


def test_a_page_is_compared_with_the_best_few_survivors(engine: Engine) -> None:
    pairs = [(n, n + 3) for n in (1, 2, 3)] + [(n, 9) for n in (4, 5, 6)]
    lost = [(n + 3, n) for n in (1, 2, 3)]
    assert near_duplicates.MAX_RELATED == 2
    assert overlooked(engine, pairs, lost) == [(10, 90), (20, 90)]


A, B, C = (f"http://www.{name}.example/" for name in "abc")


def standing(engine: Engine, pages: dict[str, Row]) -> DataFrame:
    """Pages, in the order of their URLs if nothing is said about them."""
    plain: Row = {"rank": 0, "first_ms": 5, "found_ms": 5, "canonical": None, "text_hash": 1}
    plain |= {"is_mirrored": False, "yields": 0}
    return made(
        engine, *(plain | {"url": url, "host": host_of(url)} | row for url, row in pages.items())
    )


def copies(work: Workspace, pages: dict[str, Row], *pairs: tuple[str, str]) -> set[str]:
    rows = standing(work.engine, pages)
    both = made(work.engine, *({"one_url": one, "other_url": other} for one, other in pairs))
    marked = near_duplicates._mark_copies(work, rows, both).collect()
    assert sorted(row.url for row in marked) == sorted(pages)
    return {row.url for row in marked if row.is_copy}


def test_a_page_is_a_copy_of_one_that_another_domain_had_before(work: Workspace) -> None:
    pages: dict[str, Row] = {A: {"first_ms": 5}, B: {"first_ms": 9}}
    assert copies(work, pages, (A, B)) == {B}
    assert copies(work, pages, (B, A)) == {B}
    assert copies(work, pages | {B: {"first_ms": 5}}, (A, B)) == set()
    assert copies(work, pages | {A: {"first_ms": 5, "yields": 1}}, (A, B)) == set()


def test_pages_of_one_domain_are_no_copies(work: Workspace) -> None:
    later = {"first_ms": 9}
    assert copies(work, {A: {}, f"{A}x": later}, (A, f"{A}x")) == set()
    other = "http://docs.a.example/"
    assert copies(work, {A: {}, other: later}, (A, other)) == set()


def test_of_a_domain_the_page_counts_that_was_first(work: Workspace) -> None:
    late = f"{A}late"
    pages: dict[str, Row] = {A: {"first_ms": 5}, late: {"first_ms": 20}, B: {"first_ms": 9}}
    assert copies(work, pages, (late, B)) == {late}
    assert copies(work, pages, (A, late), (late, B)) == {B}


@pytest.mark.parametrize(("domains", "copy"), [(15, A), (14, B), (0, B)])
def test_what_is_clearly_outranked_is_a_copy_whoever_was_first(
    work: Workspace, domains: int, copy: str
) -> None:
    """Sixteen times as many domains, as 2^CLEAR_CLASSES, link to the other page."""
    put(work, "inlinks", [{"dst": B, "count": domains, "domains": domains}])
    assert copies(work, {A: {"first_ms": 5}, B: {"first_ms": 9}}, (A, B)) == {copy}


def placed(work: Workspace, pages: dict[str, Row], *pairs: tuple[str, str]) -> list[str]:
    """The pages in their order."""
    rows = standing(work.engine, pages)

    def end(name: str, url: str) -> Row:
        page = {"rank": 0, "first_ms": 5, "canonical": None} | pages[url]
        known = {f"{name}_{each}": page[each] for each in ("rank", "first_ms", "canonical")}
        return {f"{name}_url": url, **known}

    both = made(work.engine, *(end("one", one) | end("other", other) for one, other in pairs))
    found = near_duplicates.place_pages(work, rows.drop("yields"), both).collect()
    assert sorted(row.place for row in found) == list(range(1, len(found) + 1))
    return [row.url for row in sorted(found, key=lambda row: row.place)]


def test_the_best_page_has_the_first_place(work: Workspace) -> None:
    x, y, z = (f"{A}{name}" for name in ("xx", "yy", "z"))
    assert placed(work, {x: {}, y: {}, z: {}}, (x, y), (y, z)) == [z, x, y]
    assert placed(work, {x: {}, y: {"rank": 1}, z: {}}, (x, y), (y, z)) == [y, z, x]
    assert placed(work, {x: {"found_ms": 9}, y: {}, z: {}}, (x, y)) == [y, x]


def test_a_page_yields_to_its_canonical_page(work: Workspace) -> None:
    """That has the best rank of those that yield to it, unless it names another itself."""
    x, y, z = (f"{A}{name}" for name in ("xx", "yy", "z"))
    names: Row = {"rank": 9, "canonical": y}
    assert placed(work, {x: names, y: {}, z: {"rank": 8}}, (x, y), (x, z)) == [y, z, x]
    assert placed(work, {x: names, y: {}, z: {"rank": 8}}, (y, x), (z, x)) == [y, z, x]
    chain: dict[str, Row] = {x: names, y: {"canonical": z}, z: {"rank": 8}}
    assert placed(work, chain, (x, y), (x, z)) == [x, z, y]
    elsewhere: dict[str, Row] = {x: names | {"canonical": B}, y: {}}
    assert placed(work, elsewhere, (x, y)) == [x, y]


def test_pages_are_similar_whose_texts_are_and_whose_titles_agree(work: Workspace) -> None:
    """Or of which one names the other as its canonical page; and only within a scope."""
    least = work.config.dedup.similarity
    texts = pa.int64()
    types: dict[str, pa.DataType] = {
        **dict.fromkeys(("url", "scope", "title", "canonical"), pa.string()),
        "text_hash": texts,
        "rank": pa.int32(),
        "first_ms": texts,
    }
    plain: Row = {"scope": "s", "title": "Same", "rank": 0, "first_ms": 5}
    pages: list[Row] = [
        {"url": "a", "text_hash": 1},
        {"url": "b", "text_hash": 2, "title": "same!"},
        {"url": "other", "text_hash": 3, "title": "Other"},
        {"url": "names", "text_hash": 4, "title": "Names", "canonical": "a"},
        {"url": "far", "text_hash": 5, "scope": "t"},
        {"url": "less", "text_hash": 6},
    ]
    rows = rows_as_frame(work.engine, types, [plain | page for page in pages])
    pairs = [
        (1, 2, least),
        (1, 3, 1.0),
        (1, 4, 1.0),
        (4, 1, 1.0),
        (1, 5, 1.0),
        (1, 6, least - 0.01),
    ]
    made_pairs = rows_as_frame(
        work.engine,
        {"one": texts, "other": texts, "similarity": pa.float64()},
        [dict(zip(("one", "other", "similarity"), pair, strict=True)) for pair in pairs],
    )
    found = near_duplicates._similar_pages(work, rows, made_pairs).collect()
    assert {(row.one_url, row.other_url) for row in found} == {
        ("a", "b"),
        ("a", "names"),
        ("names", "a"),
    }
