"""Reads the changes after a cursor, without the engine.

Readers follow the order of `harvest` and `place`. Files are sorted by it, so a row group holds a
short range, which its statistics name; correctness does not depend on that. A reader who is up to
date opens only the newest layer.
"""

from __future__ import annotations

import threading
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.errors import ForgottenChanges
from gossamer.index.changes.cursor import AGAIN, END, Cursor, decode_cursor, encode_cursor
from gossamer.state.lookup import open_checked
from gossamer.storage import parquet
from gossamer.tables import CHANGES, FORGOTTEN_CHANGES
from gossamer.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow.parquet as pq

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File, Manifest

Position = tuple[int, int]
_ORDER = ("harvest", "place")
_COLUMNS = ("harvest", "place", "url", "change", "other", "reason", "round", "at_ms")
NOW = "now"
"""In place of a cursor: only what comes from now on."""
MAX_LOOKED_AT, FEWEST_ROWS = 20_000, 2_000
"""Changes that one call looks at, and those read together, if only those of a site are wanted."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change of the index: of the page `url`, in the harvest that took place at `at_ms`.

    `change`: `added`, `changed`, or how it left: `moved` to the page `other`, `duplicate` of the
    page `other`, or `gone`. `reason`: why it is a duplicate (docs/datasets.md, dispositions), or
    the outcome of the last fetch of a page that is gone.
    """

    url: str
    change: str
    at_ms: int
    other: str | None = None
    reason: str | None = None
    round: int | None = None


class Changes(msgspec.Struct, frozen=True):
    """Changes in their order. `cursor`: what to give to get those after them.

    `more`: whether there are further ones at this moment.
    """

    changes: list[Change]
    cursor: str
    more: bool


class Placed(NamedTuple):
    """A change, and the cursor of a reader who has it and all before it."""

    change: Change
    cursor: Cursor


class _Group(NamedTuple):
    """A row group: the range of its positions, its file, and its number in the file."""

    low: Position
    high: Position
    path: str
    number: int


class _State(NamedTuple):
    """What one state of the crawl has. `newest`: the last harvest that has changed anything, or 0.

    `forgotten`: the last harvest of which changes may be missing, or 0.
    """

    groups: list[_Group]
    newest: int
    forgotten: int


class ChangeLog:
    """The changes of a crawl, as the store last read it. Safe to use from several threads.

    Each method reads one state of the crawl, even if the store reads a newer one meanwhile. What is
    known of a file stays true, as files never change.
    """

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._known: dict[str, list[_Group]] = {}
        self._guard = threading.Lock()

    def beginning(self) -> Cursor:
        """The cursor of a reader who has nothing."""
        return Cursor(began=self._state().forgotten)

    def end(self) -> Cursor:
        """The cursor of a reader who wants only what comes from now on."""
        state = self._state()
        return Cursor(state.newest, END, state.forgotten)

    def read(self, after: Cursor, count: int, site: str = "") -> tuple[list[Placed], Cursor]:
        """About `count` changes at most, and the cursor after them.

        `site`: only pages of this host, or of hosts below it. Raises ForgottenChanges.
        """
        return _read(self._state(after.harvest), after, count, site)

    def recent(self, count: int, site: str = "") -> list[Change]:
        """The pages that were last added or changed, the newest first: each once.

        They are those of about `count` changes.
        """
        held = pa.Table.from_batches([], _schema())
        lowest: Position | None = None
        for group in sorted(self._state().groups, key=lambda group: group.high, reverse=True):
            if lowest is not None and group.high < lowest:
                break
            held = pa.concat_tables([held, _rows_of(group)])
            held = held.sort_by([(name, "descending") for name in _ORDER]).slice(0, count)
            if held.num_rows == count:
                lowest = _position(held.slice(count - 1).to_pylist()[0])
        last = {row["url"]: row for row in reversed(held.to_pylist())}
        newest = sorted(last.values(), key=_position, reverse=True)
        stays = (row for row in newest if row["round"] is not None)
        return [_change(row) for row in stays if is_on_site(row["url"], site)]

    def page(self, since: Cursor, count: int, site: str = "") -> Changes:
        """As `read`, for programs."""
        state = self._state(since.harvest)
        found, after = _read(state, since, count, site)
        cursor = encode_cursor(after, self._work.store.manifest.crawl)
        is_more = after.position < (state.newest, END)
        return Changes([placed.change for placed in found], cursor, is_more)

    def cursor(self, text: str) -> Cursor:
        """The cursor that a program gives: none (empty), NOW, or one that it got.

        Raises InvalidCursor.
        """
        if not text:
            return self.beginning()
        return self.end() if text == NOW else decode_cursor(text, self._work.store.manifest.crawl)

    def _state(self, harvest: int = 0) -> _State:
        """The state of now: its row groups, without layers that have only older harvests."""
        manifest = self._work.store.manifest
        layers = manifest.layers(CHANGES.name)
        listed = {file.path for layer in layers for file in layer.files}
        forgotten = _forgotten_in(self._work, manifest)
        groups: list[_Group] = []
        with self._guard:
            self._known = {path: kept for path, kept in self._known.items() if path in listed}
            for layer in layers:
                if layer.version >= harvest or layer is layers[-1]:  # which has the newest
                    self._work.store.check(layer.files)
                    groups += [group for file in layer.files for group in self._groups_of(file)]
        newest = max([forgotten, *(group.high[0] for group in groups)])
        return _State(groups, newest, forgotten)

    def _groups_of(self, file: File) -> list[_Group]:
        known = self._known
        if file.path not in known:
            path = f"{self._work.root}/{file.path}"
            metadata = parquet.metadata(path)
            known[file.path] = [
                _Group(*_range(metadata.row_group(number)), path, number)
                for number in range(metadata.num_row_groups)
            ]
        return known[file.path]


