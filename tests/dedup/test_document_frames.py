"""Rows of documents and dispositions, as functions on frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pytest

from gossamer.dedup import changed_documents
from gossamer.dedup.boilerplate import own_text_rows
from gossamer.dedup.disposition_layers import DispositionLayers
from tests.support.computed_columns import rows_as_frame
from tests.support.rows import by_url, frame

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

A = "http://www.a.example/"
PARSED = {"url": A, "outcome": "parsed", "noindex": False, "text_hash": 7}


def described(work: Workspace, *, obey: bool = True, **more: Any) -> dict[str, Any]:
    rows = frame(work, "documents", [PARSED | more])
    (found,) = by_url(changed_documents.describe_documents(rows, obey_search=obey)).values()
    return found


@pytest.mark.parametrize(
    ("more", "obey", "unfit"),
    [
        ({}, True, None),
        ({"outcome": "failed", "noindex": True}, True, "dropped_outcome"),
        ({"noindex": True, "wishes": "search=no"}, True, "dropped_noindex"),
        ({"wishes": "ai-train=no search=no"}, True, "dropped_wish"),
        ({"wishes": "search=yes"}, True, None),
        ({"wishes": "search=no"}, False, None),
    ],
)
def test_which_documents_are_not_indexed(
    work: Workspace, more: dict[str, Any], obey: bool, unfit: str | None
) -> None:
    assert described(work, obey=obey, **more)["unfit"] == unfit


def test_a_document_without_text_is_compared_by_its_body(work: Workspace) -> None:
    with_text = described(work)
    assert (with_text["text"], with_text["by_body"]) == (7, False)
    rows: list[dict[str, Any]] = [
        *({"digest": "d"}, {"digest": "d", "title": "t"}, {"digest": "e"}, {}),
    ]
    by_body, same, other, by_name = (described(work, text_hash=None, **more) for more in rows)
    assert by_body["by_body"]
    assert by_body["text"] == same["text"]
    assert len({each["text"] for each in (by_body, other, by_name)}) == 3


@pytest.mark.parametrize(("canonical", "found"), [(None, None), (A, None), (f"{A}x", f"{A}x")])
def test_a_canonical_url_is_another_one(
    work: Workspace, canonical: str | None, found: str | None
) -> None:
    assert described(work, canonical=canonical)["canonical"] == found


@pytest.mark.parametrize(
    ("scope", "found"), [("crawl", ["", ""]), ("domain", ["a.example", "b.example"])]
)
def test_pages_stand_for_others_within_a_scope(
    work: Workspace, scope: str, found: list[str]
) -> None:
    dedup = msgspec.structs.replace(work.config.dedup, scope=scope)
    work.config = msgspec.structs.replace(work.config, dedup=dedup)
    judged = work.engine.spark.createDataFrame([(A,), ("http://b.example/",)], "url string")
    rows = by_url(changed_documents._add_scopes(work, judged))
    assert [rows[url]["scope"] for url in (A, "http://b.example/")] == found


def test_rows_are_found_by_what_they_were_compared_with(work: Workspace) -> None:
    """A row in a newer layer replaces that of its page, even if it is not looked for."""
    rows: dict[str, dict[str, Any]] = {
        "own": {"text": 1, "compared": 1, "families": [5]},
        "other": {"text": 2, "compared": 1, "families": [5, 6]},
        "alone": {"text": 3, "compared": 3},
        "late": {"text": 1, "compared": 1, "families": [6]},
    }
    layers = [
        frame(work, "dispositions", [{"url": url} | row for url, row in rows.items()]),
        frame(work, "dispositions", [{"url": "late", "text": 9, "compared": 9, "families": None}]),
    ]
    found = DispositionLayers(work, layers[:1]).with_layer(layers[1])

    def numbers(name: str, *values: int) -> Any:
        return work.engine.spark.createDataFrame([(each,) for each in values], f"{name} long")

    assert {*by_url(found.rows_of_families(numbers("family", 5)))} == {"own", "other"}
    was_in = by_url(found.rows_of_families(numbers("family", 6)))
    assert {url: row["text"] for url, row in was_in.items()} == {"other": 2, "late": 9}
    assert {*by_url(found.rows_of_compared(numbers("text", 1)))} == {"own", "other"}
    late = work.engine.spark.createDataFrame([("late",)], "url string")
    assert [row.text for row in found.rows_of_urls(late).collect()] == [9]
    texts = {
        row["url"]: row["compared"] for row in found.rows_of_texts(numbers("text", 1, 2)).collect()
    }
    assert texts == {"own": 1, "other": 1}
    assert {row["url"] for row in found.rows_of_texts(numbers("text", 1)).collect()} == {
        "own",
        "other",
    }


def test_hosts_whose_lines_change_have_all_texts_made_again(engine: Engine) -> None:
    """Also if they were determined from other documents; hosts that keep their lines do not."""
    types = {"host": pa.string(), "lines": pa.list_(pa.int64()), "source": pa.int64()}
    old: dict[str, Any] = {
        "same": ([1], 3),
        "other": ([1], 3),
        "gone": ([1], 3),
        "source": ([1], 3),
    }
    old |= {"left": ([1], 3), "never": (None, 3)}
    new: dict[str, Any] = {
        "same": ([1], 3),
        "other": ([2], 3),
        "gone": (None, 3),
        "source": ([1], 4),
    }
    new |= {"new": ([5], 3), "none": (None, 3), "never": (None, 3)}
    known, determined = (
        rows_as_frame(
            engine,
            types,
            [
                {"host": host, "lines": lines, "source": source}
                for host, (lines, source) in each.items()
            ],
        )
        for each in (old, new)
    )
    found = own_text_rows._hosts_with_lines(known, determined).collect()
    assert {row.host: (row.lines, row.again) for row in found} == {
        "same": ([1], False),
        "other": ([2], True),
        "gone": (None, True),
        "source": ([1], True),
        "left": ([1], False),
        "new": ([5], True),
    }
