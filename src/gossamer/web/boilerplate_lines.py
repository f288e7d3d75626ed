"""The lines of a page's text, and those that are boilerplate: many pages of its host have them.

A line is a block of the page (a paragraph, an item, a cell), with white space folded. Datasets hold
hashes of lines: those of a host are few, and no text has to be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import xxhash
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Column, DataFrame

LINE = "\n"
_SEED = 42
"""The seed of Spark's xxhash64."""
_RANGE = 1 << 64


def line_hashes(text: Column) -> Column:
    """The hash of each line of a text, in their order.

    Lines are hashed before they are rows. The engine has thousands of texts at once, and would copy
    all of their lines with the columns beside them: 900 MB for 36,000 pages of 10 KB.
    """
    return F.transform(F.split(text, LINE), lambda line: F.xxhash64(line))  # noqa: PLW0108  # named


def frequent_lines(lines: DataFrame, most: Column, limit: int) -> DataFrame:
    """By `host`, the hashes of the lines that more than `most` of its pages have, as `lines`.

    `lines` has a row with `host` and `hash` for each page that has the line, and the columns of
    which `most` is made, which are those of the host. At most `limit` lines, those on most pages.
    The engine counts the rows of each partition before it shuffles.
    """
    most_first = F.struct((-F.col("having")).alias("less"), "hash")
    found = F.slice(F.sort_array(F.collect_list(most_first)), 1, limit)
    return (
        lines.groupBy("host", most.alias("most"), "hash")
        .agg(F.count("*").alias("having"))
        .where(F.col("having") > F.col("most"))
        .groupBy("host")
        .agg(found.alias("found"))
        .select("host", F.sort_array(F.col("found.hash")).alias("lines"))
    )


def line_hash(line: str) -> int:
    """Spark's `xxhash64`: a signed number."""
    unsigned = xxhash.xxh64_intdigest(line.encode(), _SEED)
    return unsigned - _RANGE if unsigned >> 63 else unsigned


class BoilerplateLines:
    """The boilerplate of a host. Looking up a line again costs a fifth of hashing it."""

    def __init__(self, hashes: Iterable[int] | None) -> None:
        self._unsigned_hashes = frozenset(number % _RANGE for number in hashes or ())
        self._met: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._unsigned_hashes)

    def split(self, text: str) -> tuple[str, str]:
        """Split a text into the other lines, and those that are boilerplate."""
        if not self:
            return text, ""
        hashes, met, digest = self._unsigned_hashes, self._met, xxhash.xxh64_intdigest
        own: list[str] = []
        boilerplate: list[str] = []
        for line in text.split(LINE):
            if line in met:
                boilerplate.append(line)
            elif digest(line.encode(), _SEED) in hashes:
                met.add(line)
                boilerplate.append(line)
            else:
                own.append(line)
        return (LINE.join(own), LINE.join(boilerplate)) if boilerplate else (text, "")
