"""Which texts are similar? The Jaccard similarities of texts, each computed once.

Similarity is a property of two texts, and never changes. So it is kept: `similar` has the pairs
that were compared, and `sketched` the texts among which all candidates were found, with the bands
of their sketches. A harvest compares the texts that are new to `sketched` with each other and with
all in it. Texts that no candidate page has any more are struck out: their bands become null. If one
returns, it is new, since others may have come meanwhile. Everything is compared again when rows
that nobody needs outnumber the others, or if a file is damaged.

Candidates share a band (candidates.py). Those whose sketches agree in ESTIMATED of their values are
compared in full (verified.py).

Cost: a pass over the bands of all texts; for the rounds in which candidates were fetched, one over
the sketches and one over the main texts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer import lsm
from gossamer.dedup.candidates import BAND_HASHES_DDL, band_hashes, candidates
from gossamer.dedup.documents import of_documents
from gossamer.dedup.estimates import with_estimates
from gossamer.dedup.verified import verified
from gossamer.tables import SIMILAR, SKETCHED
from gossamer.workspace import FEW

if TYPE_CHECKING:
    from gossamer.tables import Dataset
    from gossamer.workspace import Draft, Workspace

ESTIMATED = 0.68
"""Three standard deviations below 0.8, the least that `dedup.similarity` can be."""
PART_PAIRS = 1_000_000
"""Pairs whose sketches are joined at once, as a hash table does not spill."""


@dataclass
class Similarities:
    """What is known about the `texts` of a crawl: `text`, and `url` and `round` of a document."""

    work: Workspace
    texts: DataFrame
    anew: bool
    """Whether nothing is known from earlier harvests."""
    known: DataFrame
    """Rows of `similar` from earlier harvests."""
    found: list[DataFrame] = field(default_factory=list)
    """Further ones, materialised."""
    number: int = 0

    def pairs(self) -> DataFrame:
        """All rows of `similar`."""
        return reduce(DataFrame.unionByName, self.found, self.known)

    def compare(self, pairs: DataFrame) -> int:
        """Compare pairs of texts (`one` < `other`, each once) that were not; return how many."""
        compared = self.pairs().select("one", "other")
        left, number = self.work.scratch(pairs.join(compared, on=["one", "other"], how="left_anti"))
        if number:
            rows, number = self.work.scratch(verified(self.work, left, self.texts))
            self.found.append(rows)
            self.number += number
        return number

    def save(self, draft: Draft) -> None:
        """Draft the rows of `similar`."""
        draft.counts["compared_pairs"] = self.number
        rows = reduce(DataFrame.unionByName, self.found, self.work.engine.read([], SIMILAR.ddl))
        _save(self.work, draft, SIMILAR, rows, self.number, anew=self.anew)


def similar_texts(work: Workspace, draft: Draft, texts: DataFrame, count: int) -> Similarities:
    """Compare texts that are new with all others. Drafts `sketched`.

    `texts`: the `count` texts of the crawl (`text`, each once), and the `url` and `round` of a
    document with each; materialised.
    """
    anew = _starts_anew(work, count)
    known, pairs = (
        work.engine.read([], table.ddl) if anew else lsm.current(work, table)
        for table in (SKETCHED, SIMILAR)
    )
    is_known = known.where("bands IS NOT NULL").select("text", F.lit(True).alias("known"))
    changed, _ = work.scratch(
        is_known.join(texts, on="text", how="full_outer").where("known IS NULL OR url IS NULL")
    )
    gone = changed.where("url IS NULL").select("text")
    new, draft.counts["new_texts"] = work.scratch(
        changed.where("known IS NULL").select("text", "url", "round")
    )
    sketches, _ = work.scratch(of_documents(work, new, "sketch"))
    bands = work.engine.map_partitions(sketches, band_hashes, BAND_HASHES_DDL)
    struck = gone.withColumn("bands", F.lit(None).cast("array<bigint>"))
    files = work.scratch_files(bands.unionByName(struck))
    rows = work.engine.read([f"{work.root}/{file.path}" for file in files], SKETCHED.ddl)
    _save(work, draft, SKETCHED, rows, sum(file.rows for file in files), anew=anew)
    old = () if anew else work.store.files(SKETCHED.name)
    met, draft.counts["candidates"] = work.scratch(candidates(work, old, files))
    similarities = Similarities(work, texts, anew, pairs)
    similarities.compare(_close(work, met, draft.counts["candidates"], texts))
    return similarities


def _save(
    work: Workspace, draft: Draft, table: Dataset, rows: DataFrame, number: int, *, anew: bool
) -> None:
    if anew:
        layer = work.write(rows, table.name, work.round)
        draft.replace[table.name] = (layer,) if layer.files else ()
    elif number:
        draft.replace[table.name] = lsm.put(work, table, rows, number, work.round)


def _starts_anew(work: Workspace, count: int) -> bool:
    """Whether all texts are compared again: something is damaged, or most of it is outdated."""
    rows = sum(layer.rows for layer in work.store.manifest.layers(SKETCHED.name))
    return rows > 2 * max(count, FEW) or any(
        work.store.damaged(table.name) for table in (SKETCHED, SIMILAR)
    )


def _close(work: Workspace, pairs: DataFrame, count: int, texts: DataFrame) -> DataFrame:
    """The pairs whose sketches are similar enough for a comparison."""
    ends = pairs.select(F.explode(F.array("one", "other")).alias("text")).distinct()
    held, _ = work.scratch(ends.join(texts, on="text", how="inner"))
    sketches, _ = work.scratch(of_documents(work, held, "sketch"))
    parts = 1 + count // PART_PAIRS
    shares = [
        pairs.where(F.pmod(F.col("one"), F.lit(parts)) == part) if parts > 1 else pairs
        for part in range(parts)
    ]
    close = [
        work.scratch(
            with_estimates(work, share, sketches, "text")
            .where(F.col("estimate") >= ESTIMATED)
            .select("one", "other")
        )[0]
        for share in shares
    ]
    return reduce(DataFrame.unionByName, close)
