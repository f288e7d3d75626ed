from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.reading.directives import Wishes, header_wishes, wishes

END = datetime(2010, 6, 25, 15, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("noindex", Wishes(noindex=True)),
        ("NoIndex , NOFOLLOW", Wishes(noindex=True, nofollow=True)),
        ("none", Wishes(noindex=True, nofollow=True)),
        ("noindex nofollow", Wishes(noindex=True, nofollow=True)),
        ("noarchive; nosnippet", Wishes(noarchive=True, nosnippet=True)),
        ("nocache", Wishes(noarchive=True)),
        ("max-snippet:0", Wishes(nosnippet=True)),
        ("max-snippet: -1, max-image-preview: large", Wishes()),
        ("max-snippet:0, noindex", Wishes(nosnippet=True, noindex=True)),
        ("index, follow, all", Wishes()),
        ("no index, No-Follow", Wishes(noindex=True, nofollow=True)),
        ("index, noindex", Wishes(noindex=True)),
        ('"noindex"', Wishes(noindex=True)),
        ("noindex|nofollow", Wishes(noindex=True, nofollow=True)),
        ("noindex: true", Wishes(noindex=True)),
        ("max-image-preview: none", Wishes()),
        ("max-snippet: 0; noindex", Wishes(nosnippet=True, noindex=True)),
        ("max-snippet=0 nofollow", Wishes(nosnippet=True, nofollow=True)),
        ("max-snippet: 05", Wishes()),
        ("noindexing", Wishes()),
        ("", Wishes()),
        ("unavailable_after: 2010-06-25T15:00:00Z", Wishes(unavailable_after=END)),
        ("unavailable_after: Friday, 25-Jun-10 15:00:00 GMT", Wishes(unavailable_after=END)),
        (
            "unavailable_after: 25 Jun 2010 15:00:00 UTC, noindex",
            Wishes(True, unavailable_after=END),
        ),
        ("Unavailable_After: Jun 25, 2010 15:00 UTC", Wishes(unavailable_after=END)),
        ("noindex, unavailable_after: Jun 25, 2010 15:00 UTC", Wishes(True, unavailable_after=END)),
        ("unavailable_after: soon, nofollow", Wishes(nofollow=True)),
        ("unavailable_after", Wishes()),
    ],
)
def test_meta(content: str, asked: Wishes) -> None:
    assert wishes(content) == asked
    assert header_wishes(content, "gossamer") == asked


@pytest.mark.parametrize(
    ("header", "asked"),
    [
        ("gossamer: noindex", Wishes(noindex=True)),
        ("Gossamer : noindex, nofollow", Wishes(noindex=True, nofollow=True)),
        ("otherbot: noindex, nofollow", Wishes()),
        ("noarchive, otherbot: noindex", Wishes(noarchive=True)),
        ("otherbot: noindex, gossamer: nofollow", Wishes(nofollow=True)),
        ("otherbot: unavailable_after: 25 Jun 2010 15:00:00 GMT", Wishes()),
        (
            "gossamer: unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, none",
            Wishes(True, True, unavailable_after=END),
        ),
        ("otherbot/2.1: noindex", Wishes()),
        ("gossamer/2.1: noindex", Wishes(noindex=True)),
        ("X-Robots-Tag: noindex", Wishes(noindex=True)),
        ("otherbot: nofollow, *: noindex", Wishes(noindex=True)),
        ("otherbot: nofollow\nnoindex", Wishes(noindex=True)),
        ("noindex\nnosnippet\nindex", Wishes(noindex=True, nosnippet=True)),
        ("otherbot: noindex\ngossamer: nofollow", Wishes(nofollow=True)),
        (
            "unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, otherbot: none",
            Wishes(unavailable_after=END),
        ),
    ],
)
def test_agents_in_the_header(header: str, asked: Wishes) -> None:
    assert header_wishes(header, "Gossamer") == asked


def test_wishes_add_up_and_the_first_end_counts() -> None:
    later = Wishes(noindex=True, unavailable_after=datetime(2020, 1, 1, tzinfo=UTC))
    both = later | Wishes(nosnippet=True, unavailable_after=END)
    assert both == Wishes(noindex=True, nosnippet=True, unavailable_after=END)
    assert later | Wishes() == later


@given(st.text(alphabet="unavailable_after:noindex, 0123456789GMT-;\n"), st.text())
def test_any_text(content: str, agent: str) -> None:
    assert isinstance(wishes(content) | header_wishes(content, agent), Wishes)


@pytest.mark.parametrize(
    "asked",
    [Wishes(True), Wishes(nofollow=True), Wishes(noarchive=True), Wishes(nosnippet=True)],
)
def test_what_one_place_asks_for_holds(asked: Wishes) -> None:
    assert asked | Wishes() == Wishes() | asked == asked | asked == asked


def test_the_earlier_end_holds() -> None:
    early, late = Wishes(unavailable_after=END), Wishes(unavailable_after=END.replace(year=2011))
    assert early | late == late | early == early | Wishes() == Wishes() | early == early
