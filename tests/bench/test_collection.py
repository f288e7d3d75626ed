"""The documents of a bench's collection are what a crawl would store of them."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from gossamer.index.format.document_builder import build_document
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from types import ModuleType

ENGLISH = "The guide explains how the words of a page are found, and which pages come first."
LINKED = f'<!doctype html><title>Start</title><p><a href="/1">The guide</a> {ENGLISH}</p>'


def collection() -> ModuleType:
    path = ROOT / "bench" / "collection.py"
    spec = importlib.util.spec_from_file_location("bench_collection", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_documents_of_a_bench_are_indexed_through_html() -> None:
    documents = [
        {"id": "1", "url": "http://a.example/1", "title": "Guide & more", "text": ENGLISH},
        {"id": "2", "url": "http://a.example/2", "html": LINKED},
        {"id": "3", "title": "", "text": "x"},
    ]
    guide, start, without = rows = collection().rows(documents)
    assert (guide["title"], guide["headings"]) == ("Guide & more", ("Guide & more",))
    assert ENGLISH in guide["text"]
    assert guide["anchors"] == ["The guide"]
    assert (guide["host"], guide["index_language"]) == ("a.example", "en")
    assert (start["title"], start["anchors"]) == ("Start", [])
    assert without["url"] == "http://collection.example/3"
    assert guide["boilerplate"] in (None, "")
    assert (without["language"], without["index_language"]) == (None, "en")
    assert [build_document(row)["url"] for row in rows] == [[row["url"]] for row in rows]
