"""Articles and the comments on them."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.parse.maintext.blocks import Block, Box, Outline
from gossamer.parse.maintext.rows import Item
from gossamer.parse.maintext.threads import _DATE, MAX_STAMP_CHARS, _are_steps, _whole, find_stamps
from tests.support.discussed_articles import ARTICLE, article, lines_of

POST = "Number {} writes that the old lighthouse is worth more than any of the ferries were. "
SECTION = "In this version the ferry has learned {} things that it could not do in the last one."


def posts(template: str, number: int = 14) -> str:
    return "".join(
        template.format(n=n, text=(POST * 5).format(*[n] * 5).strip(), short=f"Yes {'so ' * n}")
        for n in range(number)
    )


SHAPES = [
    "<div><b>Ann {n}</b> 3 May 2020<p>{text}</p></div>",
    "<div><div>Ann, il y a {n} heures, à 1{n}:12</div><div>{text}</div></div>",
    "<article><header>Ann <time>2020-05-03</time></header><p>{text}</p></article>",
    "<dt>Ann, 3. Mai 2020</dt><dd>{text}</dd>",
    "<div class=comment><p>{text}</p></div>",
    "<div><span>用户</span><p>2020年5月3日</p><p>{text}</p></div>",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_comments_are_told_from_a_short_article_however_long_they_are(shape: str) -> None:
    tag = "dl" if shape.startswith("<dt") else "div"
    assert lines_of(f"<div>{article()}</div><{tag}>{posts(shape)}</{tag}>") == ARTICLE


def test_comments_may_stand_beside_the_paragraphs_of_the_article() -> None:
    assert lines_of(f"<div>{article()}{posts(SHAPES[0])}</div>") == ARTICLE


def test_answers_to_the_last_comment_belong_to_it() -> None:
    answer = "<div><div><b>Bob</b> 4 May 2020<p>An answer that is long enough.</p></div></div>"
    assert lines_of(f"<div>{article()}</div><div>{posts(SHAPES[0])}{answer}</div>") == ARTICLE


@pytest.mark.parametrize("shape", SHAPES[:4])
def test_a_discussion_keeps_its_posts(shape: str) -> None:
    tag = "dl" if shape.startswith("<dt") else "div"
    lines = lines_of(f"<h1>The ferry</h1><{tag}>{posts(shape)}</{tag}>")
    assert [line for line in lines if line.startswith("Number")] == [
        (POST * 5).format(*[n] * 5).strip() for n in range(14)
    ]


def test_a_discussion_may_end_with_a_word_of_thanks() -> None:
    thanks = "<div><b>Bob</b> 4 May 2020<p>Thanks</p></div>"
    assert lines_of(f"<h1>The ferry</h1><div>{posts(SHAPES[0])}{thanks}</div>")[-1] == "Thanks"


@pytest.mark.parametrize(
    "section",
    [
        "<section><h2>Version {n}</h2><p>3 May 2020</p><p>{text}</p></section>",
        "<div><div>Step {n}</div><p>{text}</p></div>",
        "<p>In May 2020 the ferry was sold, for the time number {n}.</p>",
        "<div><p>{text}</p><p>{text}</p></div><div><div>Harbour, May 2020</div></div>",
    ],
    ids=["a history of changes", "a recipe", "sentences with dates", "captions"],
)
def test_dates_in_a_text_do_not_make_it_a_thread(section: str) -> None:
    text = " ".join(lines_of(f"<div>{article()}{posts(section)}</div>"))
    assert text.count("Number" if "{text}" in section else "In May 2020") >= 14


def test_a_byline_with_a_date_is_not_where_a_text_in_a_table_starts() -> None:
    cell = f"<i>Olga, 3 May 2020</i><p>{ARTICLE[0]}</p><p>{ARTICLE[1]}</p>"
    assert lines_of(f"<table><tr><td><h1>The ferry</h1>{cell}</td></tr></table>") == ARTICLE


DATES = re.compile(
    r"\d{1,2}[:h]\d{2}(?!\d)|\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
    r"|(?<!\d)(?:19|20)\d\d(?!\d)(?!\Z)|(?<!\A)(?<!\d)(?:19|20)\d\d\Z"
)
"""Times of day, dates, and years that do not stand alone, written without regard to speed."""


@given(st.text("0129:h./- x", max_size=12))
@example("2019")
@example("in 2019")
@example("2019 x")
@example("12019 x")
def test_dates_are_found_fast_where_they_are(text: str) -> None:
    assert bool(_DATE.search(text)) == bool(DATES.search(text))


@pytest.mark.parametrize(
    ("text", "is_stamp"),
    [
        ("3 May 2020", True),
        ("at 10:30", True),
        ("3 hours ago", True),
        ("3", False),
        ("May", False),
        ("2020", False),
        ("Ann, 2020-05-03".ljust(MAX_STAMP_CHARS, "."), True),
        ("Ann, 2020-05-03".ljust(MAX_STAMP_CHARS + 1, "."), False),
    ],
)
def test_stamps_are_short_and_have_a_date(text: str, is_stamp: bool) -> None:
    assert bool(find_stamps([text])) is is_stamp


@pytest.mark.parametrize(
    ("stamps", "are_steps"),
    [
        ([f"Step {n}:" for n in range(8)], True),
        ([f"{n} hours ago" for n in (1, 2, 4, 7, 9, 12, 20, 21)], False),
        ([f"{n} hours ago" for n in (1, 2, 4, 7)], True),
        (["3 May 2020"] * 8, False),
        (["3 hours ago", "3 May 2020"] * 4, False),
        ([f"{n}. part" for n in range(5)] + ["3 May 2020"] * 4, True),
        ([f"{n} hours ago" for n in (1, 2, 4, 7, 9, 12, 20)], True),
    ],
)
def test_numbers_with_words_may_count_steps(stamps: list[str], are_steps: bool) -> None:
    assert _are_steps(stamps) is are_steps


@pytest.mark.parametrize(
    ("tag", "last", "whole"),
    [
        ("div", "div", (1, 6)),  # the answer that follows the last post
        ("div", "p", (1, 5)),
        ("dt", "div", (1, 7)),
    ],
)
def test_a_thread_ends_with_the_answers_to_its_last_post(
    tag: str, last: str, whole: tuple[int, int]
) -> None:
    boxes = [
        Box("html", 0, 0, 8, 0),
        Box("div", 0, 0, 7, 0),
        Box(tag, 1, 1, 3, 0),
        Box(tag, 1, 3, 5, 0),
        Box(last, 1, 5, 6, 0),
        Box("div", 4, 5, 6, 0),
    ]
    numbers = [1, 2, 2, 3, 3, 5, 1, 0]
    blocks = [Block("x", 1, 0, 0, number, "div") for number in numbers]
    posts, stamps = [Item(2, 1), Item(3, 3)], [1, 3, 5]
    assert _whole(Outline(blocks, boxes), posts, stamps) == whole
    assert _whole(Outline(blocks, boxes), posts, stamps[:2]) == (1, 7 if tag == "dt" else 5)
