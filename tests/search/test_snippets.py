from __future__ import annotations

import time
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.format import stored_document
from gossamer.index.format.analysis import OTHER, merge_spans
from gossamer.index.format.stored_document import pack_text
from gossamer.search.query import Words
from gossamer.search.snippets import (
    BEFORE_CHARS,
    MAX_ANALYZED_BYTES,
    MAX_PHRASE,
    PASSAGE_CHARS,
    SNIPPET_CHARS,
    Snippets,
    _snippet_html,
    _snippet_start,
)

FILLER = "lorem ipsum dolor sit amet " * 100


def snippet(
    text: str, *wanted: str, description: str = "", common: str = "", language: str = OTHER
) -> str:
    words = [Words(text, exact=" " in text) for text in wanted]
    return Snippets(words, language).make_snippet(
        pack_text(text), description, (), pack_text(common)
    )


@pytest.mark.parametrize(
    ("text", "wanted", "shown"),
    [
        ("a red apple", ["apple"], "a red <b>apple</b>"),
        ("RED Apple", ["red", "apple"], "<b>RED</b> <b>Apple</b>"),
        ("red apple", ["red apple"], "<b>red apple</b>"),
        ("apple, red", ["red apple"], "apple, red"),
        ("Ärger", ["arger"], "<b>Ärger</b>"),
        ("パ デビアンのパッケージ", ["パッケージ"], "パ デビアンの<b>パッケージ</b>"),
        ("1 < 2 & <b>bold</b>", ["bold"], "1 &lt; 2 &amp; &lt;b&gt;<b>bold</b>&lt;/b&gt;"),
        ("nothing here", ["apple"], "nothing here"),
        ("", ["apple"], ""),
        ("a b c", ["a b", "b c"], "<b>a b c</b>"),
        ("a ThreadPoolExecutor", ["pool", "executor"], "a <b>ThreadPoolExecutor</b>"),
        ("a =:= b, a == b", ["=:="], "a <b>=:=</b> b, a == b"),
        ("of __NEW__, new", ["__new__"], "of <b>__NEW__</b>, <b>new</b>"),
    ],
)
def test_marks(text: str, wanted: list[str], shown: str) -> None:
    assert snippet(text, *wanted) == shown


def test_the_beginning_of_a_long_phrase_is_marked() -> None:
    words = [f"w{number}" for number in range(2 * MAX_PHRASE)]
    shown = snippet(f"a {' '.join(words)} b", " ".join(words))
    assert f"a <b>{' '.join(words[:MAX_PHRASE])}</b> w{MAX_PHRASE}" in shown


def test_the_part_with_most_of_the_words_is_shown() -> None:
    text = f"red {FILLER} apple {FILLER} a red ripe apple. {FILLER}"
    shown = snippet(text, "red", "apple")
    assert "a <b>red</b> ripe <b>apple</b>." in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")


@pytest.mark.parametrize("code", ["C++", "~*", "__new__", "--new", ".net"])
def test_code_is_shown_rather_than_its_words(code: str) -> None:
    text = f"C, new in net {FILLER} as in {code} here {FILLER}"
    assert f"<b>{code}</b> here" in snippet(text, code)


def test_the_rest_is_looked_at_where_the_beginning_lacks_a_word() -> None:
    text = f"red {FILLER[:600]} a ripe red apple {FILLER}"
    assert "a ripe <b>red</b> <b>apple</b>" in snippet(text, "red", "apple")


def test_without_a_match_the_description_is_shown() -> None:
    assert snippet("the text", "apple", description="<what> it is") == "&lt;what&gt; it is"


@given(
    text=st.text(max_size=2 * PASSAGE_CHARS),
    wanted=st.lists(st.text(max_size=5) | st.sampled_from(["a", "<b>", "&", "amp", "b"])),
)
def test_it_is_always_a_part_of_the_text_escaped(text: str, wanted: list[str]) -> None:
    shown = snippet(text, *wanted)
    bare = shown.replace("<b>", "").replace("</b>", "")
    assert "<" not in bare
    assert ">" not in bare
    part = unescape(bare.removeprefix("… ").removesuffix(" …"))
    assert part in text or unescape(bare) in text
    assert len(part) <= SNIPPET_CHARS


LONG = FILLER * 500  # 1.35 million characters


@pytest.mark.parametrize("at", [30, 7_990, 39_980, 700_000, len(LONG)])
def test_a_snippet_shows_a_window_anywhere_in_a_long_page(at: int) -> None:
    text = f"{LONG[:at]} a ripe red apple is here {LONG[at:]}"
    shown = snippet(text, "red", "apple", language="en")
    assert "ripe <b>red</b> <b>apple</b> is here" in shown


