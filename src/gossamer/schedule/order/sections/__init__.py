"""sections: pages, finds → sections. What the parts of sites hold, and what a visit to them brings.

A section is a host with the beginning of a path, up to a slash, or of a query, up to the name of
its first parameter: `example.org/news/2024/`, `example.org/view?id`. Its pages are those whose
URL begins so. Sections of the same path on all hosts are one section, too, with a star for the
host, since many sites are built alike: `*/tag/`; `*/` are all pages. A page is fit if its main text
is long enough, or by the owner's rules (fitness.py). Of each section are counted

    known, fetched, changed   pages
    asked                     pages that were asked for, whatever came of it
    fit                       fetched pages that are fit

and, in the dataset `finds`, how many new pages of another section each round found in it. From both
follows the `worth` of a visit in fit pages (worth.py), which scorings use as `fit`.

Sections with few pages are dropped. Counting takes a pass over `pages`, whose folders are counted
before their sections. So sections are counted anew when enough has changed (`are_due`): the cost
is a share of what the rounds since have cost.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from gossamer.errors import Locked
from gossamer.links.domains import with_domains
from gossamer.schedule.order import opic
from gossamer.schedule.order.sections import worth as worths
from gossamer.state import lsm
from gossamer.storage import parquet
from gossamer.tables import FINDS, PAGES, SECTIONS

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from pyspark.sql import Column, DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer, StepReport

MAX_FOLDERS = 6
"""Folders of a path that sections distinguish."""
MAX_NAME_CHARS = 50
"""Of the name of a parameter."""
ANYWHERE = "*"
"""Stands for all hosts."""
EVERYTHING = "*/"
LEAST_PAGES = 10
MOST_SECTIONS = 200_000
"""At each depth. Where there would be more, those with the fewest pages are dropped."""
GROWTH = 1.05
"""Sections are counted anew after so many times the pages, or rounds."""
UNIT = 1 << 20
"""Pages in `finds` are counted in so many parts: sums of integers do not depend on the engine."""
FORGETTING = 2
"""Finds and visits are divided by this each time: what brings much at first may not later."""
LEAST_FINDS = UNIT // 100
MOST_LAYERS = 50
"""Of `finds`: each round adds one, and to count sections makes one of them."""
LEAST_WORTH = 0.001
"""Of a page in a section that was never worth a visit: it comes last, but it comes."""
TURNS = 1 << 20
COUNTS = ("known", "fetched", "asked", "changed", "fit")


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


def are_due(work: Workspace) -> bool:
    """Whether so much has changed since they were counted that it should be done again."""
    layers, finds = (work.store.manifest.layers(each.name) for each in (SECTIONS, FINDS))
    if len(finds) > MOST_LAYERS:
        return True
    if work.store.damaged(SECTIONS.name) or not (paths := work.paths(SECTIONS.name)):
        return True
    of_all = parquet.read_table(paths, filters=[("section", "=", EVERYTHING)])
    counted = pc.sum(of_all["known"]).as_py() or 0
    pages = opic.virtual_page(work).pages
    return bool(pages > counted * GROWTH or work.round > layers[-1].round * GROWTH)


def counted(work: Workspace) -> dict[str, tuple[Layer, ...]]:
    """Count the sections of all pages, and merge `finds`; return the layers of both datasets."""
    flags = {
        "known": F.lit(1),
        "fetched": F.col("status") == "fetched",
        "asked": F.col("outcome").isNotNull(),
        "changed": F.coalesce("changes", F.lit(0.0)) > 0,
        "fit": (F.col("status") == "fetched") & F.coalesce("fit", F.lit(False)),
    }
    sums = [F.sum(flag.cast("long")).alias(name) for name, flag in flags.items()]
    pages = lsm.current(work, PAGES).groupBy(folder(F.col("url")).alias("folder"))
    folders, _ = work.scratch(pages.agg(*sums))
    least = max(LEAST_PAGES, opic.virtual_page(work).pages // MOST_SECTIONS)
    of_hosts, _ = work.scratch(in_sections(folders))
    path = F.expr("substring(section, instr(section, '/'))")
    everywhere = _summed(of_hosts.withColumn("section", F.concat(F.lit(ANYWHERE), path)))
    large = of_hosts.unionByName(everywhere).where(
        (F.col("known") >= least) | (F.col("section") == EVERYTHING)
    )
    host = F.split_part("section", F.lit("/"), F.lit(1))
    rows = with_domains(work, large.withColumn("host", host))
    table = rows.select(*SECTIONS.column_names[:-2]).toArrow().sort_by("section")
    finds = merged_finds(work, table["section"])
    config = work.config.generate
    table = worths.with_worth(table, finds, UNIT, config.pages, config.explore_share)
    return work.write_table(SECTIONS, table) | work.write_table(FINDS, finds)


def run(work: Workspace) -> StepReport:
    """Count the sections of all pages."""
    with work.step("sections", work.round) as draft:
        draft.replace |= counted(work)
        draft.counts["sections"] = sum(layer.rows for layer in draft.replace[SECTIONS.name])
    return draft.done


def of_domain(work: Workspace, domain: str | None) -> list[Section]:
    """The sections of a host or registrable domain, or those of all hosts, ordered by their names.

    They are counted anew if enough has changed since the last time; while another process writes to
    the crawl, those of the last time are returned. Raises Locked if there are none.
    """
    if are_due(work):
        try:
            with work.store.lock():
                run(work)
        except Locked:
            if work.store.damaged(SECTIONS.name) or not work.paths(SECTIONS.name):
                raise
    wanted = ANYWHERE if domain is None else domain.lower()
    return [
        each
        for each in stored(work)
        if each.domain == wanted or each.section.startswith(f"{wanted}/")
    ]


def stored(work: Workspace) -> list[Section]:
    """All sections as they were counted last, ordered by their names."""
    rows = parquet.read_table(work.paths(SECTIONS.name), schema=SECTIONS.schema)
    return [Section(**row) for row in rows.sort_by("section").to_pylist()]


def put_finds(work: Workspace, links: DataFrame, pages: DataFrame) -> tuple[Layer, ...]:
    """Write in which sections a round has found new pages; return the layers of `finds`.

    `links` are those of the round; `pages` have the columns of `update.changed`.
    """
    new = pages.where("new").select(F.col("url").alias("dst"))
    links = links.where(~F.col("nofollow")).select("src", "dst")
    found, _ = work.scratch(links.join(new, on="dst", how="left_semi"))
    share = F.floor(F.lit(UNIT) / F.count("*")).cast("long")
    shares = found.groupBy("dst").agg(share.alias("pages"))
    source, target = folder(F.col("src")), folder(F.col("dst"))
    pairs = found.join(shares, on="dst", how="inner").select(
        source.alias("source"), target.alias("target"), "pages"
    )
    visits = pages.where("asked").select(
        folder(F.col("url")).alias("source"),
        F.lit(None).alias("target"),
        F.lit(UNIT).alias("pages"),
    )
    sums = pairs.unionByName(visits).groupBy("source", "target").agg(F.sum("pages").alias("pages"))
    return (*work.store.manifest.layers(FINDS.name), work.write(sums, FINDS.name, work.round))


def folder(url: Column) -> Column:
    """The smallest section of a URL."""
    rest = F.substr(url, F.instr(url, "://") + F.lit(3))
    path = F.split_part(rest, F.lit("?"), F.lit(1))
    query = F.split_part(rest, F.lit("?"), F.lit(2))
    name = F.split_part(F.split_part(query, F.lit("&"), F.lit(1)), F.lit("="), F.lit(1))
    of_query = F.concat(path, F.lit("?"), F.left(name, F.lit(MAX_NAME_CHARS)))
    of_path = F.left(path, F.length(path) - F.length(F.substring_index(path, "/", -1)))
    folder = F.when(F.contains(url, F.lit("?")), of_query).otherwise(of_path)
    return folder.cast("string")  # in Sail 0.7.2, it is a view, which pyspark cannot convert


def enclosing(folder: str) -> Iterator[str]:
    """The sections that a folder is in, from itself outwards, and that of its host first."""
    path, mark, _ = folder.partition("?")
    host, *folders = path.split("/")[:-1]
    if mark and len(folders) < MAX_FOLDERS:
        yield folder
        yield ANYWHERE + folder.removeprefix(host)
    for level in range(min(len(folders), MAX_FOLDERS), -1, -1):
        below = "/".join(["", *folders[:level], ""])
        yield host + below
        yield ANYWHERE + below


def merged_finds(work: Workspace, sections: pa.ChunkedArray) -> pa.Table:
    """All rows of `finds`, by the smallest of these sections that their folders are in.

    Damaged files are forgotten: their rows only make estimates better.
    """
    paths = [f"{work.root}/{file.path}" for file in work.store.whole(FINDS.name)]
    pairs = work.engine.read(paths, FINDS.ddl).groupBy("source", "target")
    found = pairs.agg(F.sum("pages").alias("pages")).toArrow()
    known = frozenset(sections.to_pylist())
    ends = {name: smallest(found[name], known) for name in ("source", "target")}
    merged = pa.table({**ends, "pages": found["pages"]}).group_by(["source", "target"])
    sums = merged.aggregate([("pages", "sum")]).rename_columns(["source", "target", "pages"])
    kept = pc.divide(sums["pages"], FORGETTING)
    halved = sums.set_column(2, "pages", kept).filter(pc.greater(kept, LEAST_FINDS))
    return halved.sort_by([("source", "ascending"), ("target", "ascending")])


def with_worth(work: Workspace, pages: DataFrame, held: Sequence[Layer]) -> DataFrame:
    """Add the column `worth` to pages (with `url`): that of the smallest section that has one.

    `held`: the layers of the dataset; without any, nothing is known.
    """
    paths = tuple(f"{work.root}/{file.path}" for layer in held for file in layer.files)
    if not paths:
        return pages.withColumn("worth", F.lit(worths.UNKNOWN))
    keyed = pages.withColumn("folder", folder(F.col("url")))
    folders = keyed.select("folder").distinct()
    ddl = "folder string, worth double, trial double"
    found, _ = work.map_rows(folders, partial(_looked_up, paths), ddl)
    turn = F.pmod(F.xxhash64("url"), F.lit(TURNS)) / TURNS
    on_trial = F.when(turn < F.col("trial"), F.lit(worths.UNKNOWN)).otherwise(0.0)
    worth = F.greatest("worth", on_trial, F.lit(LEAST_WORTH))
    joined = keyed.join(found, on="folder", how="left")
    return joined.withColumn("worth", worth).drop("folder", "trial")


def in_sections(folders: DataFrame) -> DataFrame:
    """The sums of folders by section, with its `level`: the number of its parts."""
    path = F.split_part("folder", F.lit("?"), F.lit(1))
    slashes = F.length(path) - F.length(F.replace(path, F.lit("/"), F.lit("")))
    parts = slashes + F.contains("folder", F.lit("?")).cast("int")
    levels = folders.withColumns({"path": path, "slashes": slashes, "parts": parts})
    within = F.least("parts", F.lit(MAX_FOLDERS + 1))
    levels = levels.withColumn("level", F.explode(F.sequence(F.lit(1), within)))
    of_path = F.expr("concat(substring_index(path, '/', level), '/')")
    section = F.when(F.col("level") > F.col("slashes"), F.col("folder")).otherwise(of_path)
    return _summed(levels.withColumn("section", section.cast("string")))


def _summed(rows: DataFrame) -> DataFrame:
    return rows.groupBy("section", "level").agg(*(F.sum(name).alias(name) for name in COUNTS))


def smallest(folders: pa.Array, known: Container[str]) -> pa.Array:
    """The smallest of the known sections that each folder is in."""
    encoded = pa.chunked_array(folders).combine_chunks().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    found = [next(each for each in enclosing(name) if each in known) for name in names]
    return pa.array(found, pa.string()).take(encoded.indices)


def _looked_up(
    paths: tuple[str, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    stored = parquet.read_table(list(paths), columns=["section", "worth", "trial"])
    known = {name: values for name, *values in zip(*stored.to_pydict().values(), strict=True)}
    for batch in batches:
        folders = batch.column("folder")
        found = [
            next(known[each] for each in enclosing(name) if each in known)
            for name in folders.to_pylist()
        ]
        columns = [pa.array(column, pa.float64()) for column in zip(*found, strict=True)]
        yield pa.RecordBatch.from_arrays([folders, *columns], ["folder", "worth", "trial"])
