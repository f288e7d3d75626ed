"""What a check of the datasets finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame


class Finding(NamedTuple):
    """`rows` of a dataset, or documents of the index, that should not be as they are."""

    dataset: str
    what: str
    rows: int
    example: str

    def __str__(self) -> str:
        return f"{self.dataset}: {self.rows:,} {self.what}, such as {self.example}"


def findings_of_rows(dataset: str, what: str, rows: DataFrame) -> Iterator[Finding]:
    """What rows with a column `url` show: no finding if there are none."""
    count, example = rows.agg(F.count("*"), F.min("url")).collect()[0]
    if count:
        yield Finding(dataset, what, count, example)
