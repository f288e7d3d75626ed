"""What do `update` and `generate` cost, beside hand-written SQL in DuckDB?

    python bench/page_state.py [--pages 20_000_000] [--links 5_000_000] [--rounds 3]
        [--chosen 1_000_000]

Both sides read the same Parquet files of known pages and of found links (half to known URLs, half
to new ones), merge the found URLs into the known ones, and select the best per host. DuckDB
rewrites the whole page table, as in its SQL; Gossamer runs its steps, which also count the domains
that link to each domain, and limit domains, as DuckDB does not. Several rounds are measured,
because only some of them have to merge layers. The engine and its workers start before the clock.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb
import msgspec
from harness import Options, report
from measuring import tree_cpu_s
from synthetic import NOW_MS, copy, layer_of, make_links, make_pages

from gossamer.config import Config
from gossamer.schedule import generate, update
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import StepReport, Store
from gossamer.storage.task_output import YIELD, YIELD_DDL
from gossamer.tables import PAGES

PER_HOST = 10
SCORE = "sqrt(1 + inlinks) / (1 + depth)"
"""The scoring `links` in SQL."""


@dataclass(frozen=True)
class Lap:
    """Elapsed and CPU seconds of this process, in which both engines run, and of the workers."""

    wall_s: float
    cpu_s: float

    def __add__(self, other: Lap) -> Lap:
        return Lap(self.wall_s + other.wall_s, self.cpu_s + other.cpu_s)


class Clock:
    def __init__(self) -> None:
        self.lap()

    def lap(self) -> Lap:
        """Return the time since the last lap."""
        wall_s, cpu_s = time.perf_counter(), tree_cpu_s()
        last, self._at = getattr(self, "_at", (wall_s, cpu_s)), (wall_s, cpu_s)
        return Lap(wall_s - last[0], cpu_s - last[1])


def by_duckdb(
    sql: duckdb.DuckDBPyConnection, pages: Path, links: Path, out: Path, chosen: int
) -> tuple[Lap, Lap]:
    """Merge and select with DuckDB, and return the times of both."""
    clock = Clock()
    carried = PAGES.column_names[PAGES.column_names.index("fetches") :]
    copy(
        sql,
        f"""WITH f AS (SELECT dst, count(*) AS n, min(depth) AS depth
                   FROM '{links}/*.parquet' WHERE NOT nofollow GROUP BY dst)
        SELECT coalesce(p.url, f.dst) AS url, coalesce(p.host, split_part(f.dst, '/', 3)) AS host,
          coalesce(p.status, 'unfetched') AS status, coalesce(p.source, 'link') AS source,
          least(p.depth, f.depth) AS depth, least(p.hops, 0) AS hops,
          coalesce(p.inlinks, 0) + coalesce(f.n, 0) AS inlinks,
          p.cash, p.history, coalesce(p.found_ms, {NOW_MS}) AS found_ms,
          {", ".join("p." + name for name in carried)}
        FROM '{pages}/*.parquet' p FULL OUTER JOIN f ON p.url = f.dst""",
        out / "pages",
    )
    merged = clock.lap()
    copy(
        sql,
        # max_by with a count keeps the best of each group in a heap, which is several times faster
        # here than a window with QUALIFY.
        f"""SELECT page.* FROM (SELECT unnest(best) AS page FROM (
              SELECT max_by({{'url': url, 'host': host, 'score': {SCORE}, 'depth': depth,
                              'hops': hops, 'etag': etag, 'last_modified': last_modified,
                              'digest': digest, 'stored_ms': stored_ms}},
                             {SCORE}, {PER_HOST})
                     AS best
              FROM '{out}/pages/*.parquet'
              WHERE status <> 'gone' AND coalesce(next_fetch_ms, 0) <= {NOW_MS} GROUP BY host))
            ORDER BY page.score DESC LIMIT {chosen}""",
        out / "list",
    )
    return merged, clock.lap()


def main() -> None:
    parser = Options(
        __doc__,
        pages=(20_000_000, 20_000),
        links=(5_000_000, 5_000),
        rounds=(3, 1),
        chosen=(1_000_000, 1_000),
    )
    parser.add_argument("--folder", default=tempfile.gettempdir())
    options = parser.read()
    root = Path(tempfile.mkdtemp(prefix="page-state-", dir=options.folder))
    work = None
    try:
        sql = duckdb.connect()
        store = Store.create(LocalBackend(root))
        config = Config()
        work = Workspace(store, sized(config, options.chosen), clock_ms=NOW_MS)
        base = root / "pages" / "base"
        make_pages(sql, base, options.pages)
        store.commit(StepReport("inject", 0, 0, 0.0), append={"pages": layer_of(root, base, 0)})
        work.engine.map_tasks(range(work.engine.workers), lambda _: (), YIELD, YIELD_DDL)
        print(f"{options.pages:,} known pages, {options.links:,} links found per round")
        print(f"{'':18}{'update':>9}{'':8}{'generate':>9}{'':8}{'sum':>9}")
        print(f"{'':18}" + 3 * f"{'s':>9}{'CPU s':>8}")
        for number in range(1, options.rounds + 1):
            links = root / "links" / f"round-{number}"
            make_links(sql, links, base, options.links, number)
            peer = by_duckdb(sql, base, links, root / "duckdb", options.chosen)
            print_row(number, "DuckDB", *peer)
            shutil.rmtree(root / "duckdb")
            sql.execute("CHECKPOINT")
            store.commit(
                StepReport("parse", number, 0, 0.0),
                append={"links": layer_of(root, links, number)},
            )
            clock = Clock()
            update.run(work)
            updated = clock.lap()
            generate.run(work)
            ours = updated, clock.lap()
            print_row(number, "Gossamer", *ours)
            total, theirs = ours[0] + ours[1], peer[0] + peer[1]
            layers = " + ".join(f"{layer.rows:,}" for layer in store.manifest.layers("pages"))
            print(
                f"        {total.wall_s / theirs.wall_s:.2f} × the time, "
                f"{total.cpu_s / theirs.cpu_s:.2f} × the CPU; layers {layers}",
                flush=True,
            )
        report(
            f"{theirs.wall_s / total.wall_s:.1f} × as fast as DuckDB's SQL, "
            f"with {total.cpu_s / theirs.cpu_s:.2f} × its CPU, in the last round"
        )
    finally:
        if work is not None:
            work.close()
        shutil.rmtree(root)


def sized(config: Config, chosen: int) -> Config:
    generate_config = msgspec.structs.replace(
        config.generate, pages=chosen, pages_per_host=PER_HOST
    )
    return msgspec.structs.replace(config, generate=generate_config)


def print_row(number: int, side: str, *laps: Lap) -> None:
    cells = "".join(f"{lap.wall_s:9.1f}{lap.cpu_s:8.1f}" for lap in (*laps, laps[0] + laps[1]))
    print(f"round {number} {side:10}{cells}", flush=True)


if __name__ == "__main__":
    main()
