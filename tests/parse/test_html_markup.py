"""HTML in files of other formats, above all in chapters of EPUB."""

from __future__ import annotations

import pytest

from gossamer.parse.documents.binary import read_binary
from tests.support.binary_files import EPUB, epub, with_members


def text_of(*chapters: str) -> str | None:
    return read_binary(EPUB, epub(*chapters), 10_000).text


@pytest.mark.parametrize("end", ["", "<br>", "<p>"])
@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one<i>two</i></p><p>three</p>", "onetwo\nthree"),
        ("<ruby>字<rp>(</rp><rt>よみ</rt><rp>)</rp></ruby>", "字"),
        ("<pre>one\n two</pre>", "one\ntwo"),
        ("<p hidden=''>no</p><p hidden='until-found'>yes</p>", "yes"),
        ("<svg><title>no</title><text>one</text><text>two</text></svg>", "one\ntwo"),
        ("<math><mi>x</mi><annotation>no</annotation></math>", "x"),
        ("<script>no</script><template><p>no</p></template>yes", "yes"),
        ("caf&eacute; &amp; bar", "café & bar"),
    ],
)
def test_xhtml_and_html_with_errors_have_the_same_text(html: str, text: str, end: str) -> None:
    assert text_of(f"<html><head><title>no</title></head><body>{html}{end}</body></html>") == text


def test_a_chapter_that_is_not_well_formed_is_read_once() -> None:
    document = read_binary(
        EPUB,
        epub(
            "<body><h1>One</h1><p>text<p><a href='https://a.example/'>a</a> end",
            "<body><p>two</p></body>",
        ),
        10_000,
    )
    assert (document.text, document.headings) == ("One\ntext\na end\ntwo", ("One",))
    assert document.links == (("https://a.example/", "a"),)
    assert (document.detail, document.truncated) == (None, False)


def test_an_entity_of_its_own_makes_no_chapter_unreadable() -> None:
    chapter = "<!DOCTYPE html [<!ENTITY a 'ha'>]><html><p>one &a; two</p></html>"
    text = text_of(chapter)
    assert text is not None
    assert "two" in text
    assert "ha" not in text


def test_a_chapter_in_its_own_encoding() -> None:
    chapter = "<?xml version='1.0' encoding='windows-1251'?><p>Привет<br>".encode("cp1251")
    body = with_members(epub("x"), {"OEBPS/text/c0 x.xhtml": chapter})
    assert read_binary(EPUB, body, 10_000).text == "Привет"
