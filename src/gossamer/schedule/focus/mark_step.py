"""mark: marks → marks, fit_words, pages. The owner says which pages are wanted, and which are not.

In one commit, the marks change, the classifier is learned anew (marks.py), and the pages that were
named are judged anew, if they have been parsed. Other known pages stay as they were judged, unless
this is asked for (`known`): then all parsed pages are judged anew, and what their links promise
of others (fit_prediction.py).

Cost: a pass over the URLs of `documents`, and the texts of the pages that are named. All known
pages: a pass over `documents`, `links` and `pages`, and memory for each URL with two numbers.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from gossamer.errors import UsageError
from gossamer.links import current_links
from gossamer.schedule.due import listing_polls
from gossamer.schedule.focus import fit_prediction, fitness, marks
from gossamer.state import lsm
from gossamer.state.documents import join_documents
from gossamer.tables import DOCUMENTS, FIT_WORDS, MARKS, PAGES
from gossamer.web.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from gossamer.schedule.focus.marks import Focus
    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import StepReport

READ = ("outcome", "content_type", "language", "text_hash", "sketch", *marks.TEXT)
"""Columns of documents by which pages are judged."""
NOTHING: Mapping[str, Column] = {}


def run(work: Workspace, urls: Iterable[str], *, fit: bool | None, known: bool) -> StepReport:
    """Mark pages as wanted (`fit`) or not; None: forget their marks.

    Raises UsageError, and changes nothing, for a URL that cannot be crawled, or that has no mark to
    forget; ConfigError for invalid `update.fit_rules`.
    """
    fitness.check(work)
    named = list(dict.fromkeys(_normal_url(work, url) for url in urls))
    with work.step("mark", work.round) as draft:
        before = marks.read_marks(work)
        is_named = pc.is_in(before["url"], value_set=pa.array(named, pa.string()))
        rows = before.filter(pc.invert(is_named))
        texts = _newest_documents(work, named)
        if fit is None:
            _refuse_unmarked(named, before)
            draft.counts["forgotten"] = len(named)
        else:
            words = marks.words_of_marked_pages(texts)
            new = [
                {"url": url, "fit": fit, "marked_ms": work.now_ms(), "words": words.get(url)}
                for url in named
            ]
            rows = pa.concat_tables([rows, pa.Table.from_pylist(new, MARKS.schema)])
            draft.counts |= {"marked": len(named), "without_text": len(named) - len(words)}
        draft.replace |= marks.write_marks(work, rows)
        draft.counts["words"] = sum(layer.rows for layer in draft.replace[FIT_WORDS.name])
        focus = marks.focus_of(rows)
        if known:
            _judge_all(work, draft, focus)
        else:
            _judge_few(work, draft, texts, focus)
    return draft.done


def _normal_url(work: Workspace, url: str) -> str:
    normal = normalize(url, None, work.config.urls)
    if normal is None:
        raise UsageError(url, "is not a URL that can be crawled", "example: https://example.org/")
    return normal


def _refuse_unmarked(named: Sequence[str], before: pa.Table) -> None:
    if missing := set(named) - set(before["url"].to_pylist()):
        raise UsageError(
            min(missing), "is not marked", "gossamer mark --list shows the marked pages"
        )


def _newest_documents(work: Workspace, named: Sequence[str] | None) -> DataFrame:
    """The newest documents of pages that were parsed, of a few (materialised) or of all (None)."""
    known = work.read(DOCUMENTS.name).where(F.col("outcome") == "parsed").select("url", "round")
    if named is not None:
        known = known.join(marks.frame_of_marked_urls(work, named), on="url", how="left_semi")
    newest, _ = work.scratch(known.groupBy("url").agg(F.max("round").alias("round")))
    texts = join_documents(work, newest, *READ)
    return texts if named is None else work.scratch(texts)[0]


def _judge_few(work: Workspace, draft: Draft, documents: DataFrame, focus: Focus | None) -> None:
    """Judge the pages of a few documents."""
    judged = _judge_documents(work, documents, focus)
    before = lsm.rows_for(work, PAGES, judged.select("url"))
    _write_changed(work, draft, before.join(judged, on="url", how="inner"))


def _judge_all(work: Workspace, draft: Draft, focus: Focus | None) -> None:
    """Judge all parsed pages, and what their links promise of others."""
    judged = _judge_documents(work, _newest_documents(work, None), focus)
    targets = fit_prediction.judge_targets(work, current_links.read_current(work), judged, focus)
    pages = lsm.current(work, PAGES).join(judged, on="url", how="left")
    _write_changed(
        work,
        draft,
        fit_prediction.join_judged_links(pages, targets),
        fit_prediction.replaced_counts(),
    )


def _judge_documents(work: Workspace, documents: DataFrame, focus: Focus | None) -> DataFrame:
    """Whether pages are fit, by their documents: url, now_fit, score."""
    judged = fitness.judge_documents(
        work, documents.withColumn("kind", listing_polls.kind_of_document()), focus
    )
    return judged.select("url", F.col("fit").alias("now_fit"), "score")


def _write_changed(
    work: Workspace, draft: Draft, pages: DataFrame, promised: Mapping[str, Column] = NOTHING
) -> None:
    """Write the rows of pages that change: in `fit`, and in what is `promised` of them."""
    columns = {"fit": F.coalesce("now_fit", "fit"), **promised}
    changes = [~F.col(name).eqNullSafe(column) for name, column in columns.items()]
    new = pages.where(reduce(or_, changes)).select(
        *(columns.get(name, F.col(name)).alias(name) for name in PAGES.column_names)
    )
    rows, count = work.scratch(new)
    if count:
        draft.replace[PAGES.name] = lsm.append_layer(work, PAGES, rows, count, work.round)
    draft.counts["pages"] = count
