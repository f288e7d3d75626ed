"""What becomes of the row of a page, by what a round learned: see schedule.new_page_rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from gossamer.rules.url_rules.aliases import COMPARED, KNOWN
from gossamer.schedule.new_page_rows import PageNews, new_page_rows
from gossamer.schedule.order import opic
from gossamer.tables.fetching import RHYTHM_S
from gossamer.tables.outcomes import DAY_S
from tests.support.computed_columns import rows_as_frame
from tests.support.rows import NOW_MS, by_url, frame

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.folder, pytest.mark.embedded]

Row = dict[str, Any]
DAY_MS = DAY_S * 1000
ASKED_MS = NOW_MS - DAY_MS
GIVEN = 10
FOUND = {
    "found_depth": pa.int32(),
    "found_hops": pa.int32(),
    "found_inlinks": pa.int64(),
    "found_source": pa.string(),
    "found_dated_ms": pa.int64(),
    "found_spelling": pa.string(),
    "found_announced": pa.bool_(),
}
FLOWS = {"paid": pa.int64(), "got": pa.int64()}
ALIASES = {"becomes": pa.string(), "due_ms": pa.int64()}
RULINGS = {"ruling": pa.string()}
AWAY = {"away_ms": pa.int64()}
JUDGED = {"text_hash": pa.int64(), "kind": pa.string(), "fit": pa.bool_(), "score": pa.float64()}
LINK = {"found_depth": 3, "found_hops": 0, "found_inlinks": 1, "found_source": "link"}
STORED = {
    "status": "fetched",
    "outcome": "ok",
    "fetches": 1,
    "fetched_ms": ASKED_MS - 30 * DAY_MS,
    "stored_ms": ASKED_MS - 30 * DAY_MS,
    "digest": "old",
    "main_text": 1,
    "kind": "page",
}


def rows_of(work: Workspace, **learned: dict[str, Row]) -> dict[str, Row]:
    """The new rows. What is learned is by name of a field of `PageNews`, then by URL."""

    def keyed(types: dict[str, pa.DataType], rows: dict[str, Row]) -> Any:
        named = [{"url": url, **row} for url, row in rows.items()]
        return rows_as_frame(work.engine, {"url": pa.string(), **types}, named)

    news = PageNews.nothing(work, GIVEN)
    made: dict[str, Any] = {}
    for name, types in (
        ("found", FOUND),
        ("flows", FLOWS),
        ("alias_changes", ALIASES),
        ("rulings", RULINGS),
        ("away", AWAY),
        ("judged", JUDGED),
    ):
        if name in learned:
            made[name] = keyed(types, learned[name])
    for name, dataset in (("before", "pages"), ("answers", "responses")):
        if name in learned:
            plain = {"fetched_ms": ASKED_MS} if dataset == "responses" else {}
            rows = [{"url": url} | plain | row for url, row in learned[name].items()]
            made[name] = frame(work, dataset, rows)
    return by_url(new_page_rows(work, news._replace(**made)))


def column(rows: dict[str, Row], name: str) -> dict[str, Any]:
    return {url: row[name] for url, row in rows.items()}


def test_a_page_is_known_if_it_was_or_is_found_or_was_asked(work: Workspace) -> None:
    """Others may get cash, whom a limit has dropped."""
    rows = rows_of(
        work,
        before={"http://a/known": {}},
        found={"http://a/found": LINK},
        answers={"http://a/asked": {"outcome": "ok"}},
        flows={f"http://a/{name}": {"got": 7} for name in ("known", "found", "asked", "dropped")},
    )
    assert column(rows, "new") == {
        "http://a/known": False,
        "http://a/found": True,
        "http://a/asked": True,
    }
    assert column(rows, "source") == {
        "http://a/known": "link",
        "http://a/found": "link",
        "http://a/asked": None,
    }


def test_links_add_up_and_the_shortest_path_counts(work: Workspace) -> None:
    link = LINK | {"found_inlinks": 2, "found_hops": 1}
    before: dict[str, Row] = {
        "http://a/near": {"depth": 1, "hops": 0, "inlinks": 5, "found_ms": 7},
        "http://a/far": {"depth": 9, "hops": 4, "inlinks": None, "source": "seed"},
        "http://a/alone": {"depth": 2, "hops": 3, "inlinks": 5},
    }
    found = dict.fromkeys(("http://a/near", "http://a/far", "http://a/new"), link)
    rows = rows_of(work, before=before, found=found, flows={"http://a/alone": {"got": 1}})
    names = ("depth", "hops", "inlinks", "found_ms", "source", "host")
    assert {url: tuple(row[name] for name in names) for url, row in rows.items()} == {
        "http://a/near": (1, 0, 7, 7, "link", "a.example"),
        "http://a/far": (3, 1, 2, 0, "seed", "a.example"),
        "http://a/new": (3, 1, 2, NOW_MS, "link", "a"),
        "http://a/alone": (2, 3, 5, 0, "link", "a.example"),
    }


OUTCOMES = {
    "ok": ("fetched", "ok", 2, 0, ASKED_MS, ASKED_MS),
    "unchanged": ("fetched", "unchanged", 2, 0, ASKED_MS, STORED["stored_ms"]),
    "redirect": ("redirected", "redirect", 1, 0, ASKED_MS, STORED["stored_ms"]),
    "robots": ("excluded", "robots", 1, 0, STORED["fetched_ms"], STORED["stored_ms"]),
    "not_found": ("gone", "not_found", 1, 1, ASKED_MS, STORED["stored_ms"]),
    "refused": ("fetched", "refused", 1, 1, ASKED_MS, STORED["stored_ms"]),
    "postponed": ("fetched", "postponed", 1, 0, STORED["fetched_ms"], STORED["stored_ms"]),
    None: ("fetched", "ok", 1, 0, STORED["fetched_ms"], STORED["stored_ms"]),
}
"""What becomes of a stored page: status, outcome, fetches, failures, and when it was asked for
and stored."""


def test_what_follows_from_each_outcome(work: Workspace) -> None:
    urls = {f"http://a/{outcome}": outcome for outcome in OUTCOMES}
    answers = {url: {"outcome": outcome} for url, outcome in urls.items() if outcome}
    found = dict.fromkeys(urls, LINK)
    rows = rows_of(work, before=dict.fromkeys(urls, STORED), answers=answers, found=found)
    names = ("status", "outcome", "fetches", "failures", "fetched_ms", "stored_ms")
    assert {urls[url]: tuple(row[name] for name in names) for url, row in rows.items()} == OUTCOMES
    asked = {urls[url]: row["asked"] for url, row in rows.items()}
    assert asked == {each: each not in {"postponed", None} for each in OUTCOMES}


def test_a_page_is_gone_from_the_last_try_on(work: Workspace) -> None:
    """The outcome `refused` has two."""
    failures: dict[str, Any] = {"http://a/first": 0, "http://a/old": None, "http://a/second": 1}
    before = {url: STORED | {"failures": number} for url, number in failures.items()}
    refused = {url: {"outcome": "refused"} for url in before}
    rows = rows_of(work, before=before, answers=refused)
    names = ("status", "failures", "next_fetch_ms")
    assert {url: tuple(row[name] for name in names) for url, row in rows.items()} == {
        "http://a/first": ("fetched", 1, ASKED_MS + DAY_MS),
        "http://a/old": ("fetched", 1, ASKED_MS + DAY_MS),
        "http://a/second": ("gone", 2, ASKED_MS + 2 * DAY_MS),
    }


def test_a_page_of_a_host_that_is_away_stays(work: Workspace) -> None:
    """Unless its host has answered since it failed before, or it was never stored."""
    failed_before = {"failures": 1, "fetched_ms": ASKED_MS - 2 * DAY_MS}
    before: dict[str, Row] = {
        "http://a/stays": STORED,
        "http://a/heard": STORED | failed_before,
        "http://a/silent": STORED | failed_before | {"fetched_ms": ASKED_MS - DAY_MS},
        "http://a/never": {"status": "unfetched"},
        "http://a/gone": STORED,
    }
    away = {url: {"away_ms": ASKED_MS - DAY_MS} for url in list(before)[:4]}
    answers = {url: {"outcome": "not_found"} for url in before}
    rows = rows_of(work, before=before, away=away, answers=answers)
    assert column(rows, "status") == {
        "http://a/stays": "fetched",
        "http://a/heard": "gone",
        "http://a/silent": "fetched",
        "http://a/never": "gone",
        "http://a/gone": "gone",
    }


def test_filters_may_refuse_a_page_while_it_is_fetched(work: Workspace) -> None:
    refused = STORED | {"status": "excluded", "outcome": "filtered"}
    urls = ("http://a/ok", "http://a/missing")
    answers = dict(zip(urls, ({"outcome": "ok"}, {"outcome": "not_found"}), strict=True))
    rows = rows_of(work, before=dict.fromkeys(urls, refused), answers=answers)
    assert set(column(rows, "status").values()) == {"excluded"}
    assert set(column(rows, "outcome").values()) == {"filtered"}


def test_pages_pay_and_get_cash(work: Workspace) -> None:
    before: dict[str, Row] = {
        "http://a/both": STORED | {"cash": 100, "history": 0},
        "http://a/old": {"cash": None},
        "http://a/dead": STORED | {"cash": 100},
    }
    flows = {
        "http://a/both": {"paid": 110, "got": 3},
        "http://a/old": {"got": 5},
        "http://a/new": {"got": 7},
        "http://a/dead": {"got": 9},
    }
    answers = {"http://a/dead": {"outcome": "not_found"}}
    rows = rows_of(work, before=before, flows=flows, answers=answers, found={"http://a/new": LINK})
    assert column(rows, "cash") == {
        "http://a/both": -7,
        "http://a/old": 5,
        "http://a/new": 7 - GIVEN,
        "http://a/dead": -GIVEN,
    }
    assert column(rows, "spent") == {
        "http://a/both": 107,
        "http://a/old": -5,
        "http://a/new": -7,
        "http://a/dead": 110,
    }


def test_the_history_is_as_of_the_last_request_or_payment(work: Workspace) -> None:
    history = {"history": 4_000_000, "fetched_ms": NOW_MS - 60 * DAY_MS}
    urls = [f"http://a/{name}" for name in ("asked", "pays", "robots", "found")]
    asked, pays, robots, found = urls
    rows = rows_of(
        work,
        before=dict.fromkeys(urls, STORED | history),
        answers={asked: {"outcome": "ok", "fetched_ms": NOW_MS}, robots: {"outcome": "robots"}},
        flows={pays: {"paid": 100}},
        found={found: LINK},
    )
    assert opic.HISTORY_S == 120 * DAY_S
    assert column(rows, "history") == {
        asked: 2_000_000,
        pays: 2_000_100,
        robots: 4_000_000,
        found: 4_000_000,
    }


SEEN = {"etag": "e", "last_modified": "m", "headers": None}


def validators(work: Workspace, before: dict[str, Row], answers: dict[str, Row]) -> dict[str, Any]:
    rows = rows_of(work, before=before, answers=answers)
    return {
        url.rpartition("/")[2]: (row["etag"], row["last_modified"]) for url, row in rows.items()
    }


def test_validators_are_those_of_the_newest_answer(work: Workspace) -> None:
    stored = STORED | SEEN
    found = validators(
        work,
        {f"http://a/{name}": stored for name in ("ok", "none", "same", "newer", "missing", "type")},
        {
            "http://a/ok": {"outcome": "ok", "etag": "f", "last_modified": "n"},
            "http://a/none": {"outcome": "ok"},
            "http://a/same": {"outcome": "unchanged"},
            "http://a/newer": {"outcome": "unchanged", "etag": "f"},
            "http://a/missing": {"outcome": "not_found", "etag": "f"},
            "http://a/type": {"outcome": "filtered_type", "etag": "f"},
        },
    )
    assert found == {
        "ok": ("f", "n"),
        "none": (None, None),
        "same": ("e", "m"),
        "newer": ("f", "m"),
        "missing": ("e", "m"),
        "type": (None, None),
    }


def test_a_304_that_does_not_repeat_a_restriction_is_not_relied_on(work: Workspace) -> None:
    noindex = {"headers": "x-robots-tag: noindex"}
    stored = STORED | SEEN
    unchanged = {"outcome": "unchanged"}
    found = validators(
        work,
        {
            "http://a/unsaid": stored | noindex,
            "http://a/said": stored | noindex,
            "http://a/other": stored | {"headers": "tdm-reservation: 1"},
            "http://a/plain": stored | {"headers": "link: <x>"},
        },
        {
            "http://a/unsaid": unchanged,
            "http://a/said": unchanged | noindex,
            "http://a/other": unchanged | noindex,
            "http://a/plain": unchanged,
        },
    )
    assert found == {
        "unsaid": (None, None),
        "said": ("e", "m"),
        "other": (None, None),
        "plain": ("e", "m"),
    }


def test_the_plainest_spelling_opens_a_page_that_robots_closed(work: Workspace) -> None:
    closed = {"status": "excluded", "outcome": "robots", "next_fetch_ms": 77, "fetched_ms": None}
    spelt = closed | {"spelling": "http://a/x?sid=1"}
    plain: Row = LINK | {"found_spelling": None}
    rows = rows_of(
        work,
        before={
            "http://a/opened": spelt,
            "http://a/still": spelt,
            "http://a/fetched": spelt | {"status": "fetched", "outcome": "ok"},
            "http://a/plain": closed,
            "http://a/asked": spelt,
        },
        found={
            "http://a/opened": plain,
            "http://a/still": LINK | {"found_spelling": "http://a/x?sid=1"},
            "http://a/fetched": plain,
            "http://a/plain": plain,
            "http://a/asked": plain,
        },
        answers={"http://a/asked": {"outcome": "robots"}},
    )
    found = {url: row["next_fetch_ms"] for url, row in rows.items() if url != "http://a/asked"}
    assert found == {
        "http://a/opened": 0,
        "http://a/still": 77,
        "http://a/fetched": 77,
        "http://a/plain": 77,
    }
    assert rows["http://a/asked"]["next_fetch_ms"] == ASKED_MS + 30 * DAY_MS


def test_when_a_page_is_due(work: Workspace) -> None:
    """What takes over an alias is due as the alias was, unless it has an outcome or is a seed."""
    later = {"next_fetch_ms": 77}
    due = {"becomes": KNOWN, "due_ms": 5}
    before: dict[str, Row] = {
        "http://a/over": later,
        "http://a/answered": later | STORED,
        "http://a/seed": later | {"source": "seed"},
        "http://a/again": STORED | later | {"status": "alias"},
        "http://a/compared": STORED | later,
    }
    rows = rows_of(
        work,
        before=before,
        alias_changes={
            "http://a/over": due,
            "http://a/answered": due | {"becomes": None},
            "http://a/seed": due,
            "http://a/again": {"becomes": KNOWN},
            "http://a/compared": {"becomes": COMPARED},
            "http://a/new": {"due_ms": 9},
        },
        found={"http://a/new": LINK},
    )
    assert column(rows, "next_fetch_ms") == {
        "http://a/over": 5,
        "http://a/answered": 77,
        "http://a/seed": 77,
        "http://a/again": 0,
        "http://a/compared": 0,
        "http://a/new": 9,
    }
    assert rows["http://a/again"]["status"] == "fetched"


def test_a_date_makes_a_page_due_by_its_doubt(work: Workspace) -> None:
    """At the earliest of its due time and its wait since the last visit, by its signals."""
    before = {
        "http://a/told": STORED | {"next_fetch_ms": NOW_MS + 50 * DAY_MS, "dated_ms": 1},
        "http://a/sooner": STORED | {"next_fetch_ms": 5, "dated_ms": 1},
        "http://a/untold": STORED | {"next_fetch_ms": NOW_MS + 50 * DAY_MS, "dated_ms": 1},
    }
    dated = LINK | {"found_dated_ms": NOW_MS - 5 * DAY_MS}
    found = {"http://a/told": dated, "http://a/sooner": dated, "http://a/untold": LINK}
    rows = rows_of(work, before=before, found=found)
    due = column(rows, "next_fetch_ms")
    assert due["http://a/untold"] == NOW_MS + 50 * DAY_MS
    assert due["http://a/sooner"] == 5
    assert STORED["fetched_ms"] <= due["http://a/told"] < NOW_MS + 50 * DAY_MS
    assert (due["http://a/told"] - STORED["fetched_ms"]) % 1000 == 0
    assert column(rows, "signals") == {
        "http://a/told": 1,
        "http://a/sooner": 1,
        "http://a/untold": 0,
    }


def test_what_was_announced_late_is_read_again(work: Workspace) -> None:
    announced, link = LINK | {"found_announced": True}, LINK | {"found_announced": False}
    page = STORED | SEEN
    rows = rows_of(
        work,
        before={
            "http://a/late": page,
            "http://a/unread": page | {"kind": None},
            "http://a/feed": page | {"kind": "feed"},
            "http://a/known": page | {"announced": True},
            "http://a/link": page | {"announced": False},
        },
        found={
            "http://a/late": announced,
            "http://a/unread": announced,
            "http://a/feed": announced,
            "http://a/known": announced,
            "http://a/link": link,
        },
    )
    forgotten, kept = (None, None, None, 1), ("old", "e", "m", 1)
    names = ("digest", "etag", "last_modified", "main_text")
    assert {url: tuple(row[name] for name in names) for url, row in rows.items()} == {
        "http://a/late": forgotten,
        "http://a/unread": forgotten,
        "http://a/feed": kept,
        "http://a/known": kept,
        "http://a/link": kept,
    }
    assert [*column(rows, "announced").values()] == [
        url != "http://a/link" for url in column(rows, "announced")
    ]


def test_what_generated_rules_make_of_pages(work: Workspace) -> None:
    withheld = {"status": "excluded", "outcome": "filtered", "next_fetch_ms": 77}
    sample = withheld | {"status": "unfetched"}
    stored = {"stored_ms": 1, "fetched_ms": 1}
    rows = rows_of(
        work,
        before={
            "http://a/drawn": withheld,
            "http://a/released": withheld,
            "http://a/stored": withheld | stored,
            "http://a/answered": sample,
            "http://a/busy": sample,
            "http://a/waits": sample,
            "http://a/freed": sample,
        },
        found={"http://a/new": LINK, "http://a/waits": LINK},
        rulings={
            "http://a/new": {"ruling": "withheld"},
            "http://a/drawn": {"ruling": "sampled"},
            "http://a/released": {"ruling": "released"},
            "http://a/stored": {"ruling": "released"},
            "http://a/freed": {"ruling": "released"},
        },
        answers={
            "http://a/answered": {"outcome": "ok"},
            "http://a/busy": {"outcome": "busy"},
            "http://a/freed": {"outcome": "ok"},
        },
    )
    names = ("status", "outcome", "next_fetch_ms")
    due_ms = ASKED_MS + 30 * DAY_MS
    assert {url[9:]: tuple(row[name] for name in names) for url, row in rows.items()} == {
        "new": ("excluded", "filtered", 0),
        "drawn": ("unfetched", "filtered", 0),
        "released": ("unfetched", None, 0),
        "stored": ("fetched", "ok", 0),
        "answered": ("excluded", "filtered", due_ms),
        "busy": ("unfetched", "filtered", ASKED_MS + 3_600_000),
        "waits": ("unfetched", "filtered", 77),
        "freed": ("fetched", "ok", due_ms),
    }
    assert rows["http://a/drawn"]["interval_s"] == RHYTHM_S
    assert rows["http://a/released"]["interval_s"] == 30 * DAY_S


def test_a_page_that_was_asked_for_and_is_nearer_now_brings_others_nearer(
    work: Workspace,
) -> None:
    page = STORED | {"depth": 3, "hops": 1}
    rows = rows_of(
        work,
        before={
            "http://a/same": page,
            "http://a/depth": page | {"depth": 4},
            "http://a/hops": page | {"hops": 2},
            "http://a/unasked": page | {"depth": 4, "outcome": None},
            "http://a/asked": page | {"depth": 4, "outcome": None},
        },
        found=dict.fromkeys(
            [f"http://a/{name}" for name in ("same", "depth", "hops", "unasked", "asked", "new")],
            LINK | {"found_hops": 1},
        ),
        answers={"http://a/asked": {"outcome": "ok"}, "http://a/new": {"outcome": "ok"}},
    )
    assert {url[9:]: row["nearer"] for url, row in rows.items()} == {
        "same": False,
        "depth": True,
        "hops": True,
        "unasked": False,
        "asked": True,
        "new": False,
    }


def test_a_page_has_changed_if_its_main_text_has_or_without_one_its_body(work: Workspace) -> None:
    untold = STORED | {"main_text": None}
    before = {
        "http://a/text": STORED,
        "http://a/same": STORED,
        "http://a/body": untold,
        "http://a/equal": untold,
        "http://a/unknown": untold | {"digest": None},
    }
    new = {"outcome": "ok", "digest": "new"}
    answers = dict.fromkeys(before, new) | {"http://a/equal": new | {"digest": "old"}}
    judged = {"http://a/text": {"text_hash": 2}, "http://a/same": {"text_hash": 1}}
    rows = rows_of(work, before=before, answers=answers, judged=judged)
    assert {url[9:]: row["changes"] > 0 for url, row in rows.items()} == {
        "text": True,
        "same": False,
        "body": True,
        "equal": False,
        "unknown": True,
    }
    assert column(rows, "main_text")["http://a/text"] == 2


def test_a_page_is_what_it_was_read_as_last(work: Workspace) -> None:
    before = {"http://a/feed": STORED, "http://a/page": STORED, "http://a/old": STORED}
    before["http://a/old"] = STORED | {"fetches": None, "interval_s": None}
    judged: dict[str, Row] = {
        "http://a/feed": {"kind": "feed", "fit": True},
        "http://a/page": {"kind": None},
    }
    answers = dict.fromkeys(before, {"outcome": "ok"} | {"digest": "old"})
    rows = rows_of(work, before=before, answers=answers, judged=judged)
    names = ("kind", "fit", "fetches", "interval_s")
    assert {url[9:]: tuple(row[name] for name in names) for url, row in rows.items()} == {
        "feed": ("feed", True, 2, RHYTHM_S),
        "page": ("page", None, 2, 30 * DAY_S),
        "old": ("page", None, 1, 30 * DAY_S),
    }


def test_what_a_page_pays_it_does_not_have_any_more(work: Workspace) -> None:
    before = {"http://a/pays": STORED | {"cash": 100}}
    row = rows_of(work, before=before, flows={"http://a/pays": {"paid": 60}})["http://a/pays"]
    assert (row["cash"], row["spent"]) == (40, 60)
