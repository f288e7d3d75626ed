"""Pages with equal bodies in several files are parsed together, with the same results."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer import parse
from gossamer.parse.step import body_copies
from gossamer.parse.step import run as step
from gossamer.parse.step.body_copies import moving, responses_of_copies
from gossamer.parse.step.stored_responses import response_pieces
from gossamer.storage.store import File
from tests.support.stored_rounds import HOME, Fetched, store_round, table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

FILES, PAGES = 4, 60


def fetched() -> list[list[Fetched]]:
    """Files of pages. Bodies repeat within a file and in others, some with other headers."""
    robots = (b"X-Robots-Tag", b"noindex")
    return [
        [
            Fetched(
                f"{HOME}{file}/{place}",
                f"<title>{body}</title><a href=../{body}/{body}>{body}</a><a href=?b>b".encode(),
                headers=(robots,) if place % 7 == 0 else (),
                depth=file,
            )
            for place in range(PAGES)
            for body in [place if place < PAGES // 2 else (place * 7 + file) % 40]
        ]
        for file in range(FILES)
    ]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small rounds are searched for copies, and cut into many pieces."""
    monkeypatch.setattr(body_copies, "MIN_BODIES", 1)
    monkeypatch.setattr("gossamer.parse.step.stored_responses.MIN_PAGES", 7)


def divided(work: Workspace) -> list[list[str]]:
    """The URLs of each piece of the round, in the order in which they are parsed."""
    files = work.store.files("responses", 1)
    moved = [f"{work.root}/{path}" for path in step.paths(moving(work, files))]
    return [
        [page.url for page in responses_of_copies(work.root, [piece], moved)]
        for piece in response_pieces(files, 20)
    ]


@pytest.mark.usefixtures("small")
def test_each_page_belongs_to_one_piece_with_all_pages_of_its_body(work: Workspace) -> None:
    store_round(work, *fetched())
    parts = divided(work)
    assert len(parts) > FILES
    assert sorted(url for part in parts for url in part) == sorted(
        page.url for file in fetched() for page in file
    )
    bodies = {page.url: page.body for file in fetched() for page in file}
    runs = [
        body
        for part in parts
        for before, body in zip([None, *map(bodies.get, part)], map(bodies.get, part), strict=False)
        if body != before
    ]
    # A body with two kinds of headers has two records in its first file, which stay apart.
    assert len(set(runs)) <= len(runs) < len(set(runs)) + PAGES // 7 + 1
    assert parts == divided(work)  # whenever a task asks


def parsed(work: Workspace) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, int]]:
    """Documents, links and counts of the round. The order of a source's links has no meaning."""
    store_round(work, *fetched())
    report = parse.run(work)
    links = sorted(table(work, "links"), key=lambda row: (row["src"], row["dst"]))
    return table(work, "documents"), links, report.counts


@pytest.mark.usefixtures("small")
def test_documents_and_links_are_as_if_no_page_had_moved(
    new_work: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    together = parsed(new_work())
    monkeypatch.setattr(body_copies, "MIN_BODIES", 1_000_000)
    assert parsed(new_work()) == together
    assert len(together[0]) == FILES * PAGES


@pytest.mark.spark
@pytest.mark.usefixtures("small")
def test_spark_moves_the_same_pages(
    new_work: Callable[[], Workspace], spark_engine: Engine
) -> None:
    assert parsed(replace(new_work(), _engine=spark_engine)) == parsed(new_work())


@pytest.mark.usefixtures("small")
def test_bodies_of_very_many_pages_stay(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    store_round(work, *fetched())
    files = work.store.files("responses", 1)
    assert sum(file.rows for file in moving(work, files))
    monkeypatch.setattr(body_copies, "MAX_COPIES", 1)
    assert not moving(work, files)
    assert not moving(work, files[:1])


@pytest.mark.parametrize(
    ("files", "is_one"),
    [
        ([["a", "a"], ["b"]], True),
        ([["a", None], ["b"], [None]], True),
        ([["a", "b"], ["c"]], False),
        ([["a"], ["b", "c"]], False),
        ([["a"], ["b"], ["a"]], False),
        ([["a"], ["a"]], False),
    ],
)
def test_files_that_were_mixed_are_left_alone(
    tmp_path: Path, files: list[list[str | None]], is_one: bool
) -> None:
    for number, names in enumerate(files):
        pq.write_table(
            pa.table({"warc_file": pa.array(names, pa.string())}), tmp_path / str(number)
        )
    work = cast("Workspace", SimpleNamespace(root=str(tmp_path)))
    listed = [File(str(number), len(names), 0) for number, names in enumerate(files)]
    assert body_copies._copies_name_one_archive(work, listed) is is_one