def forgotten_harvest(work: Workspace) -> int:
    """The last harvest of which changes may be missing, as they were merged; 0 if there is none."""
    return _forgotten_in(work, work.store.manifest)


def _forgotten_in(work: Workspace, manifest: Manifest) -> int:
    files = [file for layer in manifest.layers(FORGOTTEN_CHANGES.name) for file in layer.files]
    work.store.check(files)
    paths = [f"{work.root}/{file.path}" for file in files]
    rows = parquet.read_table(paths).to_pylist() if paths else []
    return max((row["harvest"] for row in rows), default=0)


def _read(state: _State, after: Cursor, count: int, site: str) -> tuple[list[Placed], Cursor]:
    if after.misses(state.forgotten):
        what = "its next changes are not kept any more (index.changes_days)"
        raise ForgottenChanges("since", what, AGAIN)
    if not after.harvest:  # it begins only now, whenever it got its cursor
        after = after._replace(began=state.forgotten)
    found: list[Placed] = []
    looked, at_once = 0, max(count, FEWEST_ROWS) if site else count
    while len(found) < count and looked < MAX_LOOKED_AT:
        rows = _rows_after(state.groups, after.position, at_once)
        for (harvest, place), same in groupby(rows.to_pylist(), _position):
            if len(found) >= count:
                return found, after
            after = after._replace(harvest=harvest, place=place)
            wanted = [row for row in same if is_on_site(row["url"], site)]
            found += [Placed(_change(row), after) for row in wanted]
        looked += rows.num_rows
        if rows.num_rows < at_once:  # so that no harvest remains that was read in part
            end = after._replace(harvest=max(state.newest, after.harvest), place=END)
            last = [Placed(change, end) for change, _ in found[-1:]]
            return [*found[:-1], *last], end
    return found, after


def _rows_after(groups: Sequence[_Group], after: Position, count: int) -> pa.Table:
    """The first rows after a position: `count`, and those with the position of the last one."""
    held = pa.Table.from_batches([], _schema())
    last: Position | None = None
    for group in sorted(group for group in groups if group.high > after):
        if last is not None and group.low > last:
            break
        rows = _rows_of(group)
        held = pa.concat_tables([held, rows.filter(_is_after(rows, after))])
        held = held.sort_by([(name, "ascending") for name in (*_ORDER, "url")])
        if held.num_rows >= count:
            last = _position(held.slice(count - 1, 1).to_pylist()[0])
            held = held.filter(pc.invert(_is_after(held, last)))
    return held


def is_on_site(url: str, site: str) -> bool:
    """Whether a page is on this host, or on one below it. An empty `site` holds all pages."""
    host = host_of(url) if site else ""
    return host == site or host.endswith(f".{site}")


def _rows_of(group: _Group) -> pa.Table:
    with open_checked(group.path, CHANGES.name, _COLUMNS) as file:
        rows = file.read_row_group(group.number, list(_COLUMNS), use_threads=False)
    return rows.cast(_schema())


def _range(group: pq.RowGroupMetaData) -> tuple[Position, Position]:
    """The lowest and the highest position that rows of a group may have, by its statistics."""
    bounds = {}
    for number in range(group.num_columns):
        column = group.column(number)
        found = column.statistics
        if column.path_in_schema in _ORDER and found is not None and found.has_min_max:
            bounds[column.path_in_schema] = found.min, found.max
    first, last = bounds.get("harvest", (0, END))
    low, high = bounds.get("place", (-END - 1, END)) if first == last else (-END - 1, END)
    return (first, low), (last, high)


def _is_after(rows: pa.Table, position: Position) -> pa.ChunkedArray:
    harvest, place = position
    later = pc.greater(rows.column("harvest"), harvest)
    same = pc.equal(rows.column("harvest"), harvest)
    return pc.or_(later, pc.and_(same, pc.greater(rows.column("place"), place)))


def _position(row: dict[str, int]) -> Position:
    return row["harvest"], row["place"]


def _change(row: dict[str, object]) -> Change:
    return msgspec.convert({name: row[name] for name in Change.__struct_fields__}, Change)


def _schema() -> pa.Schema:
    return pa.schema([CHANGES.schema.field(name) for name in _COLUMNS])
