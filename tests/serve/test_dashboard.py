from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.serve.drawing import charts
from gossamer.state.heartbeats import Heartbeat
from tests.support.search_server import EVIL, dom, one, serving
from tests.support.small_index import crawl
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.server


@given(st.lists(st.tuples(st.text(), st.floats(0, 1e9), st.floats(0, 1e9)), max_size=50))
def test_bars_are_svg_within_their_frame(values: list[tuple[str, float, float]]) -> None:
    values = [
        ("".join(filter(str.isprintable, label)), whole, min(part, whole))
        for label, whole, part in values
    ]
    root = ET.fromstring(charts.bar_chart(values, EVIL))  # noqa: S314  # our own
    assert root.attrib["aria-label"] == EVIL
    drawn = list(root)
    assert len(drawn) == 2 * len(values)
    for bar in drawn:
        x, y, width, height = (float(bar.attrib[name]) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + width <= charts.WIDTH + 0.1
        assert -0.1 <= y <= y + height <= charts.HEIGHT + 0.2


def test_a_curve_needs_two_points() -> None:
    assert charts.curve_chart([], "x") == charts.curve_chart([(1, 1)], "x") == ""
    root = ET.fromstring(charts.curve_chart([(0, 0), (10, 5), (20, 10)], "x"))  # noqa: S314  # our own
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
    for _ in range(2):  # rows that newer ones replace are not further hosts
        put_rows(work, "hosts", [{"host": "bad.example", "failures": 3, "outcome": "timeout"}])
    counts = {"from_ms": 0, "interval_s": 60, "fetched": False, "pages": 12_345}
    put_rows(work, "due_times", [counts])
    Heartbeat(work.root, "fetch", 2, "0", 100).beat(25)
    with serving(work) as client:
        page = dom(client, "/status")
        assert len(page.css(".chart rect")) == 2
        assert "25.0 %" in one(page, "#outcomes + div .bad").text()
        assert "timeout" in one(page, "#errors + div .bad").text()
        figures = one(page, ".figures").text(separator=" ").split()
        assert figures[figures.index("hosts") + 1] == "3"
        assert "75" in figures  # waiting
        assert "12,345" in figures  # due
        busiest = one(page, "#busiest + div")
        assert "<b>.example" in busiest.text()
        assert "7" in busiest.text(separator=" ").split()
        assert len(busiest.css("tbody tr")) == 3
        assert "1 of 3" in one(page, "#failing").text()
        assert [row.css("td")[0].text() for row in page.css("#failing + div tbody tr")] == [
            "bad.example"
        ]
