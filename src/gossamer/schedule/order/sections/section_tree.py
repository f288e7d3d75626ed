"""The sections of a domain as a tree that a person opens step by step.

What is read is that of the last count (`step.run`), without the engine: one pass over the
columns of the dataset, of which only the rows that are shown become Python objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from gossamer.errors import StoreError
from gossamer.schedule.order.sections.section_names import ANYWHERE, COUNTS, enclosing_sections
from gossamer.state.lookup import open_checked
from gossamer.tables import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.state.workspace import Workspace

    Mask = Callable[[pa.RecordBatch], pa.Array]

COLUMNS = ("section", "domain", "level", *COUNTS)
LARGEST_FIRST = [("known", "descending"), ("section", "ascending")]


class Counts(NamedTuple):
    """Pages of a part of a site; see the columns of `sections`."""

    known: int
    fetched: int
    asked: int
    changed: int
    fit: int

    @property
    def failed(self) -> int:
        """Pages that were asked for and are not fetched: errors, redirects, refusals."""
        return self.asked - self.fetched

    def minus(self, *parts: Counts) -> Counts:
        """Return these counts less those of some parts."""
        return Counts(*(whole - sum(some) for whole, *some in zip(self, *parts, strict=True)))


class SectionCounts(NamedTuple):
    """A section and what it holds."""

    section: str
    counts: Counts


class DomainCounts(NamedTuple):
    """A registrable domain and what its sections hold."""

    domain: str
    hosts: int
    counts: Counts


class Subsections:
    """Sections in descending order of their pages."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows.sort_by(LARGEST_FIRST)
        self.total = len(rows)
        self.counts = _sum_counts(rows)

    def page(self, limit: int, offset: int = 0) -> list[SectionCounts]:
        rows = self._rows.slice(offset, limit).to_pylist()
        return [SectionCounts(row["section"], _counts_of_row(row)) for row in rows]

    def in_section(self, section: str) -> Subsections:
        return Subsections(self._rows.filter(pc.starts_with(self._rows["section"], section)))


class OpenSection(NamedTuple):
    """A section of a domain, or all hosts of it, with what is in it."""

    domain: str
    hosts: int
    """Of the domain."""
    section: str
    """Empty for all hosts of a domain that has several."""
    round: int
    """When sections were counted last."""
    counts: Counts
    around: list[str]
    """The sections that it is in, from the host on."""
    parts: Subsections
    """The sections in it, of the next level."""
    inner: Subsections
    """The sections in those."""

    @property
    def rest(self) -> Counts:
        """Its pages that are in none of its parts."""
        return self.counts.minus(self.parts.counts)


def open_section(work: Workspace, domain: str, section: str) -> OpenSection | None:
    """A section of a domain or host (`*`: of all); None if it is not known.

    Without a section, it is the host of the domain, or all of them if it has several. Raises
    StoreError if sections were never counted.
    """
    domain, first = domain.lower(), max(_level(section), 1)
    rows = _read_rows(work, lambda batch: _is_of_domain(batch, domain, section, first, first + 2))
    hosts = rows.filter(pc.equal(rows["level"], 1))
    if not section and len(hosts) == 1:
        section = hosts["section"][0].as_py()
    here = rows.filter(pc.equal(rows["section"], section)) if section else hosts
    if not len(hosts) or not len(here):
        return None
    parts, inner = (
        rows.filter(_is_in(rows, section, _level(section) + deeper)) for deeper in (1, 2)
    )
    counted = work.store.manifest.layers(SECTIONS.name)[-1].round
    around = _enclosing_on_host(section) if section else []
    counts = _sum_counts(here)
    return OpenSection(
        domain, len(hosts), section, counted, counts, around, Subsections(parts), Subsections(inner)
    )


def find_domains(
    work: Workspace, containing: str, limit: int, offset: int
) -> tuple[int, list[DomainCounts]]:
    """Domains whose names contain a text, in descending order of their pages, and their number.

    Raises StoreError if sections were never counted.
    """
    hosts = _read_rows(work, lambda batch: _is_host(batch, containing.lower()))
    sums = [(name, "sum") for name in COUNTS]
    rows = hosts.group_by("domain").aggregate([*sums, ("section", "count")])
    rows = rows.rename_columns(["domain", *COUNTS, "hosts"])
    rows = rows.sort_by([("known", "descending"), ("domain", "ascending")])
    shown = rows.slice(offset, limit).to_pylist()
    return len(rows), [
        DomainCounts(row["domain"], row["hosts"], _counts_of_row(row)) for row in shown
    ]


def _read_rows(work: Workspace, wanted: Mask) -> pa.Table:
    """The rows of `sections` that are wanted."""
    if not work.store.manifest.layers(SECTIONS.name):
        remedy = f"count them: gossamer sections {work.root}"
        raise StoreError(work.root, "has no counts of sections yet", remedy)
    schema = pa.schema([SECTIONS.schema.field(name) for name in COLUMNS])
    found = []
    for path in work.paths(SECTIONS.name):
        with open_checked(path, SECTIONS.name, COLUMNS) as file:
            batches = file.iter_batches(columns=list(COLUMNS))
            found += [batch.filter(wanted(batch)).cast(schema) for batch in batches]
    return pa.Table.from_batches(found, schema)


def _is_host(batch: pa.RecordBatch, containing: str) -> pa.Array:
    of_all = pc.equal(batch["domain"], ANYWHERE)
    named = pc.match_substring(batch["domain"], containing)
    return pc.and_(pc.and_not(pc.equal(batch["level"], 1), of_all), named)


def _is_of_domain(
    batch: pa.RecordBatch, domain: str, section: str, first: int, last: int
) -> pa.Array:
    """Which rows are hosts of a domain, or in a section of it, of some levels."""
    names, levels = batch["section"], batch["level"]
    of_domain = pc.or_(pc.equal(batch["domain"], domain), pc.starts_with(names, f"{domain}/"))
    between = pc.and_(pc.greater_equal(levels, first), pc.less_equal(levels, last))
    inside = pc.and_(between, pc.starts_with(names, section))
    return pc.and_(of_domain, pc.or_(inside, pc.equal(levels, 1)))


def _is_in(rows: pa.Table, section: str, level: int) -> pa.Array:
    return pc.and_(pc.equal(rows["level"], level), pc.starts_with(rows["section"], section))


def _enclosing_on_host(section: str) -> list[str]:
    host, _, _ = section.partition("/")
    own = dict.fromkeys(
        each for each in enclosing_sections(section) if each.partition("/")[0] == host
    )
    return list(own)[:0:-1]


def _level(section: str) -> int:
    """The number of its parts."""
    path, mark, _ = section.partition("?")
    return path.count("/") + bool(mark)


def _counts_of_row(row: dict[str, int]) -> Counts:
    return Counts(*(row[name] for name in Counts._fields))


def _sum_counts(rows: pa.Table) -> Counts:
    return Counts(*(pc.sum(rows[name]).as_py() or 0 for name in Counts._fields))
