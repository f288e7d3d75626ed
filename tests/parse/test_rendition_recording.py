"""Which lines of a page make up the blocks of its outline, and what is recorded of a main text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.lines import OUTSIDE
from gossamer.parse.html.walk import findings
from gossamer.parse.parsed_page import Rules
from gossamer.parse.rendition.recording import (
    START,
    WORDS,
    _block_numbers,
    _Numbered,
    _reduced,
    record_element,
)

PARTS = ["a", "b ", " ", "<br>", "<p>", "</p>", "<ul><li>", "</ul>", "<i>", "</i>", "<img alt=q>"]
PARTS += ["<span hidden>h</span>", "<button>x</button>", "<script></script>", "<input>"]
PARTS += ["<span hidden>h ", "<span class=comment-box>c", "</span>", "<nav>n</nav>", "<div>"]
PARTS += ["<table><tr><td>", "</table>", "<pre>\nc\n d</pre>"]


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
def test_a_block_has_the_texts_of_its_lines(html: str) -> None:
    lines = findings(LexborHTMLParser(html), Rules()).lines
    boxes = len(lines.boxes)
    numbered = _Numbered.of(lines)
    assert len(lines.boxes) == boxes
    outline = lines.outline()
    assert [box.end for box in numbered.outline.boxes] == [box.end for box in outline.boxes]
    assert [block.text for block in numbered.outline.blocks] == [
        block.text for block in outline.blocks
    ]
    numbers = _block_numbers(lines, numbered.before)
    assert len(numbers) == len(lines.ends) == len(numbered.before) - 1
    texts = [""] * len(numbered.outline.blocks)
    for line, number, end in zip(lines.outline_lines(), numbers, lines.ends, strict=True):
        assert -1 <= number < len(texts)
        if end == OUTSIDE:
            assert number == -1
        if number >= 0:
            texts[number] += "".join(line.split())
        else:
            assert not line or end == OUTSIDE
    assert texts == ["".join(block.text.split()) for block in numbered.outline.blocks]


@pytest.mark.parametrize(
    ("html", "numbers"),
    [
        ("a", [0]),
        ("<p>a<p>b", [0, -1, 1]),
        ("<p>a<br>b", [0, 0]),
        ("<p>a<br><br>b", [0, 1, 1]),
        ("<p>a<br> <br> <br>b", [0, 1, 1, 1]),
        ("<p><br>a", [0]),
        ("<p>a<br>", [0, 0]),
        ("<p>a<br><br>", [0, 0, 0]),
        ("<p>a<br><br>b<br><br>", [0, 1, 1, 1, 1]),
        ("<p>a<button>x</button>b", [0, -1, 0]),
        ("<p>a<script></script>b", [0, 0]),
        ("<p>a<span hidden>h</span>b", [0, -1, 0]),
        ("<p>a</p> <p>b", [0, -1, 1]),
    ],
)
def test_the_number_of_the_block_of_each_line(html: str, numbers: list[int]) -> None:
    lines = findings(LexborHTMLParser(html), Rules()).lines
    found = _block_numbers(lines, _Numbered.of(lines).before)
    assert found[found.index(0) : -found[::-1].index(max(found)) or None] == numbers


@pytest.mark.parametrize(
    ("html", "chosen", "kept"),
    [
        ("<p>a<p>b<p>c", [1], "b"),
        ("<p>a<p>b<p>c", [0, 2], "ac"),
        ("<p>a<img alt=1><p>b<img alt=2>", [1], "bI"),
        ("<p>a</p><img alt=1><p>b", [0], "aI"),
        ("<p>a</p><img alt=1><p>b", [1], "Ib"),
        ("<p>a</p><img alt=1><p>b<p>c", [2], "c"),
        ("<p>a<p>b</p><img alt=1><p>c", [0], "a"),
        ("<p>a<br><img alt=1><p>b", [0], "aI"),
        ("<p>a<br><img alt=1><p>b", [1], "b"),
        ("<p>a<br><br>b", [1], "b"),
    ],
)
def test_words_and_images_of_other_blocks_are_left_out(
    html: str, chosen: list[int], kept: str
) -> None:
    body = LexborHTMLParser(html).body
    assert body is not None
    everything = record_element(body, Rules())
    lines = findings(LexborHTMLParser(html), Rules()).lines
    found = _reduced(lines, everything.events, _Numbered.of(lines), chosen)
    seen = [
        "I" if event.text == "img" else event.text
        for event in found.events
        if event.kind == WORDS or (event.kind == START and event.text == "img")
    ]
    assert "".join(seen) == kept
    assert len(found.events) <= len(everything.events)
