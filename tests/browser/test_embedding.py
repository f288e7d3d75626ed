"""embed.js on pages of another origin in a real Chromium."""

from __future__ import annotations

import http.server
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from gossamer import config
from tests.support.search_server import serving
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Locator, Page

pytestmark = pytest.mark.browser

EVIL = "<img src=x onerror=alert(1)><b>Quince</b>"
PAGES: list[dict[str, Any]] = [
    {
        "url": "https://a.example/",
        "title": "Apple",
        "text": "An apple is red.",
    },
    {"url": "https://a.example/2", "title": "Apple pie", "text": "A pie."},
    {"url": "https://b.example/", "title": "Apple cake", "text": "A cake."},
    {"url": "https://b.example/evil", "title": EVIL, "text": f"{EVIL} &amp; more"},
    {"url": "javascript://c.example/%0Aalert(1)", "title": "Trap", "text": "A trap."},
]
HOSTILE_STYLES = """
* { color: rgb(1, 2, 3) !important; background: rgb(9, 8, 7) !important }
* { font-size: 40px !important }
a { display: none !important } #list { display: none !important } div { all: unset !important }
"""
POLICY = (
    "default-src 'none'; script-src {server}; connect-src {server}; "
    "require-trusted-types-for 'script'"
)


@contextmanager
def foreign_site(pages: dict[str, tuple[str, str]]) -> Iterator[str]:
    """Serve pages at an origin of their own: path → (Content-Security-Policy, HTML)."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            policy, html = pages.get(self.path, ("", ""))
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            if policy:
                self.send_header("content-security-policy", policy)
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def html(script: str, head: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>A site</title>{head}'
        f"<main><h1>A site</h1>{script}<p>Text.</p></main>"
    )


class Sites(NamedTuple):
    allowed: str
    other: str


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """Two origins with the same pages, the first of which may read the API."""
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, PAGES)
    pages: dict[str, tuple[str, str]] = {}
    with foreign_site(pages) as allowed, foreign_site(pages) as other:
        work.config = config.loads(f'serve.origins = ["{allowed}"]', "gossamer.toml")
        with serving(work) as client:
            server = str(client.base_url).rstrip("/")

            def script(attributes: str = "") -> str:
                return f'<script src="{server}/embed.js" {attributes}></script>'

            pages["/"] = ("", html(script()))
            pages["/policy"] = (POLICY.format(server=server), html(script()))
            pages["/b"] = ("", html(script('data-site="b.example" data-label="Find on B"')))
            targeted = script('async data-target="#box" data-limit="1" data-one="One"')
            pages["/target"] = ("", html("<p id=box></p>", targeted))
            pages["/hostile"] = ("", html(script(), f"<style>{HOSTILE_STYLES}</style>"))
            scheme = "<style>:root { color-scheme: light dark; background: Canvas }</style>"
            pages["/scheme"] = ("", html(script(), scheme))
            pages["/head"] = ("", html("", script("defer")))
            pages["/missing"] = ("", html("", script('data-target="#missing"')))
            yield Sites(allowed, other)


@pytest.fixture
def box(page: Page, sites: Sites) -> Locator:
    """The box of a page after typing `app`, with its results."""
    page.goto(f"{sites.allowed}/")
    return typed(page, "app")


def typed(page: Page, text: str) -> Locator:
    found = page.get_by_role("combobox")
    found.press_sequentially(text)
    expect(found).to_have_attribute("aria-expanded", "true")
    return found


def titles(page: Page) -> list[str]:
    return page.get_by_role("option").locator(".title").all_inner_texts()


def selected(page: Page, box: Locator) -> str | None:
    """The result that the box names as active, which must be the one that is selected."""
    name = box.get_attribute("aria-activedescendant")
    chosen = page.locator("[role=option][aria-selected=true]")
    if name is None:
        assert chosen.count() == 0
        return None
    assert chosen.get_attribute("id") == name
    return chosen.locator(".title").inner_text()


def test_results_appear_while_a_word_is_typed(page: Page, box: Locator) -> None:
    assert titles(page) == ["Apple", "Apple cake", "Apple pie"]
    assert page.get_by_role("option").first.locator("mark").first.inner_text() == "apple"
    assert box.get_attribute("aria-controls") == page.get_by_role("listbox").get_attribute("id")
    assert box.get_attribute("aria-autocomplete") == "list"
    expect(page.get_by_role("status")).to_have_text("3 results")
    box.press_sequentially("le p")
    expect(page.get_by_role("status")).to_have_text("1 result")
    assert titles(page) == ["Apple pie"]


def test_arrows_choose_and_enter_opens(page: Page, box: Locator) -> None:
    chosen = []
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp"):
        box.press(key)
        chosen.append(selected(page, box))
        expect(box).to_be_focused()
    assert chosen == ["Apple", "Apple cake", "Apple", None, "Apple pie", "Apple cake"]
    expect(box).to_have_value("app")
    page.route("https://b.example/", lambda route: route.fulfill(body="opened"))
    box.press("Enter")
    page.wait_for_url("https://b.example/")


def test_enter_in_the_box_opens_all_results(page: Page, sites: Sites) -> None:
    page.goto(f"{sites.allowed}/b")
    box = typed(page, "app")
    with page.expect_navigation() as opened:
        box.press("Enter")
    assert opened.value is not None
    assert opened.value.url.endswith("/search?q=app+site%3Ab.example")


def test_escape_and_leaving_close_the_list(page: Page, box: Locator) -> None:
    for leave in ("Escape", "Tab"):
        box.press(leave)
        expect(box).to_have_attribute("aria-expanded", "false")
        expect(page.get_by_role("listbox")).to_be_hidden()
        assert box.get_attribute("aria-activedescendant") is None
        box.focus()
        box.press("ArrowDown")
        expect(box).to_have_attribute("aria-expanded", "true")


@pytest.mark.usefixtures("box")
def test_a_click_opens_a_result(page: Page) -> None:
    page.route("https://b.example/", lambda route: route.fulfill(body="opened"))
    page.get_by_role("option", name="Apple cake").click()
    page.wait_for_url("https://b.example/")


def test_only_pages_of_a_site_are_found(page: Page, sites: Sites) -> None:
    page.goto(f"{sites.allowed}/b")
    typed(page, "app")
    assert titles(page) == ["Apple cake"]
    expect(page.get_by_role("combobox", name="Find on B")).to_be_focused()


def test_the_box_may_be_placed_and_worded(page: Page, sites: Sites) -> None:
    page.goto(f"{sites.allowed}/target")
    typed(page, "app")
    assert page.locator("#box .gossamer-search").count() == 1
    assert titles(page) == ["Apple"]
    expect(page.get_by_role("status")).to_have_text("One")


def test_nothing_found_is_said(page: Page, sites: Sites) -> None:
    page.goto(f"{sites.allowed}/")
    page.get_by_role("combobox").press_sequentially("zzzzz")
    expect(page.get_by_role("status")).to_have_text("No results")
    expect(page.locator(".message")).to_have_text("No results")
    expect(page.get_by_role("listbox")).to_be_hidden()


def test_it_needs_no_more_of_a_policy_than_its_server(page: Page, sites: Sites) -> None:
    """The fixture `page` fails if Chromium reports a violation."""
    page.goto(f"{sites.allowed}/policy")
    box = typed(page, "quin")
    assert titles(page) == [EVIL]
    assert page.get_by_role("option").locator("img, b").count() == 0
    assert "<img src=x" in page.get_by_role("option").locator(".text").inner_text()
    assert box.evaluate("one => getComputedStyle(one).borderRadius") == "8px"


def test_only_links_to_the_web_are_shown(page: Page, sites: Sites) -> None:
    page.goto(f"{sites.allowed}/")
    page.get_by_role("combobox").press_sequentially("trap")
    expect(page.get_by_role("status")).to_have_text("No results")
    assert page.get_by_role("option").count() == 0


def test_styles_of_the_site_do_not_reach_it(page: Page, sites: Sites) -> None:
    looks = []
    for path in ("/", "/hostile"):
        page.goto(sites.allowed + path)
        box = typed(page, "app")
        option = page.get_by_role("option").first
        style = "one => (({color, fontSize, display}) => [color, fontSize, display])"
        looks.append([one.evaluate(f"{style}(getComputedStyle(one))") for one in (box, option)])
    assert looks[0] == looks[1]


def test_a_site_that_is_not_named_gets_nothing(context: BrowserContext, sites: Sites) -> None:
    page = context.new_page()
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text))
    page.goto(f"{sites.other}/")
    page.get_by_role("combobox").press_sequentially("app")
    expect(page.get_by_role("status")).to_have_text("Search is not available")
    assert page.get_by_role("option").count() == 0
    assert "blocked by CORS policy" in refused[0]
    page.close()


@pytest.mark.parametrize("path", ["/head", "/missing"])
def test_a_box_without_a_place_is_said_to_the_author(
    context: BrowserContext, sites: Sites, path: str
) -> None:
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda each: said.append(each.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(sites.allowed + path)
    assert said == ["embed.js: no element for the search box: see data-target"]
    page.close()


def test_typing_on_discards_results_of_the_earlier_text(page: Page, sites: Sites) -> None:
    page.route("**/api/v1/instant?q=a&*", lambda _: None)  # it waits
    page.goto(f"{sites.allowed}/")
    box = page.get_by_role("combobox")
    with page.expect_request("**/api/v1/instant?q=a&*") as overtaken:
        box.press_sequentially("a")
    with page.expect_event("requestfailed") as ended:
        box.press_sequentially("pp")
    assert ended.value == overtaken.value
    expect(page.get_by_role("option")).to_have_count(3)


def test_results_are_requested_only_after_a_pause(browser: Browser, sites: Sites) -> None:
    page = browser.new_page()  # all pages of a profile have one clock
    asked: list[str] = []
    page.on("request", lambda request: asked.extend([request.url] * ("/api/" in request.url)))
    page.clock.install(time=0)
    page.goto(f"{sites.allowed}/")
    page.clock.pause_at(60)
    box = page.get_by_role("combobox")
    box.press_sequentially("ap")
    page.clock.run_for(50)
    box.press_sequentially("p")
    page.clock.run_for(50)
    assert asked == []
    page.clock.run_for(20)
    expect(page.get_by_role("option")).to_have_count(3)
    assert len(asked) == 1
    page.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_in_the_open_list(
    page: Page, sites: Sites, scheme: Literal["light", "dark"], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{sites.allowed}/scheme")
    box = typed(page, "app")
    box.press("ArrowDown")
    paper = box.evaluate("one => getComputedStyle(one).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 30)"}[scheme]
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
