"""Graphs of other programs: files without offsets, of odd sizes, or made to do harm."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import StoreError
from gossamer.links.bvgraph import ORIGINAL, Shape, adoption, codes, files
from gossamer.links.bvgraph.adoption import adopt_graph
from gossamer.links.bvgraph.files import BitFile, BvGraph, Csr
from gossamer.links.bvgraph.properties import Properties
from tests.support.bvgraph_files import csr, write
from tests.support.native_loops import compiled_only
from tests.support.random_graphs import SHAPES, graphs, rows_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.bvgraph_files import Rows


def as_of_another(base: Path) -> None:
    """Leave of our files what other programs always write: bits to the end of a byte."""
    graph = BvGraph(base)
    path = base.with_suffix(".graph")
    path.write_bytes(path.read_bytes()[: -(-graph.bits // 8)])
    base.with_suffix(".offsets").unlink()


@settings(max_examples=60)
@given(graphs(), SHAPES)
def test_a_graph_without_offsets_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, shape: Shape
) -> None:
    base = tmp_path_factory.mktemp("graph") / "web"
    write(base, rows, shape)
    offsets = base.with_suffix(".offsets").read_bytes()
    as_of_another(base)
    graph = adopt_graph(base, base.with_name("adopted"))
    assert rows_of(graph) == rows
    assert base.with_name("adopted.offsets").read_bytes() == offsets
    assert [graph.successors(node).tolist() for node in range(len(rows))] == rows


def test_few_rows_are_read_at_a_time_if_they_are_long(tmp_path: Path) -> None:
    rows = [list(range(n)) for n in (5, 3, 0, 40, 2, 2, 2, 3)] + [[]] * 32
    graph = write(tmp_path / "web", rows)
    found = [each.starts.size - 1 for each in graph.rows(30, most=8)]
    assert found == [3, 1, 3, 30, 3]
    assert [row for each in graph.rows(30, most=8) for row in _lists(each)] == rows
    assert [row for each in graph.rows(3, 3, 9, most=8) for row in _lists(each)] == rows[3:9]


def test_offsets_are_written_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [list(range(n)) for n in (5, 3, 0, 7, 2, 2, 2, 3, 0, 1)]
    write(tmp_path / "web", rows)
    offsets = (tmp_path / "web.offsets").read_bytes()
    as_of_another(tmp_path / "web")
    for chunk in (1, 4, 5, 10, 11):
        monkeypatch.setattr(adoption, "CHUNK", chunk)
        target = tmp_path / f"adopted-{chunk}"
        assert rows_of(adopt_graph(tmp_path / "web", target)) == rows
        assert target.with_suffix(".offsets").read_bytes() == offsets


def test_a_graph_has_few_arcs_or_few_per_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [[1, 2], [2], [0]]
    write(tmp_path / "web", rows)
    as_of_another(tmp_path / "web")
    for always, per_bit in ((4, 0), (0, 1)):
        monkeypatch.setattr(adoption, "ALWAYS_ARCS", always)
        monkeypatch.setattr(adoption, "ARCS_PER_BIT", per_bit)
        assert rows_of(adopt_graph(tmp_path / "web", tmp_path / f"web{always}")) == rows
    monkeypatch.setattr(adoption, "ALWAYS_ARCS", 3)
    monkeypatch.setattr(adoption, "ARCS_PER_BIT", 0)
    with pytest.raises(StoreError, match=r"4 arcs in .* bits are no graph of pages"):
        adopt_graph(tmp_path / "web", tmp_path / "refused")


def test_a_code_may_fill_the_last_word() -> None:
    words = np.zeros(1, np.uint64)
    assert codes.write_bits(words, 0, 5, 3) == 3
    assert codes.write_bits(words, 3, 1, 61) == 64
    assert codes.peek_bits(words, 0) == (5 << 61) + 1
    assert codes.write_bits(words, 64, 0, 0) == 64


def _lists(rows: Csr) -> Rows:
    return [row.tolist() for row in np.split(rows.targets, rows.starts[1:-1])]


def check_damaged(base: Path, rows: Rows, shape: Shape, data: st.DataObject) -> None:
    """Damaged bits are another graph of the same size, or refused."""
    write(base, rows, shape)
    as_of_another(base)
    path = base.with_suffix(".graph")
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        if content and data.draw(st.booleans()):
            content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        else:
            del content[data.draw(st.integers(0, len(content))) :]
    path.write_bytes(content)
    found: Rows = []
    refused = None
    try:
        found = rows_of(adopt_graph(base, base.with_name("adopted")))
    except StoreError as error:
        refused = error
    if refused is not None:
        assert refused.subject.startswith(str(base))
    else:
        assert [len(found), sum(map(len, found))] == [len(rows), sum(map(len, rows))]


def check_any_bytes(base: Path, content: bytes, given: Properties) -> None:
    """Bytes with any properties are rows, or refused; too many arcs are refused before reading."""
    base.with_suffix(".graph").write_bytes(content)
    base.with_suffix(".properties").write_text(str(given))
    with pytest.raises(StoreError) if given.arcs > 1 << 20 else suppress(StoreError):
        rows_of(adopt_graph(base, base.with_name("adopted")))


CONTENT = st.binary(max_size=200) | st.binary(max_size=20).map(lambda some: some * 10)
ANY_PROPERTIES = st.builds(
    Properties,
    st.integers(0, 300) | st.integers(0, 1 << 40),
    st.integers(0, 300) | st.integers(0, 1 << 80),
    st.builds(
        Shape, st.integers(0, 1 << 16), st.just(3), st.integers(0, 1 << 16), st.integers(1, 7)
    ),
)


@settings(max_examples=60)
@given(graphs(), SHAPES, st.data())
def test_damaged_bits_never_crash(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, shape: Shape, data: st.DataObject
) -> None:
    check_damaged(tmp_path_factory.mktemp("graph") / "web", rows, shape, data)


@pytest.mark.fuzz
@settings(max_examples=1_000)
@given(graphs(), SHAPES, st.data())
def test_many_damaged_bits_never_crash(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, shape: Shape, data: st.DataObject
) -> None:
    check_damaged(tmp_path_factory.mktemp("graph") / "web", rows, shape, data)


@given(CONTENT, ANY_PROPERTIES)
def test_any_bytes_are_rows_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, given: Properties
) -> None:
    check_any_bytes(tmp_path_factory.mktemp("graph") / "web", content, given)


@pytest.mark.fuzz
@settings(max_examples=5_000)
@given(CONTENT, ANY_PROPERTIES)
def test_many_bytes_are_rows_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, given: Properties
) -> None:
    check_any_bytes(tmp_path_factory.mktemp("graph") / "web", content, given)


def test_offsets_whose_sum_overflows_are_refused(tmp_path: Path) -> None:
    """They would lead to bits far before the file, and end where they should."""
    base = tmp_path / "web"
    graph = write(base, [[1], *[[0]] * 8])
    path = base.with_suffix(".offsets")
    path.unlink()
    file = BitFile(str(path))
    file.append(files.ZERO_IN_GAMMA, 0, 1)
    coded = np.zeros(64, np.uint64)
    lengths = np.array([*[codes.MAX_NUMBER] * 8, graph.bits])  # eight of them are 2^64
    file.append(coded, 0, codes.write_gammas(coded, 0, lengths))
    file.close()
    with pytest.raises(StoreError, match="damaged"):
        rows_of(BvGraph(base))


@compiled_only
def test_a_few_bits_that_stand_for_all_arcs_of_the_world_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = 2_000
    rows = csr([list(range(nodes))] * nodes)
    base = tmp_path / "web"
    writer = files.GraphWriter(base, ORIGINAL._replace(max_references=nodes))
    writer.append(rows)
    writer.close()
    as_of_another(base)
    monkeypatch.setattr(adoption, "ALWAYS_ARCS", nodes)
    monkeypatch.setattr(adoption, "ARCS_PER_BIT", 10)
    with pytest.raises(StoreError, match=r"web\.graph: .* 4,000,000 arcs in .* bits"):
        adopt_graph(base, tmp_path / "adopted")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nodes=3", "damaged: its bits are no rows"),
        ("nodes=9999", "too short for 9,999 nodes"),
        ("nodes=1", r"promise 2 arcs, and it has 1\n"),
        ("arcs=1", r"promise 1 arcs, and it has more\n"),
        ("arcs=99", r"promise 99 arcs, and it has 2\n"),
        ("arcs=99999999999999", "no graph of pages"),
        ("nodes=" + "9" * 5_000, "a number is missing or invalid"),
        ("endianness=little", "big-endian"),
        ("graphclass=it.unimi.dsi.webgraph.EFGraph", "only graphs of the class BVGraph"),
        ("zetak=0", "out of range"),
    ],
)
def test_lying_properties_are_refused(tmp_path: Path, line: str, says: str) -> None:
    base = tmp_path / "web"
    write(base, [[1], [0]])
    with base.with_suffix(".properties").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(StoreError, match=says):
        adopt_graph(base, tmp_path / "adopted")


def test_properties_of_rust_are_read(tmp_path: Path) -> None:
    base = tmp_path / "web"
    write(base, [[1], [0]])
    path = base.with_suffix(".properties")
    text = path.read_text().replace("BVGraph\n", "BvGraph\nendianness=big\n")
    path.write_text(text.replace("zetak=3\n", ""))
    assert rows_of(adopt_graph(base, tmp_path / "adopted")) == [[1], [0]]


@pytest.mark.parametrize("ending", [".graph", ".properties"])
def test_a_file_that_is_none_is_named(tmp_path: Path, ending: str) -> None:
    base = tmp_path / "web"
    write(base, [[1], [0]])
    base.with_suffix(ending).unlink()
    for target in ("a", "b"):
        with pytest.raises(StoreError, match=f"web\\{ending}"):
            adopt_graph(base, tmp_path / target)
        base.with_suffix(ending).mkdir(exist_ok=True)
