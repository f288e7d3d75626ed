"""Each rule on a small page of its own. bench/maintext.py measures how good they are together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.walk import outline_of
from gossamer.parse.maintext.names import (
    BESIDE,
    COMMENTARY,
    DIALOG,
    NAMED_BODY,
    NAMED_CHROME,
    judge,
)
from tests.support.maintext_articles import (
    ARTICLE,
    FIRST,
    LINES,
    MENU,
    OTHER,
    SECOND,
    THIRD,
    lines_of,
    text_of,
    text_of_page,
)


def blocks_of(body: str) -> list[str]:
    root = LexborHTMLParser(body, scripting=True).body
    assert root is not None
    return [block.text for block in outline_of(root).blocks]


# What is around an article


@pytest.mark.parametrize(
    "chrome",
    [
        f"<nav><p>{OTHER}</p></nav>",
        f"<aside><p>{OTHER}</p></aside>",
        f"<footer><p>{OTHER}</p></footer>",
        f"<form><p>{OTHER}</p></form>",
        f"<div role=complementary><p>{OTHER}</p></div>",
        f"<div aria-hidden=true><p>{OTHER}</p></div>",
        f"<div class=sidebar><p>{OTHER}</p></div>",
        f"<div class='box relatedArticles'><p>{OTHER}</p></div>",
        f"<section class=newsletter-signup><p>{OTHER}</p></section>",
        f"<div id=comments><p>{OTHER}</p></div>",
        f"<div class=kommentare><p>{OTHER}</p></div>",
        f"<div class='lire-aussi'><p>{OTHER}</p></div>",
        f"<p class=byline>{OTHER}</p>",
        f"<span class=sr-only>{OTHER}</span>",
        MENU,
    ],
)
@pytest.mark.parametrize("place", ["before", "inside", "after"])
def test_chrome_is_left_out_wherever_it_stands(chrome: str, place: str) -> None:
    middle = f"<p>{FIRST}</p>{chrome if place == 'inside' else ''}<p>{SECOND}</p><p>{THIRD}</p>"
    before, after = chrome * (place == "before"), chrome * (place == "after")
    text = text_of(f"{before}<div>{middle}</div>{after}")
    assert OTHER not in text
    assert [line for line in LINES if line in text] == LINES


@pytest.mark.parametrize(
    "hidden",
    [
        f"<p style='color: red; DISPLAY : none'>{OTHER}</p>",
        f"<p style='visibility:hidden'>{OTHER}</p>",
        f"<div hidden><p>{OTHER}</p></div>",
        f"<script>{OTHER}</script>",
        f"<style>{OTHER}</style>",
        f"<noscript><p>{OTHER}</p></noscript>",
        f"<template><p>{OTHER}</p></template>",
        f"<button>{OTHER}</button>",
        f"<select><option>{OTHER}</select>",
        f"<!-- {OTHER} -->",
    ],
)
def test_what_is_not_shown_is_no_text(hidden: str) -> None:
    assert lines_of(f"<p>{FIRST}</p>{hidden}<p>{SECOND}</p>") == [FIRST, SECOND]


def test_a_page_that_a_script_is_to_show_has_text() -> None:
    hidden = f"<body style='visibility: hidden'><div>{ARTICLE}</div><aside>{OTHER}</aside>"
    assert text_of_page(hidden).split("\n") == LINES


def test_teasers_do_not_outweigh_the_article() -> None:
    teaser = f"<li><h3><a href=/x>A headline of another page</a></h3><p>{OTHER}</p></li>"
    page = f"<div><div>{ARTICLE * 3}</div></div><div><ul>{teaser * 12}</ul></div>"
    assert lines_of(page) == LINES * 3


def test_links_before_a_list_of_headlines_do_not_make_it_a_list_of_terms() -> None:
    headline = "<li><a href=/x>The harbour master speaks about the ferry to the island</a></li>"
    terms = "<li><a href=/y>Oars</a></li>" * 12
    page = f"<div>{ARTICLE}<ul>{terms}</ul>{ARTICLE}<ul>{headline * 5}</ul>{ARTICLE}</div>"
    assert lines_of(page) == [*LINES, *["Oars"] * 12, *LINES * 2]


def test_the_body_marked_for_search_engines_is_taken_alone() -> None:
    page = f"<div><p>{OTHER}</p><div itemprop=articleBody>{ARTICLE}</div><p>{OTHER}</p></div>"
    assert lines_of(page) == LINES


def test_a_body_that_holds_next_to_nothing_is_a_wrong_mark() -> None:
    page = f"<p itemprop=articleBody>Just a word of it.</p><div>{ARTICLE}</div>"
    assert lines_of(page)[-3:] == LINES


def test_a_paragraph_before_the_body_under_the_same_headline_belongs_to_it() -> None:
    head = f"<p>{OTHER}</p><h1>The island</h1>"
    page = f"<div>{head}<p>{FIRST}</p><div class=article-body><p>{SECOND}</p><p>{THIRD}</p></div>"
    assert lines_of(page) == LINES


def test_parts_of_an_article_are_put_together() -> None:
    parts = "".join(f"<div class=part><p>{line}</p><p>{line}</p></div>" for line in LINES)
    page = f"<div>{MENU}</div><div>{parts}</div><div>{MENU}</div>"
    assert lines_of(page) == [line for line in LINES for _ in range(2)]


# Names that mislead


def test_an_article_within_what_is_called_chrome_is_pardoned() -> None:
    page = f"<div class='page sidebar'><article>{ARTICLE}</article></div><div><p>{OTHER}</p></div>"
    assert lines_of(page)[:3] == LINES


def test_an_article_is_not_judged_by_the_names_of_its_tags() -> None:
    page = (
        f"<article class='post-7 tag-sea author-ann'>{ARTICLE}</article><div><p>{OTHER}</p></div>"
    )
    assert lines_of(page)[:3] == LINES


def test_what_holds_the_whole_page_is_its_wrapper_whatever_its_name() -> None:
    assert lines_of(f"<form class=sidebar>{ARTICLE}</form>") == LINES


def test_where_all_is_called_chrome_nothing_is() -> None:
    page = f"<nav>{MENU}</nav><div class=comment><p>{FIRST}</p></div><div class=comment>{SECOND}"
    assert lines_of(page) == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("classes", "identity", "verdict"),
    [
        ("article-body", "", NAMED_BODY),
        ("entryContent wide", "", NAMED_BODY),
        ("c-articlebody", "", NAMED_BODY),
        ("artikel_inhalt", "", NAMED_BODY),
        ("post tag-news author-smith entry-content", "", NAMED_BODY),
        ("article-body-share", "", NAMED_CHROME),
        ("sidebarRight", "", NAMED_CHROME | BESIDE),
        ("side-bar", "", NAMED_CHROME | BESIDE),
        ("sidebar related", "", NAMED_CHROME),
        ("cookie-notice sidebar", "", NAMED_CHROME | DIALOG),
        ("category-cookies entry-content", "", NAMED_BODY),
        ("section", "comments", 0),
        ("subsection level2", "metadata", 0),
        ("", "respond", NAMED_CHROME),
        ("comment-content", "", NAMED_CHROME | COMMENTARY),
        ("read_also", "", NAMED_CHROME),
        ("", "sharing-history-with-others", 0),
        ("shadow document download", "", 0),
        ("relative", "", 0),
        ("has-sidebar comments-open", "", 0),
        ("commentary", "", 0),
        ("md:hidden D(n)", "", 0),
        ("elementor-widget-theme-post-content elementor-widget", "", NAMED_BODY),
        ("", "", 0),
    ],
)
def test_names_are_read_by_word(classes: str, identity: str, verdict: int) -> None:
    assert judge(classes, identity) == verdict


# What is in an article, and yet not of it


def test_the_headline_and_what_stands_before_the_text_are_left_out() -> None:
    top = "<h1>The ferry</h1><p>1 May 2020, 10:30</p><ul><li><a href=/s>Mail</a></li></ul>"
    assert lines_of(f"<article>{top}{ARTICLE}</article>") == LINES


def test_a_headline_of_any_level_is_known_by_the_page_title() -> None:
    page = f"<div><p>{OTHER}</p><h2>The ferry at dawn</h2>{ARTICLE * 3}</div>"
    assert lines_of(page, "<title>The ferry at dawn - Example News</title>") == LINES * 3


def test_a_heading_of_the_first_paragraph_stays() -> None:
    assert lines_of(f"<h1>Ferries</h1><h2>At dawn</h2>{ARTICLE}") == ["At dawn", *LINES]


def test_headings_quotes_lists_code_and_tables_of_the_text_stay() -> None:
    parts = {
        "At sea": "<h2>At sea</h2>",
        "Bring a coat": "<ul><li>Bring a coat</li></ul>",
        "No dogs": "<ol><li><p>No dogs</p></li></ol>",
        "A quote.": "<blockquote>A quote.</blockquote>",
        "dig +short": "<pre>dig  +short</pre>",
        "Fare": "<table><tr><th>Fare</th><td>12</td></tr></table>",
        "A term": "<dl><dt>A term</dt><dd>What it means</dd></dl>",
    }
    page = "".join(part + ARTICLE for part in parts.values())
    text = lines_of(page.replace(ARTICLE, f"<p>{OTHER}</p>", 1) + ARTICLE)
    assert [line for line in text if line in parts] == list(parts)


def test_what_follows_the_last_paragraph_is_left_out() -> None:
    end = "<h3>Topics</h3><p><a href=/t>Ferries</a></p><p>Share this</p><p>14</p>"
    assert lines_of(f"<div>{ARTICLE}{end}</div>") == LINES


def test_an_article_may_end_with_a_list() -> None:
    assert lines_of(f"<div>{ARTICLE}<ul><li>Oil</li><li>Salt</li></ul></div>")[3:] == [
        "Oil",
        "Salt",
    ]


def test_a_paragraph_that_is_but_a_link_leads_elsewhere() -> None:
    link = "<p>Read: <a href=/x>What became of the lighthouse in the end</a></p>"
    assert lines_of(f"<p>{FIRST}</p>{link}<p>{SECOND}</p><p>{THIRD}</p>") == LINES


def test_a_list_of_headlines_goes_with_its_heading() -> None:
    item = "<li><a href=/x>What became of the lighthouse after its keeper had left</a></li>"
    page = f"<p>{FIRST}</p><h3>More</h3><ul>{item * 3}</ul><p>{SECOND}</p><p>{THIRD}</p>"
    assert lines_of(page) == LINES


def test_a_list_of_terms_that_are_links_stays() -> None:
    names = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in ("Sark", "Herm"))
    assert lines_of(f"<p>{FIRST}</p><ul>{names}</ul><p>{SECOND}</p>")[1:3] == ["Sark", "Herm"]


def test_links_within_sentences_and_within_the_page_are_text() -> None:
    sentence = "<p>The <a href=/f>old ferry</a> was sold to a shipyard in Norway last year.</p>"
    note = "<p><a href=#n1>The accounts of the company that ran it, in full, as a note</a></p>"
    lines = lines_of(f"<p>{FIRST}</p>{sentence}{note}<p>{SECOND}</p>")
    assert lines[1] == "The old ferry was sold to a shipyard in Norway last year."
    assert lines[2].startswith("The accounts")


def test_the_text_is_never_trimmed_away() -> None:
    facts = "".join(f"<li>Fact {n} of a page of lists</li>" for n in range(30))
    assert len(lines_of(f"<h1>Facts</h1><ul>{facts}</ul><p>{FIRST}</p>")) > 20


# Pages that are no articles


def test_a_page_without_prose_gives_what_is_not_navigation() -> None:
    assert text_of(f"<nav>{MENU}</nav><h1>Closed</h1><p>Come back.</p>") == "Come back."
    assert text_of(f"<nav>{MENU}</nav><h1>Closed</h1>") == "Closed"


@pytest.mark.parametrize("page", ["", " ", "<p>", "<!-- -->", "<nav><a href=/>Home</a></nav>"])
def test_a_page_without_text_gives_none(page: str) -> None:
    assert text_of_page(page) == ""


def test_a_forum_gives_its_posts() -> None:
    post = "<div class=post><div class=author>Ann</div><div class=post-text><p>{}</p></div></div>"
    page = f"<div>{MENU}</div><div>{''.join(post.format(line) for line in LINES)}</div>"
    assert lines_of(page) == LINES


# Blocks


def test_text_is_folded_and_split_at_blocks_alone() -> None:
    assert blocks_of("a<div>b  <b>c</b>d\n e</div>f<script>x</script>g") == ["a", "b cd e", "f g"]


def test_a_block_ends_at_one_that_is_empty_or_hidden() -> None:
    assert blocks_of("a<div></div>b<p hidden>x</p>c<i></i>d<span hidden>x</span>e") == [
        "a",
        "b",
        "cde",
    ]


def test_one_line_break_is_a_space_and_two_are_a_paragraph() -> None:
    assert blocks_of("<p>one<br>two<br> <br/>three<br><br><br>") == ["one two", "three"]


def test_links_count_by_their_part_of_a_block() -> None:
    root = LexborHTMLParser("<p>ab <a href=/x>cde</a><br><br>f <a href=#y>gh</a>").body
    assert root is not None
    blocks = outline_of(root).blocks
    assert [block.text for block in blocks] == ["ab cde", "f gh"]
    assert blocks[0].link_chars <= 3
    assert blocks[1].link_chars <= 3


def test_characters_that_are_syllables_count_twice() -> None:
    root = LexborHTMLParser("<p>渡船在黎明时分离开</p><p>Паром отходит</p>").body
    assert root is not None
    assert [block.chars for block in outline_of(root).blocks] == [18, 13]


@pytest.mark.parametrize(
    "sentence",
    [
        "渡船在黎明时分驶向小岛,那时港口依然黑暗而寂静,船长三十年来一直往返于此,他认识每一位乘客。",
        "Паром на остров уходит на рассвете, когда в гавани ещё темно и тихо, и никого нет.",
        "تغادر العبارة إلى الجزيرة عند الفجر عندما يكون الميناء مظلما وهادئا ولا أحد هناك.",
    ],
)
def test_prose_is_prose_in_any_script(sentence: str) -> None:
    page = f"<div>{MENU}</div><div><p>{sentence}</p><p>{sentence}</p></div><div>{MENU}</div>"
    assert lines_of(page) == [sentence, sentence]


# Bounds


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 5_000 + FIRST,
        "<div class=sidebar><article>" * 2_000 + ARTICLE,
        "<div role=dialog><p>x" * 2_000 + f"{ARTICLE}<h1>{FIRST}</h1>",
        f"{ARTICLE}<div>{'<aside><p>' * 2_000}{FIRST}{'</aside>' * 2_000}{ARTICLE}",
        "<article>" * 2_000 + ARTICLE,
        "<x-menu>" * 5_000 + FIRST,
        "<b>" * 5_000 + FIRST,
        "<br>" * 50_000 + FIRST,
        f"<ul>{'<li><a href=/x>' * 1_000}</ul>{ARTICLE}",
        f"<p class='{'a-b ' * 50_000}' id='{'x' * 50_000}'>{FIRST}",
        f"<p><a href=/x>{'word ' * 100_000}</a>",
    ],
)
def test_hostile_pages_come_to_an_end(page: str) -> None:
    assert isinstance(text_of(page), str)


def test_a_page_of_too_many_boxes_is_read_as_far_as_it_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gossamer.parse.html.elements.MAX_BOXES", 10)
    assert lines_of(f"<div><div>{ARTICLE}{'<p>' + OTHER}{'<p>Or' * 50}</div></div>")[:3] == LINES


TAGS = [
    "p",
    "div",
    "ul",
    "li",
    "a href=/x",
    "a href=#x",
    "h1",
    "h2",
    "table",
    "td",
    "br",
    "article",
]
CLASSES = [
    "",
    " class=sidebar",
    " class=article-body",
    " hidden",
    " role=main",
    " itemprop=articleBody",
]
PIECES = st.one_of(
    st.tuples(st.sampled_from(TAGS), st.sampled_from(CLASSES)).map(lambda t: f"<{t[0]}{t[1]}>"),
    st.sampled_from(
        ["</p>", "</div>", "</ul>", "</a>", "</article>", FIRST, "word", "\ud7ff", "。"]
    ),
    st.text(max_size=20),
)


@given(st.lists(PIECES, max_size=60))
def test_any_page_gives_some_of_its_blocks_in_their_order(pieces: list[str]) -> None:
    page = "".join(pieces)
    lines = text_of_page(page).split("\n")
    left = iter(blocks_of(page))
    assert lines == [""] or all(line in left for line in lines)
