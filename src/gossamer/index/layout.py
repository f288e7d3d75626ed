"""How the parts of an index lie in the crawl: which folder is which shard's, and which language's.

A part is a folder `index/<attempt>/<shard>.<format>-<random>/<language>/`. Shards are numbered from
1; a page's URL says which. The shard FIRST is no such: it holds the most popular pages, those that
most people mean, and is searched before the others ("tiers": Risvik, Aasheim and Lidal, "Multi-tier
architecture for web search engines", LA-WEB 2003). An index of few pages has none.
"""

from __future__ import annotations

import re
import uuid
from pathlib import PurePath

from gossamer.index import schema

FIRST = 0
_SHARD = re.compile(rf"(\d+)\.{schema.FORMAT}-[0-9a-f]+")

Key = tuple[int, str]
"""Of a part: its shard and language."""


def shard_folder(number: int) -> str:
    """A new name for the folder of a shard."""
    return f"{number:04d}.{schema.FORMAT}-{uuid.uuid4().hex[:8]}"


def shard_of(folder: PurePath) -> int | None:
    """Whose a part's folder is. None: it is of another format."""
    found = _SHARD.fullmatch(folder.parent.name)
    return int(found[1]) if found else None


def key_of(path: str | PurePath) -> Key | None:
    """The part that a file is of, by its path. None: it is of another format."""
    folder = PurePath(path).parent
    shard = shard_of(folder)
    return None if shard is None else (shard, folder.name)
