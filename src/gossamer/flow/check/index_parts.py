"""Does the index hold the documents that `indexed` lists, and no others?

A part of the index is compared as a whole: the sorted hashes of the URLs of its live documents with
those of the URLs that `indexed` lists for it.
"""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import tantivy

from gossamer.errors import StoreError
from gossamer.flow.check.finding import Finding
from gossamer.index.format.layout import part_key
from gossamer.index.format.page_keys import HOST_BITS, page_key
from gossamer.search.open_parts import open_languages
from gossamer.storage import local_copies, parquet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from gossamer.index.format.layout import Key
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File

DIFFERENCE = pa.schema([("part", pa.string()), ("missing", pa.int64()), ("surplus", pa.int64())])
DIFFERENCE_DDL = "part string, missing long, surplus long"


class Part(NamedTuple):
    """A part of the index, or what should be one."""

    key: Key
    root: str
    files: tuple[File, ...]


def differing(work: Workspace) -> Iterator[Finding]:
    """The parts of the index that do not hold what `indexed` lists.

    A search refuses an index of another version, and the next harvest builds it again.
    """
    held: dict[Key, list[File]] = {}
    outdated = []
    for file in work.store.listed("index"):
        if (key := part_key(file.path)) is not None:
            held.setdefault(key, []).append(file)
        else:
            outdated.append(file.path)
    if outdated:
        what = "files have the format of another version (build it again: gossamer index)"
        yield Finding("index", what, len(outdated), outdated[0])
        return
    rows = work.read("indexed").select("shard", "index_language").distinct().collect()
    keys = sorted(held.keys() | {(row.shard, row.index_language) for row in rows})
    parts = [Part(key, work.root, tuple(held.get(key, ()))) for key in keys]
    compare = partial(_difference, tuple(work.paths("indexed")))
    for row in work.engine.map_tasks(parts, compare, DIFFERENCE, DIFFERENCE_DDL):
        for column in ("missing", "surplus"):
            if row[column]:
                yield Finding("index", f"documents are {column}", row[column], row["part"])


def _difference(indexed: tuple[str, ...], part: Part) -> Iterator[dict[str, str | int]]:
    shard, language = part.key
    ours = (pc.field("shard") == shard) & (pc.field("index_language") == language)
    rows = parquet.read_table(list(indexed), columns=["url"], filters=ours)
    listed = _sort_keys([page_key(url, "") for url in rows.column("url").to_pylist()])
    held = _sort_keys(_keys(part) if part.files else [])
    name = f"{part.root}/{PurePosixPath(part.files[0].path).parent}" if part.files else None
    yield {
        "part": name or f"shard {shard}, language {language}",
        "missing": len(np.setdiff1d(listed, held)),
        "surplus": len(held) - len(np.intersect1d(listed, held)),
    }


def _sort_keys(keys: Iterable[Any]) -> NDArray[np.int64]:
    return np.sort(np.fromiter(keys, np.int64) >> HOST_BITS)


def _keys(part: Part) -> Sequence[Any]:
    """The keys of the live documents of a part; none if tantivy cannot read it."""
    try:
        with local_copies.local_folder(part.root, part.files) as folder:
            (index,) = open_languages([folder])
        searcher = index.searcher
        hits = searcher.search(tantivy.Query.all_query(), searcher.num_docs).hits
        return searcher.fast_field_values("key", [address for _, address in hits])
    except (StoreError, ValueError):
        return []
