"""inlinks: who links to a page, brought up to date as if everything were inverted again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from gossamer.config import HistoryConfig
from gossamer.links import current_links, invert
from gossamer.state.lookup import Lookup
from gossamer.upkeep import compaction
from tests.support.site_histories import Site, inlinks, layers, page

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace


@pytest.fixture(autouse=True)
def _many(monkeypatch: pytest.MonkeyPatch) -> None:
    """No number of links is too small to look for what changed."""
    monkeypatch.setattr(invert, "FEW_LINKS", 0)


def anew(work: Workspace) -> None:
    with work.step("test", work.round) as draft:
        draft.replace |= {"inlinks": (), "inverted": ()}
    assert "pages" in invert.run(work).counts


SEEDS = [
    pytest.param(1, marks=pytest.mark.slow),
    *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 10)),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_those_of_all_links_after_any_history(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Pages change, fail, redirect, lose links, are parsed late; layers are merged in between."""
    monkeypatch.setattr(invert, "MAX_SOURCES", 2)
    monkeypatch.setattr(invert, "RESERVE", 1 + seed % 2)
    monkeypatch.setattr(compaction.step, "FEW", 2 + seed % 3)
    work.config = structs.replace(work.config, history=HistoryConfig(rounds=seed % 3))
    site = Site(seed)
    changed = 0
    for round_ in range(1, 13):
        site.happen(work, round_)
        if compaction.due_spans(work):
            compaction.run(work)
        if site.draw.random() < 0.4:
            continue
        changed += invert.run(work).counts.get("changed", 0)
        found = inlinks(work)
        if site.draw.random() < 0.5:
            kept = {name: work.store.manifest.layers(name) for name in ("inlinks", "inverted")}
            anew(work)
            assert found == inlinks(work)
            with work.step("test", round_) as draft:
                draft.replace |= kept
    assert changed


def put(work: Workspace, round_: int, links: dict[int, dict[int, str]]) -> None:
    """Commit a round in which pages link to others with anchors."""
    answers = [{"url": page(src), "round": round_, "outcome": "ok"} for src in links]
    rows = [
        {"src": page(src), "dst": page(dst), "round": round_, "anchor": anchor}
        for src, targets in links.items()
        for dst, anchor in targets.items()
    ]
    with work.step("test", round_) as draft:
        draft.append |= layers(work, "responses", [answers], round_)
        draft.append |= layers(work, "links", [rows], round_)


def test_only_rows_of_links_that_changed_are_written(work: Workspace) -> None:
    put(work, 1, {0: {5: "a", 6: "b", 7: "c"}, 1: {5: "d", 7: "e"}})
    assert invert.run(work).counts == {"pages": 3}
    put(work, 2, {0: {5: "a", 6: "new words", 8: "f"}, 2: {}})
    report = invert.run(work)
    assert report.counts == {"changed": 3}
    assert inlinks(work) == {
        page(5): (2, [(page(0), "a"), (page(1), "d")]),
        page(6): (1, [(page(0), "new words")]),
        page(7): (1, [(page(1), "e")]),
        page(8): (1, [(page(0), "f")]),
    }
    assert invert.run(work).counts == {"changed": 0}


def test_a_page_that_loses_its_last_link_has_none(work: Workspace) -> None:
    put(work, 1, {0: {5: "a"}, 1: {6: "b"}})
    invert.run(work)
    put(work, 2, {0: {}})
    invert.run(work)
    assert inlinks(work) == {page(6): (1, [(page(1), "b")])}
    row = next(Lookup(work).rows("inlinks", "dst", page(5), ["count", "sources", "domains"]))
    assert (row["count"], row["sources"], row["domains"]) == (0, [], 0)


def test_links_that_a_row_holds_are_not_read_again(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither if the row holds all links of its page, nor if it has enough of them left."""
    put(work, 1, {src: {9: str(src), 8: str(src)} for src in range(2)})
    put(work, 2, {src: {9: str(src)} for src in range(2, 6)})
    monkeypatch.setattr(invert, "MAX_SOURCES", 2)
    monkeypatch.setattr(invert, "RESERVE", 2)
    invert.run(work)
    held = Lookup(work).rows("inlinks", "dst", page(9), ["sources", "further"])
    sources = [each["src"] for row in held for name in row for each in row[name]]
    monkeypatch.delattr(current_links, "votes_for")
    put(work, 3, {6: {8: "6"}, int(sources[0].rpartition("/")[2]): {}})
    invert.run(work)
    (count, listed), (whole, _) = (inlinks(work)[page(n)] for n in (9, 8))
    assert (count, [src for src, _ in listed]) == (5, sources[1:3])
    (row,) = Lookup(work).rows("inlinks", "dst", page(8), ["sources", "further"])
    assert len(row["sources"]) + len(row["further"]) == whole
    assert whole in (2, 3)


def test_a_listed_page_that_goes_is_replaced_by_one_that_was_not_listed(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(work, 1, {src: {9: str(src)} for src in range(6)})
    invert.run(work)
    best, second, third, fourth, fifth, _ = inlinks(work)[page(9)][1]
    monkeypatch.setattr(invert, "MAX_SOURCES", 2)
    monkeypatch.setattr(invert, "RESERVE", 1)
    for round_, (gone, listed) in enumerate(
        [(fifth, [best, second]), (second, [best, third]), (third, [best, fourth])], 2
    ):
        put(work, round_, {int(gone[1]): {}})
        invert.run(work)
        assert inlinks(work) == {page(9): (7 - round_, listed)}


@pytest.mark.folder
def test_damaged_rows_are_written_again(work: Workspace) -> None:
    put(work, 1, {0: {5: "a"}})
    invert.run(work)
    before = inlinks(work)
    for dataset in ("inlinks", "inverted"):
        for path in work.paths(dataset):
            damage(path)
        fresh = type(work).open(work.root, work.engine)
        assert invert.run(fresh).counts == {"pages": 1}
        assert inlinks(fresh) == before
        work.store.refresh()


def test_few_links_are_all_inverted(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    put(work, 1, {0: {5: "a"}, 1: {5: "b"}})
    invert.run(work)
    put(work, 2, {0: {}})
    monkeypatch.setattr(invert, "FEW_LINKS", 100)
    assert invert.run(work).counts == {"pages": 1}
    assert inlinks(work) == {page(5): (1, [(page(1), "b")])}


LINKS = {src: {(src * n) % 7: f"{src} {n}" for n in range(2, 5)} for src in range(1, 20)}


def test_links_that_are_too_many_to_be_sorted_at_once_are_inverted_in_parts(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(work, 1, LINKS)
    invert.run(work)
    at_once = inlinks(work)
    assert len(at_once) == 7
    monkeypatch.setattr(invert, "SORTED_LINKS", 10)
    anew(work)
    assert inlinks(work) == at_once
    (layer,) = work.store.manifest.layers("inlinks")
    assert layer.rows == 7
    assert len(layer.files) > 2


def test_links_of_which_most_have_changed_are_all_inverted_if_they_are_many(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invert, "SORTED_LINKS", 10)
    put(work, 1, {src: LINKS[src] for src in range(1, 5)})
    invert.run(work)
    put(work, 2, {src: LINKS[src] for src in range(5, 20)})
    assert "pages" in invert.run(work).counts, "most"
    put(work, 3, {src: {} for src in range(5)} | dict.fromkeys(range(20, 26), LINKS[1]))
    assert "changed" in invert.run(work).counts, "many, but not most"
    found = inlinks(work)
    anew(work)
    assert inlinks(work) == found


def damage(path: str) -> None:
    from pathlib import Path

    Path(path).write_bytes(b"no rows")
