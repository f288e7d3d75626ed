"""The main text of many kinds of page, each on a small example."""

from __future__ import annotations

import pytest

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
)

LONG = "".join(f"<p>{line}</p>" for line in LINES * 7)
"""Of 1,790 characters: enough for an article of its own."""
TERMS = [f"term {number}" for number in range(20)]


def linked(words: list[str]) -> str:
    return "".join(f"<li><a href=/{word[-1]}>{word}</a></li>" for word in words)


# Manuals and references


def test_sections_are_put_together_across_a_few_words() -> None:
    first = f"<h2>Options</h2><div>{ARTICLE * 3}</div><p>None.</p>"
    sections = f"<div>{first}</div><div><h2>Notes</h2>{ARTICLE}</div>"
    lines = lines_of(f"{MENU}<div>{sections}</div>")
    assert lines == [*LINES * 3, "None.", "Notes", *LINES]


SIGNATURE = "<pre>ferry_depart(when)</pre>"
ENTRIES = "".join(f"<tr><td><a href=/x>{name}</a></td><td>as it says</td></tr>" for name in TERMS)


@pytest.mark.parametrize("meaning", ["<p>{}</p>", "<dl><dt>when</dt><dd>{}</dd></dl>"])
def test_a_reference_is_taken_whole(meaning: str) -> None:
    parts = f"<div>{meaning.format(FIRST)}</div><div><h2>See</h2><table>{ENTRIES}</table></div>"
    page = (
        f"<div>{MENU}</div><div><h1>Ferries</h1><div>{SIGNATURE}</div>{parts}<p>Since 2</p></div>"
    )
    lines = lines_of(page)
    assert lines[0] == "ferry_depart(when)"
    assert FIRST in lines
    assert [line for line in lines if line in TERMS] == TERMS
    assert lines[-1] == "Since 2"
    assert "Section 1" not in lines


def test_a_short_article_among_links_is_no_reference() -> None:
    item = "<li><a href=/x>What became of the old lighthouse</a><div>12 May, 10:30</div></li>"
    assert lines_of(f"<div><div>{ARTICLE}</div></div><div><ul>{item * 20}</ul></div>") == LINES


def test_short_remarks_around_an_article_are_no_part_of_it() -> None:
    remark = "<div><b>Ann</b><div>I liked it</div></div>"
    page = f"<div><div>{LONG}</div></div><div>{remark * 150}</div>"
    assert lines_of(page) == LINES * 7


@pytest.mark.parametrize("tag", ["pre", "td", "th", "dd", "dt"])
def test_a_text_may_start_with_what_is_no_sentence(tag: str) -> None:
    holder = {
        "pre": "<pre>{}</pre>",
        "td": "<table><tr><td>{}</table>",
        "th": "<table><tr><th>{}</table>",
    }
    start = holder.get(tag, f"<dl><{tag}>{{}}</dl>").format("ferry [when]")
    assert lines_of(f"<h1>Ferries</h1>{start}{ARTICLE * 2}") == ["ferry [when]", *LINES * 2]


def test_before_the_first_paragraph_all_is_dropped_or_nothing() -> None:
    facts = ["29.90", "1.7 litres", "2200 W", "Stainless steel", "Two years of guarantee"]
    listed = "".join(f"<li>{fact}</li>" for fact in facts)
    assert lines_of(f"<h1>Kettle</h1><ul>{listed}</ul><p>{FIRST}</p>") == [*facts, FIRST]
    assert lines_of(f"<h1>Kettle</h1><ul>{listed}</ul>{ARTICLE * 3}") == LINES * 3


def test_a_menu_before_a_short_text_is_dropped_however_long() -> None:
    assert lines_of(f"{MENU}{MENU}<p>{FIRST}</p>") == [FIRST]


def test_paragraphs_of_short_links_are_terms() -> None:
    names = " ".join(f"<a href=/{name[-1]}>{name}</a>" for name in TERMS)
    assert lines_of(f"<p>{FIRST}</p><p>{names}</p><p>{SECOND}</p>")[1] == " ".join(TERMS)


