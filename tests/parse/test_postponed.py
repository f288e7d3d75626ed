"""Pages that a parse step leaves for later: killed parsers and used-up budgets."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from gossamer import parse
from gossamer.errors import MissingFile
from gossamer.flow import rounds
from gossamer.parse.step import parse_task
from gossamer.parse.step import run as step
from gossamer.parse.step.cpu_budget import Budget, domain_weights
from gossamer.parse.step.stored_responses import (
    MIN_PAGES,
    PAGE_BYTES,
    Piece,
    ResponseRow,
    piece_responses,
    response_pieces,
    taper_response_pieces,
)
from gossamer.schedule import update
from gossamer.storage.store import File
from tests.support.killed_parsers import Killed, spending
from tests.support.stored_rounds import HOME, Fetched, archive_of, skip_update, store_round, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gossamer.parse.step.job import Job, Share
    from gossamer.state.workspace import Workspace

PAGES = [Fetched(f"{HOME}{n}", b"<p>page %d<a href=/from/%d>l</a>" % (n, n)) for n in range(4)]


@pytest.fixture
def killing(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> Iterable[Callable[[dict[str, int]], Killed]]:
    """Tasks run in this process, one by one, with a parser that is killed."""
    started = []

    def in_process(tasks: Sequence[Any], fn: Any, *_: object) -> list[dict[str, Any]]:
        return list(chain.from_iterable(fn(one) for one in tasks))

    def use(times: dict[str, int]) -> Killed:
        parser = Killed(times)
        started.append(parser)
        monkeypatch.setattr(parse_task, "standing_parser", lambda _rules: parser)
        return parser

    monkeypatch.setattr(work.engine, "map_tasks", in_process)
    yield use
    for parser in started:
        parser.__exit__()


def test_a_page_whose_parser_is_killed_is_parsed_in_a_fresh_one(
    work: Workspace, killing: Callable[[dict[str, int]], Killed]
) -> None:
    killing({HOME + "1": 1})
    store_round(work, PAGES)
    assert parse.run(work).counts == {"documents": 4, "links": 4, "parsed": 4}
    assert table(work, "unparsed") == []


def test_a_page_whose_parser_is_killed_twice_is_parsed_alone_after_all_others(
    work: Workspace, killing: Callable[[dict[str, int]], Killed]
) -> None:
    parser = killing({HOME + "1": 2})
    store_round(work, PAGES[:2], PAGES[2:])
    counts = parse.run(work).counts
    assert counts == {"documents": 4, "links": 4, "parsed": 4, "retried_alone": 1}
    assert parser.asked[-1] == HOME + "1"
    assert Counter(parser.asked)[HOME + "1"] == 3
    assert table(work, "unparsed") == []


def test_a_page_that_is_killed_alone_too_is_parsed_by_a_later_round(
    work: Workspace, killing: Callable[[dict[str, int]], Killed]
) -> None:
    """The page is killed in two rounds; the third one adds its document and links."""
    killing({HOME + "1": 8})
    store_round(work, PAGES)
    counts = parse.run(work).counts
    assert (counts["interrupted"], counts["parsed"]) == (1, 3)
    skip_update(work)
    (left,) = table(work, "unparsed")
    assert (left["url"], left["round"], left["why"]) == (HOME + "1", 1, "interrupted")
    store_round(work, [Fetched(HOME + "new", b"<p>new")], round_=2)
    assert parse.run(work).counts["interrupted"] == 1
    skip_update(work)
    (left,) = table(work, "unparsed", 2)
    assert (left["url"], left["round"]) == (HOME + "1", 1)
    store_round(work, [Fetched(HOME + "other", b"<p>other")], round_=3)
    assert parse.run(work).counts == {"documents": 2, "links": 1, "parsed": 2}
    assert work.store.manifest.layers("unparsed") == ()
    documents = {row["url"]: row["round"] for row in table(work, "documents", 3)}
    assert documents == {HOME + "1": 1, HOME + "other": 3}
    (link,) = table(work, "links", 3)
    assert (link["src"], link["dst"], link["round"]) == (HOME + "1", HOME + "from/1", 1)


@pytest.fixture
def idle(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A crawl without an index, in which no page is due after the first round."""
    monkeypatch.setattr(rounds, "HARVEST", {})
    reset(work, "filter", deny=("/from/",))
    work.clock_ms = 1_700_000_000_001
    store_round(work, PAGES)
    return work


def first_round(work: Workspace) -> None:
    parse.run(work)
    update.run(work)


