"""What do the pages of a host say without its boilerplate? A hash and a sketch of the rest.

They are computed again for all documents of a host whose lines have changed, otherwise only for its
new ones.
If fewer than sketches.MIN_WORDS words are a page's own, that is too little to compare it by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.dedup.own_texts import BoilerplateSplitter
from gossamer.state.documents import join_documents
from gossamer.tables import DOCUMENTS, OWN_TEXTS
from gossamer.web.sketches import hash_and_sketch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from gossamer.state.unread import Inputs
    from gossamer.state.workspace import Workspace

_KEYS = ("host", "url", "round", "outcome", "text_hash")


def missing_own_texts(
    work: Workspace, since: Inputs, known: DataFrame, determined: DataFrame, present: DataFrame
) -> tuple[DataFrame, int]:
    """Materialised rows of `own_texts` that are missing or outdated, and their number.

    `known` are the rows of `boilerplate` before this harvest, of hosts with new documents;
    `determined` are the new ones, and `present` the rows of `own_texts`.
    """
    hosts, number = work.scratch(_hosts_with_lines(known, determined))
    if not number:
        return work.engine.read([], OWN_TEXTS.ddl), 0
    held = present.select("url", "round", F.lit(True).alias("is_held"))
    wanted, _ = work.scratch(
        held.join(_newest_documents(work, since, hosts), on=["url", "round"], how="right")
        .where("again OR is_held IS NULL")
        .select("host", "url", "round")
    )
    texts = join_documents(work, wanted, "title", "main_text", "text_hash")
    rows = hosts.select("host", "lines").join(texts, on="host", how="inner")
    return work.scratch(work.engine.map_partitions(rows, describe_batches, OWN_TEXTS.ddl))


def _hosts_with_lines(known: DataFrame, determined: DataFrame) -> DataFrame:
    """The hosts with `lines`, or that had some: whether all of their pages change `again`."""
    old, new = (
        rows.select("host", F.col("lines").alias(f"{age}_lines"), F.col("source").alias(age))
        for age, rows in (("old", known), ("new", determined))
    )
    same = F.col("old_lines").eqNullSafe(F.col("new_lines")) & (F.col("old") == F.col("new"))
    is_new = F.col("new").isNotNull()
    return (
        old.join(new, on="host", how="full_outer")
        .where("old_lines IS NOT NULL OR new_lines IS NOT NULL")
        .select(
            "host",
            F.when(is_new, F.col("new_lines")).otherwise(F.col("old_lines")).alias("lines"),
            (is_new & ~F.coalesce(same, F.lit(False))).alias("again"),
        )
    )


def _newest_documents(work: Workspace, since: Inputs, hosts: DataFrame) -> DataFrame:
    """The newest document of pages of these hosts, if it has a text.

    All pages of a host that changes `again`, and those that have a new document of the others.
    """
    again, number = work.scratch(hosts.where("again").select("host", "again"))
    others = hosts.where("NOT again").select("host", "again")
    documents = others.join(_recent_documents(work, since), on="host", how="inner")
    if number:
        everything = work.engine.read_some(work.paths(DOCUMENTS.name), DOCUMENTS.ddl)
        documents = documents.unionByName(
            again.join(everything.select(*_KEYS), on="host", how="inner")
        )
    return (
        documents.groupBy("host", "again", "url")
        .agg(
            F.max("round").alias("round"),
            *(F.max_by(name, "round").alias(name) for name in ("outcome", "text_hash")),
        )
        .where("outcome = 'parsed' AND text_hash IS NOT NULL")
    )


def _recent_documents(work: Workspace, since: Inputs) -> DataFrame:
    """All documents of the rounds from the oldest one on that has a new document.

    One that was parsed late is in a layer with newer ones, and may be older than another document
    of its page. All that are newer than it are among these.
    """
    new = work.engine.read(since.paths(work, DOCUMENTS), DOCUMENTS.ddl)
    first = new.agg(F.min("round")).collect()[0][0]
    layers = work.store.manifest.layers(DOCUMENTS.name)
    files = [file for layer in layers if layer.round >= (first or 0) for file in layer.files]
    rows = work.engine.read([f"{work.root}/{file.path}" for file in files], DOCUMENTS.ddl)
    return rows.where(F.col("round") >= F.lit(first)).select(*_KEYS)


def describe_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of `own_texts` of documents with the `lines` of their hosts."""
    own_texts = BoilerplateSplitter()
    for batch in batches:
        texts: list[int | None] = []
        sketches: list[bytes | None] = []
        has_boilerplate: list[bool] = []
        known = (batch.column(name).to_pylist() for name in ("title", "text_hash"))
        for title, text_hash, (own, boilerplate) in zip(
            *known, own_texts.split(batch), strict=True
        ):
            own_hash, sketch = text_hash, None
            if boilerplate:
                own_hash, sketch = hash_and_sketch(own, title)
            has_boilerplate.append(bool(boilerplate))
            texts.append(None if boilerplate and sketch is None else own_hash)
            sketches.append(sketch)
        yield pa.RecordBatch.from_arrays(
            [
                *(batch.column(name) for name in ("url", "round")),
                *(pa.array(texts, pa.int64()), pa.array(sketches, pa.binary())),
                pa.array(has_boilerplate, pa.bool_()),
            ],
            names=OWN_TEXTS.column_names,
        )
