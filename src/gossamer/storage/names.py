"""The paths of files that Gossamer writes into a crawl's folder.

Garbage collection deletes a file only if its whole path has one of these forms, and a crawl is only
created in a folder without other files. Code that writes files with a new kind of name must add it
here; tests/storage/test_damage.py compares the forms with the files of a real crawl.
"""

from __future__ import annotations

import re
import uuid
from typing import Final

from gossamer.tables import DATASETS

CONFIG_NAME = "gossamer.toml"
SCRATCH = "scratch"
MANIFESTS = "manifest"
"""The folder of the manifests and their listings."""
HISTORY = "history"
"""The name of the reports of steps among the stacks of the manifest."""
OWNER_MARK = ".gossamer-crawl"
"""The file in a linked dataset folder that names the crawl to which the folder belongs."""
FOLDERS: Final = (*DATASETS, SCRATCH)
"""The folders in which steps write their attempts."""

_HEX32 = "[0-9a-f]{32}"
_ATTEMPT = r"\d{8,}-[0-9a-f]{8}/"
_UUID = "-".join(f"[0-9a-f]{{{length}}}" for length in (8, 4, 4, 4, 12))
_PARQUET = (
    rf"(?:\d{{4,}}-)?(?:of-\d{{4,}}-)?{_HEX32}\.parquet",  # our task_output.py
    # Sail; no number below `partitionBy`, and `..parquet` without compression. `#1` is the name of
    # the file until it is whole.
    r"[0-9A-Za-z]{16}(?:_\d+)?(?:\.(?:zst)?)?\.parquet(?:#\d+)?",
    rf"\.?part-\d{{5,}}-{_UUID}[.-]c\d{{3,}}(?:\.\w+)?\.parquet(?:\.crc)?",  # Spark, its checksums
    r"_SUCCESS",
    r"\._SUCCESS\.crc",
)
_ENGINE_FOLDERS = r"(?:_temporary/(?:[\w.-]+/)*)?(?:[a-z]+=[^/]*/)*"
"""Spark's temporary folders, and those of `partitionBy`."""
_ROWS = rf"{_ENGINE_FOLDERS}(?:{'|'.join(_PARQUET)})"
_TANTIVY = (
    rf"{_HEX32}(?:\.\d+)?\.[a-z]+",  # a segment's file; that of its deleted documents is numbered
    r"meta\.json",
    r"\.managed\.json",
    r"\.tantivy-(?:writer|meta)\.lock",
    r"\.tmp\w{6}",  # a draft of the two JSON files
)
_INDEX = rf"\d{{4,}}\.\d+-[0-9a-f]{{8}}/[a-z]{{2,3}}/(?:{'|'.join(_TANTIVY)})"
_VECTORS = r"\d{4,}\.[0-9a-f]{16}-[0-9a-f]{8}/[a-z]{2,3}/\d{8,}\.vec"
_WARC = rf"{_HEX32}\.(?:warc\.gz|cdxj)"
_BVGRAPH = r"\.(?:graph|offsets|properties)"
_GRAPH = (
    rf"(?:page|host)s(?:-t)?(?:{_BVGRAPH}|\.npy)|(?:page|host|hosts-links)-\d{{4,}}-{_HEX32}\.parquet"
    rf"|recent-page-{_HEX32}\.parquet"
    r"|(?:covered|imported)\.json|\.(?:covered|imported)\.json\.[0-9a-f]{8}"
)
_OTHER = {
    "warc": _WARC,
    "index": _INDEX,
    "vectors": _VECTORS,
    "graph": _GRAPH,
    "ranked_nodes": r"nodes\.msgpack|\.nodes\.msgpack\.[0-9a-f]{8}",
    SCRATCH: rf"{_ROWS}|\d{{4,}}(?:(?:-{_HEX32})?{_BVGRAPH}|\.npy)"
    rf"|[a-z]+-\d{{6,}}-{_HEX32}\.(?:npy|arrow)"
    rf"|closed-{_HEX32}\.(?:json|\d+\.draft)|over",  # what a fetch hands over to `parse`
}

_MANIFEST = re.compile(r"manifest/(\d{8,})\.json")
_LISTING = rf"(?:{'|'.join((*DATASETS, HISTORY))})-\d{{8,}}-[0-9a-f]{{8}}(?:\.double)?"
_COLLECTED = re.compile(
    "|".join(
        (
            _MANIFEST.pattern,
            rf"manifest/{_LISTING}\.json",
            rf"manifest/\.(?:\d{{8,}}|{_LISTING})\.json\.[0-9a-f]{{8}}",  # a draft
            *(f"{folder}/{_ATTEMPT}(?:{_OTHER.get(folder, _ROWS)})" for folder in FOLDERS),
        )
    )
)
_OF_INIT = re.compile(
    rf"{re.escape(CONFIG_NAME)}|\.{re.escape(CONFIG_NAME)}\.[0-9a-f]{{8}}|\.lock"
    r"|manifest/\.\d{8,}\.json\.[0-9a-f]{8}|\.probe-[0-9a-f]{32}"
)
_NUMBERED = re.compile(r"[/.-](\d{8,})")
_NEWS = re.compile(
    r"lock/(?:\d{8,}\.(?:json|beat|ended)|now-[0-9a-f]{32})"
    r"|\.stop|\.pause|\.waiting(?:\.\d+\.draft)?|heartbeats/[a-z]+-\d+\.(?:json|\d+\.draft)"
    r"|\.fetching/(?:run\.(?:json|\d+\.draft)|[0-9a-f]{32}\.\d+\.\d+)"
)

_REBUILT = ("invert", "farms", "rank", "boilerplate", "dedup", "index", "embed", "postings")
_REWRITES = {
    **{
        dataset.name: f"gossamer {dataset.writer}"
        for dataset in DATASETS.values()
        if dataset.writer in _REBUILT
    },
    "documents": "gossamer reparse",
    "graph": "gossamer graph build",
    "centrality": "gossamer graph centrality",
}
"""Commands that write a dataset without reading its old contents."""


def version_of(path: str) -> int | None:
    """The version of the manifest at a path; None if it is not the path of a manifest."""
    found = _MANIFEST.fullmatch(path)
    return int(found[1]) if found else None


def version_in(path: str) -> int:
    """The version that a file was to be committed by, or that a manifest has."""
    found = _NUMBERED.search(path)
    return int(found[1]) if found else 0


def manifest_path(version: int) -> str:
    return f"manifest/{version:08d}.json"


def new_listing_path(stack: str, version: int) -> str:
    """A path for a listing of a stack that the manifest of this version is going to name.

    `stack` is the name of a dataset, or HISTORY.
    """
    return f"manifest/{stack}-{version:08d}-{uuid.uuid4().hex[:8]}.json"


def listing_double(path: str) -> str:
    """The path of the second file with the bytes of a listing."""
    return f"{path.removesuffix('.json')}.double.json"


def is_collected(path: str) -> bool:
    """Whether garbage collection may delete a file, provided that no manifest names it."""
    return _COLLECTED.fullmatch(path) is not None


def is_of_init(path: str) -> bool:
    """Whether `gossamer init` creates such a file before the first manifest."""
    return _OF_INIT.fullmatch(path) is not None


def is_made_here(path: str) -> bool:
    """Whether Gossamer creates such a file in a crawl's folder."""
    return is_collected(path) or is_of_init(path) or _NEWS.fullmatch(path) is not None


def rewriter_of(path: str) -> str | None:
    """The command that writes a file's dataset again from other datasets, if there is one."""
    return _REWRITES.get(path.partition("/")[0])
