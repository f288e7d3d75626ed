"""Parts of an index, opened as one index for each language, whatever shard they are from.

tantivy's index is a list of segments, each with its own terms and documents, and BM25 counts over
all of them. So the segments of several folders, listed in one `meta.json`, are one index, which
ranks as if its documents had never been apart; nothing is copied. Its folder, of links, is needed
only until tantivy has mapped the files.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gossamer.backends import disk_errors
from gossamer.errors import StoreError
from gossamer.index import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import tantivy

REMOVALS = 100
REMEDY = "build it again: gossamer index"


class Assembled(NamedTuple):
    """The index of a language. `held` documents are in its segments, the deleted ones too."""

    language: str
    searcher: tantivy.Searcher
    held: int


def assembled(folders: Iterable[Path]) -> list[Assembled]:
    """The folders of parts, each named for its language, as an index a language. Raises StoreError.

    Files may be deleted once they are opened.
    """
    spoken: dict[str, list[Path]] = defaultdict(list)
    for folder in sorted(folders):
        spoken[folder.name].append(folder)
    return [_joined(language, parts) for language, parts in sorted(spoken.items())]


def _joined(language: str, parts: Sequence[Path]) -> Assembled:
    metas = [_meta(part) for part in parts]
    held = sum(segment["max_doc"] for meta in metas for segment in meta["segments"])
    if len(parts) == 1:
        return Assembled(language, schema.open_index(parts[0]).searcher(), held)
    for part, meta in zip(parts, metas, strict=True):
        if meta["schema"] != metas[0]["schema"]:
            raise StoreError(part, "is of another version than its neighbours", REMEDY)
    segments = [segment for meta in metas for segment in meta["segments"]]
    with disk_errors(tempfile.gettempdir()), _temporary() as temporary:
        folder = temporary / language
        folder.mkdir()
        for part in parts:
            for file in part.iterdir():
                if not file.name.startswith((".", schema.META)):
                    (folder / file.name).symlink_to(file.absolute())
        (folder / schema.META).write_text(json.dumps({**metas[0], "segments": segments}))
        return Assembled(language, schema.open_index(folder).searcher(), held)


@contextmanager
def _temporary() -> Iterator[Path]:
    """A folder for a while. A thread of tantivy may still write its lock there as it is removed."""
    folder = Path(tempfile.mkdtemp(prefix="gossamer-"))
    try:
        yield folder
    finally:
        for _ in range(REMOVALS):
            if not folder.exists():
                break
            shutil.rmtree(folder, ignore_errors=True)


def _meta(part: Path) -> dict[str, Any]:
    try:
        meta: dict[str, Any] = json.loads((part / schema.META).read_bytes())
    except (OSError, ValueError) as error:
        raise StoreError(part, f"is damaged: {error}", REMEDY) from None
    return meta
