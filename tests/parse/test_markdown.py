"""Markdown with HTML in it (CommonMark 0.31 §4.6, §6.6), and front matter."""

from __future__ import annotations

from datetime import UTC, datetime
from time import process_time
from typing import TYPE_CHECKING

import pytest

from gossamer.parse.documents.binary import read_binary

if TYPE_CHECKING:
    from gossamer.parse.documents.document_draft import BinaryDocument

DATE = datetime(2024, 5, 6, tzinfo=UTC)


def read(text: str) -> BinaryDocument:
    return read_binary("text/markdown", text.encode(), 10_000)


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("<p align=center>One <b>two</b>.</p>", "One two."),
        ("<details>\n<summary>Why?</summary>\n\nBecause *so*.\n\n</details>", "Why?\nBecause so."),
        ("<table>\n<tr>\n\n<td>\n\n**a**\n\n</td><td>b</td></tr></table>", "a\nb"),
        ("one <kbd>two</kbd><br>three", "one two\nthree"),
        ("one\ntwo", "one two"),
        ("<!-- no\n\nno --> \n\nyes", "yes"),
        ("<script>\nno\n\nno\n</script>\n\nyes", "yes"),
        ("<style>no</style>\nyes", "yes"),
        ("<p hidden>no</p>\n\nyes", "yes"),
        ("`<b>` and &lt;", "<b> and <"),
        ("```html\n<p>\n  x\n\n</p>\n```", "<p>\nx\n</p>"),
        ("![a *b* <i>](x.png) c", "a b <i> c"),
        ("Sentence <svg><title>no</title><path/></svg> end", "Sentence end"),
    ],
)
def test_html_in_markdown_is_html(markdown: str, text: str) -> None:
    assert read(markdown).text == text


def test_links_and_headings_of_html_count() -> None:
    document = read(
        '<h1 align="center">Quay</h1>\n\n<a href="https://a.example/?b&amp;c">site</a> and\n'
        "[other](https://b.example/) and <https://c.example/>\n\n#### Fourth\n"
    )
    assert document.headings == ("Quay",)
    assert document.links == (
        ("https://a.example/?b&c", "site"),
        ("https://b.example/", "other"),
        ("https://c.example/", "https://c.example/"),
    )


def test_a_definition_that_is_used_often_costs_no_more() -> None:
    start = process_time()
    document = read(f"[a]: https://a.example/{'x' * 9_000}\n\n{'[a] ' * 30_000}")
    assert process_time() - start < 4
    assert document.text is not None
    assert document.text.startswith("a a a")
    assert [len(link.url) for link in document.links] == [9_018]


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: The quay\nauthor: [Ann, 'Bob Ray']\ndate: 2024-05-06\nlang: en\n---\n",
        (
            "---\ntitle: >-\n  The\n  quay\nauthors:\n  - name: Ann\n    email: a@example.org\n"
            '  - "Bob Ray"\ndate: "2024-05-06" # early\nlang: en\n...\n'
        ),
        (
            '+++\ntitle = "The quay"\nauthors = ["Ann", "Bob Ray"]\ndate = 2024-05-06\n'
            'lang = "en"\n+++\n'
        ),
        (
            '+++\ntitle = """\nThe quay"""\ndate = 2024-05-06T00:00:00Z\n[extra]\nlang = "en"\n'
            '[[params.author]]\nname = "Ann"\n[[params.author]]\nname = "Bob Ray"\n+++\n'
        ),
        (
            '{"title": "The quay", "author": [{"name": "Ann"}, "Bob Ray"], "date": "2024-05-06",\n'
            '"lang": "en"}\n'
        ),
    ],
)
def test_front_matter(front: str) -> None:
    document = read(f"{front}# Heading\n\ntext")
    assert (document.title, document.authors) == ("The quay", ("Ann", "Bob Ray"))
    assert (document.published, document.language) == (DATE, "en")
    assert document.text == "Heading\ntext"


@pytest.mark.parametrize(
    "text",
    [
        "+++\ntitle = \n+++\nx",
        f"+++\na = {'[' * 9_000}\n+++\nx",
        "---\n: [\n  -\n---\nx",
        "---\n---\nx",
    ],
)
def test_broken_front_matter_is_no_text(text: str) -> None:
    assert (read(text).outcome, read(text).text) == ("parsed", "x")


def test_braces_are_no_front_matter() -> None:
    assert read("{not json} x").text == "{not json} x"
