from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

import pytest

from gossamer.index.format.document_builder import (
    FIRST_CHARS,
    FIRST_WORDS,
    MAX_HEADINGS,
    MAX_YEAR,
    MIN_YEAR,
    _host_domains,
    _year,
    build_document,
    kind_of,
    read_texts,
    skip_known,
)
from gossamer.index.format.page_keys import hash_prefix, page_key, title_keys
from gossamer.index.format.stored_document import StoredDocument, pack_text, read_stored_document


@pytest.mark.parametrize(
    ("year", "has_one"),
    [(MIN_YEAR - 1, False), (MIN_YEAR, True), (MAX_YEAR, True), (MAX_YEAR + 1, False)],
)
def test_a_year_is_one_in_which_pages_are_written(year: int, has_one: bool) -> None:
    for month, day in ((1, 1), (12, 31)):
        date_ms = int(datetime(year, month, day, tzinfo=UTC).timestamp() * 1000)
        assert _year(date_ms) == (year if has_one else None)


@pytest.mark.parametrize("date_ms", [-(2**63), 2**63 - 1])
def test_a_date_beyond_the_calendar_has_no_year(date_ms: int) -> None:
    assert _year(date_ms) is None


def test_a_host_is_in_its_domains() -> None:
    assert [*_host_domains("a.b.org")] == ["a.b.org", "b.org", "org"]
    assert [*_host_domains("b.org:8080")] == ["b.org:8080", "b.org", "org"]
    assert [*_host_domains("localhost")] == ["localhost"]


def test_parts_that_a_text_or_another_part_repeats_are_left_out() -> None:
    parts = ["Roses", "roses", "", "Tulips", "Lilies"]
    assert [*skip_known(parts, ["tulips"])] == ["Roses", "Lilies"]


def row_of(text: str, language: str, **more: Any) -> dict[str, Any]:
    """The row of a page with this text, and what is said of it besides."""
    row = defaultdict[str, Any](lambda: None)
    row |= dict.fromkeys(("title", "description", "inner_boilerplate", "boilerplate"), "")
    row |= {"url": "http://a.example/", "host": "a.example", "text": text, "rank": 0.0}
    row |= {"index_language": language, "language": language, "static_rank": 1.0, "fetched_ms": 0}
    return row | more


def fields_of(text: str, language: str = "zh", **more: Any) -> dict[str, list[Any]]:
    """The fields of the document of a page."""
    fields: dict[str, list[Any]] = build_document(row_of(text, language, **more)).to_dict()
    return fields


def test_chinese_characters_that_have_other_forms_are_found_as_they_are_written() -> None:
    words, variants = fields_of("臺灣的麵")["exact_form"]
    assert {*words.split()} >= {"台", "湾", "面"}
    assert {*variants.split()} == {"臺", "灣", "麵"}
    assert len(fields_of("plain words", "en")["exact_form"]) == 1

    assert [{*each.split()} for each in fields_of("", title="臺灣")["title_exact_form"]] == [
        {"台", "湾"},
        {"臺", "灣"},
    ]


def test_texts_without_spaces_have_their_characters_and_pairs_of_them() -> None:
    assert fields_of("日本語です", "ja")["text"][:2] == ["日 本 语 で す", "日本 本语 语で です"]
    assert fields_of("日本語 Café", "en")["text"][::2] == ["日本语 cafe", "日 本 语 日本 本语"]


PAGE: dict[str, Any] = {
    "url": "https://www.docs.example.org:8080/My%20page/e-mail?q=x",
    "host": "www.docs.example.org:8080",
    "title": "The e-mail café: os.path",
    "description": "About it",
    "headings": ["First heading", "Second", "The e-mail café: os.path"],
    "anchors": ["see mail", "see mail", "docs"],
    "boilerplate": "Menu footer",
    "inner_boilerplate": "Repeated line",
    "copies": 3,
    "versions": 2,
    "image": "i.png",
    "content_type": "application/pdf; x",
    "modified_ms": 1_600_000_000_000,
}
TEXT = "The e-mail café: os.path\nFirst heading\nBody words of snake_case here.\nMore"


def page_fields(**more: Any) -> dict[str, list[Any]]:
    return fields_of(TEXT, "en", **PAGE | more)


def stored_of(**more: Any) -> StoredDocument:
    return read_stored_document(build_document(row_of(TEXT, "en", **PAGE | more)))


def test_what_a_page_is_called_is_in_the_fields_of_names() -> None:
    fields = page_fields()
    assert fields["title"] == ["the e mail cafe os path", "email"]
    assert fields["title_code"] == ["-mail .path"]
    assert fields["title_exact_form"] == ["e mail cafe os path"]
    keys = {*title_keys(PAGE["title"]), *title_keys("First heading")}
    assert (len(keys), {*fields["title_key"]}) == (3, keys)
    assert {*page_fields(headings=None)["title_key"]} == {*title_keys(PAGE["title"])}
    assert fields["anchors"] == ["see mail see mail doc"]
    assert fields["vocabulary"] == [
        "First heading Second see mail docs The e mail café os path The e mail café os path"
    ]
    assert fields["address"] == ["docs example org 8080 My page e mail q x"]


