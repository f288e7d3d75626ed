"""inject: seeds → pages.

A seed that is injected again and was not answered at its last fetch is due at once, because the
user wants it now. Its host's failures, waiting time and robots.txt are forgotten, unless the host
asked for a pause (429, 503).
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.rules.spellings import plainest, spelling_after
from gossamer.schedule import depths
from gossamer.schedule.due import due_counts
from gossamer.schedule.forgiven_hosts import forgiven_hosts
from gossamer.schedule.order import opic
from gossamer.state import lsm
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter
from gossamer.tables import HOSTS, PAGES
from gossamer.tables.outcomes import UNANSWERED
from gossamer.web import seed_lists
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport
    from gossamer.web.urls import Target

CHUNK = 100_000
"""Seeds held in memory at once."""
SEEDS = pa.schema([("url", pa.string()), ("seed_spelling", pa.string())])
"""`seed_spelling`: how it was given, if the URL lacks something of that."""
IS_SEED = "source = 'seed'"


def run(
    work: Workspace,
    urls: Iterable[str] = (),
    lists: Iterable[str] = (),
    report: Callable[[seed_lists.BadLine], None] = lambda _: None,
) -> StepReport:
    """Add seeds to the page database: `urls`, and files with `lists` of URLs.

    A page that is already known becomes a seed, with depth 0, and the pages that it leads to come
    nearer accordingly. Each invalid line is passed to `report` and skipped. Raises SeedError, and
    adds nothing, if a list cannot be read or one of `urls` is not a URL.
    """
    rules = work.config.urls
    bad = 0

    def report_bad_lines(entries: Iterable[Target | seed_lists.BadLine]) -> Iterator[Target]:
        nonlocal bad
        for entry in entries:
            if isinstance(entry, seed_lists.BadLine):
                bad += 1
                report(entry)
            else:
                yield entry

    with work.step("inject", work.round) as draft:
        given = seed_lists.parse_typed(urls, rules)
        listed = (seed_lists.read_list(source, rules) for source in lists)
        folder = work.scratch_attempt()
        paths = list(_write_seeds(report_bad_lines(chain(given, *listed)), work.root, folder))
        every = work.engine.read(paths, "url string, seed_spelling string").groupBy("url")
        seeded, wanted = work.scratch(every.agg(plainest("seed_spelling").alias("seed_spelling")))
        before, known = work.engine.read([], PAGES.ddl), 0
        if work.store.manifest.layers(PAGES.name):
            before, known = work.scratch(lsm.rows_for(work, PAGES, seeded.select("url")))
        virtual, new_seeds = opic.virtual_page(work), wanted
        if known:
            new_seeds -= before.where(IS_SEED).count()
        brought = virtual.unit(new_seeds)
        rows, count = work.scratch(seed_rows(seeded, before, work, virtual.given, brought))
        virtual = virtual.add_seeds(wanted - known, new_seeds)
        draft.replace["virtual_page"] = opic.write_opic(work, virtual, work.round)
        fetched = bool(work.store.manifest.layers(HOSTS.name))
        forgiven = work.scratch(forgiven_hosts(work, rows))[0] if fetched else None
        settled = depths.relax(work, rows, count, forgiven, are_nearer=known > 0)
        draft.replace["pages"] = lsm.append_layer(
            work, PAGES, settled.pages, settled.page_count, work.round
        )
        draft.replace["due_times"] = due_counts.write_due(
            work, due_counts.count_due_moves(rows), settled.pages
        )
        if fetched:
            hosts, host_count = work.scratch(settled.hosts)
            if host_count:
                draft.replace["hosts"] = lsm.append_layer(
                    work, HOSTS, hosts, host_count, work.round
                )
        draft.counts.update(seeds=count, bad_lines=bad)
    return draft.done


def seed_rows(
    seeded: DataFrame, before: DataFrame, work: Workspace, given: int, brought: int
) -> DataFrame:
    """The rows of `pages` for seeds, with the columns that `depths` and `due_times` need.

    These are `nearer` and `counted`. `seeded` has the columns of SEEDS, `before` the old rows of
    those that are known. Each new seed has `brought` cash, besides what it has as a known page;
    `given` is that of `opic.VirtualPage`.
    """
    config = work.config.update
    inlinks = F.coalesce("inlinks", F.lit(0).cast("long"))
    again = F.coalesce(F.col("outcome").isin(*UNANSWERED), F.lit(False))
    given_up = again & F.col("status").isin("gone", "excluded")
    columns = {
        "host": F.coalesce("host", host_column(F.col("url"))),
        "status": F.when(given_up, "unfetched").otherwise(F.coalesce("status", F.lit("unfetched"))),
        "source": F.lit("seed"),
        "depth": F.lit(0),
        "hops": F.lit(0),
        "inlinks": inlinks,
        "cash": opic.stored_cash(given, new=F.col("source").isNull())
        + F.when(F.expr(IS_SEED), 0).otherwise(brought),
        "found_ms": F.coalesce("found_ms", F.lit(work.now_ms())),
        "fetches": F.coalesce("fetches", F.lit(0)),
        "spelling": F.when(F.col("source").isNull(), F.col("seed_spelling")).otherwise(
            spelling_after(F.col("spelling"), F.col("seed_spelling"))
        ),
        "failures": F.when(again, 0).otherwise(F.coalesce("failures", F.lit(0))),
        "next_fetch_ms": F.when(again, 0)
        .otherwise(F.coalesce("next_fetch_ms", F.lit(0)))
        .cast("long"),
        "interval_s": F.coalesce("interval_s", F.lit(int(config.interval_days * 86_400))),
    }
    nearer = depths.is_nearer(F.lit(0), F.lit(0), F.col("outcome"))
    return seeded.join(before, on="url", how="left").select(
        *[columns.get(name, F.col(name)).alias(name) for name in PAGES.column_names],
        nearer.alias("nearer"),
        due_counts.due_slot_column().alias("counted"),
    )


def _write_seeds(seeds: Iterator[Target], root: str, folder: str) -> Iterator[str]:
    """Write the seeds to Parquet files of CHUNK rows, and yield the paths."""
    while chunk := list(islice(seeds, CHUNK)):
        writer = ParquetWriter(root, SCRATCH, folder, schema=SEEDS)
        columns = [pa.array(column, pa.string()) for column in zip(*chunk, strict=True)]
        writer.write(pa.table(columns, schema=SEEDS))
        yield from (f"{root}/{row['path']}" for row in writer.close())