def test_behind_the_last_paragraph_all_is_dropped_or_nothing() -> None:
    assert lines_of(f"{ARTICLE}<div>12 May</div><div>Ann</div>") == LINES
    facts = [f"Port {number}" for number in range(20)]
    listed = "".join(f"<div>{fact}</div>" for fact in facts)
    assert lines_of(f"<p>{FIRST}</p>{listed}") == [FIRST, *facts]


@pytest.mark.parametrize(
    "code",
    [
        "<pre><code>sail() <span class=hljs-comment># to the island</span></code></pre>",
        "<pre><span class=c1>sail()</span> <span class='comment meta'># to the island</span></pre>",
        "<div class=line>sail() <span class=comment># to the island</span></div>",
    ],
)
def test_comments_in_code_are_no_comments_on_it(code: str) -> None:
    assert "sail() # to the island" in lines_of(f"<p>{FIRST}</p>{code}<p>{SECOND}</p>")


@pytest.mark.parametrize(
    "section",
    [
        "<div class=section id=comments><h2>Comments</h2>{}</div>",
        "<div class='sect2' id=related-tags><h3>Tags</h3>{}</div>",
        "<dl><dt id=share>share(x)</dt><dd id=share-x>{}</dd></dl>",
    ],
)
def test_the_id_of_a_section_is_a_link_target(section: str) -> None:
    assert OTHER in text_of(ARTICLE + section.format(f"<p>{OTHER}</p>") + ARTICLE)


# Hints, notes and what else is set apart

INSET = f"<p>{OTHER}</p>" * 4


@pytest.mark.parametrize(
    "apart",
    ["<aside>{}</aside>", "<div class=sidebar>{}</div>", "<div role=complementary>{}</div>"],
)
def test_a_text_may_be_set_apart_from_the_text_around_it(apart: str) -> None:
    page = f"<div><p>{FIRST}</p>{apart.format(INSET)}<p>{SECOND}</p><p>{THIRD}</p></div>"
    assert lines_of(page) == [FIRST, *[OTHER] * 4, SECOND, THIRD]


@pytest.mark.parametrize(
    "apart",
    [
        f"<aside><p>{OTHER}</p></aside>",
        f"<aside>{f'<p>{OTHER} <a href=/x>{FIRST[:60]}</a></p>' * 5}</aside>",
        f"<aside><ul>{linked(['What became of the old lighthouse'] * 20)}</ul></aside>",
        f"<aside class=newsletter>{INSET}</aside>",
        f"<div class='sidebar related'>{INSET}</div>",
        f"<nav>{INSET}</nav>",
    ],
)
def test_promotions_are_set_apart_too(apart: str) -> None:
    page = f"<div><p>{FIRST}</p>{apart}<p>{SECOND}</p><p>{THIRD}</p></div>"
    assert lines_of(page) == LINES


@pytest.mark.parametrize("place", [f"<aside>{INSET}</aside>{{}}", f"{{}}<aside>{INSET}</aside>"])
def test_an_aside_beside_the_text_is_none_of_it(place: str) -> None:
    assert lines_of(place.format(f"<div>{LONG}</div>")) == LINES * 7


# Indexes


def test_a_page_of_terms_gives_them_and_not_the_menu() -> None:
    page = f"<div>{MENU}</div><div><h1>Index</h1><ul>{linked(TERMS)}</ul></div><div>{MENU}</div>"
    assert lines_of(page) == TERMS


def test_a_few_words_above_a_long_list_do_not_make_it_an_article() -> None:
    page = f"<h1>Index of terms</h1><div><p>{FIRST}</p></div><ul>{linked(TERMS * 9)}</ul>"
    assert lines_of(f"<div>{MENU}</div><div>{page}</div>") == [FIRST, *TERMS * 9]


