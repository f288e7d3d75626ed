"""Every page in Chromium: axe finds nothing serious, keys reach all controls, the width fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

from gossamer.state.heartbeats import Heartbeat
from tests.support.archived_versions import Visit, archive
from tests.support.search_server import serving
from tests.support.section_rows import put_sections
from tests.support.small_index import crawl, put_index
from tests.support.standing_pages import standing
from tests.support.stored_rounds import HOME, Fetched
from tests.support.stored_web import put_inlinks, put_pages, put_rows, store_and_parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import BrowserContext

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.browser

PAGE = b"""<title>A rose</title><p>It is a plant with flowers and thorns that people like.
<a href=/tulip>A tulip</a><a href=/a-very-long-address-%s>Long</a>""" % (b"x" * 200)
PATHS = {
    "home": "/",
    "results": "/search?q=rose+-lang:de",
    "nothing": "/search?q=quince+lang:de",
    "status": "/status",
    "page": f"/page?url={HOME}",
    "duplicate": f"/page?url={HOME}1.0/old",
    "copy": f"/copy?url={HOME}",
    "diff": f"/diff?url={HOME}",
    "domains": "/sections",
    "sections": "/sections?domain=example.org",
    "section": "/sections?domain=example.org&section=example.org/tags/",
    "problem": "/nope",
}
WATCH = """() => {
    window.focused = [];
    const note = () => {
        const one = document.activeElement;
        if (one === document.body) return;  // beyond the last
        const shown = [one, one.closest(".box") ?? one].map(found => getComputedStyle(found));
        focused.push([
            [...document.querySelectorAll("*")].indexOf(one),
            one.tagName === "IFRAME" ||
                shown.some(style => style.outlineStyle !== "none" || style.boxShadow !== "none"),
        ]);
    };
    addEventListener("focusin", note);
    addEventListener("blur", note);  // a frame took the focus
}"""
"""JavaScript: notes the index of each element that gets the focus, and whether the focus shows.

A frame with a process of its own gets and yields the focus some time after the key was pressed.
"""
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def site(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    work = replace(crawl(tmp_path_factory.mktemp("crawl")), _engine=engine)
    older = PAGE.replace(b"A tulip", b"The lily").replace(b"plant", b"shrub")
    archive(work, [Visit(HOME, "2023-01-01", older + b"<p>It blooms.")])
    store_and_parse(work, [Fetched(HOME, PAGE)])
    put_inlinks(work, HOME, [("http://a.example/", "roses")], 1)
    put_rows(work, "hosts", [{"host": "example.org", "requests": 7, "outcome": "ok"}])
    with work.step("fetch", 1) as draft:
        draft.counts.update(ok=30, timeout=10)
    with work.step("dedup", 1) as draft:
        draft.counts.update(duplicate_text=3, duplicate_version=1)
    Heartbeat(work.root, "fetch", 2, "0", 100).beat(25)
    put_duplicates(work)
    sizes = {f"example.org/tags/{n}/": 10 + n * n for n in range(60)}
    total = sum(sizes.values())
    sizes |= {"example.org/": 2 * total, "example.org/tags/": total, "example.org/view?id": 90}
    put_sections(work, sizes)
    titles = [f"A rose, number {number}" for number in range(30)]
    folded = {"copies": 2, "versions": 1}
    put_index(work, [{"url": f"{HOME}{title}", "title": title, **folded} for title in titles])
    with serving(work) as client:
        yield str(client.base_url).rstrip("/")


def put_duplicates(work: Workspace) -> None:
    """HOME stands for an older version and for a page with a long address."""
    version: dict[str, Any] = {"url": f"{HOME}1.0/old", "reason": "version", "similarity": 0.5}
    copy = {"url": f"{HOME}a-very-long-address-{'x' * 200}", "reason": "text", "similarity": 1.0}
    put_pages(work, {version["url"]: "fetched"})
    row = standing(HOME, copies=[version, copy], copy_count=9, version_count=1)
    of_version = standing(**version, survivor=HOME) | {"disposition": "dropped_duplicate"}
    put_rows(work, "dispositions", [row, of_version])


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious_and_the_page_fits(
    context: BrowserContext, site: str, name: str, scheme: Literal["light", "dark"], width: int
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(site + PATHS[name])
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    told = [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in SERIOUS]
    assert told == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("html").get_attribute("lang") == "en"
    page.close()


@pytest.mark.parametrize("name", PATHS)
def test_tab_reaches_every_control_in_order_with_a_visible_focus(
    context: BrowserContext, site: str, name: str
) -> None:
    page = context.new_page()
    page.goto(site + PATHS[name])
    page.route(page.url, lambda route: route.abort())  # /status does not update itself meanwhile
    page.evaluate("document.activeElement.blur()")
    page.evaluate(WATCH)
    reachable = page.evaluate(
        "[...document.querySelectorAll("
        "'a[href], button, input:not([type=hidden]), select, summary, iframe, [tabindex=\"0\"]')]"
        ".filter(one => one.checkVisibility()).length"
    )
    for _ in range(2 * reachable):  # a frame takes several
        page.keyboard.press("Tab")
    page.wait_for_function(
        "count => new Set(focused.map(([place]) => place)).size >= count", arg=reachable
    )
    seen: dict[int, bool] = {}
    for place, shown in page.evaluate("focused"):
        seen.setdefault(place, shown)
    places = list(seen)
    first = places.index(min(places))  # a page with a box begins there
    assert places[first:] + places[:first] == sorted(places)
    assert len(places) == reachable
    assert all(seen.values())
    page.close()
