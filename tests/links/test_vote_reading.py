"""How links are shared among the tasks of a build, and which of them count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.links.current_links import VOTES
from gossamer.links.graph import vote_reading
from gossamer.links.graph.vote_reading import RowGroups, Share, merge_dictionaries, read_ends
from gossamer.storage import parquet
from tests.support.small_index import crawl
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from pathlib import Path

A, B, C, D = (f"http://{name}.org/" for name in "abcd")

GROUPS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9)), max_size=12)


@given(GROUPS, st.integers(1, 20))
def test_shares_are_as_large_as_fits_into_memory(sizes: list[tuple[str, int]], most: int) -> None:
    groups = [(path, number, size) for number, (path, size) in enumerate(sorted(sizes))]
    shares = [*vote_reading._fill_shares(groups, most)]
    held = [[(each.path, n) for each in share for n in each.numbers] for share in shares]
    assert [*chain(*held)] == [(path, number) for path, number, _ in groups]
    size_of = {number: size for _, number, size in groups}
    amounts = [[size_of[number] for _, number in share] for share in held]
    assert all(len(each) == 1 or sum(each) <= most for each in amounts)
    assert all(sum(before) + after[0] > most for before, after in pairwise(amounts))


def test_a_share_has_row_groups_of_several_files() -> None:
    groups = [("a", 0, 1), ("a", 1, 1), ("b", 0, 1), ("b", 1, 5)]
    assert [*vote_reading._fill_shares(groups, 3)] == [
        [RowGroups("a", (0, 1)), RowGroups("b", (0,))],
        [RowGroups("b", (1,))],
    ]


COLUMN = st.lists(st.lists(st.sampled_from(["", "a", "b", "é"]), max_size=5), max_size=3)


@given(st.lists(COLUMN, min_size=1, max_size=3))
def test_columns_get_one_dictionary(columns: list[list[list[str]]]) -> None:
    kind = pa.dictionary(pa.int32(), pa.string())
    given = [
        pa.chunked_array(
            [pa.array(chunk, pa.string()).dictionary_encode() for chunk in column], kind
        )
        for column in columns
    ]
    strings, numbers = merge_dictionaries(given)
    known = strings.to_pylist()
    assert len(set(known)) == len(known)
    assert [[known[number] for number in each] for each in numbers] == [
        [*chain(*column)] for column in columns
    ]


Sharing = Callable[[list[dict[str, Any]]], Share]


@pytest.fixture
def shared(tmp_path: Path) -> Sharing:
    """Stores the links that a test names, and returns a share with all of them."""
    work = crawl(tmp_path)

    def share(rows: list[dict[str, Any]]) -> Share:
        put_rows(work, "links", rows, group_rows=2)
        (path,) = work.paths("links")
        groups = RowGroups(path, tuple(range(parquet.metadata(path).num_row_groups)))
        scratch = work.store.attempt("scratch")
        return Share(work.root, 7, (groups,), counts_nofollow=False, scratch=scratch)

    return share


def ends(share: Share) -> list[tuple[str, str]]:
    urls, src, dst = read_ends(share)
    named = urls.to_pylist()
    return [(named[one], named[other]) for one, other in zip(src, dst, strict=True)]


@pytest.mark.parametrize("counts_nofollow", [False, True])
def test_links_that_recommend_a_page_are_votes(shared: Sharing, counts_nofollow: bool) -> None:
    relations = (*VOTES, "img", "feed")
    rows: list[dict[str, Any]] = [{"src": A, "dst": B, "relation": each} for each in relations]
    rows.append({"src": A, "dst": C, "nofollow": True})
    expected = [(A, B)] * len(VOTES) + [(A, C)] * counts_nofollow
    assert ends(replace(shared(rows), counts_nofollow=counts_nofollow)) == expected


def test_links_of_pages_that_answered_again_do_not_count(shared: Sharing) -> None:
    rows = [
        {"src": src, "dst": dst, "round": round_}
        for src, dst, round_ in [(A, B, 1), (A, C, 2), (B, A, 1), (C, A, 1), (C, B, 2), (D, A, 2)]
    ]
    share = shared(rows)
    old = pa.table({"src": [A, C, "http://e.org/"], "round": [1, 2, 1]})
    pq.write_table(old, f"{share.root}/old.parquet")
    assert ends(replace(share, outdated=("old.parquet",))) == [(A, C), (B, A), (C, A), (D, A)]


def test_pages_are_listed_with_the_rounds_in_which_they_linked(shared: Sharing) -> None:
    linking = [(A, 1, "a"), (A, 1, "a"), (A, 2, "a"), (B, 2, "a"), (C, 3, "img"), (A, 1, "a")]
    share = shared(
        [
            {"src": src, "dst": D, "round": round_, "relation": relation}
            for src, round_, relation in linking
        ]
    )
    (made,) = vote_reading.write_sources(share)
    found = parquet.read_table(f"{share.root}/{made['path']}").to_pylist()
    assert sorted(tuple(row.values()) for row in found) == [(7, A, 1), (7, A, 2), (7, B, 2)]
