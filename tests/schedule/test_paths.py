"""How near pages are along links, from rows made by hand: see gossamer.schedule.depths."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from msgspec import structs
from pyspark.sql import functions as F

from gossamer.schedule import depths
from gossamer.tables import LINKS, PAGES
from tests.support.computed_columns import rows_as_frame
from tests.support.rows import by_url, frame, put

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

Row = dict[str, Any]
WHOLE = pa.int32()
TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(("url", "src", "dst", "relation"), pa.string()),
    **dict.fromkeys(("depth", "hops", "near_depth", "near_hops"), WHOLE),
}


def made(engine: Engine, *rows: Row) -> DataFrame:
    return rows_as_frame(
        engine, {name: kind for name, kind in TYPES.items() if name in rows[0]}, rows
    )


def test_a_link_is_a_step_and_a_redirect_a_hop(engine: Engine) -> None:
    source = {"depth": 3, "hops": 2}
    links = made(
        engine,
        {"dst": "a", "relation": "a"} | source,
        {"dst": "b", "relation": "redirect"} | source,
    )
    found = depths.follow_links(links)
    assert {tuple(row) for row in found.collect()} == {("a", 4, 0), ("b", 3, 3)}
    assert found.columns == ["url", "depth", "hops"]


def test_only_pages_with_a_shorter_path_come_nearer(engine: Engine) -> None:
    cases = {  # depth and hops, those of the new path, and what they become
        "same": ((3, 1), (3, 1), None),
        "depth": ((3, 1), (2, 5), (2, 1)),
        "hops": ((3, 1), (9, 0), (3, 0)),
        "both": ((3, 1), (2, 0), (2, 0)),
        "farther": ((3, 1), (4, 2), None),
    }
    pages = [{"url": url, "depth": d, "hops": h} for url, ((d, h), _, _) in cases.items()]
    paths = [{"url": url, "near_depth": d, "near_hops": h} for url, (_, (d, h), _) in cases.items()]
    known = rows_as_frame(engine, {each.name: each.type for each in PAGES.schema}, pages)
    found = depths.bring_nearer(known, made(engine, *paths))
    assert found.columns == list(PAGES.column_names)
    nearer = {row.url: (row.depth, row.hops) for row in found.collect()}
    assert nearer == {url: now for url, (_, _, now) in cases.items() if now}


def test_links_of_earlier_rounds_get_the_present_depths_of_their_sources(engine: Engine) -> None:
    link: Row = {"src": "near", "relation": "a", "depth": 9, "hops": 4}
    links = [
        link | {"dst": "a"},
        link | {"dst": "b", "relation": "redirect"},
        link | {"dst": "c", "src": "far"},
        link | {"dst": "d", "src": "unknown"},
    ]
    types = {each.name: each.type for each in LINKS.schema}
    pages = made(
        engine, {"url": "near", "depth": 2, "hops": 1}, {"url": "far", "depth": 20, "hops": 9}
    )
    found = depths.set_present_depths(rows_as_frame(engine, types, links), pages)
    assert {row.dst: (row.depth, row.hops) for row in found.collect()} == {
        "a": (3, 0),
        "b": (2, 2),
        "c": (9, 0),
        "d": (9, 0),
    }
    assert found.columns == list(LINKS.column_names)


@pytest.mark.embedded
def test_strangers_get_no_more_passes_than_a_path_may_have_links(work: Workspace) -> None:
    limits = structs.replace(work.config.filter, max_depth=2, max_redirects=1)
    work.config = structs.replace(work.config, filter=limits)
    chain = [f"http://a.example/{n}" for n in range(8)]
    page = {"outcome": "ok", "depth": 100, "hops": 0}
    put(work, "pages", [page | {"url": url} for url in chain], round_=0)
    put(work, "responses", [{"url": url, "outcome": "ok"} for url in chain])
    put(
        work,
        "links",
        [{"src": src, "dst": dst} for src, dst in pairwise(chain)],
    )
    rows = frame(work, "pages", [page | {"url": chain[0], "depth": 0}])
    met, count = work.scratch(rows.withColumn("nearer", F.lit(True)))
    relaxed = depths.relax(work, met, count, are_nearer=True)
    nearer = by_url(relaxed.pages)
    assert {url: row["depth"] for url, row in nearer.items()} == dict(
        zip(chain, range(5), strict=False)
    )
    assert (relaxed.page_count, relaxed.host_count) == (5, 0)
    alone = depths.relax(work, met, count, are_nearer=False)
    assert (list(by_url(alone.pages)), alone.page_count) == ([chain[0]], 1)
