"""Text of XML by a vocabulary, which says what elements mean."""

from __future__ import annotations

import pytest

from gossamer.parse.documents.document_draft import Broken, Draft
from gossamer.parse.documents.xml_markup import Vocabulary, Walk

WORDS = Vocabulary(
    hidden=frozenset(("note",)),
    blocks=frozenset(("p", "h")),
    gaps=frozenset(("tab",)),
    headings=frozenset(("h",)),
)


def read(xml: str, words: Vocabulary = WORDS) -> Draft:
    draft = Draft(max_chars=1_000)
    Walk(words, draft).read(f"<x>{xml}</x>".encode())
    return draft


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("<p>one</p>two", "one\ntwo"),
        ("one<p>two</p>", "one\ntwo"),
        ("<p>one<i>two</i>three</p>", "onetwothree"),
        ("<p>one<p>two</p>three</p>", "one\ntwo\nthree"),
        ("<p>one<tab/>two</p>", "one two"),
        ("<p>one<note>n<note>n</note>n</note>two</p>", "onetwo"),
        ("<p> </p><p>one</p>", "one"),
    ],
)
def test_a_line_ends_where_a_block_starts_and_where_it_ends(xml: str, text: str) -> None:
    assert read(xml).finish().text == text


def test_the_text_of_a_heading_is_that_of_its_block() -> None:
    assert read("one<h>two <i>three</i></h>four<p>five</p>").headings == ["two three"]


def test_only_some_elements_have_text() -> None:
    words = WORDS._replace(text=frozenset(("t",)))
    assert read("no<p>no<t>one<i>two</i></t>no</p>no", words).finish().text == "onetwo"


def test_what_precedes_an_error_is_kept() -> None:
    draft = Draft(max_chars=1_000)
    with pytest.raises(Broken):
        Walk(WORDS, draft).read(b"<x><p>one</p>two<")
    assert draft.finish().text == "one\ntwo"
