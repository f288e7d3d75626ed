"""The treemap of sections in a real Chromium: clicked, coloured, on a phone and in the dark."""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.support.search_server import serving
from tests.support.small_index import crawl
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

HOST = "www.example.org/"
EVIL = f"{HOST}<img src=x onerror=\"document.title='owned'\">/"
LEAST_CONTRAST = 4.5
"""Of text, for level AA of the Web Content Accessibility Guidelines 2.2 (1.4.3)."""
FRAME = 6
"""Pixels by which the outlines of boxes may overlap."""
CONTRAST = """() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    const paint = canvas.getContext("2d", { willReadFrequently: true });
    const luminance = colour => {
        paint.fillStyle = colour;
        paint.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3)
            .map(c => c / 255).map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const text = luminance(getComputedStyle(document.querySelector(".treemap text")).fill);
    return [...document.querySelectorAll(".legend rect")].map(rect => {
        const [dark, light] = [text, luminance(getComputedStyle(rect).fill)].sort((a, b) => a - b);
        return (light + .05) / (dark + .05);
    });
}"""
"""JavaScript: the contrast of labels with each of the colours that a box may have."""


def row(section: str, known: int, fit: int) -> dict[str, Any]:
    level = section.partition("?")[0].count("/") + ("?" in section)
    counts = {"known": known, "fetched": known // 2, "asked": known // 2, "changed": 0, "fit": fit}
    return {"section": section, "domain": "example.org", "level": level, **counts}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    years = [
        row(f"{HOST}news/{year}/", 100 * (year - 2000), 40 * (year - 2000))
        for year in range(2001, 2021)
    ]
    tags = [row(f"{HOST}tags/{'t' * (n % 30)}{n}/", 10 + 9_000 // (n + 1), 0) for n in range(400)]
    folders = [
        row(f"{HOST}news/", sum(each["known"] for each in years) + 90, 8_000),
        row(f"{HOST}tags/", sum(each["known"] for each in tags), 0),
        row(f"{HOST}%D7%A9%D7%9C%D7%95%D7%9D/", 4_000, 900),
        row(f"{HOST}{'very-' * 100}long/", 3_000, 200),
        row(f"{HOST}view?id", 5_000, 2_500),
        row(EVIL, 2_000, 1_000),
    ]
    known = sum(each["known"] for each in folders) + 700
    hosts = [row(HOST, known, 12_600), row("blog.example.org/", 9_000, 4_000)]
    put_rows(work, "sections", [*hosts, *folders, *years, *tags])
    with serving(work) as client:
        yield f"{client.base_url}/sections".replace("//sections", "/sections")


def box(page: Page, label: str) -> Any:
    return page.locator(".treemap > a").filter(visible=True).filter(has_text=re.compile(label))


def test_a_person_opens_sections_and_goes_back(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_label("Find a domain").fill("EXAMPLE")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=EXAMPLE")
    page.get_by_role("link", name="example.org").click()
    page.wait_for_url("**?domain=example.org")
    box(page, "www.example.org").click()
    page.wait_for_url("**section=www.example.org%2F")
    page.get_by_role("link", name="failed", exact=True).click()
    page.wait_for_url("**colour=failed")
    box(page, "org/tags/: ").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**tags%2F&colour=failed")
    assert page.locator("h1").inner_text() == f"{HOST}tags/"
    assert f"deny prefix https://{HOST}tags/" in page.locator("pre.rules").first.inner_text()
    page.get_by_role("link", name="www.example.org", exact=True).click()
    page.wait_for_url("**section=www.example.org%2F&colour=failed")
    page.go_back()
    page.go_back()
    page.wait_for_url("**section=www.example.org%2F&colour=failed")
    page.go_forward()
    page.wait_for_url("**tags%2F&colour=failed")
    assert page.title() == f"{HOST}tags/: sections – Gossamer"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1_280), ("dark", 390)])
def test_no_box_lies_on_another_and_labels_are_in_their_boxes(
    browser: Browser, site: str, scheme: Literal["light", "dark"], width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 1_000}, color_scheme=scheme, java_script_enabled=False
    )
    page = context.new_page()
    for section in ("", HOST, f"{HOST}tags/", f"{HOST}news/"):
        page.goto(f"{site}?domain=example.org&section={section}")
        drawing = page.locator("svg.treemap[role=group]").filter(visible=True)
        windows = drawing.locator("> * > svg")
        boxes = [each.bounding_box() for each in windows.all()]
        assert len(boxes) > 1
        for one, other in combinations(filter(None, boxes), 2):
            wide = min(one["x"] + one["width"], other["x"] + other["width"]) - max(
                one["x"], other["x"]
            )
            high = min(one["y"] + one["height"], other["y"] + other["height"]) - max(
                one["y"], other["y"]
            )
            assert min(wide, high) < FRAME
        for window, around in zip(windows.all(), boxes, strict=True):
            for text in window.locator("text").all():
                label = text.bounding_box()
                assert label
                assert around
                assert label["x"] + label["width"] <= around["x"] + around["width"] + 1
                assert label["y"] + label["height"] <= around["y"] + around["height"] + 1
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("colour", ["fit", "failed"])
def test_labels_can_be_read_on_each_colour(
    page: Page, site: str, scheme: Literal["light", "dark"], colour: str
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{site}?domain=example.org&section={HOST}&colour={colour}")
    found = page.evaluate(CONTRAST)
    assert len(found) == 7
    assert min(found) >= LEAST_CONTRAST
    assert len(set(found)) == len(found)


def test_a_click_selects_the_rules(page: Page, site: str) -> None:
    page.goto(f"{site}?domain=example.org&section={HOST}view%3Fid")
    page.locator("pre.rules code").first.click()
    selected = page.evaluate("getSelection().toString()")
    assert selected == "\n".join(
        f"deny prefix {scheme}://{HOST}view?id=" for scheme in ("https", "http")
    )