def test_where_nothing_is_due_a_round_parses_what_was_left(
    idle: Workspace, killing: Callable[[dict[str, int]], Killed]
) -> None:
    """If it is cut off after its parse step, its links are not in the page database yet."""
    killing({HOME + "1": 4})
    first_round(idle)
    steps = []
    for done in rounds.run(idle):
        steps.append((done.step, done.round))
        if steps[-1] == ("parse", 2):
            assert rounds.pending(idle.store.manifest) == ["update"]
    assert steps == [("generate", 2), ("parse", 2), ("update", 2), ("generate", 3)]
    assert [row["url"] for row in table(idle, "documents", 2)] == [HOME + "1"]
    assert table(idle, "unparsed", 2) == []


@pytest.mark.slow
def test_a_page_that_is_always_killed_does_not_keep_a_crawl_going(
    idle: Workspace, killing: Callable[[dict[str, int]], Killed]
) -> None:
    killing({HOME + "1": 1_000})
    first_round(idle)
    steps = [(done.step, done.round) for done in rounds.run(idle)]
    assert steps == [("generate", 2), ("parse", 2), ("update", 2)]
    assert [row["url"] for row in table(idle, "unparsed", 2)] == [HOME + "1"]


def test_parsing_again_takes_up_what_was_left(
    work: Workspace, killing: Callable[[dict[str, int]], Killed]
) -> None:
    killing({HOME + "1": 4})
    store_round(work, PAGES)
    parse.run(work)
    skip_update(work)
    rounds.reparse(work)
    assert work.store.manifest.layers("unparsed") == ()
    assert len(table(work, "documents")) == 4


@pytest.mark.folder
def test_a_truncated_archive_of_a_page_that_was_left_is_found_before_it_is_parsed(
    work: Workspace, killing: Callable[[dict[str, int]], Killed]
) -> None:
    killing({HOME + "1": 4})
    store_round(work, PAGES[1:2])
    parse.run(work)
    skip_update(work)
    store_round(work, [Fetched(HOME + "new", b"<p>new")], round_=2)
    path = Path(archive_of(work, 1))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(MissingFile, match=path.name):
        parse.run(work)


