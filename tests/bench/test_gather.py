"""Collections are made of what packages contain, without texts that nobody translated."""

from __future__ import annotations

import gzip
import importlib.util
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def gather() -> Any:
    spec = importlib.util.spec_from_file_location("gather", ROOT / "bench/gather.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(folder: Path, name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def test_a_collection_has_each_text_once_and_no_vague_query(gather: Any, tmp_path: Path) -> None:
    pairs = [gather.Pair(f"Frage {n}", "", f"Antwort {n // 2}") for n in range(100)]
    pairs += [gather.Pair("vage", "", f"Antwort {n}") for n in range(9)]
    gather.write(tmp_path, "setting", "de", pairs)
    folder = tmp_path / "setting-de"
    assert len(read(folder, "docs.jsonl")) == 50
    assert "vage" not in {each["text"] for each in read(folder, "queries.jsonl")}
    judged = [line.split("\t") for line in (folder / "qrels.tsv").read_text().splitlines()]
    assert len(judged) == 100
    answers = {each["id"]: each["text"] for each in read(folder, "docs.jsonl")}
    queries = {each["id"]: each["text"] for each in read(folder, "queries.jsonl")}
    assert all(
        int(queries[query].split()[1]) // 2 == int(answers[document].split()[1])
        for query, document, _ in judged
    )


def test_texts_in_another_script_and_small_collections_are_left_out(
    gather: Any, tmp_path: Path
) -> None:
    gather.write(
        tmp_path, "setting", "ko", [gather.Pair(f"q {n}", "", f"a {n}") for n in range(99)]
    )
    gather.write(tmp_path, "setting", "de", [gather.Pair(f"q {n}", "", f"a {n}") for n in range(9)])
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        ("창 크기", "ko", True),
        ("창 크기 of windows and more", "ko", False),
        ("ウィンドウの大きさ", "ja", True),
        ("गाने की सूची", "hi", True),
        ("Größe", "de", True),
        ("123", "th", False),
    ],
)
def test_the_script_says_whether_a_text_is_translated(
    gather: Any, text: str, language: str, found: bool
) -> None:
    assert gather.is_in(text, language) == found


def test_the_first_section_of_a_manual_page_asks_for_the_others(
    gather: Any, tmp_path: Path
) -> None:
    page = r"""
.TH LS 1
.SH NAME
ls \- list \fIcontents\fP of folders
.SH DESCRIPTION
.PP
.B ls
prints names, one per line if its output is no terminal, and with \-l also sizes and times.
"""
    with gzip.open(tmp_path / "ls.1.gz", "wt") as file:
        file.write(page)
    (pair,) = gather.manual_page(tmp_path / "ls.1.gz")
    assert pair.query == "list contents of folders"
    assert pair.title == "ls"
    assert "ls prints names" in pair.text
    assert "with -l also" in pair.text
