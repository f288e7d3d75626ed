from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.status.overview import overview, refused_urls

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

COUNTS = {
    "fetch": {"ok": 90, "not_found": 5, "timeout": 1, "redirect": 3}
    | {"robots": 7, "forbidden_address": 2, "bad_redirect": 1, "postponed_failing": 4},
    "parse": {"documents": 90, "links": 900, "dropped_scope": 40, "dropped_calendar": 2},
    "update": {"touched": 900, "dropped_domain_growth": 12},
    "index": {"indexed": 80, "dropped_duplicate": 10},
}


def test_what_was_refused_by_reason() -> None:
    assert list(refused_urls(COUNTS).items()) == [
        ("scope", 40),
        ("domain_growth", 12),
        ("robots", 7),
        ("postponed_failing", 4),
        ("calendar", 2),
        ("forbidden_address", 2),
        ("bad_redirect", 1),
    ]


def test_nothing_refused() -> None:
    assert refused_urls({}) == {}
    assert refused_urls({"parse": {"links": 3, "dropped_scope": 0}}) == {}


def test_all_steps_of_a_crawl_count(work: Workspace) -> None:
    assert overview(work)["refused"] == {}
    for round_ in 1, 2:
        for step, counts in COUNTS.items():
            with work.step(step, round_) as draft:
                draft.counts.update(counts)
    figures = overview(work)
    assert figures["refused"] == {reason: 2 * n for reason, n in refused_urls(COUNTS).items()}
    assert figures["counts"]["fetch"]["ok"] == 180


def test_duplicates_are_those_of_the_last_run(work: Workspace) -> None:
    assert overview(work)["duplicates"] == {}
    for text in 5, 2:
        with work.step("dedup", 1) as draft:
            draft.counts.update({"documents": 90, "duplicate_text": text, "duplicate_version": 3})
    figures = overview(work)
    assert list(figures["duplicates"].items()) == [("version", 3), ("text", 2)]
    assert figures["refused"] == {}
