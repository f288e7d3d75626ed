"""The neighbourhood of a page in a real Chromium: drawn, clicked, on a phone and in the dark."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal

import pytest

from gossamer.links import graph
from tests.support.crawled_links import crawl
from tests.support.search_server import serving
from tests.support.stored_web import put_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.browser

HOME = "http://a.org/"
HALO = 6
"""Pixels by which the outlines of labels may overlap."""
LONG = f"{HOME}{'a-long-step/' * 30}"
PAGES = [f"{HOME}page/{n}" for n in range(1_000)]


@pytest.fixture(scope="module")
def site(new_work: Callable[[], Workspace]) -> Iterator[str]:
    work = new_work()
    links = [(HOME, "http://b.org/"), ("http://b.org/", LONG), (LONG, HOME)]
    links += [(page, "http://hub.org/") for page in PAGES] + [("http://hub.org/", LONG)]
    crawl(work, links)
    put_pages(work, {url: "fetched" for link in links for url in link})
    graph.run(work)
    with serving(work) as client:
        yield f"{client.base_url}/page?url="


def test_a_person_clicks_through_the_neighbourhoods(page: Page, site: str) -> None:
    page.goto(site + HOME)
    page.locator("svg.columns a", has_text="b.org").click()
    page.wait_for_url("**url=http%3A%2F%2Fb.org%2F")
    page.locator("svg.columns a", has_text="a.org/a-long-step").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**a-long-step**")
    page.locator("svg.columns a", has_text="hub.org").click()
    page.wait_for_url("**hub.org**")
    assert page.locator("svg.columns a").count() == 32
    assert page.locator("svg.columns").get_by_text("and 969 more").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_drawing_is_a_line_that_fits(
    browser: Browser, site: str, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(
        viewport={"width": 360, "height": 640}, color_scheme=scheme, java_script_enabled=False
    )
    page = context.new_page()
    for url in (HOME, LONG, "http://hub.org/"):
        page.goto(site + url)
        assert not page.locator("svg.columns").is_visible()
        assert page.locator("svg.line").is_visible()
    page.locator("svg.line a", has_text="/page/").first.click()
    page.wait_for_url("**page%2F**")
    context.close()


def test_no_label_lies_outside_of_the_drawing_or_on_another(page: Page, site: str) -> None:
    for width in (360, 1_200):
        page.set_viewport_size({"width": width, "height": 800})
        for url in (HOME, LONG, "http://hub.org/", "http://b.org/"):
            page.goto(site + url)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            drawing = page.locator("svg.map").filter(visible=True)
            frame = drawing.bounding_box()
            assert frame
            boxes = [text.bounding_box() for text in drawing.locator("text:not(:empty)").all()]
            assert len(boxes) > 1
            for box in boxes:
                assert box
                assert frame["x"] - 1 <= box["x"]
                assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
            overlapping = [
                (one, other)
                for one, other in combinations(filter(None, boxes), 2)
                if min(one["x"] + one["width"], other["x"] + other["width"])
                > max(one["x"], other["x"]) + HALO
                and min(one["y"] + one["height"], other["y"] + other["height"])
                > max(one["y"], other["y"]) + HALO
            ]
            assert not overlapping
