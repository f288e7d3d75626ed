"""Tables while a query is run: named columns of Arrow, and some rows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from gossamer.engine.small import keys
from gossamer.engine.small.limits import Unsupported, check_rows
from gossamer.engine.small.types import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np


class Deferred:
    """Values that are made when they are asked for, as those of most columns never are.

    Most joins are followed by a projection that drops columns, a lambda over the items of a list
    needs few of the columns of its rows, and a query reads few columns of a file.
    """

    def __init__(self, kind: pa.DataType, make: Callable[[], pa.Array]) -> None:
        self.type = kind
        self._make = make

    @cached_property
    def values(self) -> pa.Array:
        return self._make()


@dataclass(frozen=True)
class Column:
    name: str
    source: pa.Array | Deferred
    qualifier: str = ""
    """The alias of its table."""

    @property
    def values(self) -> pa.Array:
        return self.source.values if isinstance(self.source, Deferred) else self.source

    def choose(self, choose: Callable[[pa.Array], pa.Array]) -> Column:
        source = Deferred(self.source.type, lambda: choose(self.values))
        return Column(self.name, source, self.qualifier)


@dataclass(frozen=True)
class Frame:
    columns: tuple[Column, ...]
    rows: int
    parts: tuple[tuple[str, ...], int] = ((), 1)
    """The columns by which rows were dealt to partitions last, and how many there are."""

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(each.name, plain(each.source.type)) for each in self.columns])

    def table(self) -> pa.Table:
        schema = self.schema
        arrays = [
            each.values if each.values.type.equals(kind) else each.values.cast(kind)
            for each, kind in zip(self.columns, schema.types, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def find(self, name: str) -> Column:
        """The column of a name, which may have the alias of its table before it.

        Raises Unsupported if there is none, or several: these are errors of the server.
        """
        found = self._named.get(name, ())
        if len(found) != 1:
            raise Unsupported(f"{len(found)} columns of the name {name}")
        return found[0]

    @cached_property
    def _named(self) -> Mapping[str, Sequence[Column]]:
        """The columns of each name, with and without the alias of their table."""
        found: defaultdict[str, list[Column]] = defaultdict(list)
        for each in self.columns:
            for name in {
                each.name,
                f"{each.qualifier}.{each.name}" if each.qualifier else each.name,
            }:
                found[name].append(each)
        return found

    def values(self, names: Iterable[str]) -> list[pa.Array]:
        return [self.find(name).values for name in names]

    def take(self, places: np.ndarray, most: int | None = None) -> Frame:
        """The rows at these places; -1 stands for a row of NULLs. `most`: as of `check_rows`."""
        rows, indices = check_rows(len(places), most), keys.indices_at(places)
        return self._choose(lambda values: values.take(indices), rows)

    def filter(self, mask: pa.Array) -> Frame:
        """The rows where the mask is true, not NULL."""
        return self._choose(lambda values: values.filter(mask), mask.true_count)

    def slice(self, begin: int, count: int) -> Frame:
        rows = max(min(count, self.rows - begin), 0)
        return self._choose(lambda values: values.slice(begin, count), rows)

    def _choose(self, choose: Callable[[pa.Array], pa.Array], rows: int) -> Frame:
        return Frame(tuple(each.choose(choose) for each in self.columns), rows, self.parts)

    def with_columns(self, columns: Sequence[Column]) -> Frame:
        return Frame(tuple(columns), self.rows, self.parts)


def of_table(table: pa.Table) -> Frame:
    """The frame of a table."""
    columns = (
        Column(name, one_array(column))
        for name, column in zip(table.column_names, table.columns, strict=True)
    )
    return Frame(tuple(columns), check_rows(table.num_rows))


def one_array(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)


def no_rows(schema: pa.Schema) -> Frame:
    return Frame(tuple(Column(each.name, pa.array([], each.type)) for each in schema), 0)
