"""Which hosts are mirrors of which, from rows made by hand: see gossamer.dedup.mirrors."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from gossamer.dedup import mirrors
from tests.support.computed_columns import rows_as_frame
from tests.support.rows import frame, put

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.embedded, pytest.mark.folder]

Row = dict[str, Any]
A, B, C = "a.test", "b.test", "c.test"
PAIRS: dict[str, pa.DataType] = {
    "host": pa.string(), "mirror_of": pa.string(), "agreeing": pa.int64()
}  # fmt: skip


def known(work: Workspace, *rows: Row) -> Any:
    """Dispositions in a single layer."""
    held = frame(work, "dispositions", [{"disposition": "indexed"} | row for row in rows])
    return SimpleNamespace(where=lambda choose: choose(held))


def page(host: str, path: object, text: int, first_ms: int = 5, **more: Any) -> Row:
    """A page in a place: its path and text."""
    place = 10_000 * text + sum(map(ord, str(path)))
    row = {"url": f"http://{host}/{path}", "text": text, "place": place}
    return row | {"titled_ms": first_ms, "found_ms": first_ms} | more


def copied(hosts: tuple[str, ...], texts: int, **more: Any) -> list[Row]:
    return [page(host, n, n, **more) for host in hosts for n in range(texts)]


def paired(work: Workspace, rows: list[Row]) -> set[tuple[str, str, int]]:
    shared = rows_as_frame(
        work.engine, {"place": pa.int64()}, [{"place": n} for n in {row["place"] for row in rows}]
    )
    found = mirrors._pair_with_originals(work, known(work, *rows), shared)
    return {(row.host, row.mirror_of, row.agreeing) for row in found.collect()}


def test_places_are_shared_by_several_pages(work: Workspace) -> None:
    """Once they are, they stay so until all is judged again."""
    gone = {"disposition": "dropped_noindex"}
    rows = [page(A, 1, 1), page(B, 1, 1), page(A, 2, 2), page(A, 3, 3), page(B, 3, 3)]
    rows += [page(A, 4, 4), page(B, 4, 4) | gone]
    places = {number: page(A, number, number)["place"] for number in range(1, 5)}
    put(work, "shared_places", [{"place": 7}])
    held = frame(work, "dispositions", [{"disposition": "indexed"} | row for row in rows])
    layers: Any = SimpleNamespace(layers=[held], where=lambda choose: choose(held))

    def shared(*fresh: Row, anew: bool) -> set[int]:
        new = frame(work, "dispositions", [{"disposition": "indexed"} | row for row in fresh])
        found, count = mirrors.update_shared_places(work, layers, new, anew=anew)
        assert found.count() == count
        return {row.place for row in found.collect()}

    assert shared(anew=True) == {places[1], places[3]}
    assert shared(page(C, 1, 1), page(C, 3, 3) | gone, page(C, 2, 2), anew=False) == {7, places[1]}


def test_a_mirror_shares_enough_texts_with_another_host(work: Workspace) -> None:
    least = mirrors.MIN_TEXTS
    assert paired(work, copied((A, B), least)) == {(B, A, least)}
    assert paired(work, copied((A, B), least - 1)) == set()
    same = [page(host, n, 1) for host in (A, B) for n in range(least)]
    assert paired(work, same) == set()


def test_the_original_is_the_host_that_was_first_or_is_better(work: Workspace) -> None:
    least = mirrors.MIN_TEXTS
    earlier = copied((B,), least, first_ms=3)
    assert paired(work, [*copied((A,), least), *earlier]) == {(A, B, least)}
    put(work, "host_ranks", [{"host": A, "rank": 0.1}, {"host": C, "rank": 0.3}])
    assert paired(work, copied((A, B, C), least)) == {(A, C, least), (B, C, least)}
    assert paired(work, [*copied((C,), least), *earlier]) == {(C, B, least)}
    long = "long." + A
    assert paired(work, copied((B, long), least)) == {(long, B, least)}


def test_the_hosts_of_a_domain_were_first_together(work: Workspace) -> None:
    """By the first page in a place of any host of the domain; when a page got its title counts."""
    least = mirrors.MIN_TEXTS
    old, new = "old.x.test", "a.x.test"
    put(work, "host_ranks", [{"host": new, "rank": 0.5}])
    rows = [*copied((old,), least, first_ms=3), *copied((new,), least, first_ms=9)]
    assert paired(work, rows) == {(old, new, least)}
    untitled = copied((A,), least, titled_ms=None, found_ms=2)
    assert paired(work, [*copied((B,), least, titled_ms=4, found_ms=1), *untitled]) == {
        (B, A, least)
    }


def test_of_two_hosts_that_copy_each_other_the_one_that_was_behind_more_is_the_mirror(
    work: Workspace,
) -> None:
    least = mirrors.MIN_TEXTS
    ahead = [page(host, n, n, 3 if host == A else 9) for host in (A, B) for n in range(least)]
    behind = [
        page(host, 100 + n, 100 + n, 9 if host == A else 3) for host in (A, B) for n in range(3)
    ]
    assert paired(work, ahead + behind) == {(B, A, least + 3)}
    even = [
        page(host, 100 + n, 100 + n, 9 if host == A else 3) for host in (A, B) for n in range(least)
    ]
    assert paired(work, ahead + even) == set()


def test_a_host_has_one_original_the_one_with_which_it_agrees_most(work: Workspace) -> None:
    least = mirrors.MIN_TEXTS
    rows = [
        *copied((A, C), least),
        *[page(host, 100 + n, 100 + n) for host in (B, C) for n in range(least + 1)],
    ]
    assert paired(work, rows) == {(C, B, least + 1)}


def compared(work: Workspace, agreeing: int, *rows: Row) -> list[tuple[Any, ...]]:
    pair = {"host": B, "mirror_of": A, "agreeing": agreeing}
    pairs = rows_as_frame(work.engine, PAIRS, [pair])
    return [tuple(row) for row in mirrors._compare_paths(work, known(work, *rows), pairs).collect()]


def paths(host: str, *names: object, **more: Any) -> list[Row]:
    return [page(host, name, 1) | more for name in names]


def test_a_mirror_agrees_at_most_of_the_paths_that_both_have(work: Workspace) -> None:
    rows = [*paths(A, *range(12)), *paths(B, *range(10))]
    enough = 10 * mirrors.MIN_AGREEING_SHARE
    least = int(enough) if enough == int(enough) else int(enough) + 1
    assert compared(work, least, *rows) == [(B, A, least, 10, 10, 12)]
    assert compared(work, least - 1, *rows) == []


def test_a_mirror_has_most_paths_of_the_smaller_host(work: Workspace) -> None:
    common = int(20 * mirrors.MIN_COMMON_SHARE)
    others = [f"b{n}" for n in range(20 - common)]
    rows = [*paths(A, *range(50)), *paths(B, *range(common), *others)]
    assert compared(work, common, *rows) == [(B, A, common, common, 20, 50)]
    assert compared(work, common, *rows, *paths(B, "one", "more")) == []
    swapped = [*paths(B, *range(50)), *paths(A, *range(common), *others)]
    assert compared(work, common, *swapped) == [(B, A, common, common, 50, 20)]


def test_pages_that_cannot_be_found_do_not_count(work: Workspace) -> None:
    rows = [*paths(A, 1, 2), *paths(B, 1, 2), *paths(B, "no", disposition="dropped_noindex")]
    assert compared(work, 2, *rows) == [(B, A, 2, 2, 2, 2)]


def fit(engine: Engine, *rows: Row) -> DataFrame:
    types = {**dict.fromkeys(("url", "text", "canonical"), pa.string()), "text_hash": pa.int64()}
    return rows_as_frame(engine, types, rows)


def test_the_page_of_a_mirror_names_that_of_the_original(engine: Engine) -> None:
    """If it names none itself, and the two texts are equal or similar."""
    rows: list[Row] = [
        {"url": f"http://{A}/{path}", "text": path, "text_hash": n}
        for n, path in enumerate(("same", "like", "other", "named", "theirs"))
    ]
    rows[-1]["canonical"] = "http://elsewhere/"
    rows += [
        {"url": f"http://{B}/same", "text": "same", "text_hash": 0},
        {"url": f"http://{B}/like", "text": "nearly", "text_hash": 11},
        {"url": f"http://{B}/other", "text": "quite", "text_hash": 12},
        {"url": f"http://{B}/named", "text": "named", "text_hash": 3, "canonical": "http://x/"},
        {"url": f"http://{B}/theirs", "text": "theirs", "text_hash": 4},
        {"url": f"http://{B}/alone", "text": "same", "text_hash": 0},
    ]
    found = rows_as_frame(engine, PAIRS, [{"host": B, "mirror_of": A}])
    whole = pa.int64()
    similar = rows_as_frame(engine, {"one": whole, "other": whole}, [{"one": 11, "other": 1}])
    pages = mirrors.add_originals(fit(engine, *rows), found, similar).collect()
    assert len(pages) == len(rows)
    named = {row.url: row.canonical for row in pages if row.is_mirrored}
    assert named == {f"http://{B}/{path}": f"http://{A}/{path}" for path in ("same", "like")}
    others = {row.url: row.canonical for row in pages if not row.is_mirrored}
    assert others == {row["url"]: row.get("canonical") for row in rows if row["url"] not in named}


def test_hosts_whose_original_changes(work: Workspace) -> None:
    def pairs(**of: str) -> list[Row]:
        return [{"host": host, "mirror_of": original} for host, original in of.items()]

    put(work, "mirrors", pairs(same="x", moved="x", gone="x"))
    now = rows_as_frame(work.engine, PAIRS, pairs(same="x", moved="y", new="x"))
    changed = mirrors.changed_hosts(work, now)
    assert {row.host for row in changed.collect()} == {"moved", "gone", "new"}


def test_a_place_is_a_path_a_text_and_a_scope(engine: Engine) -> None:
    types = dict.fromkeys(("url", "text", "scope"), pa.string())
    rows: list[Row] = [
        {"url": f"http://{A}/x?q=/", "text": "t"},
        {"url": f"https://{B}:8080/x?q=/", "text": "t", "scope": ""},
        {"url": f"http://{A}/y", "text": "t"},
        {"url": f"http://{A}/x?q=/", "text": "u"},
        {"url": f"http://{A}/x?q=/", "text": "t", "scope": "de"},
    ]
    made = mirrors.add_places(rows_as_frame(engine, types, rows))
    assert {*made.columns} == {"url", "text", "scope", "place"}
    first, second, *others = [row.place for row in made.collect()]
    assert first == second
    assert len({first, *others}) == 4
