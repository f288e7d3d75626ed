"""Rows of the index whose pages were not looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from msgspec import structs

from gossamer.index import indexed_rows
from gossamer.index.format.analysis import ANALYZED_AS, OTHER
from gossamer.index.format.layout import FIRST
from gossamer.index.indexed_rows import (
    ADDED,
    DRIFT,
    KEPT,
    REMOVED,
    REPLACED,
    STAY_SHARE,
    add_copies,
    collect_anchors,
    compare_with_indexed,
    first_tier_rank,
    host_languages,
    index_language,
    is_rank_outdated,
    unchanged_pages,
)
from gossamer.links import domains
from tests.support.computed_columns import computed, rows_as_frame
from tests.support.rows import frame, put

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.embedded, pytest.mark.folder]

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"


def test_only_the_ranks_of_unchanged_pages_are_new(work: Workspace) -> None:
    rows = [{"url": url, "static_rank": 0.5, "boilerplate": 7, "source": 1} for url in (A, B)]
    standing = work.engine.rows(pa.table({"url": [A, C], "rank": [0.3, 0.4]}))
    (row,) = unchanged_pages(frame(work, "indexed", rows), standing, 0.1).collect()
    assert (row["url"], row["change"]) == (A, KEPT)
    assert abs(row["static_rank"] - 3.0) < 1e-9
    assert row["old_static_rank"] == 0.5
    assert row["old_boilerplate"] == 7


INDEXED_TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(("url", "index_language"), pa.string()),
    **dict.fromkeys(("round", "source", "shard", "anchors", "copies"), pa.int64()),
    "static_rank": pa.float64(),
}
SAME: dict[str, Any] = {"round": 3, "source": 5, "shard": 2, "index_language": "en"}
SAME |= {"anchors": 7, "copies": 9, "static_rank": 1.0}


def changes(
    engine: Engine,
    pages: dict[str, tuple[dict[str, Any] | None, dict[str, Any] | None]],
    popular: float | None = None,
) -> dict[str, tuple[str, int]]:
    """The change and shard of pages, which are given as they are in the index and as they are."""
    old, new = (
        rows_as_frame(
            engine,
            INDEXED_TYPES,
            [
                {"url": url} | SAME | row
                for url, each in pages.items()
                if (row := each[at]) is not None
            ],
        )
        for at in (0, 1)
    )
    found = compare_with_indexed(new, old, popular).collect()
    return {row.url: (row.change, row.shard) for row in found}


def drifted(by: float) -> float:
    """A static rank that has moved as far from 1."""
    return float(2 ** (1 + by) - 1)


def test_what_becomes_of_pages(engine: Engine) -> None:
    pages: dict[str, Any] = {
        name: ({}, {name: "de" if name == "index_language" else 99})
        for name in ("round", "source", "shard", "index_language", "anchors", "copies")
    }
    pages |= {"same": ({}, {}), "new": (None, {}), "gone": ({}, None)}
    pages["more"] = ({}, {"static_rank": drifted(DRIFT) + 1e-9})
    pages["less"] = ({}, {"static_rank": drifted(-DRIFT) - 1e-9})
    pages["little"] = ({}, {"static_rank": drifted(DRIFT) - 1e-9})
    found = {url: change for url, (change, _) in changes(engine, pages).items()}
    kept = dict.fromkeys(("same", "little"), KEPT)
    assert found == {**dict.fromkeys(pages, REPLACED), **kept, "new": ADDED, "gone": REMOVED}


def test_the_most_popular_pages_are_in_the_first_tier(engine: Engine) -> None:
    """One that is there leaves it only when its rank has fallen some way."""
    first = {"shard": FIRST}
    near = 10 * STAY_SHARE
    pages: dict[str, Any] = {
        "comes": ({"static_rank": 10.0}, {"static_rank": 10.1}),
        "nearly": ({"static_rank": 10.0}, {"static_rank": 10.0}),
        "stays": (first | {"static_rank": 9.0}, {"static_rank": near + 0.1}),
        "leaves": (first | {"static_rank": 9.0}, {"static_rank": near}),
        "new": (None, {"static_rank": 11.0}),
        "unknown": (None, {"static_rank": 9.9}),
    }
    assert changes(engine, pages, 10.0) == {
        "comes": (REPLACED, FIRST),
        "nearly": (KEPT, 2),
        "stays": (KEPT, FIRST),
        "leaves": (REPLACED, 2),
        "new": (ADDED, FIRST),
        "unknown": (ADDED, 2),
    }


def test_ranks_that_the_index_does_not_show_any_more(engine: Engine) -> None:
    types = {"old_shard": pa.int64(), "static_rank": pa.float64(), "old_static_rank": pa.float64()}
    cases = [
        ((2, 10.1, 10.0), True, False),
        ((FIRST, 10.1, 10.0), False, True),
        ((FIRST, 9.0, 10.0), False, True),
        ((FIRST, 7.0, 8.0), True, True),
        ((2, 9.0, 9.5), False, False),
        ((2, 3.0, 9.5), True, True),
    ]
    rows = [dict(zip(types, case, strict=True)) for case, _, _ in cases]
    columns = {"tiered": is_rank_outdated(10.0), "flat": is_rank_outdated(None)}
    found = computed(rows_as_frame(engine, types, rows), columns)
    assert [(row["tiered"], row["flat"]) for row in found] == [each[1:] for each in cases]


def test_a_page_says_for_how_many_others_it_stands(engine: Engine) -> None:
    copy = pa.list_(pa.struct([("url", pa.string())]))
    whole = pa.int64()
    types = {"url": pa.string(), "copy_count": whole, "version_count": whole, "copies": copy}
    urls = ("http://b.test/1", "http://a.test/", "http://b.test/2")
    rows: list[dict[str, Any]] = [
        {"url": "some", "copy_count": 5, "version_count": 2}
        | {"copies": [{"url": url} for url in urls]},
        {"url": "none", "copy_count": 0, "version_count": 0},
    ]
    names = ["some", "none", "other"]
    pages = rows_as_frame(engine, {"url": pa.string()}, [{"url": name} for name in names])
    found = add_copies(pages, rows_as_frame(engine, types, rows)).collect()
    assert {row.url: (row.copies, row.versions, row.copy_hosts) for row in found} == {
        "some": (3, 2, ["a.test", "b.test"]),
        "none": (None, None, None),
        "other": (None, None, None),
    }


def test_texts_of_links_to_a_page_come_before_those_to_its_copies(work: Workspace) -> None:
    """Another domain's copies add as many as it has links; versions come last."""
    page, own, old = "http://a.test/", "http://www.a.test/", "http://a.test/old"
    foreign = [f"http://b.test/{number}" for number in range(3)]
    texts = {
        page: ["best", "", "second"],
        own: ["own", "own again"],
        old: ["3.9"],
        **{url: [f"b{number}", "more"] for number, url in enumerate(foreign)},
        "http://c.test/": ["alone"],
    }
    put(
        work,
        "inlinks",
        [
            {"dst": url, "count": 9, "sources": [{"src": "x", "anchor": text} for text in listed]}
            for url, listed in texts.items()
        ],
    )
    reasons = dict.fromkeys((own, *foreign), "exact") | {old: "version"}
    rows = [
        {"url": url, "disposition": "dropped_duplicate", "survivor": page, "reason": reason}
        for url, reason in reasons.items()
    ]
    rows.append({"url": "http://c.test/", "disposition": "indexed"})
    pages = rows_as_frame(
        work.engine, {"url": pa.string()}, [{"url": page}, {"url": "http://c.test/"}]
    )
    found = collect_anchors(work, pages, frame(work, "dispositions", rows)).collect()
    anchors = {row.url: list(row.anchors) for row in found}
    assert domains.LINKS_PER_DOMAIN == 3
    assert anchors["http://c.test/"] == ["alone"]
    assert anchors[page] == ["best", "second", "b0", "b1", "b2", "own", "own again", "3.9"]
    few = structs.replace(work.config.index, anchors=4)
    work.config = structs.replace(work.config, index=few)
    found = collect_anchors(work, pages, frame(work, "dispositions", rows)).collect()
    anchors = {row.url: list(row.anchors) for row in found}
    assert anchors[page] == ["best", "second", "b0", "b1"]


