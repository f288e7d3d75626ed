"""Images of results over HTTP: only stored ones, and only with the media type of their bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gossamer.serve.web import copy_routes
from tests.support.png_pictures import PICTURE, png, with_media
from tests.support.search_server import dom, one, serving
from tests.support.small_index import put_index
from tests.support.stored_rounds import HOME, Fetched, archive_of
from tests.support.stored_web import put_pages, store_and_parse

if TYPE_CHECKING:
    import httpx

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server


def asked(client: httpx.Client, url: str = PICTURE) -> httpx.Response:
    return client.get("/image", params={"url": url})


@pytest.mark.parametrize("called", ["image/png", "image/svg+xml", "text/html", None])
def test_the_media_type_of_an_image_follows_from_its_bytes(
    work: Workspace, called: str | None
) -> None:
    store_and_parse(work, [Fetched(PICTURE, png(3, 2), content_type=called)])
    with serving(work) as client:
        answer = asked(client)
        assert answer.status_code == 200
        assert answer.content == png(3, 2)
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("begin", "media"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x0a\0\0\0WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x20ftypavif", "image/avif"),
        (b"\0\0\0\x20ftypisom", None),
        (b"RIFF\x0a\0\0\0WAVE", None),
        (b"BM", None),
        (b" \x89PNG\r\n\x1a\n", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'>", None),
        (b"", None),
    ],
)
def test_formats(begin: bytes, media: str | None) -> None:
    assert copy_routes.format_of(begin + bytes(40)) == media


@pytest.mark.parametrize(
    ("body", "called"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", "image/svg+xml"),
        (b"<!doctype html><script>1</script>", "image/png"),
        (b"text", "image/gif"),
    ],
)
def test_a_file_that_is_not_an_image_is_not_sent(work: Workspace, body: bytes, called: str) -> None:
    store_and_parse(work, [Fetched(PICTURE, body, content_type=called)])
    with serving(work) as client:
        answer = asked(client)
        assert answer.status_code in (403, 404)
        assert b"<script>1" not in answer.content


def test_only_what_may_be_shown(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = ((b"X-Robots-Tag", b"noarchive"),)
    store_and_parse(
        work,
        [
            Fetched(PICTURE, png(3, 2), content_type="image/png"),
            Fetched(f"{HOME}kept", png(3, 2), content_type="image/png", headers=kept),
        ],
    )
    with serving(work) as client:
        assert asked(client, f"{HOME}kept").status_code == 403
        assert asked(client, f"{HOME}other.png").status_code == 404
        assert asked(client, "file:///etc/passwd").status_code == 404
        assert asked(client, "").status_code == 400
        monkeypatch.setattr(copy_routes, "MAX_PICTURE_BYTES", 50)
        assert asked(client).status_code == 403
        monkeypatch.undo()
        put_pages(work, {PICTURE: "excluded"})
        assert asked(client).status_code == 403


@pytest.mark.folder
def test_a_picture_that_is_too_large_is_not_read_from_the_archive(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_and_parse(work, [Fetched(PICTURE, png(3, 2), content_type="image/png")])
    Path(archive_of(work)).unlink()
    with serving(work) as client:
        assert asked(client).status_code == 503
        monkeypatch.setattr(copy_routes, "MAX_PICTURE_BYTES", 50)
        assert asked(client).status_code == 403


def test_results_load_images_only_from_our_own_server(work: Workspace) -> None:
    store_and_parse(work, [Fetched(PICTURE, png(3, 2), content_type="image/png")])
    put_index(work, [{"url": HOME, "title": "rose", "image": PICTURE}])
    with serving(work) as client:
        assert not dom(client, "/search", q="rose").css(".hits img")
    with serving(with_media(work)) as client:
        shown = one(dom(client, "/search", q="rose"), ".hits img").attributes
        assert (shown["alt"], shown["loading"]) == ("", "lazy")
        assert str(shown["src"]).startswith("/image?url=")
        assert client.get(str(shown["src"])).content == png(3, 2)
