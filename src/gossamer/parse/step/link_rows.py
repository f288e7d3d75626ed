"""Rows of links that wait to be written, by column: a page may have thousands.

What all links of a source have in common is kept once per source, and repeated by Arrow.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.parse.parsed_page import Link
from gossamer.tables import LINKS

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLUMN_OF_FIELD = {"dated": "dated_ms"}
_OF_LINKS = tuple(_COLUMN_OF_FIELD.get(field, field) for field in Link._fields)
"""The columns that are made of the fields of a link, in their order."""


class Origin(NamedTuple):
    """The columns that all links of a source have in common."""

    round: int
    src: str
    depth: int
    hops: int
    first: bool


class LinkRows:
    """Rows of links. Invariant: `_counts` has the number of links of each of `_origins`."""

    def __init__(self) -> None:
        self._origins: list[Origin] = []
        self._counts: list[int] = []
        self._columns: tuple[list[Any], ...] = tuple([] for _ in _OF_LINKS)

    def add(self, origin: Origin, columns: Sequence[Sequence[Any]]) -> None:
        """Add links, at least one, given by column, in the order of the fields of `Link`."""
        self._origins.append(origin)
        self._counts.append(len(columns[0]))
        for column, values in zip(self._columns, columns, strict=True):
            column.extend(values)

    def take(self) -> pa.Table:
        """Return all rows, of which none is left then."""
        schema = LINKS.schema
        common = zip(Origin._fields, zip(*self._origins, strict=True), strict=True)
        ends = pa.array(accumulate(self._counts), pa.int32())
        arrays = {
            name: _repeated(pa.array(values, schema.field(name).type), ends)
            for name, values in common
        }
        arrays |= {
            name: pa.array(column, schema.field(name).type)
            for name, column in zip(_OF_LINKS, self._columns, strict=True)
        }
        self._origins.clear()
        self._counts.clear()
        for column in self._columns:
            column.clear()
        return pa.Table.from_arrays([arrays[name] for name in schema.names], schema=schema)

    def __bool__(self) -> bool:
        return bool(self._origins)


def _repeated(values: pa.Array, ends: pa.Array) -> pa.Array:
    """Each value up to the row where it ends."""
    return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends, values))