def test_the_first_words_follow_the_title_without_names() -> None:
    (first,) = page_fields()["first_words"]
    assert first == "the e mail cafe os path bodi word of snake case here more"
    words = [f"w{number}" for number in range(FIRST_WORDS + 5)]
    (first,) = fields_of(" ".join(words), "en", title="Title")["first_words"]
    assert first.split() == ["titl", *words[:FIRST_WORDS]]
    long = "x" * (FIRST_CHARS - 4)
    assert fields_of(f"{long} abcdef", "en", title="Title")["first_words"] == ["titl ", " abc"]


def test_each_name_is_in_the_text_once() -> None:
    fields = page_fields()
    assert fields["text"] == [
        "second",
        "see mail",
        "doc",
        "about it",
        "the e mail cafe os path first head bodi word of snake case here more repeat line",
        "doc exampl org 8080 my page e mail q x",
        "email email",
    ]
    assert fields["boilerplate"] == ["menu footer"]
    assert "boilerplate" not in page_fields(boilerplate="")
    assert fields["code"] == ["-mail .path .example .org /My /e-mail ?q =x snake_case"]


def test_what_is_indexed_whole() -> None:
    fields = page_fields(copy_hosts=["x.example.org", "b.test"], wishes="noai noimage")
    own = ["www.docs.example.org:8080", "www.docs.example.org", "docs.example.org"]
    assert fields["site"] == [*own, "example.org", "org", "x.example.org", "b.test", "test"]
    assert fields["copy_site"] == ["x.example.org", "b.test", "test"]
    assert fields["wish"] == ["noai", "noimage"]
    assert (fields["url"], fields["host"]) == ([PAGE["url"]], [PAGE["host"]])
    assert (fields["language"], fields["kind"]) == (["en"], ["pdf"])
    assert fields["key"] == [page_key(PAGE["url"], PAGE["host"])]
    assert fields["hash_prefix"] == [hash_prefix(fields["key"][0])]
    assert (fields["key"], fields["hash_prefix"]) == ([7628171589442481435], ["d3b96b"])
    assert (fields["fetched_ms"], fields["static_rank"]) == ([0], [1.0])
    bare = build_document(row_of(TEXT, "en") | {"language": None}).to_dict()
    assert not bare.keys() & {"language", "wish", "copy_site"}


@pytest.mark.parametrize(
    ("published_ms", "modified_ms", "date_ms", "year"),
    [
        (None, 1_600_000_000_000, 1_600_000_000_000, 2020),
        (1_500_000_000_000, 1_600_000_000_000, 1_500_000_000_000, 2017),
        (None, None, None, None),
        (None, -1, -1, None),
    ],
)
def test_a_page_is_of_the_date_when_it_was_published(
    published_ms: int | None, modified_ms: int | None, date_ms: int | None, year: int | None
) -> None:
    fields = page_fields(published_ms=published_ms, modified_ms=modified_ms)
    assert fields.get("date_ms") == (None if date_ms is None else [date_ms])
    assert fields.get("year") == (None if year is None else [year])


def test_what_is_shown_is_stored() -> None:
    stored = stored_of()
    assert (stored.url, stored.title, stored.description) == (
        PAGE["url"],
        PAGE["title"],
        PAGE["description"],
    )
    assert stored.headings == ["Second"]
    assert (stored.copies, stored.versions, stored.image) == (3, 2, "i.png")
    assert (stored.kind, stored.language, stored.date_ms) == ("pdf", "en", PAGE["modified_ms"])
    assert stored.text == pack_text(TEXT)
    assert stored.boilerplate == pack_text("Repeated line")
    assert (stored_of(copies=None, versions=None).copies, stored.fetched_ms) == (0, 0)
    many = [f"Heading {number}" for number in range(MAX_HEADINGS + 1)]
    assert stored_of(headings=many).headings == many[:-1]


def test_a_page_without_snippets_shows_its_title_only() -> None:
    stored = stored_of(nosnippet=True)
    assert (stored.title, stored.image, stored.copies) == (PAGE["title"], "i.png", 3)
    assert (stored.description, stored.text, stored.headings, stored.boilerplate) == (
        "",
        [],
        [],
        [],
    )


@pytest.mark.parametrize(
    ("text", "inner", "outer", "expected"),
    [
        ("own", "inner", "outer", ("own", "inner", "outer", "own\ninner")),
        ("own", "", "outer", ("own", "", "outer", "own")),
        ("", "inner", "outer", ("inner", "", "outer", "inner")),
        ("", "", "outer", ("outer", "", "", "outer")),
        ("", "", "", ("", "", "", "")),
    ],
)
def test_a_page_has_a_text_if_it_has_any(
    text: str, inner: str, outer: str, expected: tuple[str, ...]
) -> None:
    row: dict[str, Any] = {"text": text, "inner_boilerplate": inner, "boilerplate": outer}
    row |= {"title": "", "description": "", "headings": None, "anchors": None}
    found = read_texts(row)
    assert (found.text, found.inner_boilerplate, found.boilerplate, found.main_text) == expected


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        (None, "html"),
        ("", "html"),
        ("Application/PDF ; x=y", "pdf"),
        ("application/xhtml+xml", "html"),
        ("text/plain", "text"),
        ("application/x-tex", "tex"),
        ("text/markdown", "markdown"),
        ("odd", "html"),
    ],
)
def test_the_kind_of_a_page(content_type: str | None, kind: str) -> None:
    assert kind_of(content_type) == kind
