"""Cash flows along links, none of it is lost, and important pages are fetched first."""

from __future__ import annotations

from collections import Counter
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Web
from gossamer.flow.rounds import ROUND
from gossamer.links.current_links import VOTES
from gossamer.schedule import inject, update
from gossamer.schedule.order import opic
from gossamer.state import lsm
from gossamer.storage import checksums
from gossamer.tables import PAGES
from tests.support.crawl_settings import loopback_settings
from tests.support.rows import by_url, frame, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

DAY_MS = 86_400_000
DAMPING = 0.85
SEEDS = ("http://a.example/", "http://b.example/")
Arc = tuple[str, str, str, bool]
"""Source, target, relation, nofollow."""


def page(name: str) -> str:
    return f"http://{name}.example/"


def cash(work: Workspace) -> dict[str, int]:
    """The cash of each page, with its part of what the virtual page gave."""
    given = opic.virtual_page(work).given
    rows = by_url(lsm.current(work, PAGES))
    return {url: (row["cash"] or 0) + given for url, row in rows.items()}


def check_nothing_is_lost(work: Workspace, seeds: int) -> None:
    virtual, held = opic.virtual_page(work), cash(work)
    assert virtual.brought == seeds * opic.UNIT
    assert sum(held.values()) + virtual.kept == virtual.brought
    assert min(held.values()) >= 0
    assert virtual.pages == len(held)


def run_round(
    work: Workspace,
    outcomes: Mapping[str, str],
    arcs: Iterable[Arc] = (),
    left: Iterable[str] = (),
) -> None:
    """Commit what a fetch and its parsing leave; then update. `left`: pages not parsed yet."""
    round_ = work.round + 1
    at_ms = work.now_ms()
    known = by_url(lsm.current(work, PAGES))
    answers = [
        {"url": url, "outcome": outcome, "round": round_, "fetched_ms": at_ms, "depth": 1}
        | {"http_status": 410 if outcome == "not_found" else None}  # else its host may be away
        for url, outcome in outcomes.items()
    ]
    links = [
        {"src": src, "dst": dst, "relation": relation, "nofollow": nofollow, "round": round_}
        | {"first": not known[src]["fetches"], "depth": 1}
        for src, dst, relation, nofollow in arcs
    ]
    put(work, "responses", answers, round_)
    put(work, "links", links, round_)
    put(work, "unparsed", [{"url": url, "round": round_} for url in left], round_)
    with work.step("parse", round_) as draft:
        draft.replace["unparsed"] = work.store.manifest.layers("unparsed", round_)
    update.run(work)


class Ledger:
    """The definition, one page at a time."""

    def __init__(self, seeds: Iterable[str]) -> None:
        self.cash = dict.fromkeys(seeds, opic.UNIT)
        self.kept = 0
        self.dead: set[str] = set()
        self.links: dict[str, list[str]] = {}

    def play(self, outcomes: Mapping[str, str], arcs: Sequence[Arc]) -> None:
        votes = [(src, dst) for src, dst, kind, nofollow in arcs if kind in VOTES and not nofollow]
        for url, outcome in outcomes.items():
            if outcome in ("ok", "redirect"):
                self.links[url] = [dst for src, dst in votes if src == url]
        paid = {url: self.cash[url] for url, how in outcomes.items() if how in opic.LINKING}
        got: Counter[str] = Counter()
        for url, amount in paid.items():
            targets = self.links.get(url, [])
            for dst in targets:
                got[dst] += floor(amount * DAMPING / len(targets))
        for _, dst, _, nofollow in arcs:
            if not nofollow:
                self.cash.setdefault(dst, 0)
        self.dead -= paid.keys()
        self.dead |= {url for url, how in outcomes.items() if how in ("not_found", "robots")}
        collected = sum(paid.values()) - sum(got.values())
        for url in {*paid, *got, *outcomes}:
            self.cash[url] += got[url] - paid.get(url, 0)
            if url in self.dead:
                collected += self.cash[url]
                self.cash[url] = 0
        each, self.kept = divmod(self.kept + collected, len(self.cash))
        for url in self.cash:
            self.cash[url] += each


NAMES = [page(letter) for letter in "abcdefg"]
ARCS = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.sampled_from(["a", "a", "canonical", "img"]),
        st.sampled_from([False, False, False, True]),
    ),
    max_size=12,
)
FATES = ("ok", "ok", "unchanged", "not_found", "robots", "timeout", "postponed")
ROUNDS = st.lists(
    st.tuples(ARCS, st.lists(st.sampled_from(FATES), min_size=7, max_size=7)), max_size=4
)


