"""Which dates in the text of a page are its own."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, ParsedPage, Rules

FETCHED = datetime(2026, 11, 28, tzinfo=UTC)
PROSE = (
    "The committee met on the harbour wall to discuss the repairs of the crane and its pier. " * 2
)
TEXT = f"<p>{PROSE}</p>" * 3
MAY, JUNE = datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)


def parsed(body: str, url: str = "https://example.org/x", language: str = "en") -> ParsedPage:
    html = f"<!doctype html><html lang={language}><title>Harbour works | Gazette</title>{body}"
    headers = {"content-type": "text/html; charset=utf-8"}
    return parse_page(Page(url, headers, html.encode(), FETCHED), Rules())


def article(before: str, after: str = "", end: str = "") -> str:
    menu = "<ul><li><a href=/1>One</a><li><a href=/2>Two</a></ul>"
    return f"{menu}<main>{before}<h1>Harbour works</h1>{after}{TEXT}{end}</main>"


@pytest.mark.parametrize(
    "body",
    [
        article("", "<p>1 May 2024</p>"),
        article("", "<p class=meta>By Ann Lee | 1 May 2024 | 3 comments</p>"),
        article("", "<p>Posted on May 1, 2024 at 10:20 by Ann Lee in Harbours</p>"),
        article("", f"<p><b>{PROSE}</b></p><div>Ann Lee, 1 May 2024</div>"),
        article("", "<h2>A subtitle</h2><span>1 May 2024</span>"),
        article("", "<h4><a href=/ann>Ann Lee</a></h4><time datetime=2024-05-01>May</time>"),
        article("", "<ul><li>1 May 2024<li>Ann Lee</ul>"),
        article("", "<dl><dt>Published</dt><dd>1 May 2024</dd></dl>"),
        article("", "<div>Published: 1 May 2024 - Updated: 2 May 2024</div>"),
        article("", "<time class=updated datetime=2024-06-01></time><p>1 May 2024"),
        article("<p>1 May 2024</p>"),
        article("", "", "<p>Published 1 May 2024</p>"),
        article("", "", "<footer>Posted by Ann on 1 May 2024</footer>"),
        "<h2>Harbour works</h2><div>1 May 2024</div>" + TEXT,
        "<h1>Gazette</h1><h2>Harbour works</h2><div>1 May 2024</div>" + TEXT,
        f"<h1>Harbour works</h1><article>1 May 2024{TEXT}</article>",
    ],
)
def test_the_page_s_date(body: str) -> None:
    assert parsed(body).published == MAY


@pytest.mark.parametrize(
    "body",
    [
        "<header><time datetime=2024-05-01>1 May</time></header>" + article(""),
        "<header>Wednesday, 1 May 2024</header>" + article(""),
        "<div class=top>Wednesday, 1 May 2024</div><a href=/>Gazette</a>" + article(""),
        article("", "", "<article><b>Bob</b> <time datetime=2024-05-01>May</time> Good!</article>"),
        article("") + "<div class=comments><time datetime=2024-05-01>May</time> Good!</div>",
        f"<h1>Harbour works</h1><article>1 May 2024{TEXT}</article><article>{TEXT}</article>",
        article("") + "<section><h2>Replies</h2><i>Bob, 1 May 2024</i><p>Good!</section>",
        article("", "<aside><a href=/o>Old storm</a> <time datetime=2024-05-01>May</time></aside>"),
        article("", "<div class=related><a href=/o>Old storm</a> 1 May 2024</div>"),
        article("", "<div class=related>1 May 2024<br><a href=/o>Old storm</a></div>"),
        article("") + "<h3>More</h3><ul><li><a href=/o>Old storm</a> 1 May 2024</ul>",
        article("") + "<h3>More</h3><li><a href=/o>Old</a> <time datetime=2024-05-01>May</time>",
        article("", "<p>The old crane fell into the harbour on 1 May 2024 in a storm."),
        article("", f"<p>On <time datetime=2024-05-01>1 May</time>, {PROSE}"),
        article("", "<table><tr><td>a.zip<td>1 May 2024<tr><td>b.zip<td>2 May 2024</table>"),
        article("", "<table><tr><th>Opened<td>1 May 2024</table>"),
        article("", "<pre>a.zip 01-May-2024 10:20 3K</pre>"),
        article("", "<p>Valid until: 1 May 2024</p>"),
        article("", "<p>© 1 May 2024 Gazette</p>"),
        article("", "", "<p>1 May 2024</p>"),
        article("", "<button>1 May 2024</button>"),
        "<h1>News</h1>"
        + "".join(
            f"<article><h2><a href=/{n}>Storm {n}</a></h2><time datetime=2024-05-0{n}>May</time>"
            f"<p>{PROSE}</article>"
            for n in (1, 2)
        ),
    ],
)
def test_a_date_of_something_else(body: str) -> None:
    assert parsed(body).published is None


def test_a_date_of_change() -> None:
    page = parsed(article("", "<p>Last updated: 1 June 2024</p>"))
    assert (page.published, page.modified) == (None, JUNE)
    page = parsed(article("", "<p>Stand: 01.06.2024</p>"), language="de")
    assert (page.published, page.modified) == (None, JUNE)


def test_today_above_the_headline_is_no_date() -> None:
    assert parsed(article("<p>28 November 2026</p>")).published is None


def declared(date: str) -> str:
    return f'<meta property="article:published_time" content="{date}">'


@pytest.mark.parametrize(
    ("date", "shown", "day"),
    [
        ("2024-05-01T00:30:00+02:00", "", 1),
        ("2024-04-30T22:30:00-05:00", "", 30),
        ("2024-04-30T22:30:00Z", "1 May 2024", 1),
        ("2024-05-02T03:30:00Z", "Posted on 1 May 2024", 1),
        ("2024-05-02T03:30:00Z", "Updated 1 May 2024", 2),
        ("2024-05-01T03:30:00Z", "1 May 2024", 1),
        ("2024-05-03T03:30:00Z", "1 May 2024", 3),
    ],
)
def test_the_day_is_the_one_that_readers_see(date: str, shown: str, day: int) -> None:
    page = parsed(declared(date) + article("", f"<p>{shown}</p>"))
    assert page.published is not None
    assert page.published.day == day


def test_a_path_is_trusted_more_than_a_date_without_a_label() -> None:
    url = "https://example.org/2024/06/01/x"
    assert parsed(article("", "<p>1 May 2024</p>"), url).published == JUNE
    assert parsed(article("", "<p>Published 1 May 2024</p>"), url).published == MAY


def test_regions_decide_about_numbers() -> None:
    body = article("", "<p>5/1/2024</p>")
    assert parsed(body, language="en-US").published == MAY
    assert parsed('<meta property="og:locale" content="en_US">' + body).published == MAY
    assert parsed(body).published is None


@pytest.mark.parametrize(
    ("written", "language"),
    [
        ("<p>چهارشنبه ۱۲ اردیبهشت ۱۴۰۳ - ۱۰:۲۰</p>", "fa"),
        ("<p>تاریخ انتشار: ۱۴۰۳/۰۲/۱۲</p>", "fa"),
        ("<p>כ״ג בניסן תשפ״ד</p>", "he"),
        ("<p>ሚያዝያ 23 ቀን 2016</p>", "am"),
        ("<p>22 شوال 1445 هـ</p>", "ar-SA"),
        ("<p>1 พ.ค. 67</p>", "th"),
        ("<p>R6.5.1</p>", "ja"),
        ("<p>113/5/1</p>", "zh-TW"),
        ("<time datetime=1403-02-12>۱۲ اردیبهشت ۱۴۰۳</time>", "fa"),
    ],
)
def test_dates_of_other_calendars(written: str, language: str) -> None:
    assert parsed(article("", written), language=language).published == MAY


def test_a_line_with_two_calendars_has_the_day_of_the_common_era() -> None:
    written = "<p>22 شوال 1445 هـ - 2 مايو 2024 م</p>"
    assert parsed(article("", written), language="ar-SA").published == MAY.replace(day=2)


@pytest.mark.parametrize(
    ("language", "locale", "month"),
    [
        ("", "en_US", 5),
        ("", "en_GB", 1),
        ("en", "en_US", 5),
        ("EN", "en_US", 5),
        ("en", "EN_US", 5),
        ("en-GB", "en_US", 1),
        ("en-US", "en_GB", 5),
        ("en", "es_US", None),
        ("en", "", None),
    ],
)
def test_the_locale_counts_if_the_language_has_no_region(
    language: str, locale: str, month: int | None
) -> None:
    declared_locale = f'<meta property="og:locale" content="{locale}">'
    page = parsed(declared_locale + article("", "<p>5/1/2024</p>"), language=language)
    assert (page.published and page.published.month) == month


def published(html: str) -> datetime | None:
    headers = {"content-type": "text/html; charset=utf-8"}
    page = Page("https://example.org/x", headers, html.encode(), FETCHED)
    return parse_page(page, Rules()).published


def test_the_headline_is_found_by_the_title_or_what_metadata_say() -> None:
    far = "<p>x" * 70
    body = f"<h1>Gazette</h1>{far}<h2>Harbour works</h2><p>1 May 2024</p>{TEXT}"
    assert published(body) is None
    assert published(f"<title>Harbour works</title>{body}") == MAY
    assert published(f'<meta property="og:title" content="Harbour works">{body}') == MAY
    other = '<meta property="og:title" content="Harbour works"><title>Gazette</title>'
    assert published(other + body) is None


def test_a_heading_of_another_level_is_the_main_one_if_there_is_no_h1() -> None:
    time = "<time datetime=2024-05-01>May</time>"
    body = f"<h2>Harbour works</h2><p>{time}</p>{TEXT}"
    title = "<title>Harbour works</title>"
    assert published(title + body) == MAY
    assert published(title + body + "<p>x" * 70 + "<h1>Gazette</h1>") is None
    assert published(title + "<h1>Gazette</h1>" + body) == MAY
