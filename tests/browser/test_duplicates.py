"""From a result to each older version of its page, in a real Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.support.search_server import EVIL, serving
from tests.support.small_index import put_index
from tests.support.standing_pages import NEW, OLD, put_standing
from tests.support.stored_web import put_pages

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.browser

HOSTILE = f"http://evil.example/{EVIL}"


def test_two_clicks_lead_from_a_result_to_an_older_version(page: Page, work: Workspace) -> None:
    many = [(f"http://b.example/{n}", "text", 1.0) for n in range(60)]
    put_standing(work, [(HOSTILE, "text", 1.0), (OLD, "version", 0.5), *many])
    put_pages(work, {NEW: "fetched", OLD: "fetched"})
    put_index(work, [{"url": NEW, "title": "Regular", "copies": 62, "versions": 1}])
    asked = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(body="an older version")

    page.route("http://a.example/**", answer)
    with serving(work) as client:
        page.goto(str(client.base_url.join("/search?q=regular")))
        page.get_by_role("link", name="Also at 62 other addresses").click()
        expect(page.locator("#copies")).to_be_in_viewport()
        expect(page.get_by_text(HOSTILE, exact=True)).to_be_visible()
        page.go_back()
        page.get_by_role("link", name="1 more version").click()
        expect(page.locator("#versions")).to_be_in_viewport()
        page.get_by_role("link", name=OLD, exact=True).click()
        expect(page.get_by_text("an older version")).to_be_visible()
    assert asked == [OLD]
