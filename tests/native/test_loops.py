"""Loops in C do what their definitions in Python do, and refuse what is not inside their arrays.

After a change of a loop, also with a compiler that watches each access:

    gcc -O1 -g -fsanitize=address,undefined -fno-sanitize-recover -shared -fPIC \\
        $(python3.11-config --includes) src/gossamer/native/*.c \\
        -o src/gossamer/_loops.$(python3.11-config --extension-suffix | cut -c2-)
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" \\
        ASAN_OPTIONS=detect_leaks=0 .venv/bin/pytest tests/native/test_loops.py
"""

from __future__ import annotations

from array import array
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.engine.small import hashes
from gossamer.index.format import exact_form
from gossamer.links.bvgraph import adoption
from gossamer.links.bvgraph.codes import BROKEN
from gossamer.links.bvgraph.offsets import sample_offsets
from gossamer.links.graph import (
    arc_sorting,
    centrality,
    components,
    hosts,
    hyperball,
    name_arrays,
    numbering,
    overlay,
)
from gossamer.links.rank import kernels
from gossamer.native import DEFINITIONS, LOOPS
from gossamer.parse.reading import ngrams
from gossamer.schedule.focus.generated_rules import reachability_proof
from gossamer.semantic import scanning
from gossamer.web import sketches
from tests.support.bvgraph_files import csr
from tests.support.native_loops import both, compiled_only
from tests.support.random_graphs import SHAPES, graphs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.links.bvgraph import Shape
    from tests.support.bvgraph_files import Rows

DEFINED_IN = (
    *(adoption, arc_sorting, centrality, components, hosts, hyperball, kernels, name_arrays),
    *(numbering, overlay),
    *(exact_form, hashes, ngrams, reachability_proof, scanning, sketches),
)
SIZES = st.sampled_from([np.int32, np.int64])
STEP = 4


@compiled_only
def test_each_definition_is_a_loop_in_c() -> None:
    assert {name for name in vars(LOOPS) if not name.startswith("__")} == DEFINITIONS.keys()


def numbers(size: int = 0) -> Any:
    return np.zeros(size, np.int64)


def words(data: st.DataObject, size: int) -> Any:
    return np.frombuffer(
        data.draw(st.binary(min_size=8 * size, max_size=8 * size)), np.uint64
    ).copy()


@compiled_only
@given(
    st.lists(st.integers(0, 1 << 40) | st.integers(0, 9), max_size=9), st.integers(0, 70), st.data()
)
def test_codes(listed: list[int], begin: int, data: st.DataObject) -> None:
    written = np.zeros(20, np.uint64)
    end = both("write_gammas", written, begin, np.array(listed, np.int64))
    bits = data.draw(st.integers(0, end))
    both("copy_bits", np.zeros(20, np.uint64), data.draw(st.integers(0, 64)), written, begin, bits)


