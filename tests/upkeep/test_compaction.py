"""Layers of documents, links and responses are merged, and readers find the same as before."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from msgspec import structs

from gossamer import dedup
from gossamer.config import HistoryConfig
from gossamer.dedup import boilerplate
from gossamer.links import current_links, graph, invert
from gossamer.state import lsm, unread
from gossamer.state.lookup import Lookup
from gossamer.tables import COUNTED, DATASETS, JUDGED
from gossamer.upkeep import compaction
from gossamer.upkeep.compaction import kept_rows, layer_merging, step
from tests.support.planted_duplicates import document, prose, standing
from tests.support.site_histories import NAMES, Site, inlinks, layers, page

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

    Row = dict[str, Any]

WINDOW = 3
KEYS = {name: key for name, (key, _) in kept_rows.RULES.items()}


def stored(work: Workspace, name: str) -> list[tuple[Any, ...]]:
    """The rows of a dataset: key, round, and what tells them apart."""
    names = [KEYS[name], "round", *(["dst"] if name == "links" else []), *OTHERS[name]]
    return sorted((tuple(row) for row in work.read(name).select(*names).collect()), key=repr)


OTHERS = {"responses": ["outcome"], "documents": ["text_hash"], "links": []}


def rows_kept(name: str, rows: list[Row], window: int) -> list[tuple[Any, ...]]:
    """By the definition in kept_rows.py."""
    of_keys = defaultdict(list)
    for row in rows:
        of_keys[row[KEYS[name]]].append(row)
    kept = []
    for listed in of_keys.values():
        rounds = {max(row["round"] for row in listed)}
        if name == "responses":
            for outcomes in (current_links.ANSWERED, ("ok",)):
                rounds |= {max((r["round"] for r in listed if r["outcome"] in outcomes), default=0)}
        kept += [row for row in listed if row["round"] in rounds or row["round"] > window]
    names = [KEYS[name], "round", *(["dst"] if name == "links" else []), *OTHERS[name]]
    return sorted((tuple(row[name] for name in names) for row in kept), key=repr)


SMALL = layer_merging.MergeSizes(file=6_000, run=2_000, group_rows=5)
"""Files, row groups and what is sorted at a time hold a few rows."""


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))]
)
def test_merged_layers_have_the_rows_that_stay_sorted_in_ranges(work: Workspace, seed: int) -> None:
    site = Site(seed)
    for round_ in range(1, 7):
        site.happen(work, round_)
    again = seed % 2
    for name in NAMES:
        dataset, old = DATASETS[name], work.store.manifest.layers(name)
        new = layer_merging.merge_layers(work, dataset, old[:4], 0, sizes=SMALL) if again else []
        with work.step("test", work.round) as draft:
            draft.replace[name] = (*new, *old[4:]) if again else old
        with work.step("test", work.round) as draft:
            stack = work.store.manifest.layers(name)
            draft.replace[name] = tuple(
                layer_merging.merge_layers(work, dataset, stack, WINDOW, sizes=SMALL)
            )
        assert stored(work, name) == rows_kept(name, site.rows[name], WINDOW)
        (layer,) = work.store.manifest.layers(name)
        assert (layer.since, layer.version) == (old[0].since, old[-1].version)
        assert layer.is_merged
        assert layer.round == 6
        bounds = []
        for path in work.paths(name):
            table = pq.read_table(path)
            order = [(row[KEYS[name]], -row["round"]) for row in table.to_pylist()]
            assert order == sorted(order)
            bounds.append((order[0][0], order[-1][0]))
            groups = pq.read_metadata(path)
            sizes = [groups.row_group(n).num_rows for n in range(groups.num_row_groups)]
            assert max(sizes) < 2 * 5, (name, sizes)
        assert all(one[1] < other[0] for one, other in pairwise(sorted(bounds)))
        assert len(bounds) > 1 or name != "documents"


def test_many_small_files_are_sorted_together(work: Workspace) -> None:
    """A merge may not open all files of hundreds of rounds at once."""
    rows = [[{"url": page(n % 10), "round": n, "outcome": "ok"}] for n in range(60)]
    made = layers(work, "responses", rows, 60)["responses"]
    assert len(made.files) == len(rows)
    job = layer_merging.MergeJob(work.root, "responses", 60, "", work.scratch_attempt(), (), SMALL)
    found = list(layer_merging.sort_files(job, [file.path for file in made.files]))
    assert len(found) <= 5
    assert sum(int(row["rows"] or 0) for row in found) == len(rows)


def test_a_range_names_only_the_files_with_keys_in_it(work: Workspace) -> None:
    texts = [[document(page(n), prose(n, 200), round=1)] for n in range(12)]
    with work.step("test", 1) as draft:
        draft.append |= layers(work, "documents", texts, 1)
    stack = work.store.manifest.layers("documents")
    (layer,) = layer_merging.merge_layers(work, DATASETS["documents"], stack, 1, sizes=SMALL)
    paths = [file.path for file in layer.files]
    job = layer_merging.MergeJob(work.root, "documents", 1, "", "", (), SMALL)
    found = list(layer_merging.divide_into_ranges(job, paths))
    assert len(found) > 1
    assert sorted(path for part in found for path in part.paths) == sorted(paths)


def test_links_of_a_page_stay_in_their_order(work: Workspace) -> None:
    rows = [{"src": page(0), "dst": page(n), "round": 1} for n in (7, 3, 5, 1)]
    others = [{"src": page(1), "dst": page(n), "round": 2} for n in (2, 1)]
    for round_, listed in ((1, rows), (2, others)):
        with work.step("test", round_) as draft:
            draft.append |= layers(work, "links", [listed], round_)
    merged = layer_merging.merge_layers(
        work, DATASETS["links"], work.store.manifest.layers("links"), 0
    )
    with work.step("test", 2) as draft:
        draft.replace["links"] = tuple(merged)
    found = Lookup(work).rows("links", "src", page(0), ["dst"])
    assert [row["dst"] for row in found] == [page(n) for n in (7, 3, 5, 1)]


def test_the_newest_row_of_a_page_is_found_first(work: Workspace) -> None:
    for round_ in (1, 2, 3):
        row = {"url": page(0), "round": round_, "outcome": "ok"}
        with work.step("test", round_) as draft:
            draft.append |= layers(work, "responses", [[row]], round_)
    old = work.store.manifest.layers("responses")
    with work.step("test", 3) as draft:
        draft.replace["responses"] = tuple(
            layer_merging.merge_layers(work, DATASETS["responses"], old, 0)
        )
    found = Lookup(work).rows("responses", "url", page(0), ["round"])
    assert [row["round"] for row in found] == [3, 2, 1]


def test_links_go_that_a_page_lost_with_its_last_answer(work: Workspace) -> None:
    """Its last answer has no links, so only the responses tell. A robots.txt has none at all."""
    robots = "http://a.example/robots.txt"
    links = [{"src": each, "dst": page(5), "round": 1} for each in (page(0), page(1), robots)]
    answers = [(page(0), 1, "ok"), (page(1), 1, "ok"), (page(0), 2, "ok"), (page(1), 2, "timeout")]
    answers += [(robots, 2, "ok")]
    rows = [{"url": url, "round": round_, "outcome": how} for url, round_, how in answers]
    with work.step("test", 9) as draft:
        draft.append |= layers(work, "links", [links], 1) | layers(work, "responses", [rows], 2)
    stack = work.store.manifest.layers("links")
    outdated = current_links.outdated_pages_until(work, stack, 5)
    with work.step("test", 9) as draft:
        draft.replace["links"] = tuple(
            layer_merging.merge_layers(work, DATASETS["links"], stack, 5, outdated)
        )
    assert {row["src"] for row in work.read("links").collect()} == {page(1), robots}


def test_there_are_few_layers_and_a_row_is_written_few_times(work: Workspace) -> None:
    written, most = 0, 0
    rounds = 64
    for round_ in range(1, rounds + 1):
        rows = [{"url": page(round_ * 10 + n), "round": round_, "outcome": "ok"} for n in range(10)]
        with work.step("test", round_) as draft:
            draft.append |= layers(work, "responses", [rows], round_)
        if compaction.due_spans(work):
            before = work.store.manifest.layers("responses")
            compaction.run(work)
            after = work.store.manifest.layers("responses")
            written += sum(layer.rows for layer in after if layer not in before)
        most = max(most, len(work.store.manifest.layers("responses")))
    assert most <= lsm.FEW + 4
    assert written <= 5 * 10 * rounds
    assert len(stored(work, "responses")) == 10 * rounds


def answers(work: Workspace, round_: int, pages: range) -> None:
    rows = [{"url": page(number), "round": round_, "outcome": "ok"} for number in pages]
    with work.step("test", round_) as draft:
        draft.append |= layers(work, "responses", [rows], round_)


def test_large_layers_stay_while_nothing_is_replaced(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step, "LARGE_BYTES", 1)
    for round_ in range(1, 3 * lsm.FEW):
        answers(work, round_, range(10 * round_, 10 * round_ + 10))
        assert not compaction.due_spans(work)


def test_large_layers_are_merged_once_enough_of_their_rows_are_replaced(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step, "LARGE_BYTES", 1)
    work.config = structs.replace(work.config, history=HistoryConfig(rounds=1))
    for round_ in range(1, lsm.FEW + 1):
        answers(work, round_, range(20) if round_ % 2 else range(20 * round_, 20 * round_ + 20))
    assert list(compaction.due_spans(work)) == ["responses"]
    compaction.run(work)
    (merged,) = work.store.manifest.layers("responses")
    assert merged.rows == 5 * 20  # of the four rounds that fetched the same pages, one stays


def test_small_layers_are_merged_between_large_ones(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(work, 1, range(1_000))
    (large,) = work.store.manifest.layers("responses")
    monkeypatch.setattr(step, "LARGE_BYTES", large.bytes)
    for round_ in range(2, lsm.FEW + 2):
        answers(work, round_, range(1_000 * round_, 1_000 * round_ + 5))
    compaction.run(work)
    first, merged = work.store.manifest.layers("responses")
    assert first == large
    assert merged.rows == 5 * lsm.FEW


def test_layers_that_a_step_has_read_are_not_merged_with_others(work: Workspace) -> None:
    site = Site(1)
    for round_ in range(1, 2 * lsm.FEW):
        site.happen(work, round_, pages=12)
        if round_ == lsm.FEW:
            boilerplate.run(work)
    read = unread.read_until(work, COUNTED)
    assert read is not None
    compaction.run(work)
    old, *rest = work.store.manifest.layers("documents")
    assert old.is_merged
    assert old.version <= read < min(layer.version for layer in rest)
    assert not unread.newer([old], read)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_harvest_of_merged_layers_is_that_of_all(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Steps that read only what is new decide as those that read everything, merges or not."""
    monkeypatch.setattr(compaction.step, "FEW", 2)
    monkeypatch.setattr(invert, "FEW_LINKS", 0)
    work.config = structs.replace(work.config, history=HistoryConfig(rounds=seed % 3))
    site = Site(seed)
    merges = 0
    for round_ in range(1, 9):
        site.happen(work, round_)
        if compaction.due_spans(work):
            merges += 1
            compaction.run(work)
        if round_ % 2:
            continue
        found = harvested(work)
        merged = {name: work.store.manifest.layers(name) for name in (*NAMES, *REMEMBERED)}
        with work.step("test", round_) as draft:
            draft.replace |= dict.fromkeys(REMEMBERED, ())
            draft.replace |= dict.fromkeys(NAMES, ())
        for each in range(1, round_ + 1):
            with work.step("test", each) as draft:
                for name in NAMES:
                    rows = [row for row in site.rows[name] if row["round"] == each]
                    draft.append |= layers(work, name, [rows], each)
        assert harvested(work) == found
        with work.step("test", round_) as draft:
            draft.replace |= merged
    assert merges > 2