def test_a_rare_word_is_shown_rather_than_frequent_ones() -> None:
    text = f"the red tree {FILLER} one apple {FILLER}"
    worth = {"red": 0.1, "tree": 0.1, "apple": 5.0}
    words = [Words(word) for word in worth]
    shown = Snippets(words, OTHER, worth.__getitem__).make_snippet(pack_text(text), "")
    assert "one <b>apple</b>" in shown


@pytest.mark.parametrize(
    ("text", "wanted", "marked"),
    [
        (f"category {FILLER} a cat", ["cat"], "<b>cat</b>"),
        (f"a student {FILLER} many studies", ["study"], "<b>studies</b>"),
        (f"securely {FILLER} la sécurité", ["securite"], "<b>sécurité</b>"),
        (f"the cat, in a hat {FILLER} the cat in the hat", ["cat in the hat"], "<b>cat in the hat"),
        (f"a router {FILLER} the router's setup", ["router-setup"], "<b>setup</b>"),
        (f"a {FILLER} ThreadPoolExecutor", ["pool", "executor"], "<b>ThreadPoolExecutor</b>"),
        (f"a {FILLER} a pool of threads", ["ThreadPoolExecutor"], "<b>pool</b> of <b>threads</b>"),
    ],
)
def test_the_place_shown_has_the_word_itself(text: str, wanted: list[str], marked: str) -> None:
    assert marked in snippet(text, *wanted, language="en")


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (
            ["how", "to", "set", "up", "the", "router"],
            "how to <b>set</b> <b>up</b> the <b>router</b>",
        ),
        (["to", "the"], "how <b>to</b> set up <b>the</b> router"),
        (["up the router"], "how to set <b>up the router</b>"),
    ],
)
def test_stop_words_are_not_marked_beside_other_words(wanted: list[str], shown: str) -> None:
    assert snippet("how to set up the router", *wanted, language="en") == shown


def test_stop_words_do_not_choose_the_passage() -> None:
    text = f"how to do this and that {FILLER} a router {FILLER}"
    assert "a <b>router</b>" in snippet(text, "how", "to", "do", "router", language="en")


def test_a_description_with_the_words_is_marked() -> None:
    assert snippet("the text", "apple", description="red apple") == "red <b>apple</b>"


@pytest.mark.parametrize(
    ("text", "description", "shown"),
    [
        ("a red pear", "apple pie", "a <b>red</b> pear"),
        ("a pear", "apple pie", "<b>apple</b> pie"),
        ("a pear", "", "all about <b>red</b> <b>apples</b>"),
    ],
)
def test_lines_that_the_site_repeats_are_shown_if_nothing_else_has_a_word(
    text: str, description: str, shown: str
) -> None:
    common = "all about red apples"
    wanted = ["red", "apple"]
    found = snippet(text, *wanted, description=description, common=common, language="en")
    assert found == shown


def test_a_page_without_the_words_begins_with_its_own_text() -> None:
    assert snippet("its own", "apple", common="of the site") == "its own"


def test_the_cost_of_a_snippet_is_bounded() -> None:
    stored = pack_text("é apple pear " * 800_000)
    words = [Words("apple"), Words("missing"), *map(Words, "abcdefgh")]
    started_s = time.process_time()
    assert "<b>apple</b>" in Snippets(words, "en", pages=10).make_snippet(stored, "")
    assert time.process_time() - started_s < 1


@given(st.sampled_from(["a", "é", "管"]), st.sampled_from([" ", "\n", "-"]), st.integers(1, 9_000))
def test_what_is_close_together_is_in_one_window(letter: str, between: str, count: int) -> None:
    words = [f"{letter}{number}" for number in range(count)]
    whole = between.join(words)
    pieces = pack_text(whole)
    assert stored_document.read_beginning(pieces, len(whole)) == whole
    read = list(stored_document.text_windows(pieces))
    assert [window.first for window in read] == [True] + [False] * (len(read) - 1)
    assert [window.last for window in read] == [False] * (len(read) - 1) + [True]
    texts = [window.text.decode() for window in read]
    for number in range(0, count, 50):
        near = between.join(words[number : number + 10])
        assert any(near in text for text in texts)


def test_the_typed_form_of_a_word_is_shown_rather_than_another() -> None:
    text = f"{'set the path ' * 20} {FILLER} the settings {FILLER}"
    assert "the <b>settings</b>" in snippet(text, "settings", language="en")


def test_a_word_as_it_was_typed_counts_more_than_its_parts() -> None:
    text = f"a module was not found, an error {FILLER} ModuleNotFoundError is raised {FILLER}"
    assert "<b>ModuleNotFoundError</b> is" in snippet(text, "ModuleNotFoundError", language="en")