def test_lines_of_copyright_are_no_prose() -> None:
    imprint = "<p>© 2024 The Friends of the Ferry, all rights reserved, in all countries.</p>"
    assert lines_of(f"<h1>Index</h1><ul>{linked(TERMS)}</ul>{imprint}")[: len(TERMS)] == TERMS


# Dialogs, and articles that are shown later


@pytest.mark.parametrize(
    "dialog",
    [
        "<div id=cookie-banner>{}</div>",
        "<div class=fc-consent-root>{}</div>",
        "<div role=dialog>{}</div>",
        "<dialog open>{}</dialog>",
        "<amp-consent>{}</amp-consent>",
    ],
)
@pytest.mark.parametrize("place", ["before", "after"])
def test_a_dialog_may_be_longer_than_the_article(dialog: str, place: str) -> None:
    text = dialog.format(f"<h2>We care</h2>{INSET * 20}")
    page = f"<h1>The ferry</h1><div>{ARTICLE}</div>"
    assert lines_of(text + page if place == "before" else page + text) == LINES


def test_what_holds_the_headline_is_no_dialog() -> None:
    page = f"<div class=cookies-set><h1>The ferry</h1>{ARTICLE}</div>"
    assert lines_of(f"{page}<footer><p>{OTHER}</p></footer>") == LINES


def test_a_page_that_is_but_a_dialog_gives_it() -> None:
    assert lines_of(f"<nav>{MENU}</nav><div role=dialog>{ARTICLE}</div>") == LINES


def test_an_article_that_a_script_shows_is_read() -> None:
    assert lines_of(f"<h1>Wait</h1><div style='display:none'>{LONG}</div>") == LINES * 7


def test_hidden_words_are_not_read_where_there_are_others() -> None:
    hidden = f"<div hidden>{LONG}</div>"
    assert lines_of(f"{hidden}<p>{OTHER}</p>") == [OTHER]
    assert text_of(f"<div hidden>{ARTICLE}</div><p>Log in</p>") == "Log in"


# Articles in articles


def test_an_article_in_an_article_is_a_comment_on_it() -> None:
    comments = (
        f"<section><article><p>{OTHER}</p></article><article><p>{OTHER}</p></article></section>"
    )
    assert lines_of(f"<article><h1>The ferry</h1>{ARTICLE * 2}{comments}</article>") == LINES * 2


def test_a_thread_is_its_posts_even_in_an_article() -> None:
    posts = "".join(f"<article><p>{line}</p></article>" for line in LINES)
    assert lines_of(f"<main>{posts}</main>") == LINES
    assert lines_of(f"<article>{posts}</article>") == LINES


def test_answers_without_a_sentence_stay_in_a_thread() -> None:
    post = "<div class=post><div class=text>{}</div></div>"
    thread = "".join(post.format(line) for line in (FIRST, SECOND, "Yes", THIRD, OTHER))
    assert lines_of(f"<div>{MENU}</div><div>{thread}</div>") == [FIRST, SECOND, "Yes", THIRD, OTHER]


# Pages as they were, and as they are made


def test_text_may_stand_in_the_body_itself() -> None:
    assert lines_of(f"{MENU}<br>{FIRST}<br>{SECOND}<br>{THIRD}<br>") == [" ".join(LINES)]
    assert lines_of(f"<center><b>Ferries</b></center><hr>{'<br><br>'.join(LINES)}<hr>") == LINES


def test_one_paragraph_is_a_text() -> None:
    assert lines_of(f"<nav>{MENU}</nav>{MENU}<div><p>{FIRST}</p></div><div>{MENU}</div>") == [FIRST]


def test_tables_may_be_the_layout() -> None:
    menu = "<br>".join(f"<a href=/{n}>Part {n}</a>" for n in range(9))
    row = f"<tr><td><font size=2>{menu}</font></td><td>{FIRST}<p>{SECOND}<p>{THIRD}</td></tr>"
    head = "<tr><td colspan=2><h1>Ferries</h1></td></tr>"
    foot = "<tr><td colspan=2><center>Best viewed at 800 x 600</center></td></tr>"
    assert lines_of(f"<table>{head}{row}{foot}</table>") == LINES


