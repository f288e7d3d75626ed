"""What is kept of elements that describe a page, and how much of it."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.head_metadata import (
    LARGE_HEIGHT,
    LARGE_WIDTH,
    MAX_ALTERNATES,
    MAX_HEADINGS,
    MAX_SCRIPTS,
    MAX_STATEMENTS,
    MAX_TIMES,
    MAX_VALUE_CHARS,
    MAX_VALUES,
    WIDEST,
    HeadMetadata,
    is_date_abbreviation,
    is_picture,
)
from gossamer.parse.reading.directives import Wishes
from gossamer.web.publisher_wishes import RSL_TYPE, statement

LONG = "x" * (MAX_VALUE_CHARS + 1)


def meta(name: str, content: str, attribute: str = "name", agent: str = "gossamer") -> HeadMetadata:
    found = HeadMetadata(agent)
    found.add_meta({attribute: name, "content": content})
    return found


def test_contents_of_meta_elements_have_limits() -> None:
    found = HeadMetadata()
    for number in range(MAX_VALUES + 1):
        found.add_meta({"name": "Author", "content": str(number)})
    found.add_meta({"name": "DC.creator  byl unknown", "content": LONG})
    found.add_meta({"name": "author", "content": ""})
    found.add_meta({"content": "nameless"})
    assert found.meta == {
        "author": [str(number) for number in range(MAX_VALUES)],
        "dc:creator": [LONG[:-1]],
        "byl": [LONG[:-1]],
    }
    assert next(found.meta_contents("author")) == "0"
    assert list(found.meta_contents("author"))[-2:] == [LONG[:-1]] * 2
    assert list(found.meta_contents("headline")) == []


def test_an_element_may_have_a_name_and_a_property() -> None:
    found = HeadMetadata()
    found.add_meta({"property": "og:title", "name": "author", "content": "Ann"})
    assert found.meta == {"og:title": ["Ann"], "author": ["Ann"]}
    assert meta("x" * 193 + " author", "Ann").meta == {"author": ["Ann"]}
    assert meta("x" * 194 + " author", "Ann").meta == {}


@pytest.mark.parametrize(
    ("name", "attribute", "agent", "is_heard"),
    [
        ("robots", "name", "gossamer", True),
        ("Robots", "property", "gossamer", True),
        ("robots", "http-equiv", "gossamer", False),
        ("gossamer", "name", "gossamer", True),
        ("GOSSAMER", "name", "Gossamer", True),
        ("gossamer", "http-equiv", "gossamer", False),
        ("otherbot", "name", "gossamer", False),
        ("otherbot", "name", "OtherBot", True),
    ],
)
def test_directives_are_for_all_or_for_us(
    name: str, attribute: str, agent: str, is_heard: bool
) -> None:
    found = meta(name, "noindex", attribute, agent)
    assert found.wishes == (Wishes(noindex=True) if is_heard else Wishes())
    found.add_meta({"name": "robots", "content": "nofollow"})
    assert found.wishes == Wishes(noindex=is_heard, nofollow=True)


def test_statements_about_uses_are_kept_as_written() -> None:
    found = meta("tdm-reservation", LONG)
    found.add_link({"rel": "License", "href": "/l", "type": f"{RSL_TYPE.upper()}; x"})
    found.add_link({"rel": "license", "href": "/other"})
    found.add_link({"rel": "license", "href": "/other", "type": "text/html"})
    found.add_rsl(LexborHTMLParser("<script type=text/plain></script>"))
    found.add_rsl(LexborHTMLParser(f"<script type={RSL_TYPE}></script>"))
    assert found.statements == [
        statement("page", "tdm-reservation", LONG[:-1]),
        statement("page", "License", "/l"),
        statement("page", "License", f"a script of the type {RSL_TYPE}"),
    ]
    for _ in range(MAX_STATEMENTS):
        found.add_meta({"name": "tdm-policy", "content": "/p"})
    assert len(found.statements) == MAX_STATEMENTS


def test_the_first_link_of_each_relation_counts() -> None:
    found = HeadMetadata()
    for number in (1, 2):
        for relation in ("canonical", "ICON shortcut", "apple-touch-icon", "image_src", "me"):
            found.add_link({"rel": relation, "href": f"/{relation.split()[0].lower()}{number}"})
    found.add_link({"rel": "canonical"})
    found.add_link({"href": "/without"})
    assert (found.canonical, found.icon) == ("/canonical1", "/icon1")
    assert (found.touch_icon, found.image_src) == ("/apple-touch-icon1", "/image_src1")
    found = HeadMetadata()
    found.add_link({"rel": "canonical", "href": LONG})
    assert found.canonical is None
    found.add_link({"rel": "canonical icon", "href": LONG[1:]})
    assert found.canonical == found.icon == LONG[1:]
    found.add_link({"rel": "x" * 195 + " image_src", "href": "/x"})
    assert found.image_src is None


def test_alternates_are_in_a_language_and_few() -> None:
    found = HeadMetadata()
    found.add_link({"rel": "alternate", "href": "/feed"})
    for number in range(MAX_ALTERNATES + 1):
        found.add_link({"rel": "alternate", "href": f"/{number}", "hreflang": "de"})
    assert found.alternates == [("de", f"/{number}") for number in range(MAX_ALTERNATES)]


@pytest.mark.parametrize(
    ("width", "height", "is_large"),
    [
        (LARGE_WIDTH, LARGE_HEIGHT, True),
        (LARGE_WIDTH - 1, LARGE_HEIGHT, False),
        (LARGE_WIDTH, LARGE_HEIGHT - 1, False),
        (WIDEST * LARGE_HEIGHT, LARGE_HEIGHT, True),
        (WIDEST * LARGE_HEIGHT + 1, LARGE_HEIGHT, False),
        (" 640.5 px ", "480PX"[:3], True),
        ("640em", 480, False),
        (640, None, False),
        (None, 480, False),
        (99999, 99999, True),
        (999999, 99999, False),
        (" " * 17 + "640", 480, True),
        (" " * 18 + "640", 480, False),
    ],
)
def test_an_image_is_large_in_both_directions_and_no_banner(
    width: object, height: object, is_large: bool
) -> None:
    found = HeadMetadata()
    given = {"width": width, "height": height}
    sizes = {name: str(size) for name, size in given.items() if size is not None}
    found.add_image({"src": "/a.jpg", **sizes})
    assert (found.large_image is not None) is is_large


def test_the_first_large_image_counts_and_lazy_ones_have_two_addresses() -> None:
    found = HeadMetadata()
    sizes = {"width": "640", "height": "480"}
    for source in (None, "/logo.png"):
        found.add_image({"src": source, **sizes})
    assert found.large_image is None
    found.add_image({"src": "/blank.gif", "data-src": "/a.jpg", **sizes})
    found.add_image({"src": "/b.jpg", **sizes})
    assert found.large_image == "/a.jpg"


def test_lists_are_few() -> None:
    found = HeadMetadata()
    for number in range(200):
        found.add_script(str(number))
        found.add_author(str(number))
        found.add_h1(number)
        found.add_time({}, str(number), number)
    found.add_author("")
    assert found.scripts == [str(number) for number in range(MAX_SCRIPTS)]
    assert found.authors == [str(number) for number in range(MAX_VALUES)]
    assert found.headlines == list(range(MAX_HEADINGS))
    assert [time.line for time in found.times] == list(range(MAX_TIMES))
    found = HeadMetadata()
    found.add_author("")
    assert found.authors == []


def test_what_is_kept_of_times() -> None:
    found = HeadMetadata()
    found.add_time({"datetime": LONG, "title": "t", "pubdate": None}, "text", 3)
    found.add_time({"title": "t", "class": "Updated  x", "itemprop": "dateModified"}, "text", 4)
    found.add_time({"datetime": "", "class": "x" * 195 + " pubdate"}, "text", 5)
    first, second, third = found.times
    assert first == (LONG[:-1], frozenset(), True, 3, "text")
    assert second == ("t", frozenset(("updated", "x", "datemodified")), False, 4, "text")
    assert third == ("text", frozenset(("x" * 195, "pubd")), False, 5, "text")


def test_dates_of_hatom() -> None:
    assert is_date_abbreviation({"class": "x Published"})
    assert is_date_abbreviation({"class": "updated"})
    assert not is_date_abbreviation({"class": "x"})
    assert not is_date_abbreviation({})
    assert is_date_abbreviation({"class": "x" * 192 + " updated"})
    assert not is_date_abbreviation({"class": "x" * 193 + " updated"})


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("/a.jpg", True),
        ("/a.jpg?logo.png", True),
        ("/a.jpg#logo.png", True),
        ("/logo/a.jpg", True),
        ("/a.SVG", False),
        ("/a.ico", False),
        ("/a.svg?x", False),
        ("DATA:image/png,x", False),
        ("data.png", True),
        ("/siteLogo.png", False),
        ("/catalogo.png", True),
        ("/logout.png", True),
    ],
)
def test_pictures_by_their_names(address: str, is_one: bool) -> None:
    assert is_picture(address) is is_one
