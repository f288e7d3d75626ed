from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from gossamer.export import FORMS, export
from gossamer.tables import DATASETS
from rows import put

if TYPE_CHECKING:
    from gossamer.workspace import Workspace

ROWS: list[dict[str, Any]] = [
    {"url": "http://a.example/", "title": 'a "quoted", ü', "headings": ["one", "two"]},
    {"url": "http://b.example/", "title": "line\nbreak", "headings": None},
]


def exported(work: Workspace, form: str) -> bytes:
    put(work, "documents", ROWS)
    out = io.BytesIO()
    schema = DATASETS["documents"].schema
    assert export(work.paths("documents"), schema, form, out) == len(ROWS)
    return out.getvalue()


def test_csv_has_a_header_and_lists_as_json(work: Workspace) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(work, "csv").decode(), newline="")))
    found = sorted(rows, key=lambda row: row["url"])
    assert [row["title"] for row in found] == [row["title"] for row in ROWS]
    assert json.loads(found[0]["headings"]) == ["one", "two"]
    assert found[1]["headings"] == ""


def test_json_lines(work: Workspace) -> None:
    rows = [json.loads(line) for line in exported(work, "jsonl").splitlines()]
    found = sorted(rows, key=lambda row: row["url"])
    assert [{name: row[name] for name in ROWS[0]} for row in found] == ROWS
    assert list(found[0]) == DATASETS["documents"].column_names


def test_parquet(work: Workspace) -> None:
    table = pq.read_table(io.BytesIO(exported(work, "parquet")))
    assert table.schema.equals(DATASETS["documents"].schema)
    assert sorted(table.column("url").to_pylist()) == [row["url"] for row in ROWS]


@pytest.mark.parametrize("form", FORMS)
def test_no_rows_are_a_file_all_the_same(form: str) -> None:
    out = io.BytesIO()
    assert export([], DATASETS["ranks"].schema, form, out) == 0
    assert bool(out.getvalue()) == (form != "jsonl")