def test_tables_may_be_the_layout_of_tables() -> None:
    parts = "".join(f"<tr><td><a href=/{n}>Part {n}</a></td></tr>" for n in range(12))
    text = "".join(f"<tr><td>{line}</td></tr>" for line in LINES)
    page = f"<table><tr><td><table>{parts}</table></td><td><table>{text}</table></td></tr></table>"
    assert lines_of(page) == LINES


def test_a_table_below_a_text_belongs_to_it() -> None:
    fares = [f"Port {number}" for number in range(40)]
    rows = "".join(f"<tr><td>{port}</td></tr>" for port in fares)
    page = f"{MENU}<div><p>{FIRST}</p></div><div><table>{rows}</table></div>"
    assert lines_of(page) == [FIRST, *fares]


def test_a_recipe_is_more_than_its_sentences() -> None:
    things = [f"{number}00 g of thing {number}" for number in range(1, 8)]
    steps = ["Mix all of it in a bowl.", "Fry in a hot pan until brown on both sides."]
    lists = "".join(
        f"<h2>{name}</h2><{tag}>{''.join(f'<li>{line}</li>' for line in lines)}</{tag}>"
        for name, tag, lines in (("Ingredients", "ul", things), ("Method", "ol", steps))
    )
    page = f"<nav>{MENU}</nav><h1>Pancakes</h1><p>Serves 4</p>{lists}<footer>Imprint</footer>"
    assert lines_of(page) == ["Serves 4", "Ingredients", *things, "Method", *steps]


def test_a_product_is_its_description_and_its_data() -> None:
    data = "<table><tr><th>Weight</th><td>1.1 kg</td></tr></table>"
    page = f"<nav>{MENU}</nav><main><h1>Kettle</h1><h2>Description</h2><p>{FIRST}</p>{data}</main>"
    assert lines_of(page) == ["Description", FIRST, "Weight", "1.1 kg"]


def test_the_visible_part_of_what_is_sold_is_read() -> None:
    wall = "<div class=subscribe-wall><p>Subscribe now to read on, for one euro a month.</p></div>"
    assert lines_of(f"<article><h1>The ferry</h1><p>{FIRST}</p>{wall}</article>") == [FIRST]


def test_elements_of_a_site_are_known_by_their_names() -> None:
    menu = f"<site-sidebar>{MENU}</site-sidebar><amp-social-share>Post it</amp-social-share>"
    comments = f"<my-comments>{OTHER}</my-comments>"
    page = f"<my-app>{menu}<my-article>{ARTICLE}</my-article>{comments}</my-app>"
    assert lines_of(page) == LINES


def test_a_manual_in_plain_text_is_one_block() -> None:
    assert text_of(f"<pre>\n{FIRST}\n\n   {SECOND}\n{THIRD}</pre>") == " ".join(LINES)


def test_a_frameset_has_no_text() -> None:
    assert text_of("</body><frameset><frame src=/a><noframes>None</noframes></frameset>") == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "渡船在黎明时分驶向小岛,那时港口依然黑暗而寂静,船长三十年来一直往返于此。",
        "島への渡し船は夜明けに出る。その時間の港はまだ暗く静かで、船長は皆を知っている。",
        "تغادر العبارة إلى الجزيرة عند الفجر عندما يكون الميناء مظلما وهادئا ولا أحد هناك.",
        "Паром на остров уходит на рассвете, когда в гавани ещё темно и тихо.",
    ],
)
def test_kinds_are_told_in_any_script(sentence: str) -> None:
    signature = "<table>" + "<tr><td>渡船</td><td>島</td></tr>" * 60 + "</table>"
    page = f"<div>{MENU}</div><div><div><p>{sentence}</p></div><div>{signature}</div></div>"
    assert lines_of(page) == [sentence, *["渡船", "島"] * 60]
