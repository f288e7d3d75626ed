"""Hostile pages as stored copies in a real Chromium: they run nothing, and connect to nothing."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.support.search_server import serving
from tests.support.stored_rounds import HOME, Fetched
from tests.support.stored_web import store_and_parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.browser

SCRIPT = "top.document.title='owned';parent.document.title='owned';fetch('{out}/script')"
ATTACKS = {
    "script": "<script>{script}</script><script src={out}/a.js></script>",
    "module": "<script type=module>import '{out}/m.js'</script>",
    "handler": '<img src=x onerror="{script}"><body onload="{script}">'
    '<input autofocus onfocus="{script}">',
    "svg": '<svg onload="{script}"><script>{script}</script><use href="{out}/x.svg#a"/>'
    '<image href="{out}/i.svg"/><animate onbegin="{script}" attributeName=x dur=1s /></svg>',
    "refresh": '<meta http-equiv=refresh content="0;url={out}/refresh">',
    "refresh by link": '<link http-equiv=refresh content="0;url={out}/refresh">',
    "refresh to a script": '<meta http-equiv=refresh content="0;url=javascript:{script}">',
    "base": "<base href={out}/ target=_top><img src=relative><a id=go href=relative>go</a>",
    "top": "<a id=go target=_top href={out}/top>go</a>",
    "popup": "<a id=go target=_blank href={out}/blank>go</a>",
    "link": "<a id=go href={out}/link>go</a>",
    "link in disguise": "<a title='>'/HREF\n={out}/disguise id=go>go</a>",
    "second link": '<a id=go href="&num;" href={out}/second>go</a>',
    "download": "<a id=go download href={out}/download>go</a>",
    "download of data": "<a id=go download href=data:,x>go</a>",
    "moved link": "<svg height=20><a id=go href='#x'><text y=20>go</text><animate to={out}/moved "
    "attributeName=href dur=1ms fill=freeze /><set attributeName=href to={out}/set /></a></svg>",
    "xlink": "<svg height=20><a id=go xlink:href={out}/xlink><text y=20>go</text></a></svg>",
    "ping": "<a id=go ping={out}/ping href=#here>go</a>",
    "javascript": '<a id=go href="javascript:{script}">go</a>',
    "form": "<form action={out}/form target=_top><button id=go>go</button></form>",
    "frames": '<iframe src={out}/frame></iframe><iframe srcdoc="<script>{script}</script>'
    '<img src={out}/srcdoc>"></iframe><frameset><frame src={out}/frameset></frameset>',
    "data": '<iframe src="data:text/html,<script>{script}</script>"></iframe>',
    "objects": "<object data={out}/object></object><embed src={out}/embed>"
    '<object data="data:text/html,<script>{script}</script>"></object>',
    "media": "<video poster={out}/poster src={out}/video autoplay></video><audio src={out}/audio "
    "autoplay></audio><picture><source srcset={out}/source><img srcset={out}/srcset></picture>",
    "styles": "<style>@import '{out}/import';body{{background:url({out}/background)}}"
    "@font-face{{font-family:x;src:url({out}/font)}}p{{font-family:x}}</style>"
    "<p style='background:url({out}/style)'>text",
    "links": "<link rel=stylesheet href={out}/css><link rel=preload as=image href={out}/preload>"
    "<link rel=prefetch href={out}/prefetch><link rel=modulepreload href={out}/module>"
    "<link rel=icon href={out}/icon><link rel=manifest href={out}/manifest>",
    "preconnect": "<link rel=preconnect href={out}><link\nrel=dns-prefetch href={out}>"
    "<LINK/rel=preconnect href={out}>",
    "prerender": '<script type=speculationrules>{{"prerender":[{{"urls":["{out}/prerender"]}}]}}'
    "</script><link rel=prerender href={out}/prerender>",
    "policy": '<meta http-equiv=content-security-policy content="default-src *; script-src '
    "'unsafe-inline'\"><script>{script}</script><img src={out}/policy>",
    "charset": "<meta charset=utf-7>+ADw-script+AD4-{script}+ADw-/script+AD4-",
}


@contextmanager
def counting() -> Iterator[tuple[str, list[str]]]:
    """A listening address and its connections: one without a request counts too."""
    called: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            while True:
                connection, (_, port) = listener.accept()
                with connection:
                    if port in ours:
                        return
                    called.append(f"from {port}")

        ours: set[int] = set()
        thread = threading.Thread(target=listen)
        thread.start()
        host, port = listener.getsockname()
        try:
            yield f"http://{host}:{port}", called
        finally:
            with socket.socket() as last:
                last.bind((host, 0))
                ours.add(last.getsockname()[1])
                last.connect((host, port))
                thread.join()


@pytest.mark.parametrize("top_level", [False, True], ids=["framed", "alone"])
def test_hostile_copies_do_nothing(browser: Browser, work: Workspace, top_level: bool) -> None:
    with counting() as (out, called):
        pages = {
            f"{HOME}{number}": attack.format(out=out, script=SCRIPT.format(out=out))
            for number, attack in enumerate(ATTACKS.values())
        }
        store_and_parse(
            work,
            [
                Fetched(url, f"<p>text of the page</p>{text}".encode())
                for url, text in pages.items()
            ],
        )
        context = browser.new_context(accept_downloads=True)
        saved: list[str] = []
        with serving(work) as client:
            page, beside = context.new_page(), context.new_page()  # in a copy no timer ever ends
            page.on("download", lambda download: saved.append(download.url))
            for (name, attack), url in zip(ATTACKS.items(), pages, strict=True):
                path = "/copy/raw" if top_level else "/copy"
                page.goto(str(client.base_url.join(f"{path}?url={url}")))
                title = page.title()
                shown = page.main_frame if top_level else page.frames[1]
                assert "text of the page" in shown.content(), name
                places = [page.url, shown.url]
                if "id=go" in attack:
                    shown.locator("#go").click(no_wait_after=True)
                beside.evaluate("new Promise(done => setTimeout(done, 50))")
                assert [frame.url.partition("#")[0] for frame in (page, shown)] == places, name
                assert page.title() == title, name
                assert len(context.pages) == 2, name
                assert called == saved == [], name
        context.close()


def test_a_copy_can_be_read_from_its_table_of_contents(page: Page, work: Workspace) -> None:
    body = b"<p><a href='#end'>To the end</a><p style='height:9000px'>text of the page<p id=end>End"
    store_and_parse(work, [Fetched(HOME, body)])
    with serving(work) as client:
        page.goto(str(client.base_url.join(f"/copy?url={HOME}")))
        shown = page.frame_locator("iframe")
        shown.get_by_role("link").click()
        expect(shown.locator("#end")).to_be_in_viewport()


def test_a_page_without_our_headers_does_connect(context: BrowserContext) -> None:
    """Without our headers, the same page does connect: so the test above can fail."""
    with counting() as (out, called):
        page = context.new_page()
        page.set_content(f"<img src={out}/image>", wait_until="load")
        page.close()
        assert called


def test_the_copy_is_readable_in_its_frame(page: Page, work: Workspace) -> None:
    body = "<style>p{color:rgb(1,2,3)}</style><p>Gerührt, nicht geschüttelt".encode("cp1252")
    store_and_parse(work, [Fetched(HOME, body, content_type="text/html; charset=windows-1252")])
    with serving(work) as client:
        page.goto(str(client.base_url.join(f"/copy?url={HOME}")))
        text = page.frame_locator("iframe").locator("p")
        assert text.inner_text() == "Gerührt, nicht geschüttelt"
