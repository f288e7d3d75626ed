"""What a check of the datasets finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

EXAMPLES = 3


class Finding(NamedTuple):
    """`rows` of a dataset, or documents of the index, that should not be as they are."""

    dataset: str
    what: str
    rows: int
    examples: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.dataset}: {self.rows:,} {self.what}, such as {', '.join(self.examples)}"


def of_rows(dataset: str, what: str, rows: DataFrame) -> Iterator[Finding]:
    """What materialised rows with a column `url` show: no finding if there are none."""
    if count := rows.count():
        examples = rows.select("url").orderBy("url").limit(EXAMPLES).collect()
        yield Finding(dataset, what, count, tuple(row.url for row in examples))
