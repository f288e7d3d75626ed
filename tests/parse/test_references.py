"""How the references of a document become links."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

from gossamer.config import Config
from gossamer.parse.parsed_page import Link
from gossamer.parse.reading.references import MAX_HREF_CHARS, References

URL = "https://a.test/dir/page"
RULES = Config().urls
DAY = datetime(2024, 5, 1, tzinfo=UTC)


def references(*hrefs: str, most: int = 9) -> tuple[References, Counter[str]]:
    refused: Counter[str] = Counter()
    found = References(most, refused)
    for number, href in enumerate(hrefs):
        found.add(href, str(number), "a")
    return found, refused


def targets(*hrefs: str, charset: str = "utf-8") -> list[str]:
    links = references(*hrefs)[0].links(URL, URL, RULES, charset=charset)
    return [link.dst for link in links]


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("x", "https://a.test/dir/x"),
        ("/x#y", "https://a.test/x"),
        ("/x #y", "https://a.test/x%20"),
        ("#y", None),
        ("", None),
        ("page", None),
        ("page#y", None),
        (URL, None),
        ("x" * MAX_HREF_CHARS, None),
        (" " * (MAX_HREF_CHARS - 1) + "x", "https://a.test/dir/x"),
        (" " * MAX_HREF_CHARS + "x", None),
    ],
)
def test_where_a_reference_leads(href: str, target: str | None) -> None:
    assert targets(href) == ([] if target is None else [target])


def test_references_without_a_link_are_counted() -> None:
    long = "x" * (MAX_HREF_CHARS + 1)
    found, refused = references(long, "mailto:x", "/1", "/2", "/1#a", "http://[", "/3", most=4)
    others: Counter[str] = Counter()
    assert [link.dst for link in found.links(URL, URL, RULES, others)] == [
        *("https://a.test/1", "https://a.test/2")
    ]
    assert refused == {"long_url": 1, "max_links": 1}
    assert others == {"scheme": 1, "no_url": 1}
    found.links(URL, URL, RULES)
    assert refused == {"long_url": 1, "max_links": 1, "scheme": 1, "no_url": 1}


def test_queries_follow_the_encoding_of_the_page() -> None:
    assert targets("?q=é") == ["https://a.test/dir/page?q=%C3%A9"]
    assert targets("?q=é", charset="windows-1252") == ["https://a.test/dir/page?q=%E9"]


@pytest.mark.parametrize("second", ["/x#2", "HTTPS://A.test/x"])
@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        (("", "img", True), ("two", "img", True), ("two", "img", True, False)),
        (("one", "img", True), ("two", "img", False), ("one", "img", False, False)),
        (("one", "img", False), ("two", "a", True), ("one", "a", False, False)),
        (("one", "a", False), ("two", "next", False), ("one", "a", False, False)),
        (("one", "a", False), ("two", "feed", False), ("one", "a", False, True)),
        (("one", "sitemap", False), ("two", "a", False), ("one", "a", False, True)),
    ],
)
def test_references_to_one_page_are_one_link(
    second: str,
    one: tuple[str, str, bool],
    other: tuple[str, str, bool],
    merged: tuple[str, str, bool, bool],
) -> None:
    """They are merged as they are written, or when they are resolved."""
    found, _ = references()
    for href, (anchor, relation, nofollow), dated in (("/x", one, DAY), (second, other, None)):
        found.add(href, anchor, relation, nofollow=nofollow, dated=dated)
    for _ in range(2):  # the references themselves do not change
        (link,) = found.links(URL, URL, RULES)
        anchor, relation, nofollow, announced = merged
        assert link == Link(
            "https://a.test/x", anchor, relation, nofollow, DAY, link.spelling, announced
        )
