from __future__ import annotations

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fulltext.analysis import OTHER
from gossamer.search.query import Words
from gossamer.search.snippets import HEAD_CHARS, PASSAGE_CHARS, SNIPPET_CHARS, Snippets

FILLER = "lorem ipsum dolor sit amet " * 100


def snippet(text: str, *wanted: str, description: str = "") -> str:
    words = [Words(text, exact=" " in text) for text in wanted]
    return Snippets(words, OTHER).of(text, description)


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
    ],
)
def test_marks(text: str, wanted: list[str], shown: str) -> None:
    assert snippet(text, *wanted) == shown


def test_the_part_with_most_of_the_words_is_shown() -> None:
    text = f"red {FILLER} apple {FILLER} a red ripe apple. {FILLER}"
    shown = snippet(text, "red", "apple")
    assert "a <b>red</b> ripe <b>apple</b>." in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")


def test_the_rest_is_looked_at_where_the_beginning_lacks_a_word() -> None:
    text = f"red {FILLER[:HEAD_CHARS]} a ripe red apple {FILLER}"
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
