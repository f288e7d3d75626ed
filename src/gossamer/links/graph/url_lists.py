"""The URLs of the nodes of a graph: a text file, whose line n (from 0) is the URL of node n.

The file may be compressed with gzip or zstd. It is cut into pieces of PIECE_BYTES, whose lines are
normalised by tasks, as those of links are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.errors import UsageError
from gossamer.storage import parquet, task_output
from gossamer.storage.task_output import ParquetWriter
from gossamer.web.seed_lists import GZIP_MAGIC, MAX_LINE_BYTES, SHOWN_CHARS, BadLine
from gossamer.web.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.web.urls import UrlRules

PIECE_BYTES = 1 << 23
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
NEWLINE = 10
BOM = b"\xef\xbb\xbf"
LINES = pa.schema([("line", pa.large_binary())])
NORMAL = pa.schema([("number", pa.int64()), ("url", pa.string()), ("text", pa.string())])
NORMAL_DDL = "number long, url string, text string"
REPORTED = 20
"""Invalid lines that are reported; a file of something else may have millions."""


class UrlList(NamedTuple):
    """The lines of a file: number, url (null if the line is invalid), text (if it is invalid)."""

    rows: DataFrame
    paths: list[str]
    """The files of these rows, each with consecutive lines, in their order."""
    bad_lines: int


@dataclass(frozen=True)
class LinesToNormalise:
    """A task: normalise lines, of which `first` is the number of the first one."""

    root: str
    path: str
    first: int
    rules: UrlRules
    scratch: str


def read_url_list(work: Workspace, path: Path, nodes: int) -> UrlList:
    """Read and normalise the URLs of a graph.

    Raises UsageError if the file cannot be read, or has not one line per node.
    """
    scratch = work.scratch_attempt()
    pieces: list[LinesToNormalise] = []
    count = 0
    for lines in _read_pieces(path):
        if count + len(lines) > nodes:
            raise _wrong_number_error(path, f"more than {nodes:,}", nodes)
        writer = ParquetWriter(work.root, "scratch", scratch, schema=LINES)
        writer.write(pa.table({"line": lines}))
        ((file,),) = (layer.files for layer in task_output.layers_of(writer.close(), 0).values())
        pieces.append(LinesToNormalise(work.root, file.path, count, work.config.urls, scratch))
        count += len(lines)
    if count != nodes:
        raise _wrong_number_error(path, f"{count:,}", nodes)
    made = work.engine.map_tasks(pieces, normalise_lines, task_output.YIELD, task_output.YIELD_DDL)
    files = [f"{work.root}/{path}" for path in sorted(row["path"] for row in made if row["path"])]
    bad_lines = task_output.counts_of(made)["bad_lines"]
    return UrlList(work.engine.read(files, NORMAL_DDL), files, bad_lines)


def bad_lines(found: UrlList, path: Path) -> list[BadLine]:
    """The first invalid lines, at most REPORTED."""
    rows = found.rows.where(F.col("url").isNull()).orderBy("number").limit(REPORTED).collect()
    why = "not a URL that can be crawled"
    return [BadLine(str(path), row["number"] + 1, row["text"], why) for row in rows]


def normalise_lines(task: LinesToNormalise) -> Iterator[task_output.Row]:
    lines = parquet.read_table(f"{task.root}/{task.path}").column("line").to_pylist()
    texts = [line.decode("utf-8", "replace").strip() for line in lines]
    urls = [
        normalize(text, None, task.rules) if _is_utf8(line) else None
        for line, text in zip(lines, texts, strict=True)
    ]
    invalid = [
        text[:SHOWN_CHARS] if url is None else None for text, url in zip(texts, urls, strict=True)
    ]
    numbers = np.arange(task.first, task.first + len(urls))
    name = f"{task.first:013}-"  # files are in the order of their lines
    writer = ParquetWriter(task.root, "scratch", task.scratch, name=name, schema=NORMAL)
    writer.write(pa.table({"number": numbers, "url": urls, "text": invalid}, NORMAL))
    yield from writer.close()
    yield from task_output.count_rows({"bad_lines": urls.count(None)})


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read_pieces(path: Path) -> Iterator[pa.LargeBinaryArray]:
    """The lines of a file, with their ends, about PIECE_BYTES at a time."""
    try:
        with path.open("rb") as file:
            magic = file.peek(len(ZSTD_MAGIC))[: len(ZSTD_MAGIC)]
            codec = {GZIP_MAGIC: "gzip", ZSTD_MAGIC[:2]: "zstd"}.get(magic[:2])
            opened = pa.PythonFile(file, "r")
            yield from _read_lines(
                pa.CompressedInputStream(opened, codec) if codec else opened, path
            )
    except (OSError, pa.ArrowException) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        remedy = "give a text file with a URL per line: --urls FILE"
        raise UsageError(path, f"cannot be read: {why.strip()}", remedy) from None


def _read_lines(file: pa.NativeFile, path: Path) -> Iterator[pa.LargeBinaryArray]:
    rest, count = b"", 0
    while data := file.read(PIECE_BYTES):
        rest += data if count or rest else data.removeprefix(BOM)
        end = rest.rfind(b"\n") + 1
        if end:
            lines = _split_lines(rest[:end])
            yield lines
            count += len(lines)
            rest = rest[end:]
        if len(rest) > MAX_LINE_BYTES:
            what = f"line {count + 1:,} is longer than a megabyte"
            raise UsageError(path, what, "give a text file with a URL per line: --urls FILE")
    if rest:
        yield pa.array([rest], pa.large_binary())


def _split_lines(text: bytes) -> pa.LargeBinaryArray:
    """Lines, each with its end."""
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == NEWLINE) + 1
    buffers = [None, pa.py_buffer(np.append(0, ends)), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_binary(), ends.size, buffers)


def _wrong_number_error(path: Path, lines: str, nodes: int) -> UsageError:
    return UsageError(
        path,
        f"has {lines} lines, and the graph {nodes:,} nodes",
        "give the URLs of this graph, one per line: --urls FILE",
    )
