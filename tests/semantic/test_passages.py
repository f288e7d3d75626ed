from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gossamer.semantic.passages import WIDTH, clean, passages_of, width_of

TEXTS = st.text(st.sampled_from("ab \n.!。語한\t\x00"), max_size=3_000)


@given(TEXTS, TEXTS, st.integers(1, 20))
def test_passages_are_bounded_and_clean(title: str, text: str, most: int) -> None:
    found = passages_of(title, text, most)
    assert len(found) <= most
    assert len({*found}) == len(found)
    assert all(passage == clean(passage) and passage for passage in found)
    assert all(width_of(passage) <= 2 * WIDTH for passage in found)


@given(TEXTS)
def test_nothing_of_a_text_is_lost_but_what_is_repeated_or_brief(text: str) -> None:
    everything = "".join(passages_of("", text, 10_000)).replace(" ", "")
    missing = clean(text).replace(" ", "")
    assert {*everything} <= {*missing}
    if width_of(clean(text)) > WIDTH:
        assert everything


def test_lines_are_joined_and_long_ones_are_cut_at_sentences() -> None:
    sentence = "A sentence of some words that are here. "
    lines = "\n".join(["A short line", "another one", sentence * 30])
    title, first, *others = passages_of("Title", lines, 100)
    assert title == "Title"
    assert first.startswith("A short line another one")
    assert others
    assert all(passage.endswith("here.") for passage in others)
    assert all(passage.startswith("A sentence") for passage in others)


def test_chinese_sentences_are_cut_at_their_ends() -> None:
    passages = passages_of(None, "这是一个关于文字处理的句子。" * 60, 100)
    assert len(passages) > 1
    assert all(passage.endswith("。") for passage in passages)
    assert all(width_of(passage) <= WIDTH for passage in passages)


def test_a_page_without_text_has_its_title() -> None:
    assert passages_of("Title", None, 5) == ["Title"]
    assert passages_of(None, None, 5) == []
    assert passages_of("", " \n ", 5) == []


def test_the_first_passages_are_kept() -> None:
    text = "\n".join(f"line {number} " + "word " * 40 for number in range(1_000))
    found = passages_of("title", text, 3)
    assert [passage.split()[:2] for passage in found] == [["title"], ["line", "0"], ["line", "1"]]
