"""Graphs as bits: WebGraph's format, written and read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gossamer.errors import StoreError, StoreFull
from gossamer.links.bvgraph import (
    MAX_PARAMETER,
    MAX_ZETA,
    ORIGINAL,
    Shape,
    check_shape,
    codes,
    files,
    integer,
    natural,
)
from gossamer.links.bvgraph.decoding import decode_rows
from gossamer.links.bvgraph.encoding import MAX_CODE_BITS, encode_rows
from gossamer.links.bvgraph.files import BvGraph, Csr, GraphWriter
from tests.support.bvgraph_by_definition import Bits, bits_of, decoded
from tests.support.bvgraph_files import csr, write
from tests.support.native_loops import compiled_only
from tests.support.random_graphs import SHAPES, graphs, rows_of

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.links.bvgraph.codes import Words
    from tests.support.bvgraph_files import Rows


MOST = (1 << 56) - 2
"""The largest number that is read in each of the ζ codes: ζ_7 of the next one has 64 bits."""
NUMBERS = st.lists(st.integers(0, MOST) | st.integers(0, 300), max_size=50)


@pytest.fixture
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graph") / "web"


def words_of(size: int = 200) -> Words:
    return np.zeros(size, np.uint64)


@given(NUMBERS, st.integers(1, 7))
@example([MOST], 7)
def test_codes_are_those_of_their_definitions(numbers: list[int], k: int) -> None:
    words, at, bits = words_of(), 0, 0
    for n in numbers:
        at = codes.write_zeta(words, codes.write_gamma(words, at, n), n, k)
        bits += codes.gamma_bits(n) + codes.zeta_bits(n, k)
    assert at == bits
    stream = Bits(bits_of(words.tobytes()))
    at = 0
    for n in numbers:
        assert (stream.gamma(), stream.zeta(k)) == (n, n)
        found, at = codes.read_gamma(words, at)
        again, at = codes.read_zeta(words, at, k)
        assert (found, again) == (n, n)
    assert at == bits


@given(st.lists(st.integers(0, 500), max_size=20))
def test_unary_numbers_are_zeros_and_a_one(numbers: list[int]) -> None:
    words, at = words_of(), 0
    for n in numbers:
        at = codes.write_unary(words, at, n)
    assert bits_of(words.tobytes())[:at] == "".join("0" * n + "1" for n in numbers)
    at = 0
    for n in numbers:
        found, at = codes.read_unary(words, at)
        assert found == n


def test_a_code_that_nobody_writes_is_broken() -> None:
    zeros = words_of(3)
    assert codes.read_gamma(zeros, 0)[1] == codes.BROKEN
    assert codes.read_unary(zeros, 0)[1] == codes.BROKEN
    assert codes.read_zeta(zeros, 0, 3)[1] == codes.BROKEN
    far = words_of(3)
    codes.write_unary(far, 0, 100)  # an exponent that no number has
    assert codes.read_gamma(far, 0)[1] == codes.BROKEN
    assert codes.read_zeta(far, 0, 3)[1] == codes.BROKEN


@pytest.mark.parametrize(
    ("at", "number", "why"),
    [
        (0, -1, "no code"),
        (0, codes.MAX_NUMBER + 1, "no code"),
        (-1, 0, "more bits"),
        (128, 0, "more bits"),
    ],
)
def test_what_has_no_code_or_no_room_is_not_written(at: int, number: int, why: str) -> None:
    words = np.zeros(2, np.uint64)
    with pytest.raises(ValueError, match=why):
        codes.write_gammas(words, at, np.array([number]))
    assert not words.any()


def test_the_example_of_the_paper() -> None:
    """Nodes 15 and 16 of Boldi and Vigna (2004): the second one copies blocks of the first."""
    rows = [
        [13, 15, 16, 17, 18, 19, 23, 24, 203, 315, 1034],
        [15, 16, 17, 22, 23, 24, 315, 316, 317, 3041],
    ]
    starts, targets = csr(rows)
    words, begin = encode_rows(15, *csr(rows[:1]), *ORIGINAL, np.zeros(1, np.int64))
    at = codes.write_unary(words, codes.write_gamma(words, begin, 10), 1)
    at = codes.write_gammas(words, at, np.array([7, 0, 0, 2, 1, 1, 0, 0]))  # Table 3
    at = codes.write_gamma(words, at, 0)  # no run of four
    for residual in (2 * (22 - 16), 316 - 22 - 1, 0, 3041 - 317 - 1):
        at = codes.write_zeta(words, at, residual, 3)
    found = Csr(np.zeros(3, np.int64), np.zeros(targets.size, np.int64))
    assert decode_rows(words, 0, 15, 0, *found, 7, 4, 3) == at
    assert (found.starts.tolist(), found.targets.tolist()) == (starts.tolist(), targets.tolist())


@given(graphs(), SHAPES, st.integers(1, 50))
def test_any_graph_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, shape: Shape, count: int
) -> None:
    base = tmp_path_factory.mktemp("graph") / "web"
    graph = write(base, rows, shape)
    assert (graph.nodes, graph.arcs) == (len(rows), sum(map(len, rows)))
    assert rows_of(graph, count) == rows
    assert [graph.successors(node).tolist() for node in range(len(rows))] == rows
    assert graph.outdegrees(0, len(rows)).tolist() == [len(row) for row in rows]
    assert decoded(bits_of(base.with_suffix(".graph").read_bytes()), len(rows), shape) == rows


@settings(max_examples=50)
@given(graphs(), st.integers(1, 10), st.lists(st.integers(0, 40), max_size=3))
def test_parts_that_are_joined_give_the_same_files(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, chunk: int, cuts: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    write(folder / "whole", rows, chunk=chunk)
    whole_chunks = sorted({min(cut * chunk, len(rows)) for cut in cuts} | {0})
    joined = GraphWriter(folder / "joined")
    for first, last in zip(whole_chunks, [*whole_chunks[1:], len(rows)], strict=True):
        part = GraphWriter(folder / f"part-{first}", first=first)
        for start in range(first, last, chunk):
            part.append(csr(rows[start : min(start + chunk, last)]))
        part.close()
        joined.join(BvGraph(folder / f"part-{first}"))
    joined.close()
    for ending in (".graph", ".offsets", ".properties"):
        made, wanted = (folder / f"{name}{ending}" for name in ("joined", "whole"))
        assert made.read_bytes() == wanted.read_bytes()


def test_large_rows_and_many_rows_outgrow_all_buffers(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BUFFER_WORDS", 4)
    nodes = 5_000
    random = np.random.default_rng(1)
    rows = [sorted({n, (7 * n) % nodes}) for n in range(nodes)]
    rows[0] = np.unique(random.integers(0, nodes, nodes)).tolist()
    graph = write(base, rows, chunk=500)
    assert rows_of(graph, 7) == rows


@compiled_only
def test_a_full_disk_is_an_error_with_the_file(small_disk: Path) -> None:
    random = np.random.default_rng(1)
    rows = np.sort(random.choice(1 << 40, (1_000, 1_000)), axis=1)
    starts = np.arange(0, rows.size + 1, rows.shape[1])
    writer = GraphWriter(small_disk / "web")
    writer.append(Csr(starts, rows.ravel()))
    with pytest.raises(StoreFull, match=r"web\.graph"):
        writer.close()


def test_rows_of_large_numbers_outgrow_the_words_of_the_encoder() -> None:
    starts, targets = csr([[n << 48 for n in range(300)], [], [n << 40 for n in range(300)]])
    ends = np.zeros(3, np.int64)
    words, bits = encode_rows(0, starts, targets, *ORIGINAL, ends)
    assert len(words) > targets.size // 4 + ends.size + MAX_CODE_BITS
    found = Csr(np.zeros(4, np.int64), np.zeros(targets.size, np.int64))
    assert decode_rows(words, 0, 0, 0, *found, 7, 4, 3) == bits == ends[-1]
    assert (found.starts.tolist(), found.targets.tolist()) == (starts.tolist(), targets.tolist())


def test_rows_that_are_too_long_to_be_held_are_refused_with_the_remedy(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "KEPT", 4)
    graph = write(base, [[n, n + 1] for n in range(9)] + [[]])
    assert sum(part.starts.size - 1 for part in graph.rows(most=4)) == 10
    with pytest.raises(StoreError, match="7 rows, to which one may refer, are too long") as error:
        list(graph.rows(most=3))
    assert error.value.remedy == "store the graph again with a smaller window"


@pytest.mark.parametrize(
    ("shape", "is_sound"),
    [
        (ORIGINAL, True),
        (Shape(0, 0, 0, 1), True),
        (Shape(MAX_PARAMETER, 9, MAX_PARAMETER, MAX_ZETA), True),
        (ORIGINAL._replace(window=-1), False),
        (ORIGINAL._replace(window=MAX_PARAMETER + 1), False),
        (ORIGINAL._replace(min_interval=-1), False),
        (ORIGINAL._replace(min_interval=MAX_PARAMETER + 1), False),
        (ORIGINAL._replace(zeta=0), False),
        (ORIGINAL._replace(zeta=MAX_ZETA + 1), False),
    ],
)
def test_a_shape_is_sound_within_its_bounds(shape: Shape, is_sound: bool) -> None:
    assert shape.is_sound is is_sound
    if is_sound:
        check_shape(shape.window, shape.min_interval, shape.zeta)
    else:
        with pytest.raises(ValueError, match="parameters of no graph"):
            check_shape(shape.window, shape.min_interval, shape.zeta)


def test_integers_as_natural_numbers() -> None:
    assert [natural(n) for n in (0, -1, 1, -2, 2)] == [0, 1, 2, 3, 4]
    assert [integer(natural(n)) for n in range(-9, 9)] == [*range(-9, 9)]


def test_similar_rows_take_few_bits(base: Path) -> None:
    rows = [[n, *range(100, 200)] for n in range(90)]
    graph = write(base, rows)
    assert graph.bits / graph.arcs < 0.5
    apart = write(base.with_name("apart"), rows, ORIGINAL._replace(window=0, min_interval=0))
    assert apart.bits / apart.arcs > 2


def test_an_empty_graph(base: Path) -> None:
    graph = write(base, [])
    assert (graph.nodes, graph.arcs, rows_of(graph)) == (0, 0, [])


@given(graphs(), st.data())
def test_damaged_files_are_another_graph_or_refused_but_never_crash(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, data: st.DataObject
) -> None:
    base = tmp_path_factory.mktemp("graph") / "web"
    write(base, rows)
    path = base.with_suffix(data.draw(st.sampled_from([".graph", ".offsets"])))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        if content and data.draw(st.booleans()):
            content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        else:
            del content[data.draw(st.integers(0, len(content))) :]
    path.write_bytes(content)
    try:
        graph = BvGraph(base)
        found = rows_of(graph)
        for node in range(graph.nodes):
            graph.successors(node)
    except StoreError:
        return
    assert len(found) == len(rows)
    assert all(0 <= target < len(rows) for row in found for target in row)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("graphclass=it.unimi.dsi.webgraph.EFGraph", "only graphs of the class BVGraph"),
        ("compressionflags=RESIDUALS_GAMMA", "only graphs of the class BVGraph"),
        ("nodes=many", "a number is missing or invalid"),
        ("nodes=-1", "out of range"),
        ("nodes=1099511627776", "damaged"),
        ("windowsize=99999999999", "out of range"),
        ("arcs=99", "damaged"),
    ],
)
def test_properties_of_other_graphs_are_refused(base: Path, line: str, says: str) -> None:
    write(base, [[1], [0]])
    path = base.with_suffix(".properties")
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(StoreError, match=says):
        rows_of(BvGraph(base))


@pytest.mark.parametrize("ending", [".graph", ".offsets", ".properties"])
def test_a_missing_file_is_named(base: Path, ending: str) -> None:
    write(base, [[1], [0]])
    path = base.with_suffix(ending)
    path.unlink()
    with pytest.raises(StoreError, match=f"web{ending}"):
        BvGraph(base)
