from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from gossamer.cli.export_formats import FORMS, export
from gossamer.cli.obeyed_wishes import ObeyedWishes
from gossamer.tables import DATASETS
from tests.support.rows import put

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

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


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_bytes_are_written_as_base64(work: Workspace, form: str) -> None:
    put(work, "documents", [{"url": "http://a.example/", "sketch": b"\0\xff\x9b"}])
    out = io.BytesIO()
    export(work.paths("documents"), DATASETS["documents"].schema, form, out)
    text = out.getvalue().decode()
    row = next(csv.DictReader(io.StringIO(text))) if form == "csv" else json.loads(text)
    assert row["sketch"] == "AP+b"


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "\uff1d1", "=\n=1"]
TEXTS = ["1-1", " =1", "a\n=1", "", '"=1"', "https://a.example/?a=1"]


def test_rows_of_pages_that_must_not_train_ai_are_left_out(work: Workspace) -> None:
    no, yes = "search=yes ai-train=no", "ai-train=yes"
    rounds = {
        "no": (no,),
        "yes": (yes,),
        "silent": (None,),
        "now no": (None, yes, no),
        "now yes": (no, yes),
        "now silent": (no, None),
    }
    rows = [
        {"url": url, "round": number, "wishes": wishes}
        for url, said in rounds.items()
        for number, wishes in enumerate(said, 1)
    ]
    put(work, "documents", rows)
    (path,) = work.paths("documents")
    older = f"{path}.older"
    pq.write_table(pq.read_table(path).drop_columns(["wishes", "wishes_said"]), older)
    obeyed = ObeyedWishes([older, path])
    out = io.BytesIO()
    export([path], DATASETS["documents"].schema, "jsonl", out, obeyed)
    found = [(row["url"], row["round"]) for row in map(json.loads, out.getvalue().splitlines())]
    assert sorted(found) == [("now silent", 2), ("now yes", 2), ("silent", 1), ("yes", 1)]
    assert obeyed.left_out == len(rows) - len(found)


def test_csv_has_no_formulas_and_the_original_text_can_be_restored(work: Workspace) -> None:
    titles = {f"http://a.example/{i}": text for i, text in enumerate(FORMULAS + TEXTS)}
    put(work, "documents", [{"url": url, "title": text} for url, text in titles.items()])
    out = io.BytesIO()
    export(work.paths("documents"), DATASETS["documents"].schema, "csv", out)
    rows = list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline="")))
    written = {titles[row["url"]]: row["title"] for row in rows}
    assert {text: "'" + text for text in FORMULAS} | {text: text for text in TEXTS} == written
    assert {text: cell.removeprefix("'") for text, cell in written.items()} == {
        text: text for text in FORMULAS + TEXTS
    }


def test_numbers_survive_csv(work: Workspace) -> None:
    put(work, "pages", [{"url": "http://a.example/", "cash": -15, "depth": -7}])
    out = io.BytesIO()
    export(work.paths("pages"), DATASETS["pages"].schema, "csv", out)
    (row,) = csv.DictReader(io.StringIO(out.getvalue().decode(), newline=""))
    assert (int(row["cash"]), int(row["depth"])) == (-15, -7)


def test_columns_that_an_older_version_did_not_write_are_null(work: Workspace) -> None:
    put(work, "pages", [{"url": "http://a.example/", "cash": 5}])
    (path,) = work.paths("pages")
    pq.write_table(pq.read_table(path).drop_columns(["cash", "history"]), path)
    out = io.BytesIO()
    export([path], DATASETS["pages"].schema, "jsonl", out)
    row = json.loads(out.getvalue())
    assert (row["url"], row["cash"], row["history"]) == ("http://a.example/", None, None)


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
def test_an_export_without_rows_is_still_a_file(form: str) -> None:
    out = io.BytesIO()
    assert export([], DATASETS["ranks"].schema, form, out) == 0
    assert bool(out.getvalue()) == (form != "jsonl")