REMEMBERED = (
    *("inlinks", "inverted", "graph", "boilerplate", "own_texts", "host_documents", "counted"),
    *("sketched", "similar", "shingled", "mirrors", "shared_places", "judged", "dispositions"),
)


def harvested(work: Workspace) -> tuple[Any, ...]:
    invert.run(work)
    graph.run(work)
    boilerplate.run(work)
    dedup.run(work)
    links = {(row["src"], row["dst"]) for row in current_links.votes(work).collect()}
    of_graph = {(row["src"], row["dst"]) for row in current_links.read_current(work).collect()}
    pages = {url: row["disposition"] for url, row in standing(work).items()}
    survivors = {url: row["survivor"] for url, row in standing(work).items()}
    return links, inlinks(work), of_graph, arcs(work), pages, survivors


def arcs(work: Workspace) -> set[tuple[str, str]]:
    """All arcs of the graph, by the names of their ends."""
    from gossamer.links.graph.stored_graph import open_graph as graphs

    kept = graphs(work, "page")
    names = kept.names.take(np.arange(kept.names.count)).to_pylist()
    return {
        (names[source], names[target])
        for source in range(kept.forward.nodes)
        for target in kept.forward.successors(source).tolist()
    }


def test_the_record_of_a_step_says_what_it_has_read(work: Workspace) -> None:
    Site(1).happen(work, 1)
    dedup.run(work)
    assert unread.read_until(work, JUDGED) == work.store.manifest.version - 1
    assert unread.read_until(work, COUNTED) is None
