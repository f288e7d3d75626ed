from __future__ import annotations

from gossamer.flow import worker_preparation
from gossamer.rules import filters, traps
from gossamer.web import public_suffixes, sketches

MADE = (
    filters.find_plugins,
    public_suffixes._ends,
    sketches._table_as_written,
    traps.year_outside,
)


def test_what_tasks_would_make_at_their_first_use_is_there() -> None:
    for each in MADE:
        each.cache_clear()
    worker_preparation._make_tables()
    assert [each.cache_info().currsize for each in MADE] == [1] * len(MADE)
