"""Pairs of similar pages, from the places of their pages to decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from gossamer.dedup import near_duplicates
from tests.support.computed_columns import computed, rows_as_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from gossamer.engine.engine import Engine

Row = dict[str, Any]
TYPES: dict[str, pa.DataType] = {
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
