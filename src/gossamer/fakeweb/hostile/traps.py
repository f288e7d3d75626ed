"""Endless sites: every page is good HTML and links to more pages than anyone can fetch."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from gossamer.fakeweb.hostile.act import Act, Steps
from gossamer.fakeweb.hostile.case import DOMAIN, EPOCH_S, Case, good_page
from gossamer.fakeweb.hostile.heads import HTML, head
from gossamer.fakeweb.hostile.redirects import number
from gossamer.fakeweb.http_answer import HTML_TYPE, Answer, ok_answer
from gossamer.fakeweb.seeded_random import digest

if TYPE_CHECKING:
    from gossamer.fakeweb.hostile.case import Ask

FACETS = ("brand", "colour", "order", "page", "price", "size")
FACET_VALUES = 5
FARM = "farm"
LINKS = 1_000_000
LINKS_PER_STEP = 1_000
LEVELS = 200_000
LONG_URLS = 20
LONG_URL_BYTES = 100_000
SESSION_PAGES = 10


def _calendar(ask: Ask) -> Answer:
    month = number(ask.target)
    return good_page(ask, f"/month/{month + 1}", f"/event/{month}")


def _facets(ask: Ask) -> Answer:
    """Link to each value of each facet; the query keeps the order in which facets were chosen."""
    chosen = dict(parse_qsl(ask.target.partition("?")[2])[: len(FACETS)])
    choices = (chosen | {name: str(v)} for name in FACETS for v in range(FACET_VALUES))
    return good_page(ask, *(f"/shop?{urlencode(choice)}" for choice in choices))


def _session(ask: Ask) -> str:
    """Return a session id that differs for each URL, and, like all answers, depends only on it."""
    return f"{digest(ask.seed, ask.host + ask.target):016x}"


def _session_path(ask: Ask) -> Answer:
    session = _session(ask)
    return good_page(ask, *(f"/s/{session}/page-{n}" for n in range(SESSION_PAGES)))


def _session_query(ask: Ask) -> Answer:
    session = _session(ask)
    return good_page(ask, *(f"/page-{n}?PHPSESSID={session}" for n in range(SESSION_PAGES)))


def _deeper(ask: Ask) -> Answer:
    return good_page(ask, "news/", "more/", "./page.html")


def _mirror(ask: Ask) -> Answer:
    """Return a page that is identical to the byte on all hosts."""
    links = (f"/article-{n}" for n in range(1, 10))
    return good_page(ask._replace(host="mirror.example"), *links)


def _soft_404(_: Ask) -> Answer:
    body = b"<!DOCTYPE html><title>Not found</title><p>Nothing here. <a href='x/'>Back</a>"
    return ok_answer(body, HTML_TYPE, EPOCH_S)


def _farm(ask: Ask) -> Answer:
    label = _session(ask)[:8]
    hosts = (f"http://{label}-{n}.{FARM}.{DOMAIN}/" for n in range(SESSION_PAGES))
    return good_page(ask, *hosts)


def _million_links(_: Ask) -> Act:
    def steps() -> Steps:
        yield head(HTML, "Connection: close") + b"<!DOCTYPE html><title>Index</title>\n"
        for first in range(0, LINKS, LINKS_PER_STEP):
            numbers = range(first, first + LINKS_PER_STEP)
            yield "".join(f"<a href=/item/{n}>{n}</a>\n" for n in numbers).encode()

    return Act(200, steps)


def _nest_deeply(_: Ask) -> Act:
    opening = head(HTML, "Connection: close") + b"<!DOCTYPE html><title>Deep</title>\n"
    step = LEVELS // 100
    return Act(
        200,
        lambda: chain([opening], 100 * [step * b"<div>"], [b"down here"], 100 * [step * b"</div>"]),
    )


def _long_urls(ask: Ask) -> Answer:
    return good_page(ask, *(f"/{n}/{LONG_URL_BYTES * 'x'}" for n in range(LONG_URLS)))


CASES = tuple(
    Case(name, does, ("ok",), reply)
    for name, does, reply in (
        ("calendar", "each month links to the next, endlessly", _calendar),
        ("facets", "links that set any of 6 parameters, in any order", _facets),
        ("session-path", "a new session id in the path of every link", _session_path),
        ("session-query", "a new session id in the query of every link", _session_query),
        ("deeper", "relative links that lead one folder deeper on each page", _deeper),
        ("mirror-one", "the same pages as mirror-two, to the byte", _mirror),
        ("mirror-two", "the same pages as mirror-one, to the byte", _mirror),
        ("soft-404", "every URL is 200 with the text “Not found”", _soft_404),
        (FARM, "each page links to ten new hosts in its domain", _farm),
        ("million-links", "a page of 32 MB with a million links", _million_links),
        ("nested", f"{LEVELS:,} nested elements", _nest_deeply),
        ("long-urls", f"{LONG_URLS} links of {LONG_URL_BYTES:,} bytes", _long_urls),
    )
)
