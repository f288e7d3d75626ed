"""index: documents, dispositions, inlinks → index. The full-text index that `serve` searches.

Reads documents, dispositions, inlinks, ranks, boilerplate, indexed, outer_boilerplate, gathered,
changes, and pages, responses and aliases of pages that leave the index; replaces index, indexed,
outer_boilerplate and gathered, and appends to changes.

The step `dedup` has decided which pages are indexed; the others are counted by reason.

    touched_pages.py  which pages may differ from what the index holds of them
    indexed_rows.py   … and of these, which are missing or outdated
    boilerplate.py    which of their lines are boilerplate
    pending_pages.py  what has to be written, page by page
    parts.py          the task that changes the parts of a shard
    changes/          what programs are told that follow the index

The engine reads and sorts only the pages that change. Then one task per shard changes its parts,
language by language (`index/format/analysis.py`). A hash of the URL determines a page's shard; the
most popular pages are a shard of their own.

Cost: what changed, and passes over the ranks, over the URLs of all documents, and over those of
`inlinks`. The text of pages that change is written to scratch and read again. A task holds
`index.memory_mb`, and a batch of rows of each of its files.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.index.step import run

__all__ = ["run"]


def __getattr__(name: str) -> Any:
    if name == "run":  # the engine takes long to import, and servers need only other modules
        return import_module(f"{__name__}.step").run
    raise AttributeError(name)
