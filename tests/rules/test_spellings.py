"""Which URLs are requested, of those that pages of a site write in many ways?

A model of the crawl for the bulk: links are parsed, merged and judged as in a crawl, and the judge
that sees what pages wrote, and what is requested, knows nothing of our code.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from random import Random

import pytest

from gossamer.fakeweb import Web
from gossamer.parse.page_parsing import parse_response
from gossamer.parse.reading.references import References
from gossamer.rules.spellings import first_forbidden, plainer, spelling_from
from gossamer.web.robots_txt import parse_robots_txt
from gossamer.web.urls import UrlRules, browser_spelling, host_of, normalize
from tests.support.robots_judge import RobotsJudge, one_spelling
from tests.support.spelled_sites import MOVED_SHARE, SESSION_FOLDER, any_link, respelled, robots_txt

SITE = "http://a.test"


Heard = dict[str, list[str]]
"""By page, how its links are written."""


def links_to_site(chance: Random) -> tuple[dict[str, str | None], Heard, Heard]:
    """The pages that links lead to with their spellings, and how its own pages and others write."""
    found: dict[str, str | None] = {}
    own: Heard = defaultdict(list)
    others: Heard = defaultdict(list)
    for origin, heard in ((SITE, own), ("http://b.test", others)) * 10:
        page, references = f"{origin}/page", References(100, Counter())
        for href in dict.fromkeys(any_link(chance) for _ in range(8)):
            references.add(SITE + href, "", "a")
            heard[str(normalize(SITE + href))].append(href)
        for link in references.links(page, page, UrlRules()):
            spelling = spelling_from(page, link.dst, link.spelling)
            found[link.dst] = plainer(found.get(link.dst, spelling), spelling)
    return found, own, others


def judged_requests(chance: Random, least: int) -> tuple[int, list[str]]:
    """Requests of a crawl of many sites, and those that must not have been made or are missing."""
    requests, faults = 0, []
    while requests < least:
        text = robots_txt(chance)
        robots, judge = parse_robots_txt(text.encode()), RobotsJudge(text)
        found, own, others = links_to_site(chance)
        assert found.keys() == own.keys() | others.keys()
        for url, spelling in found.items():
            target, written = url.removeprefix(SITE), own.get(url) or others[url]
            is_written = one_spelling(target) in map(one_spelling, written)
            elsewhere = browser_spelling(respelled(chance, target), SITE, url)
            moved = elsewhere if chance.random() < MOVED_SHARE else None
            closed = [judge.forbids(href) for href in written]
            asked = [url, moved] if moved else [url]
            if first_forbidden(robots, "gossamer", (url, spelling, moved)) is None:
                requests += len(asked)
                if all(closed) or any(judge.forbids(each.removeprefix(SITE)) for each in asked):
                    faults.append(f"requested {asked}, written {written}: {text}")
            elif moved is None and not judge.forbids(target) and (is_written or not any(closed)):
                faults.append(f"not requested {url}, written {written}: {text}")
    return requests, faults


@pytest.mark.parametrize(
    "requests", [4_000, pytest.param(100_000, marks=pytest.mark.long, id="100,000 requests")]
)
def test_nothing_is_requested_that_is_forbidden_as_written(requests: int) -> None:
    made, faults = judged_requests(Random(requests), requests)  # noqa: S311  a model
    assert made >= requests
    assert not faults, faults[0]


@pytest.mark.parametrize(
    ("rules", "href", "requested"),
    [
        ("Disallow: /*?sort=", "/list?sort=price&cat=3", None),
        ("Disallow: /*?sort=", "/list?cat=3&sort=price", "/list?cat=3&sort=price"),
        ("Disallow: /\nAllow: /i.php?option=b", "/i.php?option=b&a=1", "/i.php?option=b&a=1"),
        ("Disallow: /*PHPSESSID", "/a?PHPSESSID=1", None),
        ("Disallow: /*;jsessionid", "/a;jsessionid=1", None),
        ("Disallow: /(S(", f"{SESSION_FOLDER}/a", None),
        ("Disallow: /*utm_", "/a?b=1&utm_source=c", None),
        ("Disallow: /*?$", "/a?", None),
        ("Disallow: /*?$", "/a", "/a"),
        ("Disallow: /*&&", "/a?b=1&&c=2", None),
        ("Disallow: /~user/", "/%7euser/a", None),
        ("Disallow: /%C3%BC", "/%c3%bc", None),
        ("Disallow: /a;b", "/a;b?sid=0", None),
        ("Disallow: /b", "/a?PHPSESSID=1", "/a"),
    ],
)
def test_a_link_that_is_forbidden_as_written_leads_nowhere(
    rules: str, href: str, requested: str | None
) -> None:
    references = References(1, Counter())
    references.add(href, "", "a")
    (link,) = references.links(f"{SITE}/", f"{SITE}/", UrlRules())
    robots = parse_robots_txt(f"User-agent: *\n{rules}".encode())
    closed = first_forbidden(robots, "gossamer", (link.dst, link.spelling))
    assert (None if closed else link.dst) == (requested and SITE + requested)
    assert RobotsJudge(f"User-agent: *\n{rules}").forbids(href) == (requested is None)


def test_the_links_of_the_own_host_count_before_those_of_others() -> None:
    """Nobody closes or opens somebody else's page by a link in a spelling of their own."""
    ranked = [None, f"{SITE}/a?sid=1", f"{SITE}/a?sid=2", "#", f"{SITE}/a?sid=0#"]
    for (before, one), (after, other) in product(enumerate(ranked), repeat=2):
        assert plainer(one, other) == ranked[min(before, after)]


@pytest.mark.slow
def test_honest_sites_would_lose_pages_if_any_spelling_closed_them() -> None:
    """The figure of docs/decisions.md: pages that a site links to plainly and with utm_source."""
    web, spelled = Web(hosts=60), defaultdict[str, set[str | None]](set)
    for host in web.hosts():
        for url in web.urls(host):
            answer = web.answer(host, "/" + url.split("/", 3)[3])
            page = parse_response(url, dict(answer.headers), answer.body)
            for link in page.links:
                if host_of(link.dst) == host_of(url):
                    spelled[link.dst].add(link.spelling)
    tracked = [
        url for url, found in spelled.items() if any("utm_" in (each or "") for each in found)
    ]
    assert (len(spelled), len(tracked)) == (9_432, 869)
    assert all(None in spelled[url] for url in tracked)
