"""Completion while typing in a real Chromium: by keyboard, by touch, and for screen readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from gossamer import config
from tests.support.search_server import serving
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Locator, Page

pytestmark = pytest.mark.browser

SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    titles = [*["Apple"] * 4, *["Apricot"] * 3, *["Applause"] * 2, "<i>Apt</i>"]
    put_index(
        work,
        [{"url": f"http://a.example/{n}", "title": title} for n, title in enumerate(titles)],
    )
    with serving(work) as client:
        yield f"{client.base_url}/"


@pytest.fixture
def box(page: Page, site: str) -> Locator:
    """The search box of the home page after typing `ap`, with the list open."""
    found = visit(page, site)
    page.keyboard.type("ap")
    expect(found).to_have_attribute("aria-expanded", "true")
    return found


def visit(page: Page, site: str) -> Locator:
    """Open the home page; return its search box when it has the focus: earlier keys are lost."""
    page.goto(site)
    found = page.get_by_role("combobox", name="Search the crawl")
    expect(found).to_be_focused()
    return found


def options(page: Page) -> list[str]:
    return page.get_by_role("listbox").get_by_role("option").all_inner_texts()


def selected(page: Page, box: Locator) -> str | None:
    """The option that the box marks as active; the option must mark itself as selected."""
    name = box.get_attribute("aria-activedescendant")
    chosen = page.locator("[aria-selected=true]")
    if name is None:
        assert chosen.count() == 0
        return None
    assert chosen.get_attribute("id") == name
    return chosen.inner_text()


def test_the_list_opens_below_a_path_of_a_site(page: Page, tmp_path: Path) -> None:
    work = crawl(tmp_path / "crawl")
    put_index(work, [{"url": "http://a.example/", "title": "Apple"}])
    work.config = config.loads('serve.path = "/find"', "gossamer.toml")
    with serving(work) as client:
        visit(page, f"{client.base_url}/find/")
        page.keyboard.type("ap")
        expect(page.get_by_role("option")).to_have_text(["apple"])
        page.keyboard.press("Enter")
        expect(page).to_have_url(f"{client.base_url}/find/search?q=ap")


def test_the_list_opens_and_is_announced(page: Page, box: Locator) -> None:
    assert options(page) == ["apple", "apricot", "applause", "apt"]
    assert box.get_attribute("aria-controls") == page.get_by_role("listbox").get_attribute("id")
    assert box.get_attribute("aria-autocomplete") == "list"
    expect(page.get_by_role("status")).to_have_text("4 completions")
    assert selected(page, box) is None
    page.keyboard.type("plau")
    expect(page.get_by_role("status")).to_have_text("1 completion")
    assert options(page) == ["applause"]


def test_arrows_choose_and_enter_searches(page: Page, box: Locator) -> None:
    chosen = []
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
        chosen.append(selected(page, box))
        expect(box).to_have_value(chosen[-1] or "ap")
        expect(box).to_be_focused()
    assert chosen == ["apple", "apricot", "apple", None, "apt"]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=applause")
    assert page.locator(".hits li").count() == 2
    expect(page.get_by_role("listbox")).to_be_hidden()


def test_escape_brings_back_what_was_typed(page: Page, box: Locator) -> None:
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(box).to_have_value("ap")
    expect(box).to_be_focused()
    expect(box).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_role("listbox")).to_be_hidden()
    page.keyboard.press("ArrowDown")  # and the list comes back
    expect(box).to_have_attribute("aria-expanded", "true")


def test_tab_closes_it_and_goes_on(page: Page, box: Locator) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Search")).to_be_focused()
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(box).to_have_attribute("aria-expanded", "false")


def test_a_tap_searches_and_does_not_take_the_focus(browser: Browser, site: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 700}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    visit(page, site)
    page.locator("input[name=q]").tap()
    page.keyboard.type("ap")
    one = page.get_by_role("option", name="apricot")
    size = one.bounding_box()
    assert size is not None
    assert size["height"] >= 40
    page.evaluate("addEventListener('focusout', () => { document.title = 'lost'; }, true)")
    page.route("**/search?*", lambda route: route.abort())
    with page.expect_request("**/search?q=apricot"):
        one.tap()
    assert page.title() != "lost"
    context.close()


def test_typing_on_discards_completions_of_the_earlier_text(page: Page, site: str) -> None:
    page.route("**/api/v1/complete?q=a", lambda _: None)  # it waits
    visit(page, site)
    with page.expect_request("**/api/v1/complete?q=a") as overtaken:
        page.keyboard.type("a")
    with page.expect_event("requestfailed") as ended:
        page.keyboard.type("pr")
    assert ended.value == overtaken.value
    expect(page.get_by_role("option")).to_have_count(1)
    assert options(page) == ["apricot"]


def test_completions_are_requested_only_after_a_pause(browser: Browser, site: str) -> None:
    page = browser.new_page()  # all pages of a profile have one clock
    asked: list[str] = []
    page.on("request", lambda request: asked.extend([request.url] * ("/api/" in request.url)))
    page.clock.install(time=0)
    visit(page, site)
    page.clock.pause_at(60)
    page.keyboard.type("appl")
    page.clock.run_for(90)
    page.keyboard.type("a")
    page.clock.run_for(90)
    assert asked == []
    page.clock.run_for(20)
    expect(page.get_by_role("option")).to_have_text("applause")
    assert asked == [f"{site}api/v1/complete?q=appla"]
    page.close()


def test_words_of_strangers_stay_words(page: Page, site: str) -> None:
    visit(page, site)
    page.keyboard.type("<i>ap")
    expect(page.get_by_role("option")).to_have_count(1)
    assert options(page) == ["<i>apt"]
    assert page.get_by_role("option").locator("i").count() == 0


def test_without_completions_the_box_still_works(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    visit(page, site)
    page.route("**/api/v1/complete?*", lambda route: route.abort())
    with page.expect_event("requestfailed"):
        page.locator("input[name=q]").press_sequentially("ap")
    expect(page.get_by_role("listbox")).to_be_hidden()
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=ap")
    page.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious_in_the_open_list(
    page: Page, site: str, scheme: Literal["light", "dark"], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{site}search?q=pear")
    page.locator("input[name=q]").fill("ap")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("ArrowDown")
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    told = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS]
    assert told == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