@pytest.mark.slow
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(ROUNDS)
def test_cash_flows_as_defined_and_none_is_lost(
    new_work: Callable[[], Workspace], drawn: list[tuple[list[Arc], list[str]]]
) -> None:
    """Pages are fetched in any order, again and again, and answer in any way."""
    work, ledger = new_work(), Ledger(SEEDS)
    inject.run(work, SEEDS)
    for arcs, fates in drawn:
        known = by_url(lsm.current(work, PAGES))
        outcomes = {
            url: fate
            for url, fate in zip(NAMES, fates, strict=True)
            if url in known and known[url]["status"] != "gone"
        }
        speaking = {url for url, fate in outcomes.items() if fate == "ok"}
        unique = {(src, dst): (src, dst, kind, no) for src, dst, kind, no in arcs if src != dst}
        said = [arc for arc in unique.values() if arc[0] in speaking]
        run_round(work, outcomes, said)
        ledger.play(outcomes, said)
        assert (cash(work), opic.virtual_page(work).kept) == (ledger.cash, ledger.kept)
        check_nothing_is_lost(work, len(SEEDS))


ANSWERS = {
    "voter": "ok",
    "moved": "redirect",
    "slow": "timeout",
    "put-off": "postponed",
    "late": "ok",
}
"""What pages answer. The links of `late` are known a round later."""


class Played(NamedTuple):
    """The cash of pages by name after each of two rounds, and by the definition."""

    first: dict[str, int]
    second: dict[str, int]
    defined: tuple[dict[str, int], dict[str, int]]
    history: int
    """Of the page that divides its cash."""


@pytest.fixture(scope="module")
def played(new_work: Callable[[], Workspace]) -> Played:
    """Pages that answer in all ways; then `voter` is unchanged."""
    work, ledger = new_work(), Ledger(map(page, ANSWERS))
    inject.run(work, map(page, ANSWERS))
    arcs = [
        *((page("voter"), page(name), "a", False) for name in "bc"),
        (page("voter"), page("d"), "a", True),
        (page("voter"), page("e"), "entry", False),
        (page("moved"), page("target"), "redirect", False),
    ]
    outcomes = {page(name): outcome for name, outcome in ANSWERS.items()}
    run_round(work, outcomes, arcs, [page("late")])
    ledger.play(outcomes | {page("late"): "postponed"}, arcs)
    history = by_url(lsm.current(work, PAGES))[page("voter")]["history"]
    first, defined = cash(work), dict(ledger.cash)
    check_nothing_is_lost(work, len(ANSWERS))
    before, round_ = work.round, work.round + 1
    answer = {"url": page("voter"), "outcome": "unchanged", "fetched_ms": work.now_ms()}
    put(work, "responses", [answer | {"round": round_}], round_)
    put(work, "links", [{"src": page("late"), "dst": page("found"), "round": before}], round_)
    with work.step("parse", round_) as draft:
        draft.replace["unparsed"] = ()
    update.run(work)
    late = [(page("late"), page("found"), "a", False)]
    ledger.play({page("voter"): "unchanged", page("late"): "ok"}, late)
    check_nothing_is_lost(work, len(ANSWERS))
    by_name = [
        {url.split("/")[2].partition(".")[0]: amount for url, amount in each.items()}
        for each in (first, cash(work), defined, ledger.cash)
    ]
    return Played(by_name[0], by_name[1], (by_name[2], by_name[3]), history)


def test_cash_after_answers_of_all_kinds_is_as_defined(played: Played) -> None:
    assert (played.first, played.second) == played.defined


def test_a_page_divides_its_cash_among_its_votes(played: Played) -> None:
    half, held = floor(opic.UNIT * DAMPING / 2), played.first
    given = held["voter"]
    assert given < opic.UNIT / 10
    assert (held["b"], held["c"], held["e"]) == (half + given, half + given, given)
    assert "d" not in held
    assert played.history == opic.UNIT


def test_a_redirect_passes_its_cash_on(played: Played) -> None:
    assert played.first["target"] == floor(DAMPING * opic.UNIT) + played.first["moved"]


@pytest.mark.parametrize("name", ["slow", "put-off"])
def test_a_page_that_will_be_tried_again_keeps_its_cash(played: Played, name: str) -> None:
    given = played.first["voter"]
    assert played.first[name] == opic.UNIT + given


