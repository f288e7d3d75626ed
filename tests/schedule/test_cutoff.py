"""Samples of known pages, and the scores that they suggest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from msgspec import structs

from gossamer.schedule import generate
from gossamer.schedule.order import score_cutoff
from gossamer.schedule.order.score_cutoff import Sample, likely_floors
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import PAGES
from tests.support.rows import by_url, frame, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.state.workspace import Workspace


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_cutoff, "ROWS", 10)
    monkeypatch.setattr(score_cutoff, "LEAST_ROWS", 50)


def pages(first: int, last: int) -> list[dict[str, object]]:
    return [
        {"url": f"http://{n % 2}.example/{n}", "host": f"{n % 2}.example"}
        for n in range(first, last)
    ]


def test_few_pages_are_not_sampled(work: Workspace) -> None:
    assert score_cutoff.take_sample(work) is None
    put(work, "pages", pages(0, 49), round_=0)
    assert score_cutoff.take_sample(work) is None


def test_a_sample_has_rows_of_all_layers(work: Workspace) -> None:
    put(work, "pages", pages(0, 80), round_=0)
    put(work, "pages", pages(80, 100), round_=1)
    found = score_cutoff.take_sample(work)
    assert found is not None
    urls = set(by_url(found.pages))
    assert 10 <= len(urls) <= 14  # each row group gives one more at most
    assert found.share == len(urls) / 100
    assert any(url.endswith(f"/{n}") for url in urls for n in range(80, 100))


def test_a_large_row_group_counts_as_its_rows(work: Workspace) -> None:
    for number in range(40):
        put(work, "pages", pages(20 * number, 20 * number + 20), round_=number)
    put(work, "pages", pages(800, 1000), round_=40)
    found = score_cutoff.take_sample(work)
    assert found is not None
    large = [int(url.rpartition("/")[2]) >= 800 for url in by_url(found.pages)]
    assert sum(large) <= len(large) / 5


def test_few_row_groups_are_read(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_cutoff, "MOST_GROUPS", 2)
    for number in range(6):
        put(work, "pages", pages(20 * number, 20 * number + 20), round_=number)
    found = score_cutoff.take_sample(work)
    assert found is not None
    urls = [int(url.rpartition("/")[2]) for url in by_url(found.pages)]
    assert {number // 20 for number in urls} == {1, 4}
    assert found.share == 10 / 120


def test_columns_that_an_older_version_did_not_write_are_null(work: Workspace) -> None:
    schema = PAGES.schema.remove(PAGES.schema.get_field_index("recall"))
    with work.step("test", 0) as draft:
        writer = ParquetWriter(work.root, "pages", work.store.attempt("pages"), schema=schema)
        writer.write(frame(work, "pages", pages(0, 50)).toArrow())
        draft.append |= layers_of(writer.close(), 0)
    found = score_cutoff.take_sample(work)
    assert found is not None
    assert all(row["recall"] is None for row in by_url(found.pages).values())


def sampled(work: Workspace, counts: dict[str, int], share: float, own: str = "") -> Sample:
    """A host has so many sampled pages, the first of which have the highest scores."""
    rows = [(host, 2.0**-n, host == own) for host, count in counts.items() for n in range(count)]
    hosts, scores, owns = zip(*rows, strict=True)
    table = pa.table({"host": hosts, "score": scores, "own": owns})
    return Sample(work.engine.rows(table), share)


def floors(found: Sample, total: int, per_host: int) -> list[float]:
    """The scores above which a round is tried."""
    return [
        2.0 ** (floor / score_cutoff.PER_OCTAVE) for floor in likely_floors(found, total, per_host)
    ]


def test_the_first_score_has_half_as_many_pages_again_as_the_round(work: Workspace) -> None:
    found = sampled(work, {"a": 10, "b": 10}, share=0.5)
    assert floors(found, 4, per_host=100) == [2.0**-1, 2.0**-7]


def test_a_large_host_supplies_no_more_than_its_limit(work: Workspace) -> None:
    counts = {"a": 30, "b": 6, "c": 2}
    assert floors(sampled(work, counts, share=1.0), 8, per_host=5) == [2.0**-4]
    assert floors(sampled(work, counts, share=1.0, own="a"), 8, per_host=5) == [2.0**-4]
    assert floors(sampled(work, counts, share=1.0), 9, per_host=5) == []
    assert floors(sampled(work, counts, share=1.0, own="a"), 9, per_host=5) == [2.0**-6]


def test_what_would_leave_nothing_out_is_not_tried(work: Workspace) -> None:
    assert floors(sampled(work, {"a": 3}, share=1.0), 1, per_host=9) == [2.0**-1]
    assert floors(sampled(work, {"a": 2}, share=1.0), 1, per_host=9) == []


def test_a_round_is_the_same_with_a_sample_and_without(
    new_work: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    guesses, rounds = [], []

    def noted(*args: Any) -> Iterator[int]:
        guesses.append(args)
        return likely_floors(*args)

    monkeypatch.setattr(score_cutoff, "likely_floors", noted)
    for least in (50, 1000):
        monkeypatch.setattr(score_cutoff, "LEAST_ROWS", least)
        work = new_work()
        work.config = structs.replace(
            work.config,
            update=structs.replace(work.config.update, scoring="links"),
            generate=structs.replace(work.config.generate, pages=20, pages_per_host=15),
        )
        rows = [page | {"inlinks": 2**n} for n, page in enumerate(pages(0, 60))]
        put(work, "pages", rows, round_=0)
        generate.run(work)
        rounds.append(set(by_url(work.read("fetchlist"))))
    assert len(guesses) == 1
    assert rounds[0] == rounds[1] == {page["url"] for page in pages(40, 60)}


def test_a_sample_is_taken_only_if_many_pages_are_due(work: Workspace) -> None:
    put(work, "pages", pages(0, 60), round_=0)

    def sampled(now_ms: int) -> Sample | None:
        return generate.sample_due_pages(work, lambda pages: pages, now_ms)

    assert sampled(1_000_000) is not None  # nobody has counted
    put_due(work, {0: 30, 600_000: 19, 1_200_000: 1})
    assert sampled(1_000_000) is None
    assert sampled(1_200_000) is not None


def put_due(work: Workspace, pages: dict[int, int]) -> None:
    rows = [
        {"from_ms": from_ms, "interval_s": None, "fetched": False, "pages": number}
        for from_ms, number in pages.items()
    ]
    put(work, "due_times", rows)
