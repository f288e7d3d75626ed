"""Pages that a task leaves for later, and why. None of them is lost.

    postponed_cpu   its domain used up its processor time in this round (`cpu_budget.py`)
    interrupted     its parser was killed from outside, so this is not the page's fault
                    (`guarded_parser.py`)

Such a page gets no new document, so an older one stays. Its response becomes a row of `unparsed`,
which the next parse step reads and rewrites. An interrupted page is first tried again in the same
step: on its own, in a second pass after all other tasks.

A task that parses ahead (`parse_ahead.py`) leaves pages, too: to the parse step of its round, which
parses them as if nobody had taken them up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter
from gossamer.tables import UNPARSED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.parse.step.stored_responses import ResponseRow
    from gossamer.storage.task_output import Row

POSTPONED, INTERRUPTED, LATER = "postponed_cpu", "interrupted", "later"
RETRIED = "retried_alone"
"""Name of the count of pages that go to the second pass."""


class PostponedWriter:
    """Collects the pages that a task leaves for later; `close` writes them."""

    def __init__(self, root: str, attempts: Sequence[str], *, alone: bool, later: str = "") -> None:
        """`attempts` are folders of unparsed and of scratch; `alone` marks the second pass.

        `later` is a scratch folder for pages that a task leaves which parses ahead.
        """
        unparsed, again = attempts
        self.alone = alone
        self._left = ParquetWriter(root, UNPARSED.name, unparsed)
        self._again = ParquetWriter(root, SCRATCH, again, schema=UNPARSED.schema)
        self._later = ParquetWriter(root, SCRATCH, later, schema=UNPARSED.schema)
        self.postponed: list[ResponseRow] = []
        self.interrupted: list[ResponseRow] = []
        self.later: list[ResponseRow] = []

    def close(self) -> list[Row]:
        """Write the pages and return the rows of YIELD for up to three files.

        One is of unparsed, the others of scratch, with the pages for the second pass and for later.
        """
        _write(self._left, self.postponed, POSTPONED)
        _write(self._left if self.alone else self._again, self.interrupted, INTERRUPTED)
        _write(self._later, self.later, LATER)
        return self._left.close() + self._again.close() + self._later.close()


def _write(writer: ParquetWriter, answers: Sequence[ResponseRow], why: str) -> None:
    if answers:
        rows = [answer._asdict() | {"why": why} for answer in answers]
        writer.write(pa.Table.from_pylist(rows, schema=UNPARSED.schema))
