"""Which line is the headline, whose the lines around it are, and which dates are listed."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.shown_dates import BEFORE, BEHIND, MAX_SUBTITLE, TAIL, DateFinder
from gossamer.parse.html.walk import findings
from gossamer.parse.parsed_page import Rules
from gossamer.parse.reading.date_labels import CHANGED, PUBLISHED

LONG = "The committee met on the harbour wall to discuss the crane and the repairs of the old pier"
PARAGRAPH = f"<p>{LONG} again and again.</p>"
DATE = "1 May 2024"


def finder(body: str, title: str = "Harbour works") -> DateFinder:
    return DateFinder(findings(LexborHTMLParser(body), Rules()).lines, title, "en")


def lines(body: str) -> list[str]:
    return [*findings(LexborHTMLParser(body), Rules()).lines.outline_lines()]


def listed(body: str) -> list[tuple[int, str | None, bool]]:
    """The days of May that a page shows, their labels, and whether they are above the headline."""
    dates = [(each.date.day, each.label, each.is_above) for each in finder(body).dates()]
    return list(dict.fromkeys(dates))


@pytest.mark.parametrize(
    ("body", "headline"),
    [
        ("<h2>Storms</h2><h1>Gazette</h1><h1>News</h1>", "Gazette"),
        ("<h1>Gazette</h1><h2>Harbour works</h2>", "Harbour works"),
        ("<h1>Gazette</h1><h2>Harbour</h2><h3>Harbour works</h3><h2>works</h2>", "Harbour works"),
        ("<h2>Harbour works</h2><h1>HARBOUR works</h1>", "HARBOUR works"),
        ("<h1>HARBOUR works</h1><h2>Harbour works</h2>", "HARBOUR works"),
        ("<h2>Harbour works</h2><h3>HARBOUR works</h3>", "Harbour works"),
        ("<h3>Harbour</h3><h1>works</h1><h2>Harbour works</h2>", "Harbour works"),
        ("<h1>Gazette</h1><h2>Some very long heading of another page</h2>", "Gazette"),
        ("<h1><br>Harbour<br>works</h1>", "Harbour"),
        ("<h1>Gazette</h1><h2>h</h2>", "Gazette"),
        ("<h1>Gazette</h1><h1>h</h1>", "h"),
        ("<h1>Gazette</h1><h2>ha</h2>", "ha"),
        ("<h1>Gazette</h1><h2></h2><h2>Harbour works</h2>", "Harbour works"),
        ("<h1>Gazette</h1><h2>Harbour works" + "<br>x" * 7 + "</h2>", "Gazette"),
    ],
)
def test_the_headline_is_the_longest_heading_in_the_title_or_the_first_h1(
    body: str, headline: str
) -> None:
    line = finder(body).headline
    assert line is not None
    assert lines(body)[line] == headline


def test_a_heading_is_read_for_eight_lines() -> None:
    title = "a b c d e f g h"
    body = "<h1>News</h1><h2>a<br>b<br>c<br>d<br>e<br>f<br>g<br>h<br>and more</h2>"
    assert finder(body, title).headline == lines(body).index("a")
    assert finder(body.replace("h<br>", "h "), title).headline == lines(body).index("News")


def test_a_page_without_headings_has_no_headline_and_no_dates() -> None:
    body = f"<p>Published {DATE}</p><h2>Storms</h2>"
    assert finder(body).headline is None
    assert finder(body).dates() == []


def test_a_heading_that_is_empty_is_a_place_too() -> None:
    body = "<p>Above</p><h1><img src=/logo.png></h1><p>Below</p>"
    line = finder(body).headline
    assert line is not None
    assert lines(body).index("Above") < line <= lines(body).index("Below")


H1 = "<h1>Harbour works</h1>"


@pytest.mark.parametrize(
    ("body", "is_foreign"),
    [
        (f"{H1}<p>D</p>", False),
        (f"{H1}<div><div><p>D</p></div></div>", False),
        *((f"{H1}<{tag}><p>D</p></{tag}>", True) for tag in ("aside", "menu", "nav", "search")),
        (f"{H1}<dialog open><p>D</p></dialog>", True),
        (f"{H1}<div class=comments><p>D</p></div>", True),
        (f"{H1}<div class=related><p>D</p></div>", True),
        (f"{H1}<div role=dialog><p>D</p></div>", True),
        (f"{H1}<div class=menu><p>D</p></div>", True),
        (f"{H1}<aside class=byline><p>D</p></aside>", True),
        (f"{H1}<nav class=byline><p>D</p></nav>", True),
        (f"{H1}<div class=byline><p>D</p></div>", False),
        (f"{H1}<div class='footer byline'><p>D</p></div>", False),
        (f"{H1}<form><p>D</p></form>", False),
        (f"{H1}<fieldset><p>D</p></fieldset>", False),
        (f"{H1}<footer><p>D</p></footer>", True),
        (f"<header><p>D</p></header>{H1}", True),
        (f"<header><p>D</p>{H1}</header>", False),
        (f"<article>{H1}<footer><p>D</p></footer></article>", False),
        (f"<main>{H1}<div><header><p>D</p></header></div></main>", False),
        (f"<main>{H1}</main><div><div><footer><p>D</p></footer></div></div>", True),
        (f"{H1}<article><p>D</p></article>", False),
        (f"{H1}<article><p>E</p></article><article><p>D</p></article>", True),
        (f"{H1}<section><p>E</p></section><article><p>D</p></article>", False),
        (f"{H1}<div><article>E</article></div><article><p>D</p></article>", False),
        (f"{H1}<ul><li><article><p>D</p></article></ul>", True),
        (f"<main>{H1}<article><p>D</p></article></main>", True),
        (f"<main>{H1}<div><article><p>D</p></article></div></main>", True),
        (f"<main>{H1}<div><p>D</p></div></main>", False),
        (f"<main><article>{H1}<p>D</p></article><article>E</article></main>", False),
        (f"<nav>{H1}<p>D</p></nav>", False),
        (f"{H1}{'<div>' * 70}D", True),
        (f"{H1}{'<div>' * 50}D", False),
    ],
)
def test_what_is_around_a_line_says_whose_it_is(body: str, is_foreign: bool) -> None:
    assert finder(body).is_foreign(lines(body).index("D")) is is_foreign


@pytest.mark.parametrize(
    ("body", "dates"),
    [
        (f"{H1}<p>{DATE}</p>", [(1, None, False)]),
        (f"<p>{DATE}</p>{H1}", [(1, None, True)]),
        (f"<h1>Harbour works {DATE}</h1>", []),  # the heading has other words
        (f"{H1}<p>Published {DATE}</p>", [(1, PUBLISHED, False)]),
        (
            f"{H1}<p>2 May 2024</p><p>Published {DATE}</p>",
            [(1, PUBLISHED, False), (2, None, False)],
        ),
        (
            f"<p>3 May 2024</p>{H1}<p>Gazette</p><p>2 May 2024</p>",
            [(3, None, True), (2, None, False)],
        ),
        (f"{H1}<p>2 May 2024</p><p>{DATE}</p>", [(2, None, False), (1, None, False)]),
        (
            f"<p>3 May 2024</p><p>News</p><p>Town</p>{H1}<p>2 May 2024</p>",
            [(2, None, False), (3, None, True)],
        ),
        (
            f"{H1}<p>Updated 2 May 2024</p><p>Published {DATE}</p>",
            [(2, CHANGED, False), (1, PUBLISHED, False)],
        ),
        (
            f"{H1}<p>Published 1 May 2024, updated 2 May 2024</p>",
            [(1, PUBLISHED, False), (2, CHANGED, False)],
        ),
        (f"{H1}<p>1 May 2024, 2 May 2024, 3 May 2024</p>", []),
        (f"{H1}<p>Published</p><p>{DATE}</p>", [(1, PUBLISHED, False)]),
        (f"{H1}<p>{DATE}</p><p>published</p>", [(1, None, False)]),
        (f"{H1}<p>{DATE} (published)</p>", [(1, PUBLISHED, False)]),
        (f"{H1}<p>Valid until: {DATE}</p>", []),
        (f"{H1}<p>{DATE} (published, updated)</p>", [(1, PUBLISHED, False)]),
        (f"{H1}<p>Valid until {DATE}, published 2 May 2024</p>", [(2, PUBLISHED, False)]),
        (
            f"{H1}<p>2 May 2024</p>{PARAGRAPH * 2}<p>Published {DATE}</p>",
            [(2, None, False), (1, PUBLISHED, False)],
        ),
        (f"{H1}<pre>{DATE}</pre>", []),
        (f"{H1}<pre>Published {DATE}</pre>", [(1, PUBLISHED, False)]),
        (f"{H1}<table><tr><td>{DATE}</table>", []),
        (f"{H1}<table><tr><td>Published {DATE}</table>", [(1, PUBLISHED, False)]),
        (f"{H1}<ul><li>{DATE}</ul>", [(1, None, False)]),
        (f"{H1}<ol><li>{DATE}</ol>", [(1, None, False)]),
        (f"{H1}<ul><li>{DATE}<li>2 May 2024</ul>", []),
        (f"{H1}<ul><li>{DATE}<li>{DATE}</ul>", [(1, None, False)]),
        (
            f"{H1}<ul><li>{DATE}<li>Published 2 May 2024</ul>",
            [(2, PUBLISHED, False), (1, None, False)],
        ),
        (f"{H1}<ul><li>{DATE}</ul><ul><li>2 May 2024</ul>", [(1, None, False), (2, None, False)]),
        (f"<ul><li>{DATE}<li>{H1}<li>2 May 2024</ul>", [(1, None, True), (2, None, False)]),
        (f"{H1}{PARAGRAPH}<p>{DATE}</p>", [(1, None, False)]),
        (f"{H1}{PARAGRAPH * 2}<p>{DATE}</p>", []),
        (f"{H1}{PARAGRAPH * 2}<p>Published {DATE}</p>", [(1, PUBLISHED, False)]),
        (
            f"{H1}{PARAGRAPH * 2}<p>Updated 2 May 2024</p><p>Published {DATE}</p>",
            [(1, PUBLISHED, False), (2, CHANGED, False)],
        ),
        (f"{H1}{PARAGRAPH * 2}<p>Published {DATE}</p><p>Published 2 May 2024</p>", []),
        (f"{H1}<p hidden>{DATE}</p>", []),
        (f"{H1}<button>{DATE}</button>", []),
        (f"<button>{DATE}</button>{H1}", []),
        (f"{H1}<p>{DATE}{' |' * 44}</p>", [(1, None, False)]),
        (f"{H1}<p>{DATE}{' |' * 45}</p>", []),  # as long as a paragraph
        (f"{H1}<p>Published {DATE}{' |' * 70}</p>", [(1, PUBLISHED, False)]),
        (f"{H1}<p>Published {DATE}{' |' * 70}|</p>", []),
    ],
)
def test_dates_with_a_label_come_first_and_then_the_nearest(
    body: str, dates: list[tuple[int, str | None, bool]]
) -> None:
    assert listed(body) == dates


def short_lines(count: int) -> str:
    return "<p>x</p>" * count


def lines_between(body: str) -> int:
    shown = finder(body)
    assert shown.headline is not None
    return abs(lines(body).index(DATE) - shown.headline)


def test_a_date_is_near_up_to_a_number_of_lines() -> None:
    for count in range(BEHIND + 2):
        body = f"{H1}{short_lines(count)}<p>{DATE}</p>"
        assert (listed(body) != []) is (lines_between(body) < BEHIND)
        above = f"<p>{DATE}</p>{short_lines(count)}{H1}"
        assert (listed(above) != []) is (lines_between(above) <= BEFORE)


def test_a_date_with_a_label_may_be_at_the_end() -> None:
    for count in range(TAIL + 2):
        body = f"{H1}{PARAGRAPH * 2}{short_lines(60)}<p>Published {DATE}</p>{short_lines(count)}"
        at = lines(body).index(f"Published {DATE}")
        assert (listed(body) != []) is (at >= len(lines(body)) - TAIL)


def test_the_end_begins_behind_what_is_near_to_the_headline() -> None:
    for count in range(0, BEHIND, 2):
        body = f"{H1}{PARAGRAPH * 2}{short_lines(count)}<p>Published {DATE}</p>{short_lines(8)}"
        headline, end = finder(body).headline, len(lines(body))
        assert headline is not None
        at = lines(body).index(f"Published {DATE}")
        first = headline + BEHIND if end - headline > BEHIND else headline
        assert (listed(body) != []) is (at >= max(first, end - TAIL))


def test_the_end_is_that_of_the_article() -> None:
    article = f"<article>{H1}{PARAGRAPH * 2}{{}}</article>"
    after = short_lines(TAIL + 5)
    assert listed(article.format(f"<p>Published {DATE}</p>") + after) == [(1, PUBLISHED, False)]
    assert listed(article.format("") + short_lines(60) + f"<p>Published {DATE}</p>") == []


@pytest.mark.parametrize(
    ("body", "is_near"),
    [
        (f"<p>{DATE}</p><p><a href=/a>Storms</a></p>{H1}", False),
        (f"<p>{DATE}</p><p><a href=/a>A</a></p><p><a href=/b>B</a></p>{H1}", False),
        (f"<p>Gazette</p><div><p>{DATE}</p><p><a href=/a>Storms</a></p>{H1}</div>", True),
        (f"<div><p>{DATE}</p><p><a href=/a>Storms</a></p>{H1}</div><p>Imprint</p>", True),
        (f"<div><p>{DATE}</p><p><a href=/a>Storms</a></p>{H1}</div><p hidden>Imprint</p>", False),
        (
            f"<p>News</p><div><p>{DATE}</p><p><a href=/a>A</a><p><a href=/b>B</a></p>{H1}</div>",
            False,
        ),
        (f"<p><a href=/d>{DATE}</a></p>{H1}", True),
        (f"<p><a href=/a>Storms</a><br>{DATE}</p>{H1}", True),
        (f"<p>{DATE}<br><a href=/a>Storms</a></p>{H1}", False),
        (f"{H1}<h2>A subtitle</h2><p>{DATE}</p>", True),
        (f"{H1}<h2><a href=/a>Another page</a></h2><p>{DATE}</p>", False),
        (f"{H1}<h4><a href=/ann>Ann Lee</a></h4><p>{DATE}</p>", True),
        (f"{H1}{short_lines(8)}<h2>A chapter</h2><p>{DATE}</p>", False),
        (f"{H1}{short_lines(8)}<p>A chapter</p><p>{DATE}</p>", True),
    ],
)
def test_what_separates_a_date_from_the_headline(body: str, is_near: bool) -> None:
    assert (listed(body) != []) is is_near


@pytest.mark.parametrize(
    ("text", "is_sentence"),
    [
        (f"{DATE} D", False),
        (f"On {DATE} the crane fell.", True),
        (f"On {DATE} the crane fell", False),
        (f"Ann Lee {DATE} Old Town No.", False),
        (f"On {DATE} in the harbour of our town a storm", True),
        (f"Ann Lee | {DATE} | Harbour | Our Town | a storm", False),
        (f"Ann Lee | {DATE}" + " | word" * 15, True),
        (f"Published on {DATE}, the crane fell.", False),
        (f"{DATE} {DATE}.", False),
        (f"Friday {DATE} noon.", False),
        ("x " * 200 + "x" * 2, True),
    ],
)
def test_a_line_with_more_words_than_a_byline_is_a_sentence(text: str, is_sentence: bool) -> None:
    body = f"{H1}<p>{text}</p>"
    assert finder(body).is_sentence(lines(body).index(" ".join(text.split())), DATE) is is_sentence


@pytest.mark.parametrize(
    ("body", "own"),
    [
        (f"{H1}<time datetime=1>May</time>", ["1"]),
        (f"{H1}<time datetime=1>May</time><p><time datetime=2>June</time>", ["1", "2"]),
        (f"{H1}<aside><time datetime=1>May</time></aside>", []),
        (f"{H1}<p hidden><time datetime=1>May</time></p>", []),
        (f"{H1}<p hidden><time datetime=1 class=updated>May</time></p>", ["1"]),
        (f"{H1}<p hidden><time datetime=1 pubdate>May</time></p>", ["1"]),
        (f"{H1}{PARAGRAPH * 2}<p><time datetime=1>May</time>", []),
        (f"{H1}{PARAGRAPH * 2}<p><time datetime=1 class=entry-date>May</time>", ["1"]),
        (f"{H1}<p>On <time datetime=1>May</time> the old crane fell.", []),
        (f"{H1}<p>On <time datetime=1></time> the old crane fell.", ["1"]),
        (f"{H1}<ul><li><time datetime=1>May</time></ul>", ["1"]),
        (f"{H1}<ul><li><time datetime=1>May</time><li><time datetime=2>June</time></ul>", []),
        (
            f"{H1}<ul><li><time datetime=1>May</time><li><time datetime=1>May</time></ul>",
            ["1", "1"],
        ),
        (
            f"{H1}<ul><li><time datetime=1>1</time><li><time datetime=2 class=updated>2</time>",
            ["1", "2"],
        ),
        (
            f"{H1}<p>" + "".join(f"<time datetime={n}>May</time> " for n in (1, 2, 3)),
            ["1", "2", "3"],
        ),
    ],
)
def test_time_elements_of_lists_and_other_places_are_dropped(body: str, own: list[str]) -> None:
    found = findings(LexborHTMLParser(body), Rules())
    shown = DateFinder(found.lines, "Harbour works", "en")
    times = found.head_metadata.times
    assert [time.value for time in shown.own_times(times)] == own


def test_many_times_that_are_far_from_the_headline_and_its_article_are_dropped() -> None:
    def own(count: int, inside: str) -> list[str]:
        far = "".join(f"<p><time class=updated datetime={n}>May</time>" for n in range(count))
        article = f"<article>{H1}<time datetime=x>May</time>{PARAGRAPH * 2}{inside}</article>"
        found = findings(LexborHTMLParser(article + f"<div>{far}</div>"), Rules())
        shown = DateFinder(found.lines, "Harbour works", "en")
        return [time.value for time in shown.own_times(found.head_metadata.times)]

    assert own(2, "") == ["x", "0", "1"]
    assert own(3, "") == ["x"]
    assert own(3, "<p><time class=updated datetime=y>May</time>") == ["x", "y"]


def test_a_heading_near_the_headline_may_be_a_subtitle() -> None:
    for count in range(MAX_SUBTITLE + 2):
        body = f"{H1}{short_lines(count)}<h2>A chapter</h2><p>{DATE}</p>"
        headline = finder(body).headline
        assert headline is not None
        distance = lines(body).index("A chapter") - headline
        assert (listed(body) != []) is (distance <= MAX_SUBTITLE)
