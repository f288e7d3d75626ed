"""The text of formulas (MathML) and images (SVG) within HTML, as browsers show it.

A formula is often in a page twice: as MathML for programs, and as elements for the eye, which are
hidden from programs by `aria-hidden` (KaTeX, MathJax). MathML itself may repeat it as TeX, in
annotations. We read MathML only, without annotations.

Bounds: time is linear in the number of nodes, of which MAX_NODES are read per formula or image.
Nothing recurses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.parse.parsed_page import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

MAX_NODES = 20_000
MAX_DEPTH = 500
MAX_MATH_DEPTH = 3
"""Depth at which a formula may be in the element beside its copy."""

_UNSEEN = """annotation annotation-xml clippath defs desc filter lineargradient marker mask metadata
    mphantom mprescripts none pattern radialgradient script style symbol template title"""
_NOT_SHOWN = frozenset(_UNSEEN.split())
_FIRST_ONLY = frozenset(("maction", "semantics", "switch"))
"""Elements of which browsers show the first child."""
_DIVIDED = frozenset(("mfrac", "mtable", "mtr", "mlabeledtr"))
"""Elements whose children do not stand beside each other."""
_LINES = frozenset(("foreignobject", "text"))
"""Elements of SVG that have text."""
_PHRASES = "a abbr b bdi bdo cite code em font i kbd mark q s small span strong sub sup textpath u"
_INLINE = frozenset(_PHRASES.split())
_INVISIBLE_OPERATORS = re.compile("[\u2061-\u2064]")
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)

START, TEXT, END = range(3)


def math_text(math: LexborNode) -> str:
    """Return a formula as text within a line: words are separated, single letters are not."""
    words: list[str] = []
    divided: list[bool] = []
    for event, node in _events(math):
        if event == END:
            divided.pop()
        elif event == START:
            if divided and divided[-1] and node.prev is not None:
                words.append("/" if _tag(node.parent) == "mfrac" else " ")
            divided.append(_tag(node) in _DIVIDED)
        elif text := fold(_INVISIBLE_OPERATORS.sub("", node.text_content or "")):
            if words and (len(text) > 1 or len(words[-1]) > 1) and _are_words(words[-1], text):
                words.append(" ")
            words.append(text)
    return fold("".join(words))


def svg_lines(svg: LexborNode) -> list[str]:
    """Return the texts of an image, each folded."""
    lines: list[str] = []
    parts: list[str] = []
    open_lines = 0
    for event, node in _events(svg):
        if event == TEXT:
            if open_lines:
                parts.append(node.text_content or "")
            continue
        tag = _tag(node)
        if tag in _LINES:
            if line := fold("".join(parts)):
                lines.append(line)
            parts.clear()
            open_lines += 1 if event == START else -1
        elif open_lines and tag not in _INLINE and (tag != "tspan" or _is_moved(node)):
            parts.append(" ")
    return lines


def repeats_math(node: LexborNode) -> bool:
    """Whether an element that is hidden from programs is beside the formula that it shows."""
    return _is_math(node.prev) or _is_math(node.next)


def _is_math(node: LexborNode | None) -> bool:
    for _ in range(MAX_MATH_DEPTH):
        if node is None:
            return False
        if node.tag == "math":
            return True
        node = node.first_child
    return False


def _events(root: LexborNode) -> Iterator[tuple[int, LexborNode]]:
    """Yield the starts and ends of the shown elements in `root`, and its text nodes, in order."""
    ancestors: list[LexborNode] = []
    node = root.first_child
    for _ in range(MAX_NODES):
        if node is None:
            if not ancestors:
                return
            node = ancestors.pop()
            yield END, node
            node = _following(node)
        elif node.is_text_node:
            yield TEXT, node
            node = _following(node)
        elif node.is_element_node and len(ancestors) < MAX_DEPTH and _is_shown(node):
            yield START, node
            ancestors.append(node)
            node = node.first_child
        else:
            node = node.next


def _following(node: LexborNode) -> LexborNode | None:
    """Return the next node that is shown beside this one."""
    if node.is_element_node and _tag(node.parent) in _FIRST_ONLY:
        return None
    return node.next


def _is_shown(node: LexborNode) -> bool:
    if _tag(node) in _NOT_SHOWN:
        return False
    attributes = node.attributes
    if not attributes:
        return True
    return not (
        attributes.get("display") == "none"
        or attributes.get("visibility") == "hidden"
        or _HIDING.search(attributes.get("style") or "")
    )


def _is_moved(node: LexborNode) -> bool:
    return not {"x", "y", "dx", "dy"}.isdisjoint(node.attributes)


def _tag(node: LexborNode | None) -> str:
    return "" if node is None else (node.tag or "").lower()


def _are_words(left: str, right: str) -> bool:
    return left[-1].isalpha() and right[0].isalpha()
