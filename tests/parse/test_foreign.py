"""The text of formulas and images within HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html.foreign import MAX_DEPTH, MAX_NODES, math_text, repeats_math, svg_lines

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


def element(html: str, css: str) -> LexborNode:
    found = LexborHTMLParser(html).css_first(css)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("<mi>a</mi><mo>+</mo><mn>1</mn>", "a+1"),
        ("<mi>sin</mi><mi>x</mi>", "sin x"),
        ("<mi>x</mi><mi>sin</mi>", "x sin"),
        ("<mi>a</mi><mi>b</mi>", "ab"),
        ("<mi>sin</mi><mn>2</mn>", "sin2"),
        ("<mn>2</mn><mi>sin</mi>", "2sin"),
        ("<mi>sin</mi><mo>(</mo><mi>x</mi><mo>)</mo>", "sin(x)"),
        ("<mi>f</mi><mo>\u2061</mo><mi>x</mi><mo>\u2064</mo><mi>y</mi>", "fxy"),
        ("<mi>a</mi><mo>\u2065</mo>", "a\u2065"),
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
        ("<mfrac><mrow><mn>1</mn><mn>2</mn></mrow><mn>3</mn></mfrac>", "12/3"),
        ("<mtable><mtr><mn>1</mn><mn>2</mn></mtr><mtr><mn>3</mn></mtr></mtable>", "1 2 3"),
        ("<mtable><mlabeledtr><mn>1</mn><mn>2</mn></mlabeledtr></mtable>", "1 2"),
        ("<semantics><mi>a</mi><mi>b</mi></semantics><mi>c</mi>", "ac"),
        ("<maction><mi>a</mi><mi>b</mi></maction>", "a"),
        ("<mi>a</mi><annotation>b</annotation><mphantom><mi>c</mi></mphantom>", "a"),
        ("<mi>a</mi><mi style='DISPLAY : none'>b</mi>", "a"),
        ("<mi>a</mi><mi style='visibility:hidden'>b</mi>", "a"),
        ("<mi>a</mi><mi style='color:red'>b</mi>", "ab"),
        ("<mi>a</mi><mi display=none>b</mi><mi visibility=hidden>c</mi>", "a"),
        ("<mi>a</mi><mi display=block>b</mi><mi visibility=visible>c</mi>", "abc"),
        ("<mi> a </mi> <mo> + </mo>", "a+"),
    ],
)
def test_formulas_are_written_in_a_line(inside: str, text: str) -> None:
    assert math_text(element(f"<math>{inside}</math>", "math")) == text


@pytest.mark.parametrize(
    ("inside", "lines"),
    [
        ("<text>one</text><text> two  words </text>", ["one", "two words"]),
        ("stray<g>stray</g><text>one</text>stray", ["one"]),
        ("<text>on<tspan>e</tspan></text>", ["one"]),
        ("<text>one<tspan x=1>two</tspan></text>", ["one two"]),
        ("<text>one<tspan dy=1>two</tspan></text>", ["one two"]),
        ("<text>one<tspan y=1>two</tspan>three</text>", ["one two three"]),
        ("<text>one<a>two</a></text>", ["onetwo"]),
        ("<text>one<x>two</x></text>", ["one two"]),
        ("<text>one</text><title>no</title><desc>no</desc>", ["one"]),
        ("<defs><text>no</text></defs><text>one</text>", ["one"]),
        ("<switch><text>one</text><text>no</text></switch>", ["one"]),
        ("<foreignObject><p>one</p><p>two</p></foreignObject>", ["one two"]),
        (
            "<foreignObject>one<svg><text>two</text></svg>three</foreignObject>",
            ["one", "two", "three"],
        ),
        ("<text> </text>", []),
    ],
)
def test_images_have_lines(inside: str, lines: list[str]) -> None:
    assert svg_lines(element(f"<svg>{inside}</svg>", "svg")) == lines


@pytest.mark.parametrize(
    ("html", "repeats"),
    [
        ("<math></math><b>x</b>", True),
        ("<b>x</b><math></math>", True),
        ("<i><math></math></i><b>x</b>", True),
        ("<i><u><math></math></u></i><b>x</b>", True),
        ("<i><u><s><math></math></s></u></i><b>x</b>", False),
        ("<i>y</i><b>x</b><i>y</i>", False),
        ("<math></math><i>y</i><b>x</b>", False),
        ("<b>x</b>", False),
        ("<b><math></math></b>", False),
    ],
)
def test_a_formula_may_be_beside_its_copy(html: str, repeats: bool) -> None:
    assert repeats_math(element(f"<p>{html}</p>", "b")) is repeats


def test_few_nodes_of_a_formula_are_read() -> None:
    # Each element is read with its text and its end.
    most = MAX_NODES // 3
    letters = "<mi>a</mi>" * (most + 10)
    assert len(math_text(element(f"<math>{letters}</math>", "math"))) == most + 1


def test_deep_elements_are_not_read() -> None:
    def nested(depth: int) -> str:
        return math_text(element(f"<math>{'<mrow>' * depth}a", "math"))

    assert nested(MAX_DEPTH) == "a"
    assert nested(MAX_DEPTH + 1) == ""