def test_a_page_that_was_left_unparsed_pays_when_its_links_are_known(played: Played) -> None:
    assert played.first["late"] == opic.UNIT + played.first["voter"]
    assert played.second["found"] > DAMPING * opic.UNIT
    assert played.second["late"] < opic.UNIT / 10


def test_an_unchanged_page_pays_by_its_old_links(played: Played) -> None:
    paid = played.second["b"] - played.first["b"]
    assert paid > played.first["voter"] * DAMPING / 2 - 1
    assert paid - (played.second["e"] - played.first["e"]) == floor(
        played.first["voter"] * DAMPING / 2
    )


@pytest.mark.slow
def test_where_all_pages_are_fetched_in_each_round_cash_is_pagerank_s_power_iteration(
    work: Workspace,
) -> None:
    """`f` and `g` are a farm that links to itself only: it cannot keep its cash for itself."""
    graph = {"a": "bf", "b": "a", "c": "", "f": "g", "g": "f"}
    urls, outcomes = list(map(page, graph)), {page(name): "ok" for name in graph}
    arcs = [(page(src), page(dst), "a", False) for src in graph for dst in graph[src]]
    inject.run(work, urls)
    ranks = np.full(len(urls), 1 / len(urls))
    matrix = np.zeros((len(urls), len(urls)))
    for src, dst, *_ in arcs:
        matrix[urls.index(dst), urls.index(src)] = DAMPING / sum(arc[0] == src for arc in arcs)
    for _ in range(3):
        run_round(work, outcomes, arcs)
        moved = matrix @ ranks
        ranks = moved + (1 - moved.sum()) / len(urls)
    held = cash(work)
    assert [held[url] / (len(urls) * opic.UNIT) for url in urls] == pytest.approx(ranks, rel=1e-9)


def test_cash_for_pages_beyond_a_growth_limit_goes_to_the_virtual_page(work: Workspace) -> None:
    config = msgspec.structs.replace(work.config.update, new_urls_per_domain=1)
    work.config = msgspec.structs.replace(work.config, update=config)
    inject.run(work, [page("a")])
    arcs = [(page("a"), f"http://big.example/{n}", "a", False) for n in range(40)]
    run_round(work, {page("a"): "ok"}, arcs)
    assert len(cash(work)) == 2
    check_nothing_is_lost(work, 1)


def test_a_page_of_a_thousand_links_spreads_its_cash(work: Workspace) -> None:
    inject.run(work, [page("a")])
    arcs = [(page("a"), f"http://h{n}.example/", "a", False) for n in range(1_000)]
    run_round(work, {page("a"): "ok"}, arcs)
    held = cash(work)
    assert len(set(held.values()) - {held[page("a")]}) == 1
    check_nothing_is_lost(work, 1)


def test_a_known_page_that_becomes_a_seed_brings_cash_once(work: Workspace) -> None:
    inject.run(work, [page("a")])
    run_round(work, {page("a"): "ok"}, [(page("a"), page("b"), "a", False)])
    inject.run(work, [page("b"), page("c")])
    inject.run(work, [page("a"), page("b")])
    check_nothing_is_lost(work, 3)


def test_more_seeds_than_the_cash_lasts_for_bring_what_is_left() -> None:
    virtual = opic.VirtualPage()
    for new in (10**6, 10**7, 10**9, 5):
        assert virtual.unit(new) >= 0
        virtual = virtual.add_seeds(new, new)
        assert virtual.brought <= opic.MOST
    assert virtual.brought > opic.MOST - 10**9


def test_the_virtual_page_spreads_what_it_collects_evenly_and_keeps_the_rest() -> None:
    virtual = opic.VirtualPage()
    assert virtual == (0, 0, 0, 0)
    assert virtual.unit(0) == virtual.unit(1) == opic.UNIT
    virtual = virtual.add_seeds(new_pages=3, new_seeds=0)
    assert virtual == (3, 0, 0, 0)
    assert virtual.add_seeds(new_pages=4, new_seeds=2) == (7, 2 * opic.UNIT, 0, 0)
    assert virtual.collect(new_pages=1, collected=11) == (4, 0, 2, 3)
    assert virtual.collect(1, 11).collect(0, 6) == (4, 0, 4, 1)
    assert opic.VirtualPage().collect(new_pages=0, collected=11) == (0, 0, 0, 11)


