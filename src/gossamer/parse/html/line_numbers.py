"""The line numbers of code: not text, but a part of how code is displayed.

Syntax highlighters write them as elements before each line, or as a column beside the code. The
former are recognised by their name (`maintext/names.py`) and by having no text but a number; the
latter also without a name: a `pre` that counts.

Bounds: MAX_NODES nodes are read of each element, up to the first that is not a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gossamer.parse.maintext.names import is_number_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

__all__ = ["is_column", "is_number", "is_number_name"]

MAX_NODES: Final = 20_000
MAX_DEPTH: Final = 8
"""Depth of the elements in a column of numbers."""


def is_number(node: LexborNode) -> bool:
    """Whether an element has no text but numbers."""
    return bool(_numbers(node))


def is_column(node: LexborNode) -> bool:
    """Whether an element has two numbers or more, each greater by one than the one before."""
    numbers = _numbers(node)
    first = numbers[0] if numbers else 0
    return len(numbers) > 1 and numbers == list(range(first, first + len(numbers)))


def _numbers(node: LexborNode) -> list[int]:
    """Return the numbers in an element; nothing if it has any other text."""
    numbers: list[int] = []
    for text in _texts(node):
        if text and not (text[0].isspace() or text[0].isdecimal()):  # nearly always
            return []
        for word in text.split():
            if not word.isdecimal() or len(word) > 9:  # noqa: PLR2004  # digits of a large number
                return []
            numbers.append(int(word))
    return numbers


def _texts(root: LexborNode) -> Iterator[str]:
    """Yield the texts of an element; an empty word, which is no number, if it is too large."""
    stack: list[LexborNode] = []
    node = root.first_child
    for _ in range(MAX_NODES):
        if node is None:
            if not stack:
                return
            node = stack.pop().next
        elif (child := node.first_child) is None:
            if node.is_text_node:
                yield node.text_content or ""
            node = node.next
        elif len(stack) < MAX_DEPTH:
            stack.append(node)
            node = child
        else:
            break
    yield "too large"
