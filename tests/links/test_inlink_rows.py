"""The rows of `inlinks` are those of a definition in plain Python: see gossamer.links.invert."""

from __future__ import annotations

import random
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from gossamer.links import domains, invert
from gossamer.web.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.engine.engine import Engine

Row = dict[str, Any]
HOSTS = [f"{name}.{domain}.test" for domain in "abcdefgh" for name in ("www", "x")]
OWN = HOSTS[:6]


def random_links(draw: random.Random) -> Iterator[Row]:
    """Links to 60 pages, few from many domains to some, and many from few to others."""
    for number in range(60):
        dst = f"http://{draw.choice(OWN)}/{number}"
        linking = draw.sample(HOSTS, draw.randint(1, len(HOSTS)))
        for host in [*linking, host_of(dst)]:
            for n in range(draw.choice((0, 1, 2, 4, 9))):
                yield {"dst": dst, "src": f"http://{host}/{number}/{n}"}


def row_by_definition(links: list[Row]) -> tuple[int, list[str], list[str], int]:
    """The count, sources, further sources and domains of a page's links."""
    ordered = sorted(links, key=lambda link: (link["domain"], link["standing"], link["draw"]))
    best, own, beyond, voters = list[str](), list[str](), list[str](), 0
    for _, of_domain in groupby(ordered, key=lambda link: link["domain"]):
        of_one = list(of_domain)
        best += [link["src"] for link in of_one[: domains.LINKS_PER_DOMAIN]]
        for link in of_one[domains.LINKS_PER_DOMAIN :]:
            (own if link["own"] else beyond).append(link["src"])
        voters += not of_one[0]["own"]
    listed = [*best, *own][: invert.MAX_SOURCES]
    further = [*best, *own, *beyond][len(listed) :][: invert.RESERVE]
    return len(links), listed, further, voters


@pytest.mark.parametrize(("most", "reserve"), [(2, 1), (5, 5), (4, 20), (200, 100)])
def test_rows_hold_the_best_links_of_each_domain_first(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, most: int, reserve: int
) -> None:
    monkeypatch.setattr(invert, "MAX_SOURCES", most)
    monkeypatch.setattr(invert, "RESERVE", reserve)
    draw = random.Random(most)  # noqa: S311  # reproducible
    rows = list(random_links(draw))
    standings = dict(zip(HOSTS, draw.sample(range(1, 17), len(HOSTS)), strict=True))
    first: dict[str, int] = {}
    for host, standing in standings.items():
        domain = host.partition(".")[2]
        first[domain] = min(standing, first.get(domain, standing))
    placed = {host: first[host.partition(".")[2]] for host in HOSTS}
    columns = {name: [row[name] for row in rows] for name in ("dst", "src")}
    links = engine.rows(pa.table({**columns, "anchor": [f"to {row['dst']}" for row in rows]}))
    hosts = engine.rows(
        pa.table({"host": HOSTS, "standing": [*standings.values()], "domain": [*placed.values()]})
    )
    drawn = links.select(F.xxhash64(F.concat_ws(" ", "src", "dst")).alias("draw")).collect()
    of_page: dict[str, list[Row]] = {}
    for row, by_lot in zip(rows, drawn, strict=True):
        host = host_of(row["src"])
        row |= {"draw": by_lot.draw, "standing": standings[host], "domain": placed[host]}
        row["own"] = host == host_of(row["dst"])
        of_page.setdefault(row["dst"], []).append(row)
    found = {
        row.dst: (
            row["count"],
            [each.src for each in row.sources],
            [each.src for each in row.further],
            row.domains,
        )
        for row in invert.invert_links(links, hosts).collect()
    }
    assert found == {dst: row_by_definition(each) for dst, each in of_page.items()}


@pytest.mark.parametrize(("own", "foreign"), [(9, 10), (20, 0), (16, 1)])
def test_a_row_holds_what_is_left_of_the_own_host_and_then_of_others(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, own: int, foreign: int
) -> None:
    monkeypatch.setattr(invert, "MAX_SOURCES", 4)
    monkeypatch.setattr(invert, "RESERVE", 12)
    best = domains.LINKS_PER_DOMAIN
    sources = [
        f"http://{host}/{n:02}"
        for host, count in zip(HOSTS[::2], (own, foreign), strict=False)
        for n in range(count)
    ]
    table = pa.table(
        {"dst": [f"http://{HOSTS[0]}/"] * len(sources), "src": sources, "anchor": sources}
    )
    hosts = pa.table({"host": HOSTS[:3:2], "standing": [1, 2], "domain": [1, 2]})
    (row,) = invert.invert_links(engine.rows(table), engine.rows(hosts)).collect()
    assert [*row.sources[0].asDict()] == ["src", "anchor"]
    held = [each.src for each in (*row.sources, *row.further)]
    assert len(held) == min(own + foreign, 16)
    found = [sum(host in each for each in held) for host in HOSTS[:3:2]]
    of_own = min(own, 16 - min(foreign, best))
    assert found == [of_own, min(foreign, 16 - of_own)]
