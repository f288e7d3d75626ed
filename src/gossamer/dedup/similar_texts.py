"""Which texts are similar? The Jaccard similarities of texts, each computed once.

Similarity is a property of two texts, and never changes. A text is what a page says without the
boilerplate of its host (gossamer.dedup.own_texts); if that changes, its pages have other texts. So
similarity is kept: `similar` has the pairs that were compared, and `sketched` the texts among which
all candidates were found, with the bands of their sketches. A harvest compares the texts that are
new to `sketched` with each other and with all in it. Texts that no candidate page has any more are
struck out, and lose their bands. If one returns, it is new, since others may have come
meanwhile. Everything is compared again when rows that nobody needs outnumber the others, or if a
file is damaged.

Candidates share a band (lsh_bands.py). Those that seem similar are compared in full
(shingle_comparison.py). What is compared of them is kept, too (`shingled`): a text that was a
candidate will often be one again, when another of its group changes, and need not be read for that.

Cost: a pass over the bands of all texts, and one over the main texts of the rounds in which
candidates were fetched that had been none before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.dedup.connected_texts import connected_texts
from gossamer.dedup.disposition_layers import one_document_per_text
from gossamer.dedup.lsh_bands import BAND_HASHES_DDL, band_hashes, candidate_pairs
from gossamer.dedup.own_texts import own_sketches
from gossamer.dedup.shingle_comparison import FEW as FEW_PAIRS
from gossamer.dedup.shingle_comparison import (
    FEW_BYTES,
    FOUND_DDL,
    similar_by_sketch,
    verify_few_pairs,
    verify_pairs,
    write_shingles,
)
from gossamer.state import lsm
from gossamer.state.table_io import FEW
from gossamer.storage import parquet
from gossamer.storage.store import Layer
from gossamer.tables import DISPOSITIONS, SHINGLED, SIMILAR, SKETCHED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame

    from gossamer.dedup.disposition_layers import DispositionLayers
    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import File

ENDS = ("one", "other")
PAIR_DDL = "one long, other long"


@dataclass
class Similarities:
    """What is known about the similarity of texts."""

    work: Workspace
    known: DispositionLayers
    anew: bool
    """Whether nothing is known from earlier harvests."""
    stored: DataFrame
    """Rows of `similar` from earlier harvests."""
    bands: DataFrame
    """The texts that are new, and their `bands`; materialised."""
    shingled: list[File] = field(default_factory=list)
    """Files with rows of `shingled` that this harvest has written."""
    found: list[File] = field(default_factory=list)
    """Files with further rows of `similar`."""

    def is_empty(self) -> bool:
        """Whether no pair was ever compared."""
        stored = () if self.anew else self.work.store.manifest.layers(SIMILAR.name)
        return not (stored or self.found)

    def pairs(self) -> DataFrame:
        """All rows of `similar`."""
        return self.stored.unionByName(self._read_found(self.found)) if self.found else self.stored

    def _read_found(self, files: Sequence[File]) -> DataFrame:
        rows = self.work.engine.read(self._paths(files), FOUND_DDL)
        return rows.withColumn("pair", F.xxhash64(*ENDS))

    def similar_both_ways(self) -> DataFrame:
        """The pairs of texts that are similar, both ways: `one`, `other`."""
        pairs = similar_pairs(self.work, self.pairs())
        mirrored = pairs.select(F.col("other").alias("one"), F.col("one").alias("other"))
        return pairs.select("one", "other").unionByName(mirrored)

    def connected_texts(self, texts: Sequence[File]) -> DataFrame:
        """The texts (`text`) of files, and all that similar pairs connect to them; materialised."""
        old = [] if self.anew else self.work.store.files(SIMILAR.name)
        least = self.work.config.dedup.similarity
        return connected_texts(self.work, (*old, *self.found), least, texts)

    def compare_close(self, candidates: DataFrame) -> None:
        """Compare those pairs that documents have, and that seem similar enough, as `compare`."""
        files = self._not_compared(candidates)
        if not files:
            return
        left = self._read_files(files, PAIR_DDL)
        documents = _documents_with_texts(self.work, self.known, texts_of_pairs(left))
        for end in ENDS:
            present = documents.select(F.col("text").alias(end))
            left = left.join(present, on=end, how="left_semi")
        files = self.work.scratch_files(left)
        if not files:
            return
        left = self._read_files(files, PAIR_DDL)
        wanted, _ = self.work.scratch(
            documents.join(texts_of_pairs(left), on="text", how="left_semi")
        )
        texts = self._shingles_of(wanted, lambda missing: missing)
        self._verify(files, texts, only_close=True)

    def compare(self, pairs: DataFrame) -> DataFrame | None:
        """Compare those pairs of texts (`one` < `other`, each once) that were not.

        Documents have these texts. Returns further rows of `similar`, if any.
        """
        files = self._not_compared(pairs)
        if not files:
            return None
        texts = self._shingles_of(
            texts_of_pairs(self._read_files(files, PAIR_DDL)),
            lambda missing: _documents_with_texts(self.work, self.known, missing),
        )
        found = self._verify(files, texts, only_close=False)
        return self._read_found(found) if found else None

    def _not_compared(self, pairs: DataFrame) -> tuple[File, ...]:
        compared = self.pairs().select(*ENDS)
        return self.work.scratch_files(pairs.join(compared, on=[*ENDS], how="left_anti"))

    def _shingles_of(
        self, texts: DataFrame, documents: Callable[[DataFrame], DataFrame]
    ) -> Sequence[File]:
        """Files with the rows of `shingled` of these `texts` (`text`); there may be others.

        A text is described once, since what it says never changes. `documents`: from texts to the
        `url` and `round` of a document with each.
        """
        files: Sequence[File] = self.shingled
        if not self.anew:
            files = (*self.work.store.files(SHINGLED.name), *self.shingled)
            rows = self._read_files(files, SHINGLED.ddl)
            files = self.work.scratch_files(rows.join(texts, on="text", how="left_semi"))
        known = self._read_files(files, SHINGLED.ddl).select("text")
        missing, number = self.work.scratch(texts.join(known, on="text", how="left_anti"))
        if not number:
            return files
        further = write_shingles(self.work, documents(missing))
        self.shingled += further
        return (*files, *further)

    def _read_files(self, files: Sequence[File], ddl: str) -> DataFrame:
        return self.work.engine.read_some(self._paths(files), ddl)

    def _paths(self, files: Sequence[File]) -> list[str]:
        return [f"{self.work.root}/{file.path}" for file in files]

    def _verify(
        self, pairs: Sequence[File], texts: Sequence[File], *, only_close: bool
    ) -> Sequence[File]:
        """Compare pairs of texts that are described in files; return files with what was found."""
        number = sum(file.rows for file in pairs)
        if number <= FEW_PAIRS and sum(file.bytes for file in texts) <= FEW_BYTES:
            found = verify_few_pairs(self.work, pairs, texts, only_close=only_close)
        else:
            left, held = self._read_files(pairs, PAIR_DDL), self._read_files(texts, SHINGLED.ddl)
            if only_close:
                left = similar_by_sketch(self.work, left, number, held)
            found = verify_pairs(self.work, left, number, held)
        self.found += found
        return found

    def save(self, draft: Draft, candidates: DataFrame | None, standing: DataFrame) -> None:
        """Draft what is remembered; `sketched` without the texts that no page has any more.

        `standing`: the texts (`text`) that pages have, of those that are new and the `candidates`.
        If there are no candidates, all texts are.
        """
        number = draft.counts["compared_pairs"] = sum(file.rows for file in self.found)
        lsm.draft_rows(
            self.work, draft, SIMILAR, self._read_found(self.found), number, anew=self.anew
        )
        layer = Layer(self.work.round, tuple(self.shingled))
        lsm.draft_layer(self.work, draft, SHINGLED, layer, anew=self.anew)
        rows = self.bands.withColumn("is_struck", F.lit(False))
        if not self.anew:
            known = _sketched_texts(self.work, candidates, anew=False)
            gone = known.join(standing, on="text", how="left_anti")
            null = F.lit(None).cast("binary")
            rows = rows.unionByName(gone.withColumns({"bands": null, "is_struck": F.lit(True)}))
        layer = self.work.write(rows, SKETCHED.name, self.work.round)
        lsm.draft_layer(self.work, draft, SKETCHED, layer, anew=self.anew)


def compare_new_texts(
    work: Workspace, draft: Draft, texts: DataFrame, known: DispositionLayers, *, anew: bool
) -> Similarities:
    """Compare new texts with each other and with all others.

    `texts`: texts of the crawl (`text`, each once), and the `url` and `round` of a document with
    each. All texts that may be new are among them. `anew`: all of them are.
    """
    new, draft.counts["new_texts"] = work.scratch(
        texts.join(_sketched_texts(work, anew=anew), on="text", how="left_anti")
    )
    files: tuple[File, ...] = ()
    if draft.counts["new_texts"]:
        hashes = work.engine.map_partitions(own_sketches(work, new), band_hashes, BAND_HASHES_DDL)
        files = work.scratch_files(hashes)
    bands = work.engine.read([f"{work.root}/{file.path}" for file in files], BAND_HASHES_DDL)
    pairs = work.engine.read([], SIMILAR.ddl) if anew else lsm.current(work, SIMILAR)
    similarities = Similarities(work, known, anew, pairs, bands)
    draft.counts["candidates"] = 0
    if files:
        old = () if anew else work.store.files(SKETCHED.name)
        met, draft.counts["candidates"] = work.scratch(candidate_pairs(work, old, files), PAIR_DDL)
        if draft.counts["candidates"]:
            similarities.compare_close(met)
    return similarities


def _sketched_texts(work: Workspace, some: DataFrame | None = None, *, anew: bool) -> DataFrame:
    """The texts (`text`) among which all similar ones were found in earlier harvests.

    Of these, only `some` texts (`text`) if they are given.
    """

    def select_texts(layer: DataFrame) -> DataFrame:
        texts = layer.where("NOT is_struck").select("text")
        return texts if some is None else texts.join(some, on="text", how="left_semi")

    known = [work.engine.read([], SKETCHED.ddl)] if anew else lsm.layer_frames(work, SKETCHED)
    return lsm.newest_rows(known, "text", select_texts)


def similar_pairs(work: Workspace, pairs: DataFrame) -> DataFrame:
    """The rows of `similar` whose texts are similar enough."""
    return pairs.where(F.col("similarity") >= work.config.dedup.similarity)


def texts_of_pairs(pairs: DataFrame) -> DataFrame:
    """The texts (`text`) of pairs, each once.

    Fact (Sail 0.7.2): it does not know how many rows `explode` makes. It may then build the hash
    table of a join with all stored texts, and decode what is stored of each.
    """
    one, other = (pairs.select(F.col(end).alias("text")) for end in ENDS)
    return one.unionByName(other).distinct()


def _documents_with_texts(work: Workspace, known: DispositionLayers, texts: DataFrame) -> DataFrame:
    """The `url` and `round` of a document with each `text`, if there is one; materialised."""
    return work.scratch(one_document_per_text(known.rows_of_compared(texts)))[0]


def must_compare_all(work: Workspace) -> bool:
    """Whether all texts must be compared again.

    A file is damaged, most rows are outdated, or an older version of Gossamer wrote bands as lists.
    """
    texts, documents = (
        sum(layer.rows for layer in work.store.manifest.layers(table.name))
        for table in (SKETCHED, DISPOSITIONS)
    )
    return (
        texts > 2 * max(documents, FEW)
        or any(work.store.damaged(table.name) for table in (SKETCHED, SIMILAR, SHINGLED))
        or _has_lists(work)
    )


def _has_lists(work: Workspace) -> bool:
    paths = (f"{work.root}/{file.path}" for file in work.store.listed(SKETCHED.name)[:1])
    return any(pa.types.is_list(parquet.schema(path).field("bands").type) for path in paths)
