"""Writes the text within blocks: emphasis, code, links, images and line breaks."""

from __future__ import annotations

import re
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from gossamer.parse.rendition.blocks import BREAK, CODE, EMPHASIS, IMAGE, STRONG, Run
from gossamer.parse.rendition.escaping import escape, escape_start, escape_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HARD_BREAK = "\\\n"
IN_CELL = "<br>"
"""A line break in a table, whose rows are single lines."""
_TICKS = re.compile("`+")
_PUNCTUATION = frozenset("!\"#$%&'()+,-./:;<=>?@[]^{|}")
"""ASCII punctuation beside which emphasis can begin and end (§6.2), without its own marks."""


def inline(runs: Iterable[Run], line_break: str = HARD_BREAK) -> str:
    """Return runs as a paragraph, which begins no other block."""
    lines = [written for line in _lines(runs) if (written := _line(line))]
    return line_break.join(map(escape_start, lines) if line_break == HARD_BREAK else lines)


def _lines(runs: Iterable[Run]) -> Iterator[list[Run]]:
    """Yield the runs between line breaks, with white space folded and runs alike joined."""
    for is_break, group in groupby(runs, lambda run: bool(run.style & BREAK)):
        if not is_break:
            yield _folded(group)


def _folded(runs: Iterable[Run]) -> list[Run]:
    """Join runs of the same style and link, fold white space, and move it out of their ends."""
    folded: list[Run] = []
    written = (run for run in runs if run.text)
    for key, group in groupby(written, lambda run: (run.style, run.href)):
        if key[0] & IMAGE:
            folded += group
            continue
        text = "".join([run.text for run in group])
        words = " ".join(text.split())
        if not words:
            folded.append(Run(" "))
            continue
        before, after = text[0].isspace(), text[-1].isspace()
        folded += [Run(" ")] * before + [Run(words, *key)] + [Run(" ")] * after
    return folded


def _line(runs: Sequence[Run]) -> str:
    parts: list[str] = []
    last = ""  # the last character that is written
    for run, following in pairwise([*runs, Run(" ")]):
        if run.text == " " and not run.style:
            if last not in ("", " "):
                parts.append(" ")
                last = " "
            continue
        written = _run(run, last, following)
        parts.append(written)
        last = written[-1:] or last
    return "".join(parts).strip(" ")


def _run(run: Run, before: str, following: Run) -> str:
    """Return a run that comes after the character `before`, and before another run."""
    if run.style & IMAGE:
        alternative = escape(" ".join(run.text.split()), in_link=True)
        return f"![{alternative}]({escape_url(run.href)})" if alternative else ""
    if run.style & CODE:
        written = _code(run.text)
    else:
        written = escape(run.text, in_link=bool(run.href))
        begins = "[" if run.href else before
        ends = "]" if run.href else _first(following)
        if (mark := _mark(run.style)) and _can_be_marked(run.text, begins, ends):
            written = f"{mark}{written}{mark}"
    return f"[{written}]({escape_url(run.href)})" if run.href else written


def _mark(style: int) -> str:
    return "**" if style & STRONG else "*" if style & EMPHASIS else ""


def _can_be_marked(text: str, before: str, after: str) -> bool:
    """Whether the marks around a text are left-flanking and right-flanking (§6.2)."""
    return (
        (text[0].isalnum() or _divides(before))
        and (text[-1].isalnum() or _divides(after))
        and before != "*"
        and after != "*"
    )


def _divides(character: str) -> bool:
    return not character or character == " " or character in _PUNCTUATION


def _first(run: Run) -> str:
    """Return the first character that a run writes."""
    if run.style & IMAGE:
        return "!"
    if run.href:
        return "["
    if run.style & CODE:
        return "`"
    return "*" if _mark(run.style) else run.text[:1]


def _code(text: str) -> str:
    """Return a code span, in more backticks than the text has in a row (§6.1)."""
    longest = max(map(len, _TICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest and (text[0] == "`" or text[-1] == "`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
