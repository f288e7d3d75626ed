"""Which texts are similar? The Jaccard similarities of texts, each computed once.

Similarity is a property of two texts, and never changes. A text is what a page says without the
boilerplate of its host (gossamer.own_texts); if that changes, its pages have other texts. So
similarity is kept: `similar` has the pairs that were compared, and `sketched` the texts among which
all candidates were found, with the bands of their sketches. A harvest compares the texts that are
new to `sketched` with each other and with all in it. Texts that no candidate page has any more are
struck out, and lose their bands. If one returns, it is new, since others may have come
meanwhile. Everything is compared again when rows that nobody needs outnumber the others, or if a
file is damaged.

Candidates share a band (candidates.py). Those that seem similar are compared in full (verified.py).

Cost: a pass over the bands of all texts, and one over the main texts of the rounds in which
candidates were fetched.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer import lsm
from gossamer.dedup.candidates import BAND_HASHES_DDL, band_hashes, candidates
from gossamer.dedup.known import one_each
from gossamer.dedup.verified import TEXTS_DDL, close, described, verified
from gossamer.own_texts import own_sketches
from gossamer.tables import DISPOSITIONS, SIMILAR, SKETCHED
from gossamer.workspace import FEW

if TYPE_CHECKING:
    from gossamer.dedup.known import Known
    from gossamer.workspace import Draft, Workspace

ENDS = ("one", "other")


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
    """The texts that are new, and their `bands`; materialised."""
    described: list[str] = field(default_factory=list)
    """Files with what is compared of texts, as far as this harvest needed it: see verified.py."""
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

    def compare(self, pairs: DataFrame, *, only_close: bool = False) -> DataFrame | None:
        """Compare pairs of texts (`one` < `other`, each once) that were not.

        `only_close`: those that seem similar enough. Returns further rows of `similar`, if any.
        """
        compared = self.pairs().select(*ENDS)
        left, number = self.work.scratch(pairs.join(compared, on=[*ENDS], how="left_anti"))
        if not number:
            return None
        left, texts = self._described(left)
        if only_close:
            left = close(self.work, left, number, texts)
        rows, number = verified(self.work, left, number, texts)
        self.found += rows
        self.number += number
        return reduce(DataFrame.unionByName, rows) if number else None

    def _described(self, pairs: DataFrame) -> tuple[DataFrame, DataFrame]:
        """The pairs both of whose texts a document has, and these texts; both materialised."""
        texts = self.work.engine.read(self.described, TEXTS_DDL)
        known = texts.select("text")
        missing, number = self.work.scratch(_ends(pairs).join(known, on="text", how="left_anti"))
        if not number:
            return pairs, texts
        documents = _documents(self.work, self.known, missing)
        present = known.unionByName(documents.select("text"))
        for end in ENDS:
            pairs = pairs.join(present.withColumnRenamed("text", end), on=end, how="left_semi")
        pairs, _ = self.work.scratch(pairs)
        places, _ = self.work.scratch(documents.join(_ends(pairs), on="text", how="left_semi"))
        self.described += described(self.work, places)
        return pairs, self.work.engine.read(self.described, TEXTS_DDL)

    def save(self, draft: Draft, candidates: DataFrame | None, standing: DataFrame) -> None:
        """Draft `similar` and `sketched`, without the texts that no page has any more.

        `standing`: the texts (`text`) that pages have, of those that are new and the `candidates`.
        If there are no candidates, all texts are.
        """
        draft.counts["compared_pairs"] = self.number
        rows = reduce(DataFrame.unionByName, self.found, self.work.engine.read([], SIMILAR.ddl))
        lsm.draft_rows(self.work, draft, SIMILAR, rows, self.number, anew=self.anew)
        gone = _sketched(self.work, candidates, anew=self.anew).join(
            standing, on="text", how="left_anti"
        )
        struck = gone.withColumns(
            {"bands": F.lit(None).cast("array<bigint>"), "is_struck": F.lit(True)}
        )
        rows = self.bands.withColumn("is_struck", F.lit(False)).unionByName(struck)
        layer = self.work.write(rows, SKETCHED.name, self.work.round)
        lsm.draft_layer(self.work, draft, SKETCHED, layer, anew=self.anew)


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
    bands = work.engine.read([f"{work.root}/{file.path}" for file in files], BAND_HASHES_DDL)
    old = () if anew else work.store.files(SKETCHED.name)
    met, draft.counts["candidates"] = work.scratch(candidates(work, old, files))
    pairs = work.engine.read([], SIMILAR.ddl) if anew else lsm.current(work, SIMILAR)
    similarities = Similarities(work, known, anew, pairs, bands)
    similarities.compare(met, only_close=True)
    return similarities


def _sketched(work: Workspace, some: DataFrame | None = None, *, anew: bool) -> DataFrame:
    """The texts (`text`) among which all similar ones were found in earlier harvests.

    Of these, only `some` texts (`text`) if they are given.
    """

    def wanted(layer: DataFrame) -> DataFrame:
        texts = layer.where("NOT is_struck").select("text")
        return texts if some is None else texts.join(some, on="text", how="left_semi")

    known = [work.engine.read([], SKETCHED.ddl)] if anew else lsm.layers(work, SKETCHED)
    return lsm.newest(known, "text", wanted)


def _ends(pairs: DataFrame) -> DataFrame:
    """The texts (`text`) of pairs, each once."""
    return pairs.select(F.explode(F.array(*ENDS)).alias("text")).distinct()


def _documents(work: Workspace, known: Known, texts: DataFrame) -> DataFrame:
    """The `url` and `round` of a document with each `text`, if there is one; materialised."""
    return work.scratch(one_each(known.of_compared(texts)))[0]


def outdated(work: Workspace) -> bool:
    """Whether all texts are to be compared again: something is damaged, or most of it is old."""
    texts, documents = (
        sum(layer.rows for layer in work.store.manifest.layers(table.name))
        for table in (SKETCHED, DISPOSITIONS)
    )
    return texts > 2 * max(documents, FEW) or any(
        work.store.damaged(table.name) for table in (SKETCHED, SIMILAR)
    )
