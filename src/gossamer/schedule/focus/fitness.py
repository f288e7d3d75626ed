"""Which pages does the owner want? Those with a text, unless the owner says otherwise.

What is said first decides:

    a mark of the page itself                   (marks.py)
    the first of `update.fit_rules` that matches, in the language of filter rules: `allow` that the
        page is fit, `deny` that it is not      (rules/filter_rules/rule_index.py: few and many cost
        the same)
    the length of its main text: below that of a sketch, 100 words, it is not fit
    the classifier, if enough pages are marked  (classifier.py)

`update` decides once for each parsed answer, so new rules and marks hold for pages that are fetched
later; `gossamer mark --apply` judges known pages anew.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from gossamer.rules.filter_rules.rule_index import NONE, RuleIndex
from gossamer.rules.filter_rules.rule_syntax import number_lines, parse_all
from gossamer.schedule.focus import classifier
from gossamer.schedule.focus.marks import TEXT, Focus, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

PLACE = "update.fit_rules, rule"
KEPT = ["url", "text_hash", "kind"]
OF_RULES = ("url", "content_type", "language")
DDL = "url string, text_hash long, kind string, fit boolean, score double"


def check(work: Workspace) -> None:
    """Raises ConfigError for rules that cannot be used."""
    _index_of_rules(work.config.update.fit_rules)


def rule_for(work: Workspace, document: Mapping[str, Any]) -> str | None:
    """The rule that decides about a document, a row with the columns OF_RULES."""
    index = _index_of_rules(work.config.update.fit_rules)
    number = index.first(*(document[name] for name in OF_RULES))
    return None if number == NONE else index.rules[number].text


def judge_documents(work: Workspace, documents: DataFrame, focus: Focus | None = None) -> DataFrame:
    """Of documents: the columns KEPT, whether they are `fit`, and the `score` of the classifier.

    The score is null if there is no classifier, or if it knows none of the words. Materialised if
    more than the length of texts decides.
    """
    rules = work.config.update.fit_rules
    has_text = F.col("sketch").isNotNull().alias("fit")
    if focus is not None and focus.classifier is not None:
        # Long rows: they are not written to scratch files first, as `map_rows` does.
        rows = documents.select(*KEPT, *OF_RULES[1:], has_text, *TEXT)
        judged = work.engine.map_partitions(rows, partial(_judge_batches, rules, focus), DDL)
        return work.scratch(judged, DDL)[0]
    if rules or focus is not None:
        rows = documents.select(*KEPT, *OF_RULES[1:], has_text)
        return work.map_rows(rows, partial(_judge_batches, rules, focus), DDL)[0]
    return documents.select(*KEPT, has_text, F.lit(None).cast("double").alias("score"))


def _judge_batches(
    rules: tuple[str, ...], focus: Focus | None, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    index = _index_of_rules(rules)
    for batch in batches:
        scores = pa.nulls(batch.num_rows, pa.float64())
        verdicts = [batch["fit"]]
        if focus is not None and focus.classifier is not None:
            scores = focus.classifier.scores(classifier.split_words(text_of(batch)))
            is_alike = pc.fill_null(pc.greater_equal(scores, 0), True)
            verdicts = [pc.and_(batch["fit"], is_alike)]
        if rules:
            verdicts.insert(0, _verdicts_of_rules(index, batch))
        if focus is not None:
            urls = batch["url"].cast(pa.string())
            verdicts.insert(0, focus.fit.take(pc.index_in(urls, value_set=focus.urls)))
        judged = batch.select(KEPT).append_column("fit", pc.coalesce(*verdicts))
        yield judged.append_column("score", scores)


def _verdicts_of_rules(index: RuleIndex, batch: pa.RecordBatch) -> pa.BooleanArray:
    """What the first rule says that matches each page; null if none does."""
    pages = zip(*(batch[name].to_pylist() for name in OF_RULES), strict=True)
    numbers = [index.first(*page) for page in pages]
    return pa.array([None if n == NONE else not index.rules[n].denies for n in numbers], pa.bool_())


@lru_cache(maxsize=1)
def _index_of_rules(rules: tuple[str, ...]) -> RuleIndex:
    return RuleIndex([placed.rule for placed in parse_all(number_lines(rules, PLACE))])
