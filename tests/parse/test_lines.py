"""Where the lines of the visible text and the blocks of the outline differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.lines import BREAK, JOINED, SEAM, SPACED, Lines
from gossamer.parse.html.walk import findings
from gossamer.parse.parsed_page import Rules, fold


def read(body: str) -> tuple[list[str], list[str]]:
    """Return the lines of the visible text and the texts of the outline's blocks."""
    lines = findings(LexborHTMLParser(body, scripting=True), Rules()).lines
    return lines.visible().split("\n"), [block.text for block in lines.outline().blocks]


@pytest.mark.parametrize(
    ("body", "visible", "blocks"),
    [
        ("<p>a <i>b</i><p>c", ["a b", "c"], ["a b", "c"]),
        ("a<br>b<br> <br>c", ["a", "b", "c"], ["a b", "c"]),
        ("a<pre>1\n2\n3</pre>b", ["a", "b"], ["a", "b"]),
        ("<p>a<button>b</button>c", ["a", "b", "c"], ["a c"]),
        ("<p>a<button>b</button><br>c", ["a", "b", "c"], ["a c"]),
        ("<p>a<br><button>b</button><br>c", ["a", "b", "c"], ["a", "c"]),
        ("<p>a<script>b</script>c", ["ac"], ["a c"]),
        ("<p>a<input><input>c", ["ac"], ["a c"]),
        ("<p>a <span hidden>b</span> c", ["a b c"], ["a c"]),
        ("<p>a<span hidden>b</span>c", ["abc"], ["ac"]),
        ("<p><span hidden>b</span> c", ["b c"], ["c"]),
        ("<p>a<span hidden>b</span>", ["ab"], ["a"]),
        ("<div>a<x-y hidden>b<p>c</p>d</x-y> e", ["ab", "c", "d e"], ["a e"]),
        ("<p>a</p><div hidden>b<p>c</div>d", ["a", "b", "c", "d"], ["a", "d"]),
        ("<p>a<span class=comment-box>b</span>c", ["abc"], ["a", "b", "c"]),
        ("<p>a <span class=comment-box> b</span>", ["a b"], ["a", "b"]),
        (
            "<p>a<span class=comment-box>b<span hidden>c</span>d</span>e",
            ["abcde"],
            ["a", "bd", "e"],
        ),
        ("<pre>a<span class=comment-box>b</span>c</pre>", ["abc"], ["abc"]),
    ],
)
def test_lines_and_blocks(body: str, visible: list[str], blocks: list[str]) -> None:
    assert read(body) == (visible, blocks)


PIECES = (
    "a",
    " ",
    "\n b",
    "\x01",
    "<br>",
    "<p>",
    "<input>",
    "<span hidden>",
    "</span>",
    "<b>c</b>",
)


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_seams_are_not_in_the_visible_text(pieces: list[str]) -> None:
    body = "x<input>" + "".join(pieces)  # which has a seam
    lines = findings(LexborHTMLParser(body), Rules()).lines
    raw = "".join(lines.pieces).replace(SEAM, "").split(BREAK)
    assert lines.visible() == "\n".join(filter(None, map(fold, raw)))


def test_a_box_holds_the_blocks_of_its_lines() -> None:
    page = "<div>a<ul><li>b<br><br>c<li hidden>d<li>e</ul></div><span class=comment-box>f</span>"
    outline = findings(LexborHTMLParser(page), Rules()).lines.outline()
    texts = [block.text for block in outline.blocks]
    held = {box.tag: texts[box.start : box.end] for box in outline.boxes}
    assert held["html"] == held["body"] == ["a", "b", "c", "e", "f"]
    assert held["div"] == ["a", "b", "c", "e"]
    assert held["ul"] == ["b", "c", "e"]
    assert held["span"] == ["f"]


@pytest.mark.parametrize("inside", ["<br>", "<span class=comment-box></span>", "<p hidden></p>"])
def test_a_link_without_text_has_no_anchor_text(inside: str) -> None:
    found = findings(LexborHTMLParser(f"<p>a<a href=/x>{inside}</a>"), Rules())
    url = "https://example.org/"
    (link,) = found.references.links(url, url, Rules().urls)
    assert link.anchor == ""


@pytest.mark.parametrize(
    ("pieces", "box", "seams"),
    [
        (["a"], 0, 1),
        (["a"], 3, 1),
        (["a"], -1, 0),
        ([], 0, 0),
        (["a "], 0, 0),
        (["a", " "], 0, 0),
        (["a", BREAK], 0, 0),
        (["a", SEAM], 0, 0),
    ],
)
def test_a_gap_is_where_words_would_touch(pieces: list[str], box: int, seams: int) -> None:
    lines = Lines()
    lines.pieces += pieces
    for _ in range(2):
        lines.gap(box)
    assert lines.pieces == [*pieces, *[SEAM] * seams]
    assert lines.ends == [SPACED] * seams


@pytest.mark.parametrize(("end", "line"), [(JOINED, "a "), (SPACED, "a")])
def test_a_space_before_a_joint_stays(end: int, line: str) -> None:
    lines = Lines()
    lines.pieces.append("a ")
    lines.seam(end)
    lines.pieces.append("b")
    lines.ends.append(0)
    assert lines.visible() == "a b"
    assert [*lines.outline_lines()] == [line, "b"]
