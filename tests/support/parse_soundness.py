"""Invariants of every parsed page, for any input bytes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from gossamer.parse.parsed_page import ParsedPage
from gossamer.parse.reading.dates import CLOCK_ERROR, END, EPOCH
from gossamer.web.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.parse.parsed_page import Page, Rules

OUTCOMES = frozenset(("parsed", "listing", "empty", "unsupported", "failed"))
RELATIONS = """a area frame iframe refresh canonical alternate amphtml next prev feed img srcset
    noscript svg object embed srcdoc entry enclosure sitemap image video"""
REASONS = frozenset(("scheme", "long_url", "no_url", "max_links", "url_too_long", "too_many"))
MOST_CHARS = {
    "detail": 200,
    "content_type": 200,
    "charset": 20,
    "title": 1_000,
    "headline": 1_000,
    "description": 20_000,
    "language": 2,
    "language_hint": 35,
    "site_name": 100,
    "page_type": 30,
    "image": 2_000,
    "icon": 2_000,
    "canonical": 2_000,
}
MOST_LISTED = 50_000
"""Links of a sitemap."""


def check(parsed: ParsedPage, page: Page, rules: Rules) -> None:
    """Raises AssertionError or an encoding error if a page could not be stored as a row."""
    assert parsed.outcome in OUTCOMES
    assert parsed.detail or parsed.outcome not in ("unsupported", "failed")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(parsed), type=ParsedPage) == parsed
    for text in texts(msgspec.to_builtins(parsed, builtin_types=(datetime,))):
        text.encode()
        assert "\0" not in text
    for name, most in MOST_CHARS.items():
        assert len(getattr(parsed, name) or "") <= most, name
    for long in (parsed.text, parsed.main_text):
        assert len(long or "") <= rules.max_text_chars
    check_lists(parsed)
    check_links(parsed, page, rules)
    dates = [date for date in (parsed.published, parsed.modified) if date is not None]
    assert page.fetched is None or all(date <= page.fetched + CLOCK_ERROR for date in dates)
    for date in filter(None, (*dates, parsed.robots.unavailable_after)):
        assert date.utcoffset() == timedelta(0)
        assert EPOCH < date < END


def check_lists(parsed: ParsedPage) -> None:
    assert len(parsed.headings) <= 100
    assert all(0 < len(heading) <= 500 for heading in parsed.headings)
    assert len(parsed.authors) <= 20
    assert all(0 < len(author) <= 500 for author in parsed.authors)
    assert len(parsed.alternates) <= 300
    assert all(len(language) <= 35 for language, _ in parsed.alternates)
    assert parsed.refused.keys() <= REASONS
    assert all(count > 0 for count in parsed.refused.values())


def check_links(parsed: ParsedPage, page: Page, rules: Rules) -> None:
    assert len(parsed.links) <= (MOST_LISTED if parsed.outcome == "listing" else rules.max_links)
    assert len({link.dst for link in parsed.links}) == len(parsed.links)
    for link in parsed.links:
        assert link.dst != page.url
        assert link.relation in RELATIONS.split()
        assert len(link.anchor) <= 1_000
        assert link.dated is None or link.dated.tzinfo is UTC
    addresses = [parsed.canonical, parsed.image, parsed.icon]
    addresses += [link.dst for link in parsed.links] + [url for _, url in parsed.alternates]
    assert all(normalize(url, None, rules.urls) == url for url in addresses if url is not None)


def texts(value: object) -> Iterator[str]:
    """Yield all texts in a value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from texts(pair)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts(each)
