"""The newspapers of fakeweb, which publish while time passes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from gossamer.fakeweb import Web
from gossamer.fakeweb.newspapers import DELAY_S, LISTED, PAPERS, PERIOD_S, Newspapers
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, ParsedPage, Rules

if TYPE_CHECKING:
    from gossamer.fakeweb import Answer

SINCE_S = 1_790_000_000.0
NEWS = Newspapers(7, SINCE_S)
GAZETTE, AGENCY = PAPERS[0], PAPERS[-1]
EACH_PAPER = pytest.mark.parametrize("host", [paper.host for paper in PAPERS])


def answer(host: str, target: str, after_s: float = 0) -> Answer:
    found = NEWS.answer(host, target, SINCE_S + after_s)
    assert found is not None
    return found


def parsed(host: str, target: str, after_s: float = 0) -> ParsedPage:
    given = answer(host, target, after_s)
    assert given.status == 200
    headers = {"content-type": given.header("content-type")}
    return parse_page(Page(f"http://{host}{target}", headers, given.body), Rules())


def links(host: str, target: str, after_s: float = 0) -> list[str]:
    found = [link.dst for link in parsed(host, target, after_s).links]
    return [url for url in found if "/news/" in url]


@EACH_PAPER
def test_home_page_and_feed_list_the_same_articles_newest_first(host: str) -> None:
    newest = [f"http://{host}/news/{n}.html" for n in range(LISTED - 1, -1, -1)]
    assert links(host, "/") == links(host, "/feed.xml") == newest


@EACH_PAPER
def test_an_article_appears_every_period(host: str) -> None:
    counts = [
        int(re.findall(r"\d+", links(host, "/", s)[0])[-1]) for s in range(PERIOD_S, 600, PERIOD_S)
    ]
    assert counts == list(range(counts[0], counts[0] + len(counts)))


@EACH_PAPER
def test_an_article_is_there_when_it_is_listed_and_not_before(host: str) -> None:
    target = f"/news/{LISTED}.html"
    first = next(s for s in range(200) if answer(host, target, s).status == 200)
    assert links(host, "/", first)[0] == f"http://{host}{target}"
    assert links(host, "/", first - 1)[0] != f"http://{host}{target}"


@EACH_PAPER
def test_an_article_stays_as_it_is(host: str) -> None:
    before, later = (answer(host, "/news/3.html", s) for s in (0, 1e6))
    assert before == later


def test_what_a_client_has_is_not_sent_again() -> None:
    web = Web(hosts=0, newspapers_since_s=SINCE_S)
    first = web.answer(GAZETTE.host, "/news/3.html")
    known = {"if-none-match": first.header("ETag")}
    assert web.answer(GAZETTE.host, "/news/3.html", known).status == 304
    assert web.answer(GAZETTE.host, "/news/4.html", known).status == 200


def test_the_agency_has_the_text_of_another_paper_later() -> None:
    first, copied = (parsed(host, "/news/19.html") for host in (GAZETTE.host, AGENCY.host))
    assert first.text
    assert copied.text
    assert first.text.split()[5:] == copied.text.split()[5:]
    moment = next(s for s in range(99) if answer(GAZETTE.host, "/news/20.html", s).status == 200)
    assert answer(AGENCY.host, "/news/20.html", moment + DELAY_S - 1).status == 404
    assert answer(AGENCY.host, "/news/20.html", moment + DELAY_S).status == 200


@pytest.mark.parametrize("paper", PAPERS[:-1], ids=lambda paper: paper.language)
def test_each_paper_writes_in_its_language(paper: object) -> None:
    host, language = getattr(paper, "host", ""), getattr(paper, "language", "")
    page = parsed(host, "/news/1.html")
    assert page.language == language
    assert f"<html lang={language}>".encode() in answer(host, "/news/1.html").body


@pytest.mark.parametrize("target", ["/news/20.html", "/news/01.html", "/news/x.html", "/other"])
def test_what_was_not_published_is_not_found(target: str) -> None:
    assert answer(GAZETTE.host, target).status == 404


def test_they_are_seeds_of_a_web_that_has_them() -> None:
    web = Web(hosts=0, newspapers_since_s=SINCE_S)
    again = Web.from_settings(web.settings())
    assert again.seeds() == [f"http://{paper.host}/" for paper in PAPERS]
    assert all(again.answer(paper.host, "/").status == 200 for paper in PAPERS)
    assert not Web(hosts=0).seeds()
