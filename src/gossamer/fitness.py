"""Which pages does the owner want? Those with a text, unless rules say otherwise.

A page is fit if its main text is long enough for a sketch (100 words). `update.fit_rules` are in
the language of filter rules: the first that matches a page decides, `allow` that it is fit and
`deny` that it is not. A look-up costs the same for few rules and for many (filter_rules/index.py).

`update` decides once for each parsed answer, so new rules hold for pages that are fetched later.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.filter_rules.index import NONE, RuleIndex
from gossamer.filter_rules.language import numbered, parse_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from gossamer.workspace import Workspace

PLACE = "update.fit_rules, rule"
KEPT = ["url", "text_hash", "kind"]
COLUMNS = ("url", "content_type", "language", "fit")
DDL = "url string, text_hash long, kind string, fit boolean"


def check(work: Workspace) -> None:
    """Raises ConfigError for rules that cannot be used."""
    _index(work.config.update.fit_rules)


def of_documents(work: Workspace, documents: DataFrame) -> DataFrame:
    """Of documents: the columns KEPT, and whether they are `fit`."""
    rules = work.config.update.fit_rules
    fit = F.col("sketch").isNotNull().alias("fit")
    if not rules:
        return documents.select(*KEPT, fit)
    rows = documents.select(*KEPT, "content_type", "language", fit)
    return work.map_rows(rows, partial(_judged, rules), DDL)[0]


def _judged(rules: tuple[str, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    index = _index(rules)
    for batch in batches:
        pages = zip(*(batch[name].to_pylist() for name in COLUMNS), strict=True)
        fit = [_is_fit(index, *page) for page in pages]
        yield batch.select(KEPT).append_column("fit", pa.array(fit, pa.bool_()))


def _is_fit(
    index: RuleIndex, url: str, content_type: str | None, language: str | None, has_text: bool
) -> bool:
    number = index.first(url, content_type, language)
    return has_text if number == NONE else not index.rules[number].denies


@lru_cache(maxsize=1)
def _index(rules: tuple[str, ...]) -> RuleIndex:
    return RuleIndex([placed.rule for placed in parse_all(numbered(rules, PLACE))])
