from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.jsonld import MAX_CHARS, MAX_MENDED_CHARS, MAX_THINGS, read_jsonld
from gossamer.parse.html.microdata import MAX_NODES, read_microdata
from gossamer.parse.html.schema_org import Nodes
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, Rules

HERE = "https://example.org/news/1"


def nodes(*things: dict[str, Any], at: str = HERE) -> Nodes:
    return Nodes(read_jsonld([json.dumps(things)]), [at])


def microdata(html: str) -> list[dict[str, Any]]:
    return read_microdata(LexborHTMLParser(html))


@pytest.mark.parametrize(
    "script",
    [
        '{"a": "b c"}',
        '\n  {"a": "b c"}\n;',
        '\ufeff{"a": "b c"}',
        '<!-- {"a": "b c"} -->',
        '<![CDATA[ {"a": "b c"} ]]>',
        '//<![CDATA[\n{"a": "b c"}\n//]]>',
        '/*<![CDATA[*/ {"a": "b c"} /*]]>*/',
        '<!--//--><![CDATA[//><!--\n{"a": "b c"}\n//--><!]]>',
        '{"a": "b c",}',
        '{"a": "b c",\n /* it, is } */ }',
        '{// the name\n"a": "b c"}',
        r'{"a": "b\ c"}',
        "{&quot;a&quot;: &quot;b c&quot;}",
        '{"a": "b c"} trailing }',
        'var data = {"a": "b c"};',
    ],
)
def test_json_as_the_web_writes_it(script: str) -> None:
    assert read_jsonld([script]) == [{"a": "b c"}]


def test_line_breaks_within_strings_are_part_of_them() -> None:
    assert read_jsonld(['{"a": "b\n\tc"}']) == [{"a": "b\n\tc"}]


def test_commas_and_comments_within_strings_stay() -> None:
    assert read_jsonld([r'{"a": "x,} // \" /* y */",}']) == [{"a": 'x,} // " /* y */'}]


def test_several_objects_and_those_before_what_is_beyond_mending() -> None:
    assert read_jsonld(['{"a": 1}\n{"a": 2} [{"a": 3}]']) == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert read_jsonld(['{"a": 1}\n{"a": what}', '{"a": 2}']) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("script", ["", "null", '"a"', "7", "[[]]", "{", '{"a": }', "<html>"])
def test_what_holds_no_object(script: str) -> None:
    assert read_jsonld([script]) == []


def test_graphs_lists_and_main_entities_are_opened() -> None:
    inner = [{"@type": "A", "mainEntity": {"@type": "B"}}, {"@type": "C"}]
    found = read_jsonld([json.dumps([{"@graph": inner}])])
    assert [thing.get("@type") for thing in found] == [None, "A", "B", "C"]


@pytest.mark.parametrize(
    "script",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"@graph":[' * 100_000,
        '{"a":1,' * 100_000,
        "9" * 900_000,
        '"' * 199_999,
        '\\"' * 99_999,
        '{"a": ' + "9" * 900_000 + "}",
        '{"a": 1e999999}',
        '"' * 900_000,
        '\\"' * 450_000,
        '"\\' * 450_000,
        "/*" * 450_000,
        "/* *" * 220_000,
        ", " * 450_000,
        "," + " " * 900_000,
        "<!--" * 220_000,
        ";" * 900_000,
        "{" + '"a":1,' * 150_000,
        "{} " * 300_000,
        "x" * 10_000_000,
        '{"a": "\\ud800"}',
    ],
    ids=lambda script: f"{script[:6]} {len(script)}",
)
def test_hostile_scripts_cost_little(script: str) -> None:
    start = time.process_time()
    assert len(read_jsonld([script])) <= MAX_THINGS
    assert time.process_time() - start < 3


def test_bounds() -> None:
    assert len(read_jsonld([json.dumps([{"a": 1}] * 1_000)] * 3)) == MAX_THINGS
    long = json.dumps({"a": "x" * (MAX_CHARS - 20)})
    assert len(read_jsonld([long, long, "{}"])) == 2
    broken = '{"a": "' + "x" * (MAX_MENDED_CHARS - 20) + '",}'
    assert len(read_jsonld([broken, broken, "{},"])) == 2  # the first and the last
    deep = json.dumps({"@graph": {"@graph": {"@graph": {"@graph": {"@graph": {"@graph": {}}}}}}})
    assert len(read_jsonld([deep])) == 6


