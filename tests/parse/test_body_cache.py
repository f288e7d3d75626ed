"""A body that was fetched from several URLs is read once, and the pages do not show it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.html.walk import findings
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, Rules
from gossamer.parse.reading.body_cache import remember_latest
from tests.support import parse_corpus
from tests.support.parse_corpus import HEADERS, RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborHTMLParser

    from gossamer.parse.html.findings import Findings
    from gossamer.parse.parsed_page import ParsedPage

URLS = (
    "https://example.org/dir/page",
    "https://example.org/dir/page?b=2",
    "https://example.org/dir/2024/05/01/page",
    "https://example.org/b/1",
    "https://example.org/c",
    "http://other.example/",
    f"https://example.org/{'long/' * 395}",
)
"""In the same folder and elsewhere, some linked by pages of the corpus; one that a rule matches."""
OTHER = Page(URLS[0], {"content-type": "text/html"}, b"<p>of another page")


def by_itself(page: Page, rules: Rules) -> ParsedPage:
    """Parse a page after others, so that no body is remembered."""
    for mime in ("text/html", "application/pdf"):
        parse_page(OTHER._replace(headers={"content-type": mime}), Rules())
    return parse_page(page, rules)


def assert_alike(pages: Sequence[Page], rules: Rules) -> None:
    alone = [by_itself(page, rules) for page in pages]
    by_itself(OTHER, Rules())
    assert [parse_page(page, rules) for page in pages] == alone


@pytest.mark.parametrize("rules", [Rules(), RULES], ids=["no rules", "a rule for some of the URLs"])
@pytest.mark.parametrize("name", parse_corpus.answers())
def test_pages_of_one_body_are_as_if_each_was_parsed_by_itself(name: str, rules: Rules) -> None:
    page = parse_corpus.read(parse_corpus.answers()[name])
    assert_alike([page._replace(url=url) for url in URLS], rules)


def test_the_headers_and_the_time_of_each_page_count() -> None:
    body = parse_corpus.PAGES["text/html"]
    more = [{}, HEADERS, {"x-robots-tag": "noindex"}]
    pages = [Page(URLS[0], {"content-type": "text/html"} | headers, body) for headers in more]
    pages += [pages[0]._replace(fetched=datetime(year, 1, 1, tzinfo=UTC)) for year in (2000, 2030)]
    assert_alike(pages, Rules())
    assert len({repr(parse_page(page, Rules())) for page in pages}) == len(pages) - 1


def test_the_declared_encoding_of_each_page_counts() -> None:
    body = "<title>Überschriften</title>".encode("cp1252")
    types = [f"text/html; charset={label}" for label in ("cp1252", "cp1251")]
    pages = [Page(URLS[0], {"content-type": mime}, body) for mime in types]
    assert_alike(pages, Rules())
    assert parse_page(pages[0], Rules()) != parse_page(pages[1], Rules())


HREFS = st.sampled_from(
    ["", " ", "#x", "?q", "?b=2", ".", "./", "..", "page", "page?b=2", "/dir/page", "/c", "//h/",
     "http://other.example", "tel:1", "http://[", "x" * 25, ";p", "/c#1", "/c#2"]
)  # fmt: skip


@given(
    st.lists(st.tuples(HREFS, st.sampled_from(["", "rel=nofollow"])), max_size=9),
    st.none() | HREFS,
    st.permutations(URLS),
)
def test_links_of_one_body_are_as_if_each_page_was_parsed_by_itself(
    links: list[tuple[str, str]], base: str | None, urls: list[str]
) -> None:
    head = "" if base is None else f'<base href="{base}">'
    anchors = [f'<a href="{href}" {rel}>{number}</a>' for number, (href, rel) in enumerate(links)]
    body = (head + "".join(anchors)).encode()
    assert_alike([Page(url, {"content-type": "text/html"}, body) for url in urls], Rules())


def test_a_body_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []

    def counting(tree: LexborHTMLParser, rules: Rules) -> Findings:
        read.append(tree)
        return findings(tree, rules)

    monkeypatch.setattr("gossamer.parse.html.html_page.findings", counting)
    for body in (b"<p>one", b"<p>two"):
        for url in URLS:
            parse_page(Page(url, {"content-type": "text/html"}, body), Rules())
    assert len(read) == 2


def test_only_the_latest_result_is_kept() -> None:
    calls: list[tuple[int, int]] = []

    @remember_latest
    def added(a: int, b: int) -> int:
        calls.append((a, b))
        return a + b

    assert [added(*pair) for pair in [(1, 2), (1, 2), (2, 1), (1, 2)]] == [3, 3, 3, 3]
    assert calls == [(1, 2), (2, 1), (1, 2)]


def test_after_an_error_nothing_is_remembered() -> None:
    @remember_latest
    def inverse(number: int) -> float:
        return 1 / number

    for number in (2, 0, 0, 2):
        if number:
            assert inverse(number) == 0.5
        else:
            with pytest.raises(ZeroDivisionError):
                inverse(number)
