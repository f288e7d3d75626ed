"""Searching in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from typer.testing import CliRunner

from gossamer.cli import app
from gossamer.errors import StoreError
from gossamer.search.results import Results
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from pathlib import Path


def test_no_index_is_an_error_and_no_results_are_not(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    ended = CliRunner().invoke(app, ["search", str(tmp_path), "rose"])
    assert isinstance(ended.exception, StoreError)
    assert ended.exception.remedy.endswith(f"gossamer crawl {tmp_path} URL...")
    put_index(work, [{"url": "http://a.example/", "title": "Garden", "text": "A rose."}])
    assert "0 results" in CliRunner().invoke(app, ["search", str(tmp_path), "tulip"]).output


@pytest.mark.parametrize("words", [["red", "rose"], ["red rose"]])
def test_words_of_the_command_line_are_one_query(tmp_path: Path, words: list[str]) -> None:
    pages = [
        {"url": f"http://a.example/{colour}", "text": f"a {colour} rose"}
        for colour in ("red", "white")
    ]
    put_index(crawl(tmp_path), pages)
    ended = CliRunner().invoke(app, ["search", str(tmp_path), *words, "--json"])
    results = msgspec.json.decode(ended.output, type=Results)
    whole = [hit.url for hit in results.hits if not hit.partial]
    assert whole == ["http://a.example/red"]
