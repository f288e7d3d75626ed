"""Which of a page's nodes describe it, and what these say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.parse.html.schema_org import MAX_BODY_CHARS, MAX_CHARS, MAX_VALUES, Nodes, kind

if TYPE_CHECKING:
    from gossamer.parse.html.jsonld import Thing

HERE = "https://example.org/a?b"


def nodes(*things: Thing) -> Nodes:
    return Nodes(things, [HERE])


def article(**properties: Any) -> Thing:
    return {"@type": "Article", **properties}


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ("Article", "article"),
        ("NewsArticle", "article"),
        ("https://schema.org/BlogPosting", "article"),
        ("https://schema.org/Report/", "article"),
        ("schema:Recipe", "article"),
        ("https://schema.org#HowTo", "article"),
        (["Thing", "CreativeWork"], "article"),
        ("VideoObject", "video"),
        (["Thing", "PodcastEpisode"], "episode"),
        (["VideoObject", "Article"], "article"),
        ("ArticleList", None),
        ("Episode", None),
        (None, None),
        (7, None),
        (["Thing"] * MAX_VALUES + ["Article"], None),
        (["Thing"] * (MAX_VALUES - 1) + ["Article"], "article"),
        ("x" * (MAX_CHARS - 8) + "/Article", "article"),
        ("x" * (MAX_CHARS - 7) + "/Article", None),
    ],
)
def test_kinds_of_works(types: object, expected: str | None) -> None:
    assert kind({"@type": types}) == expected


@pytest.mark.parametrize(
    ("things", "title"),
    [
        ([article(name="A")], "A"),
        ([article(name="A"), article(name="B")], "A"),
        ([article(name="A", url="/x"), article(name="B")], "B"),
        ([article(name="A", url="/x"), article(name="B", url="/a?b#c")], "B"),
        ([article(name="A"), article(name="B", url=HERE)], "B"),
        ([article(name="A"), article(name="B", url="http://m.example.org/a?b/")], "B"),
        ([article(name="A"), article(name="B", mainEntityOfPage={"@id": HERE})], "B"),
        ([article(name="A"), article(name="B", mainEntityOfPage={"url": HERE})], "B"),
        ([article(name="A"), article(name="B", mainEntityOfPage=["/x", HERE])], "B"),
        ([article(name="A"), article(**{"name": "B", "@id": HERE})], "B"),
        ([article(**{"name": "A", "@id": "#x"}), article(name="B", url="/x")], "A"),
        ([article(name="A", url="/x"), article(name="B", url="/y")], None),
        ([article(name="A", url="/x")], "A"),
        ([{"@type": "VideoObject", "name": "V"}, article(name="A")], "A"),
        ([{"@type": "VideoObject", "name": "V"}], "V"),
        ([{"@type": "WebSite", "name": "S"}], None),
    ],
)
def test_the_main_work(things: list[Thing], title: str | None) -> None:
    assert next(nodes(*things).headlines(), None) == title


def test_works_of_the_same_title_are_one() -> None:
    first = article(name="A", datePublished="1")
    same = article(headline="A", datePublished="2")
    other = article(name="B", datePublished="3")
    assert list(nodes(first, other, same).texts("datePublished")) == ["1", "2"]
    assert list(
        nodes(article(datePublished="1"), article(datePublished="2")).texts("datePublished")
    ) == ["1"]


def test_values_come_node_by_node_in_the_order_of_names() -> None:
    page = {"@type": "WebPage", "b": "3"}
    nameless = {"a": 4, "b": True}
    site = {"@type": "WebSite", "a": "5"}
    found = nodes(
        site, page, nameless, article(a=["1", None, {"@value": " <b>2</b> &amp; "}], b=[])
    )
    assert list(found.texts("b", "a")) == ["1", "2 &", "3", "4"]


def test_values_are_text_and_limited() -> None:
    long = "x" * (MAX_CHARS + 1)
    found = nodes(
        article(a=[long, "a\ud800\0b ", "<" + long, {"x": 1}, 1.5, ""], b=["1"] * (MAX_VALUES + 1))
    )
    assert list(found.texts("a")) == [long[1:], "a?b", "<" + long[2:]]
    assert len(list(found.texts("b"))) == MAX_VALUES


def test_headlines_are_before_names() -> None:
    assert list(nodes(article(name="A", headline="B")).headlines()) == ["B", "A"]


@pytest.mark.parametrize(
    ("properties", "body"),
    [
        ({"articleBody": "a  b\n\nc"}, "a b\nc"),
        ({"text": "a"}, "a"),
        ({"articleBody": "a", "text": "b"}, "a"),
        ({"articleBody": ["a"], "text": "b"}, "b"),
        ({"articleBody": "<p>a <b>b</b></p><br/>c<em>d</em>"}, "a b\ncd"),
        ({"articleBody": "&lt;p&gt;a&lt;/p&gt;b &amp; c"}, "a\nb & c"),
        ({"articleBody": "<p></p>"}, None),
        ({"articleBody": "a\0b"}, "ab"),
        ({"articleBody": "x" * MAX_BODY_CHARS}, "x" * MAX_BODY_CHARS),
        ({"articleBody": "x" * (MAX_BODY_CHARS + 1)}, None),
        ({}, None),
    ],
)
def test_the_text_of_the_main_work(properties: dict[str, Any], body: str | None) -> None:
    assert nodes(article(**properties)).body() == body


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("Ann", ["Ann"]),
        (["Ann", "Bob"], ["Ann", "Bob"]),
        ({"name": "Ann"}, ["Ann"]),
        ({"name": ["Ann", "A."]}, ["Ann"]),
        ({"givenName": ["Ann", "A."], "familyName": "Lee"}, ["Ann Lee"]),
        ({"familyName": "Lee"}, ["Lee"]),
        ({"@id": "#ann"}, ["Ann Lee"]),
        ({"@id": "#ann", "name": "Ann"}, ["Ann"]),
        ({"@id": "#bob"}, [""]),
    ],
)
def test_names_of_authors(author: object, names: list[str]) -> None:
    person = {"@type": "Person", "@id": "#ann", "name": "Ann Lee"}
    assert nodes(person, article(author=author)).authors() == names


def test_authors_are_those_of_the_first_node_that_has_any() -> None:
    page = {"@type": "WebPage", "author": "Carl"}
    assert nodes(page, article(creator="Bob")).authors() == ["Bob"]
    assert nodes(page, article(creator="Bob", author="Ann")).authors() == ["Ann"]
    assert nodes(page, article()).authors() == ["Carl"]
    assert nodes().authors() == []


def test_images_are_addresses_or_nodes_that_have_one() -> None:
    picture = {"@type": "ImageObject", "@id": "#p", "url": "/p"}
    work = article(
        image=["/a", {"url": "/b", "contentUrl": "/c"}, {"@id": "#p"}, {"@id": "#q"}],
        thumbnailUrl="/d",
    )
    page = {"@type": "WebPage", "image": "/e"}
    assert list(nodes(page, picture, work).images()) == ["/a", "/b", "/c", "/p", "/d", "/e"]


def test_the_names_of_sites_are_before_those_of_publishers() -> None:
    work = article(publisher={"name": "P"})
    assert list(nodes(work, {"@type": "WebSite", "name": ["S", "T"]}).site_names()) == [
        "S",
        "T",
        "P",
    ]