@pytest.mark.parametrize(
    ("history", "cash", "received"),
    [(None, None, 5), (3, None, 8), (3, -5, 3), (0, -4, 1), (0, -5, 1), (None, -9, 1), (7, 2, 14)],
)
def test_importance_is_what_a_page_received(
    work: Workspace, history: int | None, cash: int | None, received: int
) -> None:
    pages = frame(work, "pages", [{"url": page("a"), "history": history, "cash": cash}])
    ((found,),) = pages.select(opic.importance(given=5)).collect()
    assert found == received / opic.UNIT


@pytest.mark.folder
def test_a_crawl_of_an_older_version_begins_with_cash_spread_evenly(work: Workspace) -> None:
    rows = [{"url": page(name), "source": "link"} for name in "bcd"]
    put(work, "pages", [{"url": page("a"), "source": "seed"}, *rows], round_=0)
    (layer,) = work.store.manifest.layers("pages")
    (file,), (path,) = layer.files, work.paths("pages")
    table = pq.read_table(path).drop_columns(["cash", "history"])
    pq.write_table(table.append_column("score", pa.array([1.0] * len(table))), path)
    old = structs.replace(file, bytes=Path(path).stat().st_size, xxh3=checksums.checksum_file(path))
    with work.step("inject", 0) as draft:
        draft.replace["pages"] = (structs.replace(layer, files=(old,)),)
    run_round(work, {page("a"): "timeout"})
    assert cash(work) == dict.fromkeys(map(page, "abcd"), opic.UNIT // 4)
    check_nothing_is_lost(work, 1)


@pytest.mark.slow
def test_a_history_is_of_the_window_however_often_a_page_is_fetched(work: Workspace) -> None:
    """A page that gets the same cash every 30 days: four times of it, not of all visits."""
    inject.run(work, [page("a")])
    start_ms, visits = work.now_ms(), 12
    for visit in range(visits):
        work.clock_ms = start_ms + visit * 30 * DAY_MS
        run_round(work, {page("a"): "ok"})
    history = by_url(lsm.current(work, PAGES))[page("a")]["history"]
    assert opic.HISTORY_S == 4 * 30 * 86_400
    assert history == pytest.approx(4 * opic.UNIT, rel=0.05)
    work.clock_ms = start_ms + (visits - 1 + 8) * 30 * DAY_MS
    run_round(work, {page("a"): "ok"})
    history = by_url(lsm.current(work, PAGES))[page("a")]["history"]
    assert history == opic.UNIT // 2  # what came in 240 days, as if evenly, within 120


def site(folder: Path) -> Path:
    """Of thirty pages on the first one, ten link to `zz-important`, and each to one of its own."""
    folder.mkdir()
    pages = {"index": [*(f"hub{n}" for n in range(10)), *(f"plain{n:02}" for n in range(20))]}
    pages |= {f"hub{n}": ["zz-important", f"aa-own{n}"] for n in range(10)}
    pages |= {name: [] for names in list(pages.values()) for name in names if name not in pages}
    for name, links in pages.items():
        anchors = "".join(f'<p><a href="{link}.html">{link}</a>' for link in links)
        (folder / f"{name}.html").write_text(f"<title>{name}</title>{anchors}")
    return folder


@pytest.mark.parametrize(
    ("scoring", "rounds"),
    [
        pytest.param("opic", 3, marks=pytest.mark.slow),
        pytest.param("breadth", 6, marks=pytest.mark.long),
    ],
)
def test_important_pages_are_fetched_before_others(
    engine: Engine, tmp_path: Path, scoring: str, rounds: int
) -> None:
    """`zz-important` is last by name, and farther away than the twenty plain pages."""
    with FakeWeb(Web(hosts=0, docs={"a.test": site(tmp_path / "site")})) as web:
        more = f'generate.pages = 10\nupdate.scoring = "{scoring}"'
        crawl = Crawl.create(str(tmp_path / "crawl"), loopback_settings(web.address, more), engine)
        crawl.inject(["http://a.test/index.html"])
        for step in min(rounds, 5) * tuple(ROUND.values()):
            step(crawl.work)
        answers = crawl.work.read("responses").collect()
    fetched = {row["url"]: row["round"] for row in answers}
    assert fetched.get("http://a.test/zz-important.html", 6) == rounds
    check_nothing_is_lost(crawl.work, 1)
