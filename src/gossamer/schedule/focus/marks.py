"""Which pages has the owner marked as wanted or not, and what follows for other pages?

`gossamer mark` writes both datasets in one commit: `marks`, and `fit_words`, what the classifier
learns from their words (classifier.py). `update` writes them when a marked page has answered with a
text: a page may be marked before it is fetched, and a mark holds for the text that came last. Each
time, the classifier is learned from all marks, so it depends on nothing but these rows; as they
keep the words, no text is read twice. Without marks, nothing is read or written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from gossamer.schedule.focus import classifier
from gossamer.schedule.focus.classifier import Classifier
from gossamer.storage import parquet
from gossamer.tables import FIT_WORDS, MARKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import Layer

TEXT = ("title", "main_text")


class Mark(NamedTuple):
    """A marked page."""

    url: str
    fit: bool
    marked_ms: int
    is_read: bool
    """Whether a text of it was parsed."""


class Focus(NamedTuple):
    """What is known of the owner's wishes."""

    urls: pa.StringArray
    fit: pa.BooleanArray
    """Of marked pages, whether they are wanted."""
    classifier: Classifier | None
    """None if too few pages of one kind are marked."""


def read_marks(work: Workspace) -> pa.Table:
    """The rows of `marks`, by URL."""
    paths = work.paths(MARKS.name)
    return parquet.read_table(paths, schema=MARKS.schema) if paths else MARKS.schema.empty_table()


def list_marks(work: Workspace) -> list[Mark]:
    """All marks, by URL."""
    rows = read_marks(work).to_pylist()
    return [Mark(r["url"], r["fit"], r["marked_ms"], r["words"] is not None) for r in rows]


def learn_words(marks: pa.Table) -> pa.Table:
    """What is learned from marks: rows of `fit_words`."""
    read = marks.filter(pc.is_valid(marks["words"]))
    wanted = read["fit"].combine_chunks().to_numpy(zero_copy_only=False)
    return classifier.learn(read["words"].combine_chunks(), wanted.astype(bool))


def write_marks(work: Workspace, marks: pa.Table) -> dict[str, tuple[Layer, ...]]:
    """Write these marks in place of all, and what is learned; returns the layers of both."""
    rows = marks.sort_by("url")
    return work.write_table(MARKS, rows) | work.write_table(FIT_WORDS, learn_words(rows))


def focus_of(marks: pa.Table) -> Focus | None:
    """What these marks say; None without any."""
    if not marks.num_rows:
        return None
    words = learn_words(marks)
    urls, fit = (marks[name].combine_chunks() for name in ("url", "fit"))
    return Focus(urls, fit, Classifier.from_learned(words) if words.num_rows else None)


def learn_marks_from_round(work: Workspace, draft: Draft, documents: DataFrame) -> Focus | None:
    """What the marks say after a round, which has parsed `documents`.

    If marked pages are among them, their marks get the new words, and the classifier is learned
    anew.
    """
    if not work.store.manifest.layers(MARKS.name):
        return None
    marks = read_marks(work)
    marked = frame_of_marked_urls(work, marks["url"].to_pylist())
    words = words_of_marked_pages(marked.join(documents, on="url", how="inner"))
    if words:
        marks = set_words_of_marks(marks, words)
    focus = focus_of(marks)
    is_lost = not work.store.manifest.layers(FIT_WORDS.name)  # or there were too few marks so far
    if words or (is_lost and focus is not None and focus.classifier is not None):
        draft.replace |= write_marks(work, marks)
    return focus


def set_words_of_marks(marks: pa.Table, words: dict[str, list[str]]) -> pa.Table:
    """Marks with the words of those of their pages that are named."""
    rows = [row | {"words": words.get(row["url"], row["words"])} for row in marks.to_pylist()]
    return pa.Table.from_pylist(rows, MARKS.schema)


def words_of_marked_pages(documents: DataFrame) -> dict[str, list[str]]:
    """The words of the documents of a few pages, each of which has one, if it has any words."""
    parsed = documents.where(F.col("outcome") == "parsed").select("url", *TEXT).toArrow()
    words = classifier.split_words(text_of(parsed).combine_chunks()).to_pylist()
    of_pages = zip(parsed["url"].to_pylist(), map(classifier.distinct_words, words), strict=True)
    return {url: each for url, each in of_pages if each}


def frame_of_marked_urls(work: Workspace, urls: Sequence[str]) -> DataFrame:
    """URLs as a DataFrame."""
    if not urls:
        return work.engine.read([], "url string")
    return work.engine.rows(pa.table({"url": pa.array(urls, pa.string())}))


def text_of(rows: pa.Table | pa.RecordBatch) -> pa.Array | pa.ChunkedArray:
    """What is read of documents."""
    texts = [pc.fill_null(rows[name].cast(pa.string()), "") for name in TEXT]
    return pc.binary_join_element_wise(*texts, " ")
