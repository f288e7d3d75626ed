"""Which links a listing becomes, and which texts are lists of URLs."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from gossamer.parse.listing.listing_page import JUDGED_LINES
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Link, Page, ParsedPage, Rules

URL = "https://e.org/list"
MAY, JUNE = datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)
SITEMAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"
xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"
xmlns:xhtml="http://www.w3.org/1999/xhtml">"""


def parsed(body: str, kind: str = "text/xml", *, media: bool = True) -> ParsedPage:
    return parse_page(Page(URL, {"content-type": kind}, body.encode()), Rules(media=media))


def lines(text: str) -> list[str] | None:
    page = parsed(text, "text/plain")
    return [link.dst for link in page.links] if page.outcome == "listing" else None


def test_entries_of_a_sitemap_have_titles_and_dates() -> None:
    news = (
        "<news:news><news:publication_date>2024-05-01</news:publication_date>"
        "<news:title>One</news:title></news:news>"
    )
    entries = (
        f"<url><loc>/1</loc>{news}</url>"
        f"<url><loc>/2</loc><lastmod>2024-06-01</lastmod>{news}</url>"
        '<url><loc>/3</loc><xhtml:link rel="alternate" hreflang="de" href="/de"/>'
        '<xhtml:a rel="alternate" hreflang="de" href="/no"/></url>'
    )
    assert parsed(f"{SITEMAP}{entries}</urlset>", media=False).links == (
        Link("https://e.org/1", "One", "entry", dated=MAY),
        Link("https://e.org/2", "One", "entry", dated=JUNE),
        Link("https://e.org/3", "", "entry"),
        Link("https://e.org/de", "", "alternate"),
    )


def test_media_of_a_sitemap() -> None:
    entry = (
        "<url><loc>/1</loc><image:image><image:loc>/i.jpg</image:loc></image:image>"
        "<video:video><video:title>Film</video:title><video:content_loc>/v.mp4</video:content_loc>"
        "<video:player_loc>/play</video:player_loc>"
        "<video:publication_date>2024-05-01</video:publication_date></video:video>"
        "<video:video><video:player_loc>/other</video:player_loc></video:video></url>"
    )
    body = f"{SITEMAP}{entry}</urlset>"
    page = Link("https://e.org/1", "", "entry")
    assert parsed(body, media=False).links == (page,)
    assert parsed(body, media=True).links == (
        page,
        Link("https://e.org/i.jpg", "", "image"),
        Link("https://e.org/v.mp4", "Film", "video", dated=MAY),
        Link("https://e.org/play", "Film", "video", dated=MAY),
        Link("https://e.org/other", "", "video"),
    )


@pytest.mark.parametrize(
    ("relation", "link"),
    [
        *(
            (name, Link("https://e.org/other", "", "feed", announced=True))
            for name in ("first", "last", "next", "previous", "prev", "next-archive")
        ),
        ("prev-archive", Link("https://e.org/other", "", "feed", announced=True)),
        ("alternate", Link("https://e.org/other", "News", "alternate")),
        ("via", None),
    ],
)
def test_links_of_a_feed(relation: str, link: Link | None) -> None:
    body = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><subtitle>All</subtitle>'
        f'<updated>2024-06-01T00:00:00Z</updated><link rel="{relation}" href="/other"/>'
        '<entry><link href="/1"/><published>2024-05-01T00:00:00Z</published></entry></feed>'
    )
    page = parsed(body)
    entry = Link("https://e.org/1", "", "entry", dated=MAY)
    assert page.links == ((entry,) if link is None else (entry, link))
    assert (page.title, page.description, page.modified) == ("News", "All", JUNE)


def test_the_last_change_of_an_entry_counts() -> None:
    dates = "<published>2024-05-01T00:00:00Z</published><updated>2024-06-01T00:00:00Z</updated>"
    entry = f'<entry><link href="/1"/>{dates}</entry>'
    (link,) = parsed(f'<feed xmlns="http://www.w3.org/2005/Atom">{entry}</feed>').links
    assert link.dated == JUNE


ONE, TWO = "https://e.org/1", "https://e.org/2"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{ONE}\n{TWO}\n", [ONE, TWO]),
        (f"\n\n {ONE} \n\n", [ONE]),
        (ONE.upper(), ["https://e.org/1"]),
        (f"{ONE}\n//e.org/x\n", [ONE, "https://e.org/x"]),
        (f"{ONE}\ne.org:8080/x\n", [ONE]),
        (f"e.org/x\ne.org/y\n{ONE}\n", None),
        (f"{ONE}\nsome words\n", None),
        (f"{ONE}\nword\n", None),
        (f"see {ONE}\n{TWO}\n", None),
        ("", None),
    ],
)
def test_a_text_of_urls(text: str, found: list[str] | None) -> None:
    assert lines(text) == found


def test_the_first_lines_decide() -> None:
    urls = [f"https://e.org/{number}\n" for number in range(JUDGED_LINES)]
    assert lines("".join(urls) + "some words\n") is not None
    assert lines("".join(urls[1:]) + "some words\n") is None


@pytest.mark.parametrize(("mime", "body"), [("application/rdf+xml", "rdf"), ("text/xml", "rss")])
def test_an_empty_feed_is_one_unless_it_is_rdf(mime: str, body: str) -> None:
    assert (parsed(f"<{body}><channel/></{body}>", mime).outcome == "listing") is (body == "rss")


def test_a_json_feed_has_a_version_unless_it_is_announced() -> None:
    body = json.dumps({"items": [{"url": "https://e.org/1"}]})
    kind = "application/feed+json"
    assert parsed(body, kind).outcome != "listing"
    page = Page(URL, {"content-type": kind}, body.encode(), announced=True)
    assert parse_page(page, Rules()).outcome == "listing"
