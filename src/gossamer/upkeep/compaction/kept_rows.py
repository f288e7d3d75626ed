"""Which rows of a dataset stay when its layers are merged?

All of the last rounds, and of older ones those that the current state of the crawl needs:

    documents   the newest of each page
    links       those of the newest answer of each page that has links
    responses   of each page the newest, the newest answer, and the newest with a body

A rule gets sorted rows, all that there are of each key: by key, and for each key by descending
rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from gossamer.links.current_links import ANSWERED
from gossamer.tables import DOCUMENTS, LINKS, RESPONSES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Rule = Callable[[pa.Table, Mask], Mask]


def newest(_rows: pa.Table, begins: Mask) -> Mask:
    """The newest row of each key. `begins`: whether a row is the first of its key."""
    return begins


def newest_round(rows: pa.Table, begins: Mask) -> Mask:
    """All rows of the newest round of each key."""
    rounds = rows["round"].to_numpy()
    first = np.maximum.accumulate(np.where(begins, np.arange(rounds.size), 0))
    found: Mask = rounds == rounds[first]
    return found


def newest_answers(rows: pa.Table, begins: Mask) -> Mask:
    """The newest row of each key, the newest answer, and the newest answer with a body."""
    found = begins.copy()
    keys = begins.cumsum()
    for outcomes in (ANSWERED, ("ok",)):
        is_one = np.isin(rows["outcome"].to_numpy(zero_copy_only=False), outcomes)
        places = np.flatnonzero(is_one)
        found[places[np.diff(keys[places], prepend=0) > 0]] = True
    return found


RULES: Mapping[str, tuple[str, Rule]] = {
    DOCUMENTS.name: ("url", newest),
    LINKS.name: ("src", newest_round),
    RESPONSES.name: ("url", newest_answers),
}
"""By dataset: the column by which it is sorted, and which of its rows are current."""


def mark_kept(dataset: str, rows: pa.Table, window: int) -> Mask:
    """Mark the rows that stay; those of rounds after `window` all do."""
    key, rule = RULES[dataset]
    recent: Mask = rows["round"].to_numpy() > window
    return recent | rule(rows, begins_of(rows[key]))


def begins_of(keys: pa.ChunkedArray) -> Mask:
    """Whether each key differs from the one before."""
    found = np.ones(len(keys), bool)
    if len(keys) > 1:
        found[1:] = pc.not_equal(keys[1:], keys[:-1]).to_numpy()
    return found