def test_pages_beyond_the_budget_of_their_domain_are_parsed_by_later_rounds(
    work: Workspace, killing: Callable[[dict[str, int]], Killed], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slow pages of two hosts of a farm, and a good page of another domain in the same file."""
    parser = killing({})
    monkeypatch.setattr(parser, "parse", spending(parser, {"farm.example": 2.0}))
    reset(work, "parse", domain_cpu_s=5.0)
    reset(work, "filter", scope="any")
    farm = [Fetched(f"https://{n % 2}.farm.example/{n}", b"<p>%d" % n) for n in range(7)]
    store_round(work, [*farm[:5], Fetched(HOME, b"<p>good"), *farm[5:]])
    counts = parse.run(work).counts
    assert (counts["parsed"], counts["postponed_cpu"]) == (4, 4)
    assert HOME in {row["url"] for row in table(work, "documents")}
    assert {row["why"] for row in table(work, "unparsed")} == {"postponed_cpu"}
    skip_update(work)
    store_round(work, [Fetched(HOME + "next", b"<p>next")], round_=2)
    counts = parse.run(work).counts
    assert (counts["parsed"], counts["postponed_cpu"]) == (4, 1)
    skip_update(work)
    store_round(work, [Fetched(HOME + "last", b"<p>last")], round_=3)
    counts = parse.run(work).counts
    assert (counts["parsed"], "postponed_cpu" in counts) == (2, False)
    urls = [row["url"] for n in (1, 2, 3) for row in table(work, "documents", n)]
    assert sorted(urls) == sorted(
        {page.url for page in farm} | {HOME, HOME + "next", HOME + "last"}
    )


def row(n: int, host: str = "a.example", size: int = 100, offset: int | None = None) -> ResponseRow:
    where = n if offset is None else offset
    return ResponseRow(1, f"http://{host}/{n}", host, 0, 0, 0, None, size, False, "", "w", where)


@given(st.lists(st.tuples(st.integers(0, 50_000), st.booleans()), max_size=40), st.integers(1, 9))
def test_pieces_hold_every_page_once_and_records_whole(
    sizes: list[tuple[int, bool]], of: int
) -> None:
    pages: list[ResponseRow] = []
    for n, (size, shares) in enumerate(sizes):
        same = pages[-1] if shares and pages else row(n, size=size)
        pages.append(row(n, size=same.body_bytes, offset=same.warc_offset))
    parts = [piece_responses(pages, Piece("f", number, of, 1)) for number in range(of)]
    assert list(chain.from_iterable(parts)) == pages
    offsets = [offset for part in parts for offset in {page.warc_offset for page in part}]
    assert len(offsets) == len(set(offsets))


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 10**8)), max_size=9))
def test_files_are_cut_into_pieces_of_a_task_s_share_and_few_pages_are_not(
    sizes: list[tuple[int, int]],
) -> None:
    files = [File(f"f{n}", rows, size) for n, (rows, size) in enumerate(sizes)]
    cut = response_pieces(files, 8)
    total = sum(file.bytes for file in files)
    for file in files:
        mine = [piece for piece in cut if piece.path == file.path]
        assert [piece.number for piece in mine] == list(range(mine[0].of)) == list(range(len(mine)))
        assert len(mine) == 1 or file.rows / len(mine) >= MIN_PAGES
        assert file.rows < MIN_PAGES * 8 or file.bytes / len(mine) <= total / 8 + 1


@given(st.lists(st.integers(1, 10**8), max_size=60), st.integers(1, 8))
def test_tasks_take_a_share_of_what_is_left_so_the_last_ones_are_small(
    sizes: list[int], workers: int
) -> None:
    cut = [Piece("f", number, len(sizes), size) for number, size in enumerate(sizes)]
    shares = taper_response_pieces(cut, workers)
    assert list(chain.from_iterable(shares)) == cut
    left = sum(sizes)
    for share in shares:
        size = sum(piece.bytes for piece in share)
        assert len(share) == 1 or size <= left / (2 * workers)
        left -= size


def test_two_workers_get_a_quarter_of_what_is_left_each_time() -> None:
    shares = taper_response_pieces([Piece("f", number, 32, 100) for number in range(32)], 2)
    assert [len(share) for share in shares] == [8, 6, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1]


def test_a_file_with_slow_pages_is_shared_by_all_tasks(
    work: Workspace, killing: Callable[[dict[str, int]], Killed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.parse.step.stored_responses.MIN_PAGES", 2)
    killing({})
    shares: list[Any] = []

    def counting(job: Job, share: Share) -> Any:
        shares.append(share)
        return parse_task.parse_share(job, share)

    monkeypatch.setattr(step, "parse_share", counting)
    moved = Fetched(HOME + "moved", outcome="redirect", redirect_url=HOME + "to")
    store_round(work, [*(Fetched(f"{HOME}{n}", b"<p>%d" % n) for n in range(15)), moved])
    assert parse.run(work).counts == {"documents": 15, "links": 1, "parsed": 15}
    assert len(shares) == 15 // 2


def test_tasks_share_the_budget_of_a_domain_by_its_bytes() -> None:
    pages = [row(n, "a.example", size=PAGE_BYTES) for n in range(3)]
    budget = Budget(60, pages, {"a.example": 6 * 2 * PAGE_BYTES})
    for _ in range(3):
        assert budget.allows(pages[0])
        budget.spend(pages[0], 10.5)
    assert not budget.allows(pages[1])
    assert Budget(0, pages, {}).allows(pages[0])


def test_tasks_that_run_at_once_share_what_is_left_of_a_budget_if_its_total_is_not_known() -> None:
    pages = [row(1, "a.example"), row(2, "b.a.example"), row(3, "c.example")]
    budget = Budget(60, pages, {}, {"a.example": 40.0}, tasks=2)
    budget.spend(pages[0], 9.0)
    assert budget.allows(pages[1])
    budget.spend(pages[1], 1.5)
    assert not budget.allows(pages[0])
    assert budget.allows(pages[2])
    assert budget.spent().to_pylist() == [{"domain": "a.example", "cpu_s": 10.5}]
    assert not Budget(60, pages, {}, {"a.example": 70.0}).allows(pages[0])
    unlimited = Budget(0, pages, {})
    unlimited.spend(pages[0], 9.0)
    assert unlimited.spent().num_rows == 0


def test_a_domain_weighs_what_its_pages_do_in_all_files(work: Workspace) -> None:
    """Hosts of a domain share its budget, and so do pages that other rounds have left."""
    hosts = ("https://1.farm.example/", "https://2.farm.example/", HOME)
    store_round(work, *([Fetched(host, b"x" * 50)] for host in hosts))
    gone = Fetched(HOME + "gone", outcome="not_found")
    store_round(work, [Fetched(HOME, b"x" * 7), gone], round_=2)
    weights = domain_weights(tuple(work.paths("responses")), ())
    assert weights == {"farm.example": 2 * (PAGE_BYTES + 50), "example.org": 2 * PAGE_BYTES + 57}


def reset(work: Workspace, name: str, **keys: Any) -> None:
    changed = structs.replace(getattr(work.config, name), **keys)
    work.config = structs.replace(work.config, **{name: changed})
