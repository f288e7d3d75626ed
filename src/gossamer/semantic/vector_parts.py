"""The files of vectors: several segments per part of the index, each newer than the one before.

A part is a shard and a language, as in the full-text index (`index/format/layout.py`), so a search
process that holds a shard holds its vectors. The name of a segment is

    vectors/<attempt>/<shard>.<digest>-<random>/<language>/<number>.vec

where the digest is that of the model and its settings, and a newer segment has a higher number.
"""

from __future__ import annotations

import re
import uuid
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.index.format.layout import Key
    from gossamer.storage.store import File

_PLACE = re.compile(r"(\d+)\.([0-9a-f]{16})-[0-9a-f]+")
_SEGMENT = re.compile(r"(\d+)\.vec")


def shard_folder(shard: int, digest: str) -> str:
    """A new name for a folder of a shard."""
    return f"{shard:04d}.{digest}-{uuid.uuid4().hex[:8]}"


def segment_name(number: int) -> str:
    return f"{number:08d}.vec"


def segment_number(file: File) -> int:
    """The number of a segment among those of its part."""
    found = _SEGMENT.fullmatch(PurePath(file.path).name)
    return int(found[1]) if found else 0


def group_by_part(files: Iterable[File], digest: str) -> dict[Key, list[File]]:
    """The segments of each part, oldest first. Those of another model are left out."""
    parts: dict[Key, list[File]] = {}
    for file in files:
        folder = PurePath(file.path).parent
        place = _PLACE.fullmatch(folder.parent.name)
        if place and place[2] == digest:
            parts.setdefault((int(place[1]), folder.name), []).append(file)
    return {key: sorted(found, key=segment_number) for key, found in parts.items()}