@pytest.mark.parametrize("gap", [10, 60, 100, 125])
def test_all_words_of_the_passage_are_within_the_snippet(gap: int) -> None:
    text = f"{FILLER} lead in red {'x ' * (gap // 2)} untracked {FILLER}"
    shown = snippet(text, "red", "untracked")
    assert "<b>red</b>" in shown
    assert "<b>untracked</b>" in shown


def test_a_heading_with_more_of_the_words_than_any_passage_is_shown_before_it() -> None:
    words = [Words("data"), Words("manipulation")]
    headings = ["Tables", "6. Data Manipulation"]
    shown = Snippets(words, "en").make_snippet(
        pack_text(f"{FILLER} fill it with data."), "", headings
    )
    assert shown.startswith("6. <b>Data</b> <b>Manipulation</b> … dolor ")
    assert shown.endswith(" fill it with <b>data</b>.")
    shown = Snippets(words, "en").make_snippet(pack_text("manipulation of data"), "", headings)
    assert shown == "<b>manipulation</b> of <b>data</b>"


def test_a_heading_beside_the_main_text_is_shown_if_the_text_lacks_the_words() -> None:
    shown = Snippets([Words("limits")], "en").make_snippet(
        pack_text("the text"), "about", ["Top", "Limits"]
    )
    assert shown == "<b>Limits</b>"


def test_a_word_is_shown_rather_than_the_number_of_its_section() -> None:
    text = f"section 36.1 is {FILLER} the concept {FILLER}"
    assert "the <b>concept</b>" in snippet(text, "36.1.", "concept", language="en")


@pytest.mark.parametrize(
    ("text", "mark", "start"),
    [
        ("lead " * 20, BEFORE_CHARS, 0),
        ("lead " * 20, BEFORE_CHARS + 1, 5),
        ("lead " * 20, BEFORE_CHARS + 39, 40),
        ("lead " * 20, BEFORE_CHARS + 40, 45),
        ("x" * 200, BEFORE_CHARS + 40, 40),
        ("x" * 90 + " " * 9, 90, 30),  # the space behind the mark is none before it
    ],
)
def test_a_snippet_begins_with_the_first_whole_word_before_its_mark(
    text: str, mark: int, start: int
) -> None:
    assert _snippet_start(text, mark) == start


LONGEST = SNIPPET_CHARS - SNIPPET_CHARS // 4
"""Characters of a snippet that would be cut much further back at a space."""


@pytest.mark.parametrize(
    ("text", "chars"),
    [
        ("x" * SNIPPET_CHARS, SNIPPET_CHARS),
        ("x" * (SNIPPET_CHARS + 1), LONGEST),
        ("x" * (LONGEST - 9) + " " + "y" * 200, LONGEST),
        ("x" * (LONGEST + 9) + " " + "y" * 200, LONGEST + 9),
        ("x y " * 100, SNIPPET_CHARS - 1),
    ],
)
def test_a_snippet_ends_with_a_whole_word_if_that_is_near(text: str, chars: int) -> None:
    more = " …" if chars < len(text) else ""
    assert _snippet_html(text, 0, []) == text[:chars] + more
    assert _snippet_html(f"lead {text}", 5, []) == f"… {text[:chars]}{more}"


@pytest.mark.parametrize(
    ("last", "shown"),
    [
        (SNIPPET_CHARS - 2, f"<b>{'a' * (SNIPPET_CHARS - 2)}</b> …"),
        (SNIPPET_CHARS - 1, f"{'a' * (SNIPPET_CHARS - 2)} …"),
    ],
)
def test_a_mark_is_shown_if_it_ends_within_the_snippet(last: int, shown: str) -> None:
    text = "a" * (SNIPPET_CHARS - 2) + " b c"
    assert _snippet_html(text, 0, [(0, last)]) == shown


def test_a_snippet_says_whether_the_page_has_text_around_it() -> None:
    assert _snippet_html("a & b", 0, [(4, 5)], precedes=True, follows=True) == (
        "… a &amp; <b>b</b> …"
    )


@pytest.mark.parametrize(
    ("spans", "merged"),
    [
        ([], []),
        ([(0, 2), (3, 4)], [(0, 2), (3, 4)]),
        ([(0, 2), (2, 4)], [(0, 4)]),
        ([(1, 9), (2, 3), (8, 10), (12, 13)], [(1, 10), (12, 13)]),
    ],
)
def test_spans_that_touch_are_one(
    spans: list[tuple[int, int]], merged: list[tuple[int, int]]
) -> None:
    assert list(merge_spans(spans)) == merged


@pytest.mark.parametrize(("share", "shown"), [(0.7, True), (1.3, False)])
def test_a_form_with_another_initial_is_looked_for_in_a_part_of_the_text(
    share: float, shown: bool
) -> None:
    text = "é " * round(share * MAX_ANALYZED_BYTES / 3) + "ein Ärger"
    assert ("<b>Ärger</b>" in snippet(text, "arger")) == shown
