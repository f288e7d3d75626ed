"""What do the pages that link to a page promise of it? What they are about, and their words for it.

Pages link to their like (Chakrabarti, van den Berg and Dom, WWW 1999: the radius-1 rule), and the
text of a link says what it leads to. Both are judged by the classifier (classifier.py). A link from
a page with the score s, by a text with the score a, makes its target fit with the probability

    p = logistic (s + a),  without those of them that are unknown

and of each target `pages` has the number of such links, and the sum of p: integers, in 2^-20, that
do not depend on the order of links. Each visit adds the links that it found. The promise of a page
is the mean of these p and one of NEUTRAL that counts as PRIOR links; that of a page that was judged
fit by its own text is 1. It is a factor of the scoring `fit`.

`update` reads the links of its round, at 1 µs each. Without a classifier nothing is read, and all
pages promise the same.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from gossamer.schedule.focus import classifier
from gossamer.tables import FIT_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column, DataFrame

    from gossamer.schedule.focus.classifier import Classifier
    from gossamer.schedule.focus.marks import Focus
    from gossamer.state.workspace import Workspace

NEUTRAL = 0.5
"""Of a page of which nothing is known: it comes after those that links promise, before the rest."""
PRIOR = 0.25
UNIT = 1 << 20
COLUMNS = ("judged_links", "fit_links")
"""Of `pages`: the number of links that could be judged, and the sum of their p."""
FOUND = tuple(f"found_{name}" for name in COLUMNS)
"""The same of new links."""


def judge_targets(
    work: Workspace, links: DataFrame, judged: DataFrame, focus: Focus | None
) -> DataFrame | None:
    """Per target of links: url, and FOUND; materialised. None without a classifier.

    `judged`: the linking pages, as `fitness.judge_documents` returns them. Links that are marked
    nofollow do not count.
    """
    if focus is None or focus.classifier is None:
        return None
    scores = judged.where(F.col("score").isNotNull()).select(F.col("url").alias("src"), "score")
    followed = links.where(~F.col("nofollow")).select("src", "dst", "anchor")
    rows = followed.join(scores, on="src", how="left").select("dst", "anchor", "score")
    fit = partial(judge_links, focus.classifier)
    told = work.engine.map_partitions(rows, fit, "url string, fit long")
    count, total = F.count("*").alias(FOUND[0]), F.sum("fit").alias(FOUND[1])
    return work.scratch(told.groupBy("url").agg(count, total))[0]


def join_judged_links(pages: DataFrame, targets: DataFrame | None) -> DataFrame:
    """Add the columns FOUND to rows with `url`."""
    if targets is None:
        return pages.select("*", *(F.lit(None).cast("long").alias(name) for name in FOUND))
    return pages.join(targets, on="url", how="left")


def replaced_counts() -> dict[str, Column]:
    """The columns COLUMNS by the links in FOUND, instead of those of before."""
    return {name: F.col(new) for name, new in zip(COLUMNS, FOUND, strict=True)}


def increased_counts() -> dict[str, Column]:
    """The columns COLUMNS, with those of new links."""
    return {
        name: F.when(F.col(new).isNull(), F.col(name))
        .otherwise(F.coalesce(name, F.lit(0)) + F.col(new))
        .cast("long")
        for name, new in zip(COLUMNS, FOUND, strict=True)
    }


def promise_column(work: Workspace) -> Column:
    """The promise of a page, from its columns `fit` and COLUMNS."""
    if not work.store.manifest.layers(FIT_WORDS.name):
        return F.lit(1.0)
    count, total = (F.coalesce(name, F.lit(0)) for name in COLUMNS)
    mean = (total / F.lit(float(UNIT)) + NEUTRAL * PRIOR) / (count + PRIOR)
    return F.when(F.coalesce("fit", F.lit(False)), F.lit(1.0)).otherwise(mean)


def judge_links(judge: Classifier, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The p of each link that can be judged, from dst, anchor and the `score` of its source."""
    for batch in batches:
        anchors = batch["anchor"].cast(pa.string()).dictionary_encode()
        by_text = judge.scores(classifier.split_words(anchors.dictionary)).take(anchors.indices)
        by_source = batch["score"]
        is_known = pc.or_(by_text.is_valid(), by_source.is_valid())
        parts = [pc.fill_null(each, 0.0).to_numpy() for each in (by_text, by_source)]
        fit = np.rint(UNIT * classifier.logistic(parts[0] + parts[1])).astype(np.int64)
        told = pa.RecordBatch.from_arrays([batch["dst"], pa.array(fit)], ["url", "fit"])
        yield told.filter(is_known)
