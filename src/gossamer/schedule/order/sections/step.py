"""sections: pages, finds → sections. What the parts of sites hold, and what a visit to them brings.

Pages are counted by section (section_names.py):

    known, fetched, changed   pages
    asked                     pages that were requested, whatever came of it
    fit                       fetched pages that are fit: their main text is long enough, unless
                              the owner's rules say otherwise (fitness.py)

The dataset `finds` counts how many new pages of another section each round found in one. From both
follows the `worth` of a visit in fit pages (section_worth.py), which scorings use as `fit`.

Sections with few pages are dropped. Counting takes a pass over `pages`, whose folders are counted
before their sections. So sections are counted again only when enough has changed
(`recount_is_due`): the cost is a share of what the rounds since have cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow.compute as pc
from pyspark.sql import functions as F

from gossamer.errors import Locked
from gossamer.links.domains import add_domains
from gossamer.schedule.order import opic
from gossamer.schedule.order.sections.section_finds import UNIT, merge_finds
from gossamer.schedule.order.sections.section_names import (
    ANYWHERE,
    COUNTS,
    EVERYTHING,
    MAX_FOLDERS,
    folder_column,
)
from gossamer.schedule.order.sections.section_worth import add_section_worth
from gossamer.state import lsm
from gossamer.storage import parquet
from gossamer.tables import FINDS, PAGES, SECTIONS
from gossamer.tables.outcomes import FILTERED

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer, StepReport

LEAST_PAGES = 10
MOST_SECTIONS = 200_000
"""At each depth. Where there would be more, those with the fewest pages are dropped."""
GROWTH = 1.05
"""Sections are counted again when pages or rounds have grown by this factor."""
MOST_LAYERS = 50
"""Layers of `finds`: each round adds one, and counting sections merges them."""


class Section(NamedTuple):
    """A row of the dataset; see its columns."""

    section: str
    domain: str
    level: int
    known: int
    fetched: int
    asked: int
    changed: int
    fit: int
    worth: float
    trial: float


def run(work: Workspace) -> StepReport:
    """Count the sections of all pages."""
    with work.step("sections", work.round) as draft:
        draft.replace |= write_sections(work)
        draft.counts["sections"] = sum(layer.rows for layer in draft.replace[SECTIONS.name])
    return draft.done


def recount_is_due(work: Workspace) -> bool:
    """Whether so much has changed since sections were counted that it should be done again."""
    layers, finds = (work.store.manifest.layers(each.name) for each in (SECTIONS, FINDS))
    if len(finds) > MOST_LAYERS:
        return True
    if work.store.damaged(SECTIONS.name) or not (paths := work.paths(SECTIONS.name)):
        return True
    of_all = parquet.read_table(paths, filters=[("section", "=", EVERYTHING)])
    counted = pc.sum(of_all["known"]).as_py() or 0
    pages = opic.virtual_page(work).pages
    return bool(pages > counted * GROWTH or work.round > layers[-1].round * GROWTH)


def write_sections(work: Workspace) -> dict[str, tuple[Layer, ...]]:
    """Count the sections of all pages, and merge `finds`; return the layers of both datasets."""
    sections, finds = _count_sections(work)
    return work.write_table(SECTIONS, sections) | work.write_table(FINDS, finds)


def _count_sections(work: Workspace) -> tuple[pa.Table, pa.Table]:
    """The rows of `sections` and `finds`."""
    of_hosts, _ = work.scratch(sum_by_section(_count_folders(work)))
    path = F.expr("substring(section, instr(section, '/'))")
    everywhere = _sum_counts(of_hosts.withColumn("section", F.concat(F.lit(ANYWHERE), path)))
    least = max(LEAST_PAGES, opic.virtual_page(work).pages // MOST_SECTIONS)
    large = of_hosts.unionByName(everywhere).where(
        (F.col("known") >= least) | (F.col("section") == EVERYTHING)
    )
    host = F.split_part("section", F.lit("/"), F.lit(1))
    rows = add_domains(work, large.withColumn("host", host))
    table = rows.select(*SECTIONS.column_names[:-2]).toArrow().sort_by("section")
    finds = merge_finds(work, table["section"])
    config = work.config.generate
    return add_section_worth(table, finds, UNIT, config.pages, config.explore_share), finds


def _count_folders(work: Workspace) -> DataFrame:
    """Count all pages by `folder`; materialised."""
    pages = lsm.current(work, PAGES)  # first: it starts the engine, which columns need
    flags = {
        "known": F.lit(1),
        "fetched": F.col("status") == "fetched",
        "asked": F.col("outcome").isNotNull() & ~_is_only_withheld(),
        "changed": F.coalesce("changes", F.lit(0.0)) > 0,
        "fit": (F.col("status") == "fetched") & F.coalesce("fit", F.lit(False)),
    }
    sums = [F.sum(flag.cast("long")).alias(name) for name, flag in flags.items()]
    folder = folder_column(F.col("url")).alias("folder")
    return work.scratch(pages.groupBy(folder).agg(*sums))[0]


def _is_only_withheld() -> Column:
    """Whether filters refuse a page that was never requested."""
    return F.col("outcome").eqNullSafe(FILTERED) & F.col("fetched_ms").isNull()


def sum_by_section(folders: DataFrame) -> DataFrame:
    """Sum the counts of folders by section, with its `level`: the number of its parts."""
    path = F.split_part("folder", F.lit("?"), F.lit(1))
    slashes = F.length(path) - F.length(F.replace(path, F.lit("/"), F.lit("")))
    parts = slashes + F.contains("folder", F.lit("?")).cast("int")
    levels = folders.withColumns({"path": path, "slashes": slashes, "parts": parts})
    within = F.least("parts", F.lit(MAX_FOLDERS + 1))
    levels = levels.withColumn("level", F.explode(F.sequence(F.lit(1), within)))
    of_path = F.expr("concat(substring_index(path, '/', level), '/')")
    section = F.when(F.col("level") > F.col("slashes"), F.col("folder")).otherwise(of_path)
    return _sum_counts(levels.withColumn("section", section.cast("string")))


def _sum_counts(rows: DataFrame) -> DataFrame:
    return rows.groupBy("section", "level").agg(*(F.sum(name).alias(name) for name in COUNTS))


def read_sections(work: Workspace) -> list[Section]:
    """Read all sections as they were counted last, ordered by their names."""
    return _sort_sections(parquet.read_table(work.paths(SECTIONS.name), schema=SECTIONS.schema))


def _sort_sections(rows: pa.Table) -> list[Section]:
    return [Section(**row) for row in rows.sort_by("section").to_pylist()]


def sections_of_domain(work: Workspace, domain: str | None) -> list[Section]:
    """Return the sections of a host or registrable domain, or (None) those of all hosts, by name.

    They are counted again if enough has changed since the last time. While another process writes
    to the crawl, those of the last time are returned. Raises Locked if there are none.
    """
    wanted = ANYWHERE if domain is None else domain.lower()
    return [
        each
        for each in _newest_sections(work)
        if each.domain == wanted or each.section.startswith(f"{wanted}/")
    ]


def _newest_sections(work: Workspace) -> list[Section]:
    if recount_is_due(work):
        if not work.store.backend.is_writable:
            return _sort_sections(_count_sections(work)[0])
        try:
            with work.store.lock():
                run(work)
        except Locked:
            if work.store.damaged(SECTIONS.name) or not work.paths(SECTIONS.name):
                raise
    return read_sections(work)
