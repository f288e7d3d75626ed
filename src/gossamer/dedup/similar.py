"""Which texts are similar? The Jaccard similarities of texts, each computed once.

Similarity is a property of two texts, and never changes. A text is what a page says without the
boilerplate of its host (gossamer.own_texts); if that changes, its pages have other texts. So
similarity is kept: `similar` has the pairs that were compared, and `sketched` the texts among which
all candidates were found, with the bands of their sketches. A harvest compares the texts that are
new to `sketched` with each other and with all in it. Texts that no candidate page has any more are
struck out: their bands become null. If one returns, it is new, since others may have come
meanwhile. Everything is compared again when rows that nobody needs outnumber the others, or if a
file is damaged.

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
from gossamer.dedup.estimates import with_estimates
from gossamer.dedup.verified import verified
from gossamer.own_texts import own_sketches
from gossamer.tables import DISPOSITIONS, SIMILAR, SKETCHED
from gossamer.workspace import FEW

if TYPE_CHECKING:
    from gossamer.dedup.known import Known
    from gossamer.workspace import Draft, Workspace

ESTIMATED = 0.68
"""Three standard deviations below 0.8, the least that `dedup.similarity` can be."""
PART_PAIRS = 1_000_000
"""Pairs whose sketches are joined at once, as a hash table does not spill."""


@dataclass
class Similarities:
    """What is known about the similarity of texts."""

    work: Workspace
    known: Known
    anew: bool
    """Whether nothing is known from earlier harvests."""
    stored: DataFrame
    """Rows of `similar` from earlier harvests."""
    bands: DataFrame
    """Rows of `sketched` of the texts that are new, materialised."""
    found: list[DataFrame] = field(default_factory=list)
    """Further rows of `similar`, materialised."""
    number: int = 0

    def pairs(self) -> DataFrame:
        """All rows of `similar`."""
        return reduce(DataFrame.unionByName, self.found, self.stored)

    def alike(self) -> DataFrame:
        """The pairs of texts that are similar, both ways: `one`, `other`; materialised."""
        pairs = self.pairs().where(F.col("similarity") >= self.work.config.dedup.similarity)
        mirrored = pairs.select(F.col("other").alias("one"), F.col("one").alias("other"))
        return self.work.scratch(pairs.select("one", "other").unionByName(mirrored))[0]

    def compare(self, pairs: DataFrame) -> int:
        """Compare pairs of texts (`one` < `other`, each once) that were not; return how many."""
        compared = self.pairs().select("one", "other")
        left, number = self.work.scratch(pairs.join(compared, on=["one", "other"], how="left_anti"))
        if number:
            places = _documents(self.work, self.known, left)
            rows, number = self.work.scratch(verified(self.work, left, places))
            self.found.append(rows)
            self.number += number
        return number

    def save(self, draft: Draft, candidates: DataFrame | None, standing: DataFrame) -> None:
        """Draft `similar` and `sketched`, without the texts that no page has any more.

        `standing`: the texts (`text`) that pages have, of those that are new and the `candidates`.
        If there are no candidates, all texts are.
        """
        draft.counts["compared_pairs"] = self.number
        rows = reduce(DataFrame.unionByName, self.found, self.work.engine.read([], SIMILAR.ddl))
        lsm.draft_rows(self.work, draft, SIMILAR, rows, self.number, anew=self.anew)
        gone = _sketched(self.work, anew=self.anew).join(standing, on="text", how="left_anti")
        if candidates is not None:
            gone = gone.join(candidates, on="text", how="left_semi")
        struck = gone.select("text", F.lit(None).cast("array<bigint>").alias("bands"))
        rows, number = self.work.scratch(self.bands.unionByName(struck))
        lsm.draft_rows(self.work, draft, SKETCHED, rows, number, anew=self.anew)


def similar_texts(
    work: Workspace, draft: Draft, texts: DataFrame, known: Known, *, anew: bool
) -> Similarities:
    """Compare texts that are new with all others.

    `texts`: texts of the crawl (`text`, each once), and the `url` and `round` of a document with
    each; materialised. All texts that may be new are among them. `anew`: all of them are.
    """
    new, draft.counts["new_texts"] = work.scratch(
        texts.join(_sketched(work, anew=anew), on="text", how="left_anti")
    )
    sketches, _ = work.scratch(own_sketches(work, new))
    files = work.scratch_files(work.engine.map_partitions(sketches, band_hashes, BAND_HASHES_DDL))
    bands = work.engine.read([f"{work.root}/{file.path}" for file in files], SKETCHED.ddl)
    old = () if anew else work.store.files(SKETCHED.name)
    met, draft.counts["candidates"] = work.scratch(candidates(work, old, files))
    pairs = work.engine.read([], SIMILAR.ddl) if anew else lsm.current(work, SIMILAR)
    similarities = Similarities(work, known, anew, pairs, bands)
    similarities.compare(_close(work, met, draft.counts["candidates"], known))
    return similarities


def _sketched(work: Workspace, *, anew: bool) -> DataFrame:
    """The texts (`text`) among which all similar ones were found in earlier harvests."""
    known = work.engine.read([], SKETCHED.ddl) if anew else lsm.current(work, SKETCHED)
    return known.where("bands IS NOT NULL").select("text")


def _documents(work: Workspace, known: Known, pairs: DataFrame) -> DataFrame:
    """Per text of the pairs, the `url` and `round` of a document with it; materialised."""
    texts, _ = work.scratch(
        pairs.select(F.explode(F.array("one", "other")).alias("text")).distinct()
    )
    first = F.min_by(F.struct("url", "round"), "url").alias("document")
    documents = known.of_compared(texts).groupBy(F.col("compared").alias("text")).agg(first)
    return work.scratch(documents.select("text", "document.url", "document.round"))[0]


def outdated(work: Workspace) -> bool:
    """Whether all texts are to be compared again: something is damaged, or most of it is old."""
    texts, documents = (
        sum(layer.rows for layer in work.store.manifest.layers(table.name))
        for table in (SKETCHED, DISPOSITIONS)
    )
    return texts > 2 * max(documents, FEW) or any(
        work.store.damaged(table.name) for table in (SKETCHED, SIMILAR)
    )


def _close(work: Workspace, pairs: DataFrame, count: int, known: Known) -> DataFrame:
    """The pairs whose sketches are similar enough for a comparison."""
    sketches, _ = work.scratch(own_sketches(work, _documents(work, known, pairs)))
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
