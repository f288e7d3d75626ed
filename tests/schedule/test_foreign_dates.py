"""Attack: a listing dates the pages of other hosts. Only those whose robots.txt names it count.

sitemaps.org, "Sitemaps & Cross Submits": a sitemap may list the URLs of another host if that host's
robots.txt names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.tables import PAGES
from tests.support.place_habits import (
    DAY_MS,
    HOUR_MS,
    NOW,
    PAGE,
    STORED,
    TRUTHFUL,
    VISITED,
    place,
)
from tests.support.shared_rounds import SharedRounds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.shared_rounds import Site, Story

attacked = SharedRounds(NOW)
shared = SharedRounds(NOW)

OTHERS = [f"/news/o{n}" for n in range(30)]
LEARNED = set(PAGES.column_names) - {"url", "url_hash", "host", "cash", "history"}


def dated_by(
    site: Site, listing: str, urls: Iterable[str], dated_ms: int
) -> dict[str, list[dict[str, Any]]]:
    """A round in which a listing dates URLs."""
    link = {"src": listing, "relation": "entry", "first": False, "dated_ms": dated_ms}
    answer = {"url": listing, "fetched_ms": NOW, "outcome": "ok", "digest": f"{site.work.round}"}
    return {
        "responses": [answer],
        "documents": [{"url": listing, "outcome": "listing", "content_type": "application/rss"}],
        "links": [link | {"dst": url} for url in urls],
    }


def known_page(site: Site, host: str, path: str = PAGE) -> dict[str, Any]:
    return {"url": site.url(path, host)} | STORED


@attacked.story
@pytest.mark.slow
def test_a_stranger_who_dates_all_pages_of_a_host_takes_none_of_its_trust(site: Site) -> Story:
    """Each of six rounds gives 30 pages of one of two hosts dates; visits find nothing new there.

    After a true date of its own host, a page is visited within two days, as on the other host.
    Before, dates of the first one were worth nothing then, and it was 30 days.
    """
    hosts = ("a", "b")
    known = [{**place(site.host(), TRUTHFUL), "place": site.host(host)} for host in hosts]
    kept = [known_page(site, host, path) for host in hosts for path in (*OTHERS, PAGE)]
    yield {"pages": kept, "habits": known}
    for hours in range(1, 7):
        now_ms = NOW + hours * HOUR_MS
        dated = [site.url(path) for path in OTHERS]
        found = dated_by(site, site.url("/feed", "evil"), dated, now_ms)
        visit = {"outcome": "unchanged", "fetched_ms": now_ms + 60_000}
        visits = [{"url": site.url(p, host)} | visit for host in hosts for p in OTHERS]
        yield {**found, "responses": [*found["responses"], *visits]}
    link = {"relation": "entry", "first": False, "dated_ms": VISITED + DAY_MS}
    urls = [site.url(PAGE, host) for host in hosts]
    own = [link | {"src": site.url("/feed", host), "dst": site.url(PAGE, host)} for host in hosts]
    pages = yield {"links": own}
    waits = [(pages[url]["next_fetch_ms"] - VISITED) / DAY_MS for url in urls]
    assert waits[0] == waits[1] < 2


@shared.story
def test_a_date_of_a_stranger_changes_nothing(site: Site) -> Story:
    urls = [site.url(PAGE, host) for host in ("a", "b")]
    known = [known_page(site, host) for host in ("a", "b")]
    found = dated_by(site, site.url("/feed", "evil"), urls, NOW)
    found["links"][1]["dated_ms"] = None
    pages = yield {**found, "pages": known}
    dated, linked = ({name: pages[url][name] for name in LEARNED} for url in urls)
    assert dated == linked
    assert pages[urls[0]]["dated_ms"] is None
    assert pages[site.url("/feed", "evil")]["date_rate"] == 0


NAMED = [
    (["http://cdn.{}/a/sitemap.xml"], "/a/sitemap.xml", True),
    (["https://cdn.{}/a/sitemap.xml"], "/a/sitemap.xml", True),  # it redirected
    (["http://cdn.{}/a/index.xml"], "/a/parts/1.xml", True),  # a part of the index
    (["http://cdn.{}/a/index.xml?p=/"], "/a/1.xml", True),
    (["http://other.{}/x.xml", "http://cdn.{}/s.xml"], "/s.xml", True),
    (["http://cdn.{}/a/sitemap.xml"], "/b/sitemap.xml", False),
    (["http://cdn.{}/a/sitemap.xml"], "/ab/sitemap.xml", False),
    (["http://cdn.{}/s.xml"], "/t.xml", False),  # at the root of a shared host
    (["http://cdn.{}/s.xml?/a/"], "/t.xml", False),
    (["http://other.{}/a/sitemap.xml"], "/a/sitemap.xml", False),
    ([], "/a/sitemap.xml", False),
    (None, "/a/sitemap.xml", False),  # a row of an older version
]
"""What a host's robots.txt names, the listing that dates its page, and whether it is believed."""


@shared.story
@pytest.mark.parametrize(("named", "path", "is_believed"), NAMED)
def test_a_host_says_in_robots_txt_which_listings_elsewhere_speak_for_it(
    site: Site, named: list[str] | None, path: str, is_believed: bool
) -> Story:
    sitemaps = None if named is None else [each.format(site.name) for each in named]
    found = dated_by(site, site.url(path, "cdn"), [site.url(PAGE)], NOW)
    host = {"host": site.host(), "sitemaps": sitemaps}
    stranger = {"host": site.host("stranger"), "sitemaps": [site.url(path, "cdn")]}
    pages = yield {**found, "pages": [known_page(site, "a")], "hosts": [host, stranger]}
    assert pages[site.url(PAGE)]["dated_ms"] == (NOW if is_believed else None)


@shared.story
def test_a_new_page_is_news_by_the_dates_of_its_own_host(site: Site) -> Story:
    first = {"first": True, "relation": "entry", "dated_ms": NOW}
    pages = yield {
        "links": [
            first | {"src": site.url("/feed", host), "dst": site.url(f"/new-{host}")}
            for host in ("a", "evil")
        ]
    }
    assert [pages[site.url(f"/new-{host}")]["source"] for host in ("a", "evil")] == [
        "entry",
        "link",
    ]
