"""refresh: pages, hosts → pages, hosts. Makes known pages due now, whatever their interval says.

Patterns are RE2's, searched for in the whole URL, as in `filter.allow`. They are matched by Arrow,
a column at a time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from pyspark.sql import functions as F

from gossamer.config.patterns import Patterns
from gossamer.schedule.due import due_counts
from gossamer.schedule.due.due_pages import is_never_due
from gossamer.schedule.forgiven_hosts import forgiven_hosts
from gossamer.state import lsm
from gossamer.tables import HOSTS, PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport


def run(work: Workspace, pattern: str = "") -> StepReport:
    """Make pages due: those whose URL matches, or all.

    Only pages that were asked for before count; the others are due anyway. A page that `refilter`
    has excluded is not asked for, and a host that failed need not wait. Raises ConfigError for a
    pattern that RE2 lacks.
    """
    with work.step("refresh", work.round) as draft:
        due = lsm.current(work, PAGES).where("outcome IS NOT NULL").where(~is_never_due())
        if pattern:
            Patterns("--refresh-matching", [pattern])
            found = work.engine.map_partitions(
                due.select("url"), partial(_filter_matching, pattern), "url string"
            )
            due = due.join(found, on="url", how="left_semi")
        now_due = {"next_fetch_ms": F.lit(0).cast("long")}
        rows, count = work.scratch(
            due.select(
                *[now_due.get(n, F.col(n)).alias(n) for n in PAGES.column_names],
                due_counts.due_slot_column().alias("counted"),
            )
        )
        if count:
            new = rows.select(*PAGES.column_names)
            draft.replace["pages"] = lsm.append_layer(work, PAGES, new, count, work.round)
            draft.replace["due_times"] = due_counts.write_due(
                work, due_counts.count_due_moves(rows), new
            )
            hosts, host_count = work.scratch(forgiven_hosts(work, new))
            if host_count:
                draft.replace["hosts"] = lsm.append_layer(
                    work, HOSTS, hosts, host_count, work.round
                )
        draft.counts["pages"] = count
    return draft.done


def _filter_matching(pattern: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.filter(pc.match_substring_regex(batch.column("url"), pattern))
