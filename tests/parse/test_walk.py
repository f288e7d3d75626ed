"""The walk in C finds what its definition in Python finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import selectolax
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from gossamer.native import TEXT_DEFINITIONS, TEXTS
from gossamer.parse.html import walk
from gossamer.parse.html.cursor import MAX_BOXES, Cursor
from gossamer.parse.html.elements import KINDS, PLAIN
from gossamer.parse.html.findings import Findings
from gossamer.parse.parsed_page import Rules
from tests.support.parse_corpus import answers, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.parse.maintext.blocks import Box

compiled_only = pytest.mark.skipif(TEXTS is None, reason="not compiled")
ATTRIBUTES = (
    *("", " class", " class=nav", " class='sidebar x'", " class=a", " class=lineno", " class=meta"),
    *(" hidden", " style=display:none", " data-nosnippet", " role=navigation", " id=share"),
    *(
        " href=/x",
        " href='#y'",
        " href",
        " rel=author",
        " href=/z class=lineno",
        " href=%ff rel=ugc",
    ),
)
TAGS = (
    *("a", "b", "body", "button", "code", "details", "div", "form", "h1", "h3", "html", "li"),
    *("math", "nobr", "noscript", "object", "p", "pre", "rt", "ruby", "section", "span", "summary"),
    *("svg", "table", "td", "template", "time", "title", "x-y"),
)
OPEN = st.builds("<{}{}>".format, st.sampled_from(TAGS), st.sampled_from(ATTRIBUTES))
PIECES = OPEN | st.sampled_from(
    [
        *("<a href=/x>", "<span>", "<pre>", "<p>", "</a>", "</div>", "</p>", "</pre>", "</span>"),
        *("</b>", "</button>", "</h1>", "</li>", "</section>", "</svg>", "</td>", "</ruby>"),
        *("<br>", "<hr>", "<img alt=i src=j>", "<input>", "<!-- c -->", "<script>s</script>"),
        *("word", " ", "\n 12 \n", "7", "¶", "\xa0", "é あ", "\ufffd", "٣", "a  b", "😀 ", "&#0;"),
    ]
)


def state(visit: Callable[..., None], markup: str | bytes, *, reveal: bool) -> list[Any]:
    """What a walk finds, and how it leaves the cursor."""
    tree = LexborHTMLParser(markup, scripting=True)
    found = Findings(Rules())
    assert tree.root is not None
    cursor = Cursor(found, tree.root, reveal=reveal)
    visit(tree.root, cursor, KINDS, PLAIN)
    lines, head = found.lines, found.head_metadata

    def shown(box: Box) -> tuple[object, ...]:
        return box.tag, box.parent, box.start, box.end, box.marks

    return [
        *(lines.pieces, lines.ends, [*map(shown, lines.boxes)], [*map(shown, lines.headings)]),
        *(lines.links, lines.linked, lines.hides, lines.has_unquoted),
        *(cursor.box, cursor.ruby),
        *(found.anchors, found.alt, found.headings, found.heading_starts, found.times),
        *(found.title, found.base, found.language, found.has_shadow_roots, found.refused),
        *(head.meta, head.times, head.authors, head.headlines, head.canonical, head.large_image),
        found.references.links("http://h.example/", "http://h.example/", Rules().urls),
    ]


def both(markup: str | bytes, *, reveal: bool = False) -> list[Any]:
    found = state(TEXT_DEFINITIONS["visit_nodes"], markup, reveal=reveal)
    assert state(walk.visit_nodes, markup, reveal=reveal) == found
    return found


@compiled_only
def test_the_installed_version_is_read_in_place() -> None:
    assert selectolax.__version__ in walk.READ_VERSIONS
    assert walk.READS_TREE


@compiled_only
@given(st.lists(PIECES, max_size=30).map("".join), st.booleans())
@example("<h1><a href=/x><button><h2>a</h2></button></a></h1><p><button><h3><b>", False)
@example("<section data-nosnippet><h1>a</h1><p>b</section><h2>c</h2>", False)
@example("<pre><span>1</span><span class=lineno>2</span> <span>x</span><span><b>3", False)
def test_any_page(markup: str, reveal: bool) -> None:
    both(markup, reveal=reveal)


@compiled_only
@given(st.lists(PIECES.map(str.encode) | st.binary(max_size=4), max_size=20).map(b"".join))
def test_any_bytes(markup: bytes) -> None:
    both(markup)


@compiled_only
def test_the_answers_of_the_corpus() -> None:
    for answer in answers().values():
        both(read(answer).body)


@compiled_only
def test_deep_pages_and_pages_of_many_classes() -> None:
    both("<div><b>" * 300 + "a" + "</b></div>" * 300)
    both(
        "".join(
            f"<p class=c{n}>{n}<span class='{n} {'x' * (n % 250)}'>a</span>" for n in range(5_000)
        )
    )


@compiled_only
def test_there_are_no_more_boxes_than_that() -> None:
    boxes = both("<p>a" * (MAX_BOXES + 2))[2]
    assert len(boxes) == MAX_BOXES


@compiled_only
def test_other_trees_and_arguments_are_refused() -> None:
    assert TEXTS is not None
    tree = LexborHTMLParser("<p><a href=h rel=r class=c id=i>text</a><b>")
    link = tree.css("a")[0]
    around = [node.mem_id for node in (link, link.parent, link.next, link.first_child) if node]
    assert TEXTS.can_read_tree(link, tree, *around)
    assert not TEXTS.can_read_tree(link, tree, *around[::-1])
    assert not TEXTS.can_read_tree(link, link, *around)
    assert not TEXTS.can_read_tree(tree, tree, *around)
    assert not TEXT_DEFINITIONS["can_read_tree"](link, tree, *around)
    cursor = Cursor(Findings(Rules()), link, reveal=False)
    for wrong in (
        (link, cursor, KINDS),
        (link, cursor, KINDS[1:], PLAIN),
        (link, cursor, KINDS, KINDS),
        (link, cursor, KINDS, PLAIN[1:]),
    ):
        with pytest.raises(TypeError):
            TEXTS.visit_nodes(*wrong)


@compiled_only
def test_errors_of_methods_end_the_walk() -> None:
    class Broken(RuntimeError):
        pass

    class Failing:
        box, in_link = 0, False

        def __init__(self) -> None:
            self.found = Findings(Rules())
            self.lines = self.found.lines

        def __getattr__(self, name: str) -> object:
            raise Broken(name)

    for markup in ("<p><a href=x>a", "<h1>a", "<p>a"):
        root = LexborHTMLParser(markup).root
        with pytest.raises(Broken):
            walk.visit_nodes(root, Failing(), KINDS, PLAIN)  # type: ignore[arg-type]