@given(st.lists(st.text(alphabet='{}[]",:\\/*\n ab1&;<!-'), max_size=3))
def test_any_script(scripts: list[str]) -> None:
    assert all(isinstance(thing, dict) for thing in read_jsonld(scripts))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "@type",
                    "@id",
                    "@graph",
                    "author",
                    "name",
                    "url",
                    "image",
                    "publisher",
                    "datePublished",
                    "mainEntityOfPage",
                ]
            ),
            inner | st.sampled_from(["Article", "WebPage", "WebSite", "#a", HERE]),
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(st.lists(JSON, max_size=4))
def test_any_nodes(values: list[Any]) -> None:
    found = Nodes(read_jsonld([json.dumps(values)]), [HERE])
    texts = [*found.headlines(), *found.texts("datePublished", "description"), *found.authors()]
    texts += [*found.images(), *found.site_names()]
    assert all(text.encode() == text.encode() and "\0" not in text for text in texts)


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("Ann", ["Ann"]),
        ({"@type": "Person", "name": "Ann"}, ["Ann"]),
        ({"name": ["Ann", "Anna"]}, ["Ann"]),
        ([{"name": "Ann"}, "Bob"], ["Ann", "Bob"]),
        ({"givenName": "Ann", "familyName": "Lee"}, ["Ann Lee"]),
        ({"@id": "#ann"}, ["Ann Lee"]),
        ({"@id": "#nobody"}, []),
        ({"name": {"@value": "Ann", "@language": "en"}}, ["Ann"]),
        ("Ann &amp; Bob", ["Ann & Bob"]),
        ("<b>Ann</b>\n Lee", ["Ann Lee"]),
        ([], []),
        (None, []),
        (True, []),
    ],
)
def test_authors(author: object, names: list[str]) -> None:
    person = {"@type": "Person", "@id": "#ann", "name": "Ann Lee"}
    found = nodes({"@type": "Article", "author": author}, person)
    assert [name for name in found.authors() if name] == names


@pytest.mark.parametrize(
    ("image", "urls"),
    [
        ("/a.jpg", ["/a.jpg"]),
        (["/a.jpg", {"url": "/b.jpg"}], ["/a.jpg", "/b.jpg"]),
        ({"@type": "ImageObject", "contentUrl": "/c.jpg"}, ["/c.jpg"]),
        ({"@id": "#i"}, ["/i.jpg"]),
    ],
)
def test_images(image: object, urls: list[str]) -> None:
    picture = {"@type": "ImageObject", "@id": "#i", "url": "/i.jpg"}
    assert list(nodes({"@type": "Article", "image": image}, picture).images()) == urls


@pytest.mark.parametrize(
    "kind",
    ["NewsArticle", "https://schema.org/BlogPosting", "schema:Report", ["Thing", "TechArticle"]],
)
def test_types_of_works(kind: object) -> None:
    assert nodes({"@type": kind, "name": "x"}).kind == "article"


@pytest.mark.parametrize(
    "page", ["//example.org/news/1/", {"@id": "//example.org/news/1/"}, {"url": "/news/1"}]
)
def test_a_work_that_names_this_page_is_the_main_one(page: object) -> None:
    others = [{"@type": "Article", "name": "no", "url": f"/news/{n}"} for n in (2, 3)]
    of_no_page = {"@type": "Article", "name": "no"}
    ours = {"@type": "Article", "name": "yes", "mainEntityOfPage": page}
    assert list(nodes(*others, of_no_page, ours).headlines()) == ["yes"]


def test_a_list_of_other_pages_has_no_main_work() -> None:
    teasers = [{"@type": "Article", "name": "no", "url": f"/news/{n}"} for n in (2, 3)]
    assert list(nodes(*teasers, {"@type": "WebPage", "name": "page"}).headlines()) == []


def test_the_main_work_told_twice() -> None:
    first = {"@type": "Article", "headline": "A", "url": HERE, "datePublished": "2022"}
    again = {"@type": "Article", "name": "A", "datePublished": "2023"}
    other = {"@type": "Article", "name": "B", "datePublished": "2024"}
    assert list(nodes(other, again, first).texts("datePublished")) == ["2022", "2023"]


def test_works_without_titles_are_not_the_same() -> None:
    found = nodes({"@type": "Article"}, {"@type": "Article", "datePublished": "2024"})
    assert list(found.texts("datePublished")) == []


