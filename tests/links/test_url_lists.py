"""The URLs of a graph's nodes: how a file of lines is read and normalised."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.links.graph import url_lists
from gossamer.links.graph.url_lists import BOM, LinesToNormalise, normalise_lines
from gossamer.storage import parquet
from gossamer.web.seed_lists import SHOWN_CHARS
from gossamer.web.urls import UrlRules

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.storage.task_output import Row


def pieces(path: Path) -> list[list[bytes]]:
    return [piece.to_pylist() for piece in url_lists._read_pieces(path)]


@given(st.lists(st.text("a\r ", max_size=5), max_size=9), st.integers(1, 9), st.booleans())
@example(["a" * 5], 2, True)
@example(["a", "b", "c"], 2, False)
def test_lines_are_the_same_however_the_file_is_cut(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int, ends: bool
) -> None:
    text = "\n".join(lines) + "\n" * ends
    path = tmp_path_factory.mktemp("urls") / "web.urls"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(url_lists, "PIECE_BYTES", size)
        found = pieces(path)
    assert all(found)
    assert [line.decode() for piece in found for line in piece] == re.findall(
        r"[^\n]*\n|[^\n]+", text
    )


@pytest.mark.parametrize("made", ["plain", "gzip", "zstd"])
def test_a_file_may_be_compressed(tmp_path: Path, made: str) -> None:
    path, text = tmp_path / "web.urls", b"http://a.org/\nhttp://b.org/\n"
    if made == "zstd":
        with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, "zstd") as out:
            out.write(text)
    else:
        path.write_bytes(gzip.compress(text) if made == "gzip" else text)
    assert pieces(path) == [[b"http://a.org/\n", b"http://b.org/\n"]]


@pytest.mark.parametrize("size", [3, 5, 100])
def test_a_byte_order_mark_is_no_part_of_the_first_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(url_lists, "PIECE_BYTES", size)
    path = tmp_path / "web.urls"
    path.write_bytes(BOM + b"a\n" + BOM + b"b\n" + BOM + b"c")
    lines = [line for piece in pieces(path) for line in piece]
    assert lines == [b"a\n", BOM + b"b\n", BOM + b"c"]


@pytest.mark.parametrize(("length", "is_too_long"), [(8, False), (9, True)])
def test_a_file_without_line_ends_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, is_too_long: bool
) -> None:
    monkeypatch.setattr(url_lists, "MAX_LINE_BYTES", 8)
    monkeypatch.setattr(url_lists, "PIECE_BYTES", 4)
    path = tmp_path / "web.urls"
    path.write_bytes(b"a\nb\n" + b"x" * length)
    if is_too_long:
        with pytest.raises(UsageError, match="line 3 is longer than a megabyte"):
            pieces(path)
    else:
        assert pieces(path)[-1] == [b"x" * length]


@pytest.mark.parametrize("made", ["missing", "folder", "damaged"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, made: str) -> None:
    path = tmp_path / "web.urls"
    if made == "folder":
        path.mkdir()
    elif made == "damaged":
        path.write_bytes(gzip.compress(b"http://a.org/\n" * 999)[:-20])
    with pytest.raises(UsageError, match=r"web\.urls: cannot be read: \S") as error:
        pieces(path)
    assert "--urls FILE" in error.value.remedy


def rows_of(made: list[Row], root: Path) -> list[dict[str, Any]]:
    (path,) = (row["path"] for row in made if row["path"])
    rows: list[dict[str, Any]] = parquet.read_table(f"{root}/{path}").to_pylist()
    return rows


def test_lines_are_normalised_and_keep_their_numbers(tmp_path: Path) -> None:
    odd = "x " * SHOWN_CHARS
    lines = [b"HTTP://A.org\n", b"no url\n", b"http://a.org/\xff\n", b"  http://b.org/%7E  \r\n"]
    lines.append(odd.encode())
    pq.write_table(pa.table({"line": lines}, url_lists.LINES), tmp_path / "lines.parquet")
    task = LinesToNormalise(str(tmp_path), "lines.parquet", 1_000, UrlRules(), "scratch")
    made = [*normalise_lines(task)]
    assert rows_of(made, tmp_path) == [
        {"number": 1_000, "url": "http://a.org/", "text": None},
        {"number": 1_001, "url": None, "text": "no url"},
        {"number": 1_002, "url": None, "text": "http://a.org/\N{REPLACEMENT CHARACTER}"},
        {"number": 1_003, "url": "http://b.org/~", "text": None},
        {"number": 1_004, "url": None, "text": odd[:SHOWN_CHARS]},
    ]
    assert [(row["name"], row["rows"]) for row in made] == [("scratch", 5), ("bad_lines", 3)]
    assert "/0000000001000-" in str(made[0]["path"]), "files are in the order of their lines"
