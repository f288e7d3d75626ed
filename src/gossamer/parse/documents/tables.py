"""Tables of values between commas, or between what spreadsheets write instead (RFC 4180)."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE_TYPES = ("text/csv", "text/tab-separated-values", "application/csv", "text/x-csv")
MAX_VALUE_CHARS = 131_072
"""Length of a value, from which on a table is read as plain lines."""

_SEPARATORS = ",;\t|"


def rows_of(text: str, limit: int) -> Iterator[str]:
    """Yield the rows with values as lines, up to `limit` characters and the row that passes it.

    The separator is the one that the first line has most often. From the first row on that is not
    of this form, lines are yielded as they are.
    """
    first = text[:MAX_VALUE_CHARS].partition("\n")[0]
    separator = max(_SEPARATORS, key=first.count)
    lines = text.splitlines(keepends=True)
    reader = csv.reader(lines, delimiter=separator)
    read = chars = 0
    while chars <= limit:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            break
        read = reader.line_num
        if line := " ".join(" ".join(row).split()):
            chars += len(line) + 1
            yield line
    for rest in lines[read:]:
        if chars > limit:
            return
        if line := " ".join(rest.split()):
            chars += len(line) + 1
            yield line
