"""What dispositions says about a page, for people; names of versions and their order."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.dedup import disposition_rows, versions
from gossamer.dedup.dispositions import (
    DROPPED,
    REASONS,
    Copy,
    Duplicates,
    duplicates_of,
    survivor_of,
)
from gossamer.dedup.version_names import version_in, version_recency
from gossamer.state.lookup import Lookup
from gossamer.tables import DISPOSITIONS
from tests.support.rows import frame, put
from tests.support.standing_pages import COPY, NEW, OLD, put_standing

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

OLDEST_FIRST = (
    *("dev", "1.9", "1.10", "2.0a1", "2.0rc1", "2.0", "2.0.1", "v3", "3.9", "3.10rc2", "3.10"),
    *("django-4.2", "2024", "stable"),
)


def test_versions_are_ordered() -> None:
    keys = [(version_recency(name), name) for name in OLDEST_FIRST]
    assert all(older < newer for older, newer in pairwise(keys))


def test_the_step_orders_versions_alike(work: Workspace) -> None:
    names = list(OLDEST_FIRST)
    random.Random(1).shuffle(names)  # noqa: S311  # reproducible
    rows = work.engine.spark.createDataFrame([(name,) for name in names], "version string")
    found = rows.withColumn("key", versions.recency_key(rows["version"])).collect()
    in_order = sorted(found, key=lambda row: (row["key"], row["version"]))
    assert tuple(row["version"] for row in in_order) == OLDEST_FIRST


@pytest.mark.parametrize(
    ("path", "other", "version"),
    [
        ("/3.9/library/re.html", "/3.13/library/re.html", "3.9"),
        ("/docs/V2/x", "/docs/v3/x", "v2"),
        ("/2/api/1.0/x", "/2/api/1.1/x", "1.0"),
        ("/2/api/1.0/x", "/2/api/1.0/y", "1.0"),
        ("/1.0/x", "/", "1.0"),
        ("/x/3.9", "/x/3.10", ""),
        ("/x?v=/1.0/", "/x", ""),
        ("", "", ""),
    ],
)
def test_the_version_in_a_url(path: str, other: str, version: str) -> None:
    assert version_in(f"http://a.example{path}", f"http://a.example{other}") == version


def test_a_survivor_and_its_duplicates(work: Workspace) -> None:
    older = [OLD, OLD.replace("3.9", "3.10"), OLD.replace("3.9", "2.7")]
    put_standing(work, [(COPY, "near", 0.91), *((url, "version", 0.5) for url in older)])
    lookup = Lookup(work)
    found = duplicates_of(lookup, NEW)
    assert (found.copies_total, found.versions_total, found.left_out) == (2, 3, None)
    assert found.copies == [Copy(COPY, "near", 0.91)]
    assert [copy.version for copy in found.versions] == ["3.10", "3.9", "2.7"]
    of_old = duplicates_of(lookup, OLD)
    assert (of_old.survivor, of_old.reason, of_old.similarity) == (NEW, "version", 0.5)
    assert of_old.left_out == f"{NEW} stands for it: it is an older version of that page"
    assert (survivor_of(lookup, OLD), survivor_of(lookup, NEW)) == (NEW, None)
    assert duplicates_of(lookup, "http://unknown.example/") == Duplicates()
    assert survivor_of(lookup, "http://unknown.example/") is None


def test_a_reason_of_a_later_version(work: Workspace) -> None:
    put_standing(work, [(COPY, "same_as_ever", None)])
    assert duplicates_of(Lookup(work), COPY).left_out == f"{NEW} stands for it: same as ever"
    assert duplicates_of(Lookup(work), NEW).copies[0].why.label == "same as ever"


def test_all_dispositions_and_reasons_have_words() -> None:
    told = {column.name: column.doc for column in DISPOSITIONS.columns}
    dispositions = {"indexed", "dropped_duplicate", *DROPPED}
    assert {*told["disposition"].split(", ")} == dispositions
    assert {*told["reason"].partition(": ")[2].split(", ")} <= {*REASONS}
    assert Duplicates("dropped_noindex").left_out is not None
    assert Duplicates("indexed").left_out is None


def test_a_label_is_shorter_than_what_it_means() -> None:
    assert all(len(reason.label) < len(reason.meaning) for reason in REASONS.values())


def test_the_last_counts_are_corrected_by_what_was_replaced(work: Workspace) -> None:
    with work.step("dedup", 1) as draft:
        draft.counts |= {"documents": 9, "duplicate_text": 4, "duplicate_mirror": 1, "changed": 7}

    def count(step: str, written: dict[str, str | None], was: dict[str, str | None] | None) -> Any:
        frames = [
            None
            if rows is None
            else frame(
                work,
                "dispositions",
                [{"url": url, "reason": reason} for url, reason in rows.items()],
            )
            for rows in (written, was)
        ]
        assert frames[0] is not None
        return disposition_rows.count_by_reason(work, step, frames[0], frames[1])

    before = {"a": None, "b": "text", "c": "text", "d": "mirror", "e": None}
    now = {"a": "text", "b": None, "c": "version", "d": None, "new": None}
    assert count("dedup", now, before) == {
        "documents": 10,
        "duplicate_text": 3,
        "duplicate_version": 1,
    }
    assert count("dedup", now, None) == {
        "documents": 5,
        "duplicate_text": 1,
        "duplicate_version": 1,
    }
    put(work, "dispositions", [{"url": "a", "reason": None}, {"url": "f", "reason": "near"}])
    assert count("another", {"a": "text"}, {"a": None}) == {
        "documents": 2,
        "duplicate_near": 1,
        "duplicate_text": 1,
    }