def test_an_article_speaks_before_its_page_and_no_organisation_does() -> None:
    found = nodes(
        {"@type": "WebPage", "datePublished": "2020"},
        {"@type": "Organization", "datePublished": "2021"},
        {"@type": "NewsArticle", "datePublished": "2022"},
    )
    assert list(found.texts("datePublished")) == ["2022", "2020"]


def test_escapes_that_are_no_text_do_not_leave() -> None:
    script = r'{"@type": "Article", "name": "a\ud800b\u0000c"}'
    assert list(Nodes(read_jsonld([script]), [HERE]).headlines()) == ["a?bc"]


def test_microdata_nests() -> None:
    html = """<div itemscope itemtype="https://schema.org/Article"><h1 itemprop=headline>A</h1>
        <span itemprop=author itemscope itemtype=https://schema.org/Person>
        by <a itemprop="url name" href=/ann>Ann</a></span>
        <time itemprop=datePublished datetime=2024-05-01>May</time>
        <img itemprop=image src=/a.jpg><meta itemprop=dateModified content=2024-05-02>
        <div itemprop=comment itemscope itemtype=https://schema.org/Comment>
        <b itemprop=name>C</b></div><p itemprop=articleBody>text</p></div>"""
    article, person, comment = microdata(html)
    assert article == {
        "@type": ["https://schema.org/Article"],
        "headline": ["A"],
        "author": [person],
        "datePublished": ["2024-05-01"],
        "image": ["/a.jpg"],
        "dateModified": ["2024-05-02"],
    }
    assert person["name"] == ["Ann"]
    assert comment["name"] == ["C"]


@pytest.mark.parametrize(
    ("element", "value"),
    [
        ("<a itemprop=author href=/ann>Ann</a>", "Ann"),
        ("<a itemprop=url href=/ann>Ann</a>", "/ann"),
        ("<abbr itemprop=datePublished title=2024-05-01>May</abbr>", "2024-05-01"),
        ("<span itemprop=datePublished>2024-05-01</span>", "2024-05-01"),
        ("<span itemprop=name content=N>n</span>", "N"),
        ("<img itemprop=image data-src=/b.jpg>", "/b.jpg"),
    ],
)
def test_values_of_microdata(element: str, value: str) -> None:
    [thing] = microdata(element)
    assert list(thing.values()) == [[value]]


@pytest.mark.parametrize("attribute", ["itemprop", "ITEMPROP", "itemProp"])
@pytest.mark.parametrize("byline", ["Ann Lee", "Ánn Lee", "Ann Łee"])
def test_names_of_attributes_have_no_case(attribute: str, byline: str) -> None:
    markup = f"<title>T</title><p {attribute}=author>{byline}</p>"
    for charset in ("utf-8", "utf-16", "iso-8859-4"):
        headers = {"content-type": f"text/html; charset={charset}"}
        page = Page(HERE, headers, markup.encode(charset, "xmlcharrefreplace"))
        assert parse_page(page, Rules()).authors == (byline,)


def test_dates_outside_of_items_count_where_they_agree() -> None:
    time_element = "<time itemprop=datePublished datetime={}></time>"
    same = microdata(2 * time_element.format("2024-05-01"))
    assert same == [{"datePublished": ["2024-05-01"] * 2}]
    assert microdata(time_element.format("2024-05-01") + time_element.format("2024-05-02")) == []


@pytest.mark.parametrize(
    "html",
    [
        "<div itemscope itemprop=author>" * 5_000,
        "<div itemprop=name>" * 5_000 + "x" * 1_000_000,
        "<p itemscope itemprop='author name url image publisher'>x" * 50_000,
    ],
    ids=["scopes", "properties", "many"],
)
def test_hostile_microdata_costs_little(html: str) -> None:
    tree = LexborHTMLParser(html)
    start = time.process_time()
    things = read_microdata(tree)
    assert len(things) <= MAX_NODES + 1
    list(Nodes(things, [HERE]).texts("author", "name"))
    assert time.process_time() - start < 3


@pytest.mark.parametrize(("most", "names"), [(3, ["abc"]), (4, ["abc", "de"]), (9, ["abc", "de"])])
def test_texts_of_microdata_are_read_as_long_as_they_are_few(
    monkeypatch: pytest.MonkeyPatch, most: int, names: list[str]
) -> None:
    """Properties that nobody asks for do not count."""
    monkeypatch.setattr("gossamer.parse.html.microdata.MAX_TEXT_CHARS", most)
    html = "<p itemprop=keywords>many words</p><p itemprop=name>abc</p><p itemprop=name>de</p>"
    assert microdata(html) == [{"name": names}]
