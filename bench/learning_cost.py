"""What does learning rules for URLs add to an `update` on sites that have no duplicates?

    python bench/learning_cost.py [--pages 100 100_000] [--repeat 3]

A round fetches so many pages, each of which has a text of its own and links to ten new ones. Half
of them were fetched in the round before, too, so that their forms are known. Measured is the
`update` of the second round, with `url_rules.learn` and without, in turn. The kinds of URL:

  plain     /section-7/article-123.html, which has a form of its own for http only
  queries   /section-7/view?id=123&page=1, whose forms without parameters are shared

Printed are the best of the runs: elapsed and CPU seconds, and the queries that write files.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import structs
from page_state import Clock, Lap
from synthetic import FAN, NOW_MS, layer_of

from gossamer import update
from gossamer.backends import LocalBackend
from gossamer.config import Config
from gossamer.engine import Engine
from gossamer.store import StepReport, Store
from gossamer.tables import DATASETS
from gossamer.task_output import YIELD, YIELD_DDL
from gossamer.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

LINKS = 10
KINDS = {
    "plain": "https://site{host}.example/section-{section}/article-{i}.html",
    "queries": "https://site{host}.example/section-{section}/view?id={i}&page=1",
}


class Counted(Workspace):
    """A workspace that counts the queries whose results it writes."""

    queries = 0

    def _write(self, *arguments: Any, **options: Any) -> Any:
        self.queries += 1
        return super()._write(*arguments, **options)


def urls(kind: str, first: int, count: int) -> list[str]:
    return [
        KINDS[kind].format(host=i // FAN, section=i % FAN % 7, i=i)
        for i in range(first, first + count)
    ]


def layers(root: Path, kind: str, number: int, pages: int) -> dict[str, Any]:
    """The datasets of a round that `update` reads."""
    fetched = urls(kind, number * pages // 2, pages)
    hosts = [url.split("/")[2] for url in fetched]
    same = {"url": fetched, "host": hosts, "round": [number] * pages}
    same |= {"fetched_ms": [NOW_MS] * pages}
    sketches = np.random.default_rng(7).integers(0, 2**32, (3 * pages, 112), np.uint32)
    first = number * pages // 2
    columns: dict[str, dict[str, Any]] = {
        "responses": same | {"outcome": ["ok"] * pages, "http_status": [200] * pages},
        "documents": same
        | {
            "outcome": ["parsed"] * pages,
            "truncated": [False] * pages,
            "text_hash": list(range(first, first + pages)),
            "sketch": [row.tobytes() for row in sketches[first : first + pages]],
        },
        "links": {
            "round": [number] * pages * LINKS,
            "src": [url for url in fetched for _ in range(LINKS)],
            "dst": urls(kind, (10 + LINKS * number) * pages, pages * LINKS),
            "relation": ["a"] * pages * LINKS,
            "nofollow": [False] * pages * LINKS,
            "first": [True] * pages * LINKS,
            "depth": [2] * pages * LINKS,
            "hops": [0] * pages * LINKS,
        },
    }
    made = {}
    for name, named in columns.items():
        schema = DATASETS[name].schema
        count = len(named["round"])
        arrays = [pa.array(named.get(f.name, [None] * count), f.type) for f in schema]
        folder = root / name / f"round-{number}"
        folder.mkdir(parents=True)
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), folder / "0.parquet")
        made[name] = layer_of(root, folder, number)
    return made


def updated(engine: Engine, kind: str, pages: int, *, learn: bool) -> tuple[Lap, int]:
    """The cost of the second of two rounds, and its queries."""
    config = Config()
    config = structs.replace(config, url_rules=structs.replace(config.url_rules, learn=learn))
    with tempfile.TemporaryDirectory(prefix="learning-cost-") as folder:
        store = Store.create(LocalBackend(Path(folder)))
        work = Counted(store, config, clock_ms=NOW_MS, _engine=engine)
        for number in (1, 2):
            read = layers(Path(folder), kind, number, pages)
            store.commit(StepReport("parse", number, 0, 0.0), append=read)
            work.queries = 0
            clock = Clock()
            update.run(work)
        return clock.lap(), work.queries


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, nargs="+", default=[100, 100_000])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args(arguments)
    with Engine(Config().engine) as engine:
        engine.map_tasks(range(engine.workers), lambda _: (), YIELD, YIELD_DDL)
        print(f"{'pages':>8}  {'URLs':8}{'learn':8}{'s':>8}{'CPU s':>8}{'queries':>9}")
        for pages in options.pages:
            for kind in KINDS:
                best: dict[bool, tuple[Lap, int]] = {}
                for _ in range(options.repeat):
                    for learn in (False, True):
                        found = updated(engine, kind, pages, learn=learn)
                        best[learn] = min(best.get(learn, found), found, key=lambda f: f[0].cpu_s)
                for learn, (lap, queries) in best.items():
                    print(
                        f"{pages:8,}  {kind:8}{'yes' if learn else 'no':8}"
                        f"{lap.wall_s:8.2f}{lap.cpu_s:8.2f}{queries:9}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
