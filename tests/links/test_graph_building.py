"""The steps of a build of the link graph, each against what it is by definition."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from pyspark.sql import functions as F

from gossamer.links import graph
from gossamer.links.bvgraph.files import CHUNK, Csr, GraphWriter
from gossamer.links.current_links import VOTES
from gossamer.links.graph import (
    arc_rows,
    arc_runs,
    arc_sorting,
    name_arrays,
    numbering,
    vote_reading,
)
from gossamer.links.graph.hosts import count_host_links
from gossamer.links.graph.names import name_column, name_of
from gossamer.web.urls import normalize
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gossamer.state.workspace import Workspace

SCHEMES = st.sampled_from(["http", "https", "s3", "a+b.c-d", "ftp", "file", "3x", "", "é"])
ODD = st.text(st.sampled_from("ab.:/190[],? é%"), max_size=20)
URLS = st.builds("{}{}{}".format, SCHEMES, st.sampled_from(["://", ":/", "//", ":"]), ODD)
NODES = 12
ARCS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=40)


@given(st.lists(URLS, max_size=20), st.integers(0, 3))
def test_names_of_many_urls_are_those_of_each(urls: list[str], skipped: int) -> None:
    given = pa.array(urls, pa.large_string()).slice(min(skipped, len(urls)))
    assert name_arrays.names_of(given).to_pylist() == [name_of(url) for url in urls[skipped:]]


def test_urls_have_one_name_and_are_urls_again(work: Workspace) -> None:
    chance = Random(1)  # noqa: S311
    hosts = ("a.org", "www.b.co.uk:8080", "[::1]:81", "127.0.0.1", "x-1.y_2.net", "[2001:db8::7]")
    found = {
        normalize(f"{chance.choice(('http', 'https', 'HTTP'))}://{host}/{path}")
        for host in hosts
        for path in ("", "a b", "x/y?z=1&a=b", "%C3%A9:80/", "..//a.b", ";c", "//:81")
    }
    urls = sorted(url for url in found if url)
    names = name_arrays.names_of(pa.array(urls, pa.large_string()))
    assert name_arrays.urls_of(names).to_pylist() == urls
    rows = work.engine.spark.createDataFrame([(url,) for url in urls], "url string")
    of_engine = {row[0]: row[1] for row in rows.select("url", name_column(F.col("url"))).collect()}
    assert of_engine == dict(zip(urls, names.to_pylist(), strict=True))


@given(st.lists(st.lists(st.text(max_size=4), min_size=1, max_size=9), min_size=1, max_size=4))
def test_strings_of_several_runs_are_distinct(given: list[list[str]]) -> None:
    strings = [each for run in given for each in run]
    distinct, numbers = numbering.sort_distinct(pa.array(strings, pa.large_string()))
    assert distinct.to_pylist() == sorted(set(strings))
    assert [distinct[number].as_py() for number in numbers.tolist()] == strings


def rows_of(starts: Any, targets: Any) -> list[list[int]]:
    return [targets[begin:end].tolist() for begin, end in pairwise(starts)]


@given(ARCS)
def test_arcs_in_any_order_become_rows_from_both_ends(arcs: list[tuple[int, int]]) -> None:
    sources, targets = np.array(arcs, np.int32).reshape(-1, 2).T.copy()
    forward = arc_sorting.rows_of_arcs(sources, targets, NODES)
    assert rows_of(*forward) == [
        sorted({dst for src, dst in arcs if src == node}) for node in range(NODES)
    ]
    assert rows_of(*arc_sorting.transpose_arcs(*forward)) == [
        sorted({src for src, dst in arcs if dst == node}) for node in range(NODES)
    ]


@given(st.lists(ARCS, max_size=4), st.integers(0, NODES), st.integers(0, NODES), st.booleans())
def test_runs_are_merged(
    given: list[list[tuple[int, int]]], first: int, size: int, counted: bool
) -> None:
    listed = []
    for arcs in given:
        links = Counter(arcs)
        columns = np.array(sorted(links), np.int64).reshape(-1, 2).T
        many = np.array([links[arc] for arc in sorted(links)] if counted else [], np.int64)
        rows = arc_rows.rows_of_sorted_arcs(columns[0], columns[1], many)
        assert len(set(arcs)) == rows.targets.size == arc_rows.transpose_rows(rows).targets.size
        listed.append(arc_rows.transpose_rows(arc_rows.transpose_rows(rows)))
    last = min(first + size, NODES)
    found = arc_rows.merge_rows(
        [rows.part(first, last) for rows in listed], first, max(first, last)
    )
    total = sum(map(Counter, given), Counter())
    expected = [
        sorted(dst for src, dst in total if src == node) for node in range(first, max(first, last))
    ]
    assert rows_of(found.starts, found.targets) == expected
    if counted and found.targets.size:
        ends = [(node, dst) for node, row in enumerate(expected, first) for dst in row]
        assert found.links.tolist() == [total[arc] for arc in ends]


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("place", ["folder", "s3"])
def test_parts_of_runs_are_read(tmp_path: Path, s3: str, place: str, counted: bool) -> None:
    root = s3 if place == "s3" else str(tmp_path)
    random = np.random.default_rng(5)
    nodes = 5 * CHUNK
    numbers = np.unique(random.integers(0, nodes // 2 * nodes, 2_000))  # half of them have rows
    for some in (numbers, numbers[:0]):
        rows = arc_rows.rows_of_sorted_arcs(
            *np.divmod(some, nodes), some % 7 if counted else some[:0]
        )
        run = arc_runs.ArcRun(
            f"{root}/{arc_runs.write_run(root, 'scratch', 'run', 3, rows)['path']}"
        )
        for first, last in [(0, nodes), (0, CHUNK), (CHUNK, 3 * CHUNK), (9, 5_000), (nodes, nodes)]:
            found, expected = run.part(first, last), rows.part(first, last)
            assert all(np.array_equal(*each) for each in zip(found, expected, strict=True))
        chunks = np.arange(0, nodes + CHUNK, CHUNK)
        assert run.arcs_before(chunks).tolist() == [
            rows.part(0, n).targets.size for n in chunks.tolist()
        ]


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6), st.data())
def test_links_between_hosts_are_counted(sizes: list[int], data: st.DataObject) -> None:
    first_pages = np.array([0, *np.cumsum(sizes)])
    page = st.integers(0, int(first_pages[-1]) - 1)
    arcs = data.draw(st.sets(st.tuples(page, page), max_size=40))
    first = data.draw(page)
    rows = [sorted(dst for src, dst in arcs if src == node) for node in range(first, sum(sizes))]
    starts = np.cumsum([0, *map(len, rows)])
    targets = np.array([dst for row in rows for dst in row], np.int64)
    host = [number for number, size in enumerate(sizes) for _ in range(size)]
    expected = Counter(
        (host[node], host[dst])
        for node, row in enumerate(rows, first)
        for dst in row
        if host[node] != host[dst]
    )
    found = np.array(count_host_links(starts, targets, first_pages, first))
    assert [(a, b, n) for a, b, n in found.T.tolist()] == [
        (*ends, expected[ends]) for ends in sorted(expected)
    ]


def written(folder: Path, arcs: Iterable[tuple[str, str]], names: list[str]) -> dict[str, str]:
    """Checksums of the files of a graph between these names, in this order."""
    number = {name: place for place, name in enumerate(names)}
    found: dict[str, str] = {}
    for suffix, ends in (("", arcs), ("-t", [(dst, src) for src, dst in arcs])):
        rows: list[list[int]] = [[] for _ in names]
        for src, dst in ends:
            rows[number[src]].append(number[dst])
        targets = [target for row in rows for target in sorted(row)]
        folder.mkdir(exist_ok=True)
        writer = GraphWriter(folder / f"rows{suffix}")
        writer.append(Csr(np.cumsum([0, *map(len, rows)]), np.array(targets, np.int64)))
        found |= {f"{suffix}.{file.name.partition('.')[2]}": file.xxh3 for file in writer.close()}
    return found


@pytest.mark.parametrize(("seed", "nofollow"), [(1, False), (2, True)])
def test_a_graph_is_bit_by_bit_the_one_by_definition(
    new_work: Callable[[], Workspace],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    seed: int,
    nofollow: bool,
) -> None:
    """Links of all kinds, in rounds of which later ones replace some, in several shares."""
    monkeypatch.setattr(vote_reading, "ROW_BYTES", 10**9 // 20)
    monkeypatch.setattr(numbering, "NAME_BYTES", 10**9 // 5)
    monkeypatch.setattr(name_arrays, "BATCH", 3)
    work = new_work()
    rank = structs.replace(work.config.rank, nofollow=nofollow)
    work.config = structs.replace(work.config, rank=rank)
    chance = Random(seed)  # noqa: S311
    urls = [f"http://{host}/{page}" for host in ("a.org", "b.a.org", "c.net") for page in range(7)]
    links: dict[str, list[dict[str, Any]]] = {}
    for round_ in (1, 2, 3):
        pages = chance.sample(urls, 15 if round_ == 1 else 6)
        for url in pages:
            links[url] = [
                {
                    "src": url,
                    "dst": chance.choice(urls),
                    "round": round_,
                    "relation": chance.choice([*VOTES, "feed", "img"]),
                    "nofollow": chance.random() < 0.3,
                }
                for _ in range(chance.randrange(9))
            ]
        put(work, "links", [row for url in pages for row in links[url]], round_)
        answers = [{"url": url, "round": round_, "outcome": "ok"} for url in pages]
        put(work, "responses", answers, round_)
    graph.run(work)
    arcs = {
        (name_of(row["src"]), name_of(row["dst"]))
        for rows in links.values()
        for row in rows
        if row["relation"] in VOTES and (nofollow or not row["nofollow"])
    }
    names = sorted({name for ends in arcs for name in ends})
    hosts = {name: " ".join(name.split(" ")[:2]) for name in names}
    between = {(hosts[src], hosts[dst]) for src, dst in arcs if hosts[src] != hosts[dst]}
    expected = written(tmp_path / "pages", arcs, names)
    of_hosts = written(tmp_path / "hosts", between, sorted(set(hosts.values())))
    files = {Path(file.path).name: file.xxh3 for file in work.store.files("graph")}
    for kind, checksums in (("pages", expected), ("hosts", of_hosts)):
        for name, checksum in checksums.items():
            assert files[f"{kind}{name}"] == checksum


def test_a_host_with_pages_in_several_batches_is_one_host(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_arrays, "BATCH", 4)
    urls = [f"http://{host}.org/{page}" for host in "abc" for page in range(7)]
    put(work, "links", [{"src": "http://z.org/", "dst": url} for url in urls])
    assert graph.run(work).counts["hosts"] == 4