def test_a_first_tier_has_the_best_pages_of_many(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexed_rows, "MIN_TIERED", 10)
    types = {"rank": pa.float64()}
    ranks = rows_as_frame(engine, types, [{"rank": float(number)} for number in range(1, 11)])
    found = first_tier_rank(ranks, 10, 2.0, 0.3)
    assert found is not None
    assert 7 <= 2 * found < 8
    assert first_tier_rank(ranks, 9, 2.0, 0.3) is None
    assert first_tier_rank(ranks, 10, 2.0, 0) is None
    alike = rows_as_frame(engine, types, [{"rank": 1.0}] * 10)
    assert first_tier_rank(alike, 10, 1.0, 0.3) is None


def test_a_page_without_a_language_has_that_of_most_pages_of_its_host(work: Workspace) -> None:
    languages: dict[str, list[str | None]] = {
        "a.test": ["de", "de", "en", None],
        "b.test": ["en", None, "fr"],
        "c.test": ["en"],
    }
    rows = [
        {"url": f"http://{host}/{number}", "host": host, "language": language, "round": 1}
        for host, listed in languages.items()
        for number, language in enumerate(listed)
    ]
    old = [row | {"language": "it", "round": 0} for row in rows]
    put(work, "documents", [*rows, *old, *old])
    types = {"url": pa.string(), "round": pa.int32()}
    standing = rows_as_frame(work.engine, types, [{"url": row["url"], "round": 1} for row in rows])

    def found(*hosts: str) -> tuple[dict[str, str], set[str]]:
        some = [{"host": host} for host in hosts]
        chosen = rows_as_frame(work.engine, {"host": pa.string()}, some) if hosts else None
        of_hosts, unnamed = host_languages(work, standing, chosen)
        named = {row.host: row.host_language for row in of_hosts.collect()}
        return named, {row.url for row in unnamed.collect()}

    assert found() == ({"a.test": "de", "b.test": "fr"}, {"http://a.test/3", "http://b.test/1"})
    assert found("a.test", "c.test") == ({"a.test": "de"}, {"http://a.test/3"})
    assert found("c.test") == ({}, set())


def test_a_language_is_analyzed_as_itself_or_another(engine: Engine) -> None:
    rows = rows_as_frame(
        engine,
        {"language": pa.string()},
        [{"language": each} for each in ("en", *ANALYZED_AS, "tlh", None)],
    )
    found = computed(rows, {"index": index_language(rows["language"])})
    assert [row["index"] for row in found] == ["en", *ANALYZED_AS.values(), OTHER, OTHER]
