"""The search page in a real Chromium, as a person uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.support.search_server import serving
from tests.support.small_index import crawl, put_index
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
LONG = f"http://b.example/{'a-long-step/' * 20}"
LONG_HOST = "a-name-of-a-host-that-is-wider-than-the-column.example"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    shelf: list[dict[str, Any]] = [
        {"url": f"http://a.example/apple/{n}", "title": f"Apple {n}", "text": "a red apple"}
        for n in range(25)
    ]
    shelf.append({"url": LONG, "title": f"Pear {EVIL}", "text": f"pear {EVIL}"})
    shelf += [{"url": f"http://{LONG_HOST}/{n}", "title": f"Plum {n}"} for n in range(12)]
    shelf.append({"url": "http://a.example/plum", "title": "Plum"})
    put_index(work, shelf)
    with serving(work) as client:
        yield f"{client.base_url}/"


def test_type_search_and_turn_the_page(page: Page, site: str) -> None:
    page.goto(site)
    expect(page.get_by_role("combobox", name="Search the crawl")).to_be_focused()
    page.keyboard.type("apple")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=apple*")
    assert page.locator("main").get_by_role("link", name="Apple").count() == 10
    page.get_by_role("link", name="2", exact=True).click()
    page.wait_for_url("**page=2*")
    assert page.locator("main").get_by_role("link", name="Apple").count() == 10


def test_the_count_of_a_long_name_stays_on_one_line(page: Page, site: str) -> None:
    page.goto(f"{site}search?q=plum")
    name = page.locator(".facets li", has_text=LONG_HOST)
    count = name.locator("span")
    assert count.inner_text() == "12"
    height = "count => { const text = document.createRange(); text.selectNodeContents(count); "
    height += "return text.getBoundingClientRect().height; }"
    line = "count => parseFloat(getComputedStyle(count).lineHeight)"
    assert count.evaluate(height) <= count.evaluate(line)


def test_nothing_found_says_so(page: Page, site: str) -> None:
    page.goto(f"{site}search?q=quince")
    assert "quince" in page.locator("main").inner_text()


def test_no_script_of_a_crawled_page_runs(page: Page, site: str) -> None:
    page.goto(f"{site}search?q=pear")
    assert "<img src=x" in page.locator("main").inner_text()
    assert page.locator("main img, main script").count() == 0
    assert page.title() != "owned"


def test_without_javascript_and_in_the_dark(browser: Browser, site: str) -> None:
    context = browser.new_context(java_script_enabled=False, color_scheme="dark")
    page = context.new_page()
    page.goto(f"{site}search?q=apple")
    assert page.locator("main").get_by_role("link", name="Apple").count() == 10
    context.close()


def test_on_a_phone_nothing_is_wider_than_the_screen(page: Page, site: str) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    for path in ("", "search?q=apple", "search?q=pear", "status"):
        page.goto(site + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_on_paper_there_are_results_and_their_addresses_alone(page: Page, site: str) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(f"{site}search?q=apple")
    page.emulate_media(media="print")
    assert not page.locator("header, footer, aside, nav").filter(visible=True).count()
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    shown = "link => getComputedStyle(link, '::after').content"
    address = page.locator(".hits h2 a").first.evaluate(shown)
    assert address.startswith('"http://a.example/apple/')


def test_the_status_page_tells_the_steps(page: Page, site: str) -> None:
    page.goto(f"{site}status")
    assert page.get_by_role("heading", name="Crawl status").is_visible()


def test_the_status_page_updates_itself(page: Page, tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    due = {"from_ms": 0, "interval_s": 60, "fetched": False, "pages": 4_321}
    with serving(work) as client:
        page.goto(f"{client.base_url}/status")
        expect(page.get_by_text("4,321")).to_have_count(0)
        put_rows(work, "due_times", [due])
        expect(page.locator(".figures").get_by_text("4,321").first).to_be_visible()
