"""Parts of the index, opened as one tantivy index per language, across shards.

A tantivy index is a list of segments, each with its own terms and documents, and BM25 counts over
all of them. So the segments of several folders, listed in one `meta.json`, are one index, which
ranks as if its documents had never been apart. Nothing is copied: its folder holds symbolic links,
which are needed only until tantivy has mapped the files. Tantivy locks an index that it opens, by a
file in its folder, so the folder of the links also makes an index readable where nothing can be
written.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gossamer.errors import StoreError
from gossamer.index.format import schema
from gossamer.storage.errors import disk_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import tantivy

MAX_REMOVALS = 100
"""Attempts to remove a temporary folder: see `_temporary_index`."""
REMEDY = "build it again: gossamer index"


class LanguageIndex(NamedTuple):
    """The index of a language. `documents`: in its segments, including deleted ones."""

    language: str
    searcher: tantivy.Searcher
    documents: int


def open_languages(folders: Iterable[Path]) -> list[LanguageIndex]:
    """Open folders of parts, each named for its language, as one index per language.

    Documents are numbered in the order of the folders, so processes that open the same parts in the
    same order can exchange these numbers. Their files may be deleted afterwards. Raises StoreError.
    """
    by_language: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        by_language[folder.name].append(folder)
    return [_join_parts(language, parts) for language, parts in sorted(by_language.items())]


def _join_parts(language: str, parts: Sequence[Path]) -> LanguageIndex:
    metas = [_index_meta(part) for part in parts]
    held = sum(segment["max_doc"] for meta in metas for segment in meta["segments"])
    for part, meta in zip(parts, metas, strict=True):
        if meta["schema"] != metas[0]["schema"]:
            raise StoreError(part, "was written by another version than the other parts", REMEDY)
    segments = [segment for meta in metas for segment in meta["segments"]]
    with disk_errors(tempfile.gettempdir()), _temporary_index() as temporary:
        folder = temporary / language
        folder.mkdir()
        for part in parts:
            for file in part.iterdir():
                if not file.name.startswith((".", schema.META)):
                    (folder / file.name).symlink_to(file.absolute())
        (folder / schema.META).write_text(json.dumps({**metas[0], "segments": segments}))
        return LanguageIndex(language, _open_searcher(folder, parts), held)


def _open_searcher(folder: Path, parts: Sequence[Path]) -> tantivy.Searcher:
    """Open the index of these parts. Raises StoreError about them if tantivy cannot read it."""
    named = parts[0] if len(parts) == 1 else parts[0].parent
    try:
        return schema.open_index(folder).searcher()
    except (KeyboardInterrupt, SystemExit):
        raise
    except StoreError as error:
        raise StoreError(named, error.what, error.remedy) from None
    except BaseException as error:  # noqa: BLE001  # a panic in tantivy is not an Exception
        raise StoreError(named, f"is damaged: {error}", REMEDY) from None


@contextmanager
def _temporary_index() -> Iterator[Path]:
    """A temporary folder. A thread of tantivy may still write a lock file while it is removed."""
    folder = Path(tempfile.mkdtemp(prefix="gossamer-"))
    try:
        yield folder
    finally:
        for _ in range(MAX_REMOVALS):
            if not folder.exists():
                break
            shutil.rmtree(folder, ignore_errors=True)


def _index_meta(part: Path) -> dict[str, Any]:
    try:
        meta: dict[str, Any] = json.loads((part / schema.META).read_bytes())
    except (OSError, ValueError) as error:
        raise StoreError(part, f"is damaged: {error}", REMEDY) from None
    return meta
