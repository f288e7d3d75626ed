"""The folders of the index: one per part, named for shard and language.

A part is a folder `index/<attempt>/<shard>.<format>-<random>/<language>/`. Shards are numbered from
1, and a hash of a page's URL determines its shard. The shard FIRST is different: it is the first
tier, which holds the most popular pages and is searched before the others (Risvik, Aasheim and
Lidal, "Multi-tier architecture for web search engines", LA-WEB 2003). A small index has none.
"""

from __future__ import annotations

import re
import uuid
from pathlib import PurePath

from gossamer.index.format import schema

FIRST = 0
"""The number of the first tier."""
_SHARD = re.compile(rf"(\d+)\.{schema.FORMAT}-[0-9a-f]+")

Key = tuple[int, str]
"""A part: its shard and language."""


def shard_folder(number: int) -> str:
    """A new name for the folder of a shard."""
    return f"{number:04d}.{schema.FORMAT}-{uuid.uuid4().hex[:8]}"


def shard_of(folder: PurePath) -> int | None:
    """The shard of a part's folder; None if it has another format."""
    found = _SHARD.fullmatch(folder.parent.name)
    return int(found[1]) if found else None


def part_key(path: str | PurePath) -> Key | None:
    """The part to which a file belongs, by its path; None if it has another format."""
    folder = PurePath(path).parent
    shard = shard_of(folder)
    return None if shard is None else (shard, folder.name)
