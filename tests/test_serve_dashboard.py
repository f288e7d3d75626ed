from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from gossamer.monitor import Heartbeat
from gossamer.serve import charts, dashboard
from gossamer.serve.dashboard import History
from shards import crawl
from stored_web import put_rows
from test_serve_web import EVIL, dom, one, serving

if TYPE_CHECKING:
    from pathlib import Path


def task(done: int, total: int = 100, **more: Any) -> dict[str, Any]:
    plain = {"step": "fetch", "round": 1, "started_ms": 0, "at_ms": 10_000}
    return {**plain, "done": done, "total": total, **more}


def test_what_is_being_fetched() -> None:
    tasks = [task(20), task(30, 50), task(9, 9), task(5, step="parse"), task(7, at_ms=0)]
    assert dashboard.now(tasks, 10_500) == dashboard.Now(2, 100, 5.0)
    assert dashboard.now(tasks, 60_000) == dashboard.Now(0, 0, 0.0)


def test_rates_are_those_between_two_looks_of_one_round() -> None:
    history = History()
    for at_ms, round_, done in [(0, 1, 10), (2_000, 1, 50), (2_500, 1, 60), (4_000, 2, 3),
                                (5_000, 2, 33)]:  # fmt: skip
        history.note([task(done, round=round_), task(99, step="parse")], at_ms)
    assert history.rates() == [(2_000, 20.0), (5_000, 30.0)]


def test_what_is_remembered_is_bounded() -> None:
    history = History()
    for second in range(3 * dashboard.SAMPLES):
        history.note([], second * 1_000)
    assert len(history.rates()) == dashboard.SAMPLES - 1


def test_outcomes_with_their_share() -> None:
    told = dashboard.outcomes({"ok": 6, "timeout": 2, "postponed_failing": 5, "robots": 0})
    assert [(one.name, one.share, one.failed) for one in told] == [
        ("ok", 0.75, False),
        ("timeout", 0.25, True),
    ]


@given(st.lists(st.tuples(st.text(), st.floats(0, 1e9), st.floats(0, 1e9)), max_size=50))
def test_bars_are_svg_within_their_frame(values: list[tuple[str, float, float]]) -> None:
    values = [
        ("".join(filter(str.isprintable, label)), whole, min(part, whole))
        for label, whole, part in values
    ]
    root = ET.fromstring(charts.bars(values, EVIL))  # noqa: S314  # our own
    assert root.attrib["aria-label"] == EVIL
    drawn = list(root)
    assert len(drawn) == 2 * len(values)
    for bar in drawn:
        x, y, width, height = (float(bar.attrib[name]) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + width <= charts.WIDTH + 0.1
        assert -0.1 <= y <= y + height <= charts.HEIGHT + 0.2


def test_a_curve_needs_two_points() -> None:
    assert charts.curve([], "x") == charts.curve([(1, 1)], "x") == ""
    root = ET.fromstring(charts.curve([(0, 0), (10, 5), (20, 10)], "x"))  # noqa: S314  # our own
    assert root[1].attrib["d"] == "M0.0,120.0 300.0,60.0 600.0,0.0"


def test_the_page_shows_speed_rounds_outcomes_and_hosts(tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    with work.step("fetch", 1) as draft:
        draft.counts.update(ok=30, timeout=10)
    for requests in (5, 7):
        put_rows(
            work,
            "hosts",
            [
                {"host": "<b>.example", "requests": requests, "outcome": "ok", "failures": 0},
                {"host": "quiet.example", "requests": 1, "outcome": "ok", "failures": 0},
            ],
        )
    Heartbeat(work.root, "fetch", 2, "0", 100).beat(25)
    with serving(work) as client:
        page = dom(client, "/status")
        assert len(page.css(".chart rect")) == 2
        assert "25.0 %" in one(page, ".bad").text()
        tables = [table.text(separator=" ") for table in page.css("table")]
        assert any("<b>.example" in text and "7" in text.split() for text in tables)
        figures = one(page, ".figures").text(separator=" ").split()
        assert "75" in figures  # waiting
        hosts = next(table for table in page.css("table") if "quiet.example" in table.text())
        assert len(hosts.css("tbody tr")) == 2