@compiled_only
@given(graphs(), SHAPES, st.data())
def test_rows(rows: Rows, shape: Shape, data: st.DataObject) -> None:
    """Of graphs, and of graphs with damaged bits."""
    nodes = len(rows)
    starts, targets = csr(rows)
    ends, coded = numbers(nodes), np.zeros(100 + 30 * nodes, np.uint64)
    encoded = both("fill_words", 0, starts, targets, *shape, 0, 0, numbers(nodes), ends, coded)
    assert encoded[0] == nodes
    coded = coded[: -(-encoded[1] // 64)].copy()
    offsets = np.zeros(2 * nodes + 2, np.uint64)
    lengths = np.diff(ends, prepend=0)
    both("write_gammas", offsets, 0, np.array([0, *lengths]))
    for each in (coded, offsets):
        for _ in range(data.draw(st.integers(0, 2))) if each.size else ():
            each[data.draw(st.integers(0, each.size - 1))] ^= np.uint64(1) << np.uint64(
                data.draw(st.integers(0, 63))
            )
    window, _, *rest = shape
    found = numbers(nodes + 1), numbers(targets.size)
    both("decode_rows", coded, 0, 0, 0, *found, window, *rest)
    both("measure_rows", coded, 0, 0, nodes, numbers(window + 1), numbers(nodes), window, *rest)
    samples = numbers(2 * (nodes // STEP + 2))
    both("fill_samples", offsets, nodes, STEP, 64 * coded.size, samples)
    if samples[-2] == BROKEN or not nodes:
        return
    node = data.draw(st.integers(0, nodes - 1))
    both("row_offset", offsets, samples, STEP, node)
    both("read_outdegrees", coded, offsets, samples, STEP, node, numbers(nodes - node))
    wanted = np.array(data.draw(st.lists(st.integers(0, nodes - 1), max_size=5)), np.int64)
    room = numbers(data.draw(st.integers(0, 30)))
    how = coded, offsets, samples, STEP, wanted, nodes, window, *rest
    both("fill_rows", *how, 0, numbers(wanted.size + 1), room)


@compiled_only
@given(st.data(), st.integers(0, 5), st.integers(1, 20), SHAPES)
def test_bits_of_strangers(data: st.DataObject, size: int, nodes: int, shape: Shape) -> None:
    coded, offsets = words(data, size), words(data, 4)
    window, _, *rest = shape
    both("decode_rows", coded, 0, 0, 0, numbers(nodes + 1), numbers(50), window, *rest)
    both("measure_rows", coded, 0, 0, nodes, numbers(window + 1), numbers(nodes), window, *rest)
    samples = sample_offsets(offsets, nodes, STEP, 64 * size)
    how = coded, offsets, samples.ravel(), STEP
    both("read_outdegrees", *how, 0, numbers(nodes))
    wanted = np.arange(nodes)
    both("fill_rows", *how, wanted, nodes, window, *rest, 0, numbers(nodes + 1), numbers(50))


def text(strings: Sequence[str]) -> tuple[Any, Any]:
    """Strings as arrays, after some bytes that are not theirs."""
    data = [each.encode() for each in strings]
    ends = np.array([*accumulate(map(len, data), initial=3)])
    return ends, np.frombuffer(b"xyz" + b"".join(data), np.uint8)


URLS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["https://", "http://", "a+b-1.://", "9://", "http:/", "", "://"]),
    st.sampled_from(["example.org", "a.example.org", "", ".", "a..b", "x:80:"]),
    st.sampled_from(["", ":80", ":", ":8x"]),
    st.sampled_from(["/", "", "/a?b=c", "/é /x", "/a:80/"]),
)
STRINGS = st.lists(st.text("ab é", max_size=6), max_size=12)


@compiled_only
@given(st.lists(URLS, max_size=12).map(sorted), st.data())
def test_names(urls: list[str], data: st.DataObject) -> None:
    offsets, given = text(urls)
    made = np.zeros(offsets[-1] - offsets[0], np.uint8)
    both("fill_names", offsets, given, made)
    both("hash_each", offsets, given, np.zeros(len(urls), np.uint64))
    offsets -= offsets[0]
    starts, lengths = numbers(len(urls)), numbers(len(urls))
    count = both("fill_host_runs", offsets, made, starts, lengths)
    run_hosts = data.draw(
        st.lists(st.sampled_from(["", "b.org:80"]), min_size=count, max_size=count)
    )
    many = np.zeros(9 * 11 + 30 * len(urls) + made.size, np.uint8)
    runs = starts[:count].copy(), lengths[:count].copy()
    both("fill_urls", offsets, made, *runs, *text(run_hosts), numbers(len(urls) + 1), many)


@compiled_only
@given(STRINGS, STRINGS)
def test_strings(wanted: list[str], others: list[str]) -> None:
    wanted, others = sorted(wanted), sorted(set(others))
    both("search_ascending", *text(wanted), *text(others), numbers(len(wanted)))
    both("search_ascending", *text(wanted), *text(wanted), numbers(len(wanted)))
    order = np.arange(len(wanted))
    both("distinct_places", *text(wanted), order, numbers(len(wanted)), numbers(len(wanted)))


@compiled_only
@given(graphs(), graphs(), st.data())
def test_arcs(rows: Rows, others: Rows, data: st.DataObject) -> None:
    nodes = len(rows)
    starts, targets = csr(rows)
    sources = np.repeat(np.arange(nodes), np.diff(starts)).astype(np.int32)
    order = np.array(data.draw(st.permutations(range(sources.size))), np.int64)
    ends = targets.astype(np.int32)
    shuffled = sources[order], ends[order]
    both("fill_rows_of_arcs", *shuffled, numbers(nodes + 1), np.zeros(sources.size, np.int32))
    both("fill_transposed", starts, ends, numbers(nodes + 1), np.zeros(sources.size, np.int32))
    links = np.arange(1, 1 + targets.size) if data.draw(st.booleans()) else numbers()
    again, more = csr(others)
    room = max(nodes, len(others))
    sizes = numbers(room)
    sizes[:nodes] += np.diff(starts)
    sizes[: len(others)] += np.diff(again)
    bounds = np.append(0, sizes.cumsum())
    merged = numbers(int(bounds[-1])), numbers(int(bounds[-1]) if links.size else 0)
    free = bounds[:-1].copy()
    of_others = np.arange(more.size) if links.size else numbers()
    both("copy_rows", np.arange(nodes), starts, targets, links, free, *merged)
    both("copy_rows", np.arange(len(others)), again, more, of_others, free, *merged)
    ours, theirs = ([each.copy() for each in (bounds, *merged)] for _ in range(2))
    DEFINITIONS["sort_rows"](*ours)
    LOOPS.sort_rows(*theirs)  # type: ignore[union-attr]
    assert ours[0].tolist() == theirs[0].tolist()
    for one, other in zip(ours[1:], theirs[1:], strict=True):  # what is left of the gaps may differ
        assert one[: ours[0][-1]].tolist() == other[: ours[0][-1]].tolist()


@compiled_only
@given(graphs(), st.data())
def test_arcs_between_hosts_and_changes(rows: Rows, data: st.DataObject) -> None:
    nodes = len(rows)
    starts, targets = csr(rows)
    cuts = data.draw(st.sets(st.integers(0, nodes)))
    first_pages = np.array(sorted({0, nodes, *cuts}))
    first = data.draw(st.integers(0, nodes))
    part = starts[: nodes - first + 1]
    between = (numbers(targets.size) for _ in range(3))
    both("fill_host_arcs", part, targets, first_pages, first, *between)
    changes = sorted(data.draw(st.sets(st.tuples(st.integers(0, 40), st.integers(0, 40)))))
    sources = np.array([source for source, _ in changes], np.int64)
    ends = np.array([~end if end & 1 else end for _, end in changes], np.int64)
    room = numbers(nodes + 1), numbers(targets.size + ends.size)
    both("fill_changed_rows", starts, targets, data.draw(st.integers(0, 3)), sources, ends, *room)


@compiled_only
@given(graphs(), SIZES, st.data())
def test_components(rows: Rows, size: Any, data: st.DataObject) -> None:
    nodes = len(rows)
    starts, targets = csr(rows)
    window = 0, starts, targets.astype(size)
    low, below, parent = (np.zeros(nodes, size) for _ in range(3))
    above, heads = np.full(nodes, components.UNLISTED, size), np.zeros(nodes, np.bool_)
    counters = np.array([0, components.NONE, components.NONE, 0, 0])
    cut = data.draw(st.integers(0, nodes))
    state = low, above, below, parent, heads, counters
    both("search_components", 0, starts[: cut + 1], window[2], *state)
    both("search_components", *window, *state)
    numbered = -1 - low
    marks = np.zeros(nodes, np.uint8)
    marks[: nodes // 2] = data.draw(st.integers(0, 255))
    order = np.array(data.draw(st.permutations(range(nodes))), np.int64)
    for along in (False, True):
        both("spread_component_marks", *window, order, 0, numbered, marks, 0b101, along)
    both("unite_linked_sets", 0, starts, targets, np.arange(nodes, dtype=size))
    begin = data.draw(st.integers(0, nodes))
    both("search_from", starts, window[2], begin, nodes, np.zeros(nodes))
    both("mark_reached", starts, targets, order[:3], marks > 9, np.zeros(nodes, np.bool_))


@compiled_only
@given(graphs(), SIZES, st.data())
def test_counters(rows: Rows, size: Any, data: st.DataObject) -> None:
    nodes = len(rows)
    starts, targets = csr(rows)
    registers = data.draw(st.sampled_from([16, 32]))
    counters = np.zeros((nodes, -(-registers // hyperball.FIELDS)), np.uint64)
    hyperball._add_nodes(counters, registers, data.draw(st.integers(0, 9)))
    grown, is_met = counters.copy(), np.zeros(nodes, np.bool_)
    begin, end = sorted(data.draw(st.tuples(*2 * [st.integers(0, nodes)])))
    changed, window = np.arange(nodes), (0, starts, targets.astype(size))
    for span in ((begin, end), (0, nodes)):
        both("unite_counters", *window, changed, 0, counters, grown, is_met, *span)
    sizes = np.ones(nodes), np.zeros(nodes)
    met, few = np.flatnonzero(is_met), hyperball._small_sizes(registers)
    both("take_over", met, counters, grown, *sizes, few, 0.673, 2, np.zeros(met.size, np.bool_))


@compiled_only
@given(graphs(), st.sampled_from([np.uint32, np.uint64]), st.data())
def test_votes(rows: Rows, size: Any, data: st.DataObject) -> None:
    nodes = len(rows)
    starts, sources = csr(rows)
    domains = np.array(
        data.draw(st.lists(st.integers(0, 2), min_size=nodes, max_size=nodes)), np.int32
    )
    counts, links = np.zeros(nodes, np.uint32), np.zeros(sources.size, size)
    order = np.zeros(nodes, np.uint16)
    both("address_votes", 0, starts, sources, domains, nodes, counts, links, order)
    both("count_votes", links, np.zeros(2 * nodes, np.int32))
    votes = np.random.default_rng(nodes).random(2 * nodes)
    for chunk in {nodes or 1, 100}:
        both("pull_votes", chunk, counts, links, order, votes, np.zeros(nodes))


@compiled_only
@given(st.integers(0, 3_000))
def test_ranks(nodes: int) -> None:
    """Sums of these may be in any order."""
    last = [*np.random.default_rng(nodes).random((9, nodes))]
    move = [*last[:3], 0.85, 0.01, *last[3:7]]
    weights = np.array([0.5, 2.0, -1.0, -0.5])
    for name, arguments in (
        ("move_ranks", move),
        ("multiply_changes", [*last[:5], np.ones(16)]),
        ("combine_ranks", [*last[:5], weights]),
    ):
        ours, theirs = ([np.copy(each) for each in arguments] for _ in range(2))
        result = getattr(LOOPS, name)(*ours)
        assert DEFINITIONS[name](*theirs) == (result if result is None else pytest.approx(result))
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


SCORES = array("q", 60 * [0])
MODEL = ngrams.map_model()
NO_STARTS = array("I", 65_537 * [0])
ONE_BYTE_WORDS = bytes([ngrams.LETTER, 0, ngrams.IDEOGRAPH, ngrams.JOINER] * (1 << 14))
UTF_8 = st.text("aéİ'’-ßдअ한の京\U00020000\U0001f600\u00b2").map(str.encode)


@compiled_only
@given(st.lists(UTF_8 | st.binary(max_size=9)).map(b"".join))
@example("Straße l’eau aujourd'hui'".encode())
@example(b"\xed\xa0\x80a\xf0\x82\x82\xacb\xc3(c\xe4\xba")
@example(b"ab" * 2_048)
@example(b"words apart, and\tapart 'a' isn't \x1f\x0c\x00 words")
def test_ngrams(words: bytes) -> None:
    for kinds in (MODEL[0], ONE_BYTE_WORDS):
        ours, theirs = array("q", SCORES), array("q", SCORES)
        count = DEFINITIONS["add_ngram_scores"](words, kinds, *MODEL[1:], ours)
        assert LOOPS.add_ngram_scores(words, kinds, *MODEL[1:], theirs) == count  # type: ignore[union-attr]
        assert ours == theirs


def test_few_ngrams_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"more words than a process remembers"
    found = array("q", SCORES), array("q", SCORES)
    score = DEFINITIONS["add_ngram_scores"]
    count = score(text, *MODEL, found[0])
    assert count > 3
    monkeypatch.setattr(ngrams, "KNOWN", 3)
    monkeypatch.setattr(ngrams, "_LAST", [ngrams._Scores((), (), 0)])
    assert score(text, *MODEL, found[1]) == count
    assert found[0] == found[1]
    assert 0 < len(ngrams._LAST[0]) <= 3


@compiled_only
@given(st.binary(max_size=9), st.lists(st.integers(0, (1 << 32) - 1)), st.integers(1, 9))
def test_rows_of_no_model(words: bytes, rows: list[int], languages: int) -> None:
    """Both find the same, or refuse it."""
    starts = array("I", [min(len(rows), n // 7_000) for n in range(65_537)])
    found: list[array[int] | None] = []
    for run in (DEFINITIONS["add_ngram_scores"], LOOPS.add_ngram_scores):  # type: ignore[union-attr]
        sums = array("q", languages * [0])
        try:
            run(words, ONE_BYTE_WORDS, starts, array("I", rows), sums)
        except ValueError:
            found.append(None)
        else:
            found.append(sums)
    assert found[0] == found[1]


@compiled_only
@given(st.lists(st.integers(0, (1 << 64) - 1), max_size=60), st.integers(1, 6), st.integers(1, 9))
def test_hashes_of_shingles(words: list[int], size: int, functions: int) -> None:
    hashes = np.array(words, np.uint64)
    mixed = np.zeros(max(0, len(words) - size + 1), np.uint32)
    both("mix_shingles", hashes, np.arange(3, 3 + size, dtype=np.uint64) << np.uint64(50), mixed)
    many = np.tile(mixed, 40)
    odd = np.arange(functions, dtype=np.uint32) * np.uint32(0x9E3779B0) + np.uint32(3)
    both("take_least", many, odd, np.full(functions, (1 << 32) - 1, np.uint32))


TABLES = (*exact_form.MARK_TABLES, exact_form.SECTION_KINDS)
SECTIONS = np.zeros(4, np.uint8), np.zeros(4, np.int64)
INT64, UINT64 = numbers(2), np.zeros(2, np.uint64)
OUTSIDE = np.array([0, 9])
UNSORTED = np.array([0, 2])  # a row of two equal items
UINT32 = np.zeros(2, np.uint32)
BYTES, FLAGS, FLOATS = np.zeros(2, np.uint8), np.zeros(2, np.bool_), np.zeros(2)
INT32, ORDER = np.zeros(2, np.int32), np.zeros(2, np.uint16)
ARCS = np.array([0, 9], np.int32)
THREE = numbers(3)
STATE = (INT32, INT32, INT32, INT32, FLAGS)


REFUSED = [
    ("copy_bits", (UINT64, 0, UINT64, 0, 129)),
    ("copy_bits", (UINT64, -1, UINT64, 0, 1)),
    ("write_gammas", (UINT64, 0, np.array([-1]))),
    ("write_gammas", (UINT64, 128, np.array([0]))),
    ("decode_rows", (UINT64, 0, 0, 0, OUTSIDE[1:], INT64, 7, 4, 3)),
    ("decode_rows", (UINT64, 0, 0, 0, INT64, INT64, 7, 4, 8)),
    ("measure_rows", (UINT64, 0, 0, 9, INT64, INT64, 7, 4, 3)),
    ("fill_samples", (UINT64, 9, 4, 9, INT64)),
    ("row_offset", (UINT64, INT64, 4, 4)),
    ("read_outdegrees", (UINT64, UINT64, INT64, 4, -1, INT64)),
    ("fill_rows", (UINT64, UINT64, INT64, 4, INT64, 9, 7, 4, 3, 1, OUTSIDE, INT64)),
    ("fill_words", (0, OUTSIDE, INT64, 7, 3, 4, 3, 0, 0, INT64[:1], INT64[:1], UINT64)),
    ("fill_words", (0, UNSORTED, INT64, 7, 3, 4, 3, 0, 0, INT64[:1], INT64[:1], UINT64)),
    ("search_ascending", (OUTSIDE, BYTES, INT64, BYTES, INT64[:1])),
    ("distinct_places", (INT64, BYTES, OUTSIDE, INT64, INT64[:1])),
    ("fill_names", (OUTSIDE, BYTES, BYTES)),
    ("fill_host_runs", (OUTSIDE, BYTES, INT64[:1], INT64[:1])),
    ("fill_urls", (OUTSIDE, BYTES, INT64, INT64, INT64, BYTES, INT64, BYTES)),
    ("hash_each", (OUTSIDE, BYTES, UINT64[:1])),
    ("fill_rows_of_arcs", (ARCS, ARCS, INT64, INT32)),
    ("fill_transposed", (np.array([0, 2]), ARCS, INT64, INT32)),
    ("copy_rows", (OUTSIDE[1:], INT64, INT64, INT64, INT64, INT64, INT64)),
    ("sort_rows", (OUTSIDE, INT64, INT64)),
    ("fill_host_arcs", (np.array([0, 2]), OUTSIDE, np.array([0, 1]), 0, INT64, INT64, INT64)),
    ("fill_changed_rows", (OUTSIDE, INT64, 0, INT64, INT64, INT64, THREE)),
    ("search_components", (0, np.array([0, 2]), ARCS, *STATE, numbers(5))),
    ("unite_linked_sets", (0, np.array([0, 2]), OUTSIDE, INT32)),
    ("spread_component_marks", (0, THREE, ARCS, INT64, 0, INT32, BYTES, 1, 0)),
    ("search_from", (np.array([0, 2, 2]), ARCS, 0, 2, FLOATS)),
    ("unite_counters", (0, THREE, ARCS, INT64, 0, UINT64, UINT64, FLAGS, 0, 2)),
    ("take_over", (OUTSIDE, UINT64, UINT64, FLOATS, FLOATS, FLOATS, 0.7, 1, FLAGS)),
    ("mark_reached", (np.array([0, 2, 2]), OUTSIDE, INT64, FLAGS, FLAGS.copy())),
    ("address_votes", (0, np.array([0, 1, 2]), OUTSIDE, INT32, 2, ARCS.astype(np.uint32),
                       ARCS.astype(np.uint32), ORDER)),
    ("count_votes", (np.array([9], np.uint32), INT32)),
    ("move_ranks", (*3 * [FLOATS], 0.85, 0.1, *3 * [FLOATS], FLOATS[:1])),
    ("multiply_changes", (*5 * [FLOATS], FLOATS)),
    ("combine_ranks", (*4 * [FLOATS], FLOATS[:1], FLOATS)),
    ("add_ngram_scores", (b"a" * 4_097, *MODEL, SCORES)),
    ("add_ngram_scores", (b"a", MODEL[0][1:], *MODEL[1:], SCORES)),
    ("add_ngram_scores", (b"a", MODEL[0], NO_STARTS[1:], MODEL[2], SCORES)),
    ("add_ngram_scores", (b"ab", MODEL[0], *MODEL[1:], SCORES[:1])),
    ("write_pieces", (b"a", *TABLES, 9, 0, *SECTIONS)),
    ("write_pieces", (b" ", b"", *TABLES[1:], 9, 0, *SECTIONS)),
    ("write_pieces", (b" ", *TABLES[:4], b"", 9, 0, *SECTIONS)),
    ("write_pieces", (b"  ", *TABLES, 9, 0, *SECTIONS)),
    ("write_code", ("é".encode(), np.zeros(9, np.uint8))),
    ("write_code", (b"_a b_", BYTES)),
    ("write_words", (b"abc", 0, BYTES)),
    ("pull_votes", (9, np.array([1, 1], np.uint32), np.array([0, 9], np.uint32), ORDER, FLOATS,
                    FLOATS)),
    ("mix_shingles", (UINT64, UINT64[:0], UINT32)),
    ("mix_shingles", (UINT64, UINT64, UINT32)),
    ("take_least", (UINT32, UINT32, UINT32[:1])),
]  # fmt: skip
UNCHECKED = {"spread_component_marks", "unite_counters", "take_over"}
"""Loops whose definitions leave it to numpy."""


@compiled_only
@pytest.mark.parametrize(("name", "arguments"), REFUSED)
def test_what_is_not_inside_the_arrays_is_refused(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=name):
        getattr(LOOPS, name)(*arguments)


@pytest.mark.parametrize(
    ("name", "arguments"), [each for each in REFUSED if each[0] not in UNCHECKED]
)
def test_definitions_refuse_it_too(name: str, arguments: tuple[Any, ...]) -> None:
    given = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    with pytest.raises((ValueError, IndexError)):
        DEFINITIONS[name](*given)


@compiled_only
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((UINT64, 0), TypeError),
        ((UINT64, 0, INT64, 0), TypeError),
        ((INT64, 0, INT64), TypeError),
        ((UINT64, "0", INT64), TypeError),
        ((UINT64, 1 << 64, INT64), OverflowError),
        ((UINT64, 0, numbers(4)[::2]), ValueError),
        ((UINT64, 0, INT32), TypeError),
        ((b"01234567", 0, INT64), BufferError),
    ],
)
def test_arguments_of_other_types_are_refused(
    arguments: tuple[Any, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        LOOPS.write_gammas(*arguments)  # type: ignore[union-attr]


@compiled_only
@given(st.integers(0, 40), st.integers(1, 9), st.integers(0, 50), st.integers(0, 2**32))
def test_nearest_signs(count: int, width: int, most: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    signs = random.integers(0, 2**64, (count, width), np.uint64)
    if count > 1:
        signs[0] = signs[-1]
    both(
        "find_nearest_signs",
        signs,
        signs[0] if count else np.zeros(width, np.uint64),
        numbers(most),
    )


@compiled_only
@given(st.integers(1, 30), st.integers(1, 70), st.integers(0, 40), st.integers(0, 2**32))
def test_products_of_vectors(count: int, dimension: int, wanted: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    vectors = random.integers(0, 256, (count, dimension), np.uint8)
    places = random.integers(0, count, wanted)
    query = random.integers(0, 256, dimension, np.uint8)
    both("multiply_vectors", vectors, query, places, numbers(wanted))


@compiled_only
def test_vectors_of_another_dimension_and_places_outside_are_refused() -> None:
    assert LOOPS is not None
    for run in (DEFINITIONS, vars(LOOPS)):
        signs = np.zeros(5, np.uint64)
        for words_ in (np.zeros(0, np.uint64), np.zeros(2, np.uint64)):
            with pytest.raises(ValueError, match="no vectors of this dimension"):
                run["find_nearest_signs"](signs, words_, numbers(3))
        vectors, query = np.zeros(12, np.uint8), np.zeros(4, np.uint8)
        for places in ([3], [-1]):
            with pytest.raises(ValueError, match="a place outside the vectors"):
                run["multiply_vectors"](vectors, query, np.array(places), numbers(1))
        with pytest.raises(ValueError, match="more than there is room for"):
            run["multiply_vectors"](vectors, query, np.array([0, 1]), numbers(1))
        with pytest.raises(ValueError, match="no vectors of this dimension"):
            run["multiply_vectors"](vectors, np.zeros(5, np.uint8), np.array([0]), numbers(1))
