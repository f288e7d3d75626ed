"""Images of results in a real Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.png_pictures import PICTURE, png, with_media
from tests.support.search_server import serving
from tests.support.small_index import put_index
from tests.support.stored_rounds import Fetched
from tests.support.stored_web import store_and_parse

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.browser


def test_a_picture_is_shown_where_it_is_stored_and_nobody_else_is_asked(
    context: BrowserContext, work: Workspace
) -> None:
    store_and_parse(work, [Fetched(PICTURE, png(300, 200), content_type="image/png")])
    pictures = {"stored": PICTURE, "not stored": f"{PICTURE}?other", "none": None}
    put_index(
        work,
        [
            {"url": f"http://a.example/{name}", "title": f"rose {name}", "image": image}
            for name, image in pictures.items()
        ],
    )
    asked: set[str] = set()
    with serving(with_media(work)) as client:
        page = context.new_page()
        page.on("request", lambda request: asked.add(request.url.split("/")[2]))
        page.goto(str(client.base_url.join("/search?q=rose")))
        shown = {
            name: page.locator("article", has_text=f"rose {name}").locator("img")
            for name in ("stored", "not stored")
        }
        for image in shown.values():
            image.evaluate("image => image.decode().catch(() => null)")
        assert shown["stored"].evaluate("image => image.naturalWidth") == 300
        assert shown["stored"].bounding_box() is not None
        assert shown["not stored"].evaluate("image => image.getBoundingClientRect().width") == 0
        assert page.locator("article img").count() == 2
        assert asked == {client.base_url.netloc.decode()}
        page.close()
