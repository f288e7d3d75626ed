"""dedup: documents, pages, ranks → dispositions. Which page stands for those with its content?

    step.py                the step: find the changes, follow them, decide, save
    disposition_layers.py  what is known about each document
    changed_documents.py   which documents have changed, and which of them can be found at all
    affected_pages.py      which pages are decided again
    decisions.py           which pages are dropped, and which survives in the end
    versions.py            the newest version of a manual stands for the older ones
    mirrors.py             which hosts are mirrors of another
    equal_texts.py         one page stands for all with an equal text
    near_duplicates.py     … and for those with nearly the same text
    similar_texts.py       which texts are similar: compared once, and remembered
    connected_texts.py     which texts are connected by similar pairs
    hash_filter.py         which of many hashes are among some
    lsh_bands.py           which texts may be similar: those whose sketches agree in a band
    sketch_estimates.py    how similar two documents are, by their sketches
    shingle_comparison.py  … and by all their words
    survivors.py           the rule by which one of several pages survives
    disposition_rows.py    the rows of dispositions, and the number of dropped ones by reason

Reads documents, own_texts, pages, ranks, host_ranks, host_sizes and what it wrote before; of the
first three, only what is new since the last harvest (gossamer.state.unread). It replaces mirrors,
shared_places and judged, and adds to dispositions, sketched, similar and shingled. Each page that
is dropped names the page that survives in its place, the reason and the similarity. A change is
followed to all pages that are connected to it, so the next best page takes the place of a survivor
that is gone or has changed.

Cost: in proportion to what has changed and what is connected to it, and passes over hashes of all
documents. Texts are compared once (similar_texts.py).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.dedup.step import run

__all__ = ["run"]


def __getattr__(name: str) -> Any:
    if name == "run":  # the engine takes long to import, and servers need only other modules
        return import_module(f"{__name__}.step").run
    raise AttributeError(name)
