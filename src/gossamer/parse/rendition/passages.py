"""Cuts a page into passages, at its headings and where a section is long.

Where the item of a list is cut, its first line stands for a heading above the further parts: a
reference lists the methods of a class in the item that begins with the class. That line itself
begins a passage, with what it is about.

The id of a passage is a hash of the headings above it and of its own text, so it stays the same
while other parts of the page change. Equal passages under equal headings are numbered.

Where a long section is cut depends on the blocks near the cut (content-defined chunking, after
Muthitacharoen et al., "A Low-bandwidth Network File System", SOSP 2001): so a change at its
beginning moves the next cuts only, until one falls where it was.
"""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from gossamer.parse.rendition.blocks import (
    Code,
    Heading,
    Inset,
    Items,
    Paragraph,
    Quote,
    Run,
    Table,
    plain,
)
from gossamer.parse.rendition.markdown import markdown
from gossamer.parse.rendition.rendered import Passage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from gossamer.parse.rendition.blocks import Block

    Terms: TypeAlias = tuple[str, ...]
    """The first lines of the items of which a text is a further part, the outermost first."""

MIN_CHARS = 600
"""Length from which on a passage may end at a block that its hash chooses."""
MAX_CHARS = 2_000
"""Length at which a passage ends, unless one block is longer and cannot be divided."""
CHOSEN = 3
"""One of so many blocks may begin a passage."""
MIN_CONTINUED_CHARS = 200
"""Length from which on a passage ends before an item that is cut, and where such an item ends."""
MAX_HEADING_CHARS = 200
MAX_DIVISIONS = 8
"""How often a block is divided into smaller ones, which may be divided, too."""


class _Piece(NamedTuple):
    """A text that is not cut. `begins_item`: it is the first line of an item that is cut."""

    terms: Terms
    text: str
    begins_item: bool = False


def cut_passages(blocks: Iterable[Block]) -> list[Passage]:
    """Return the passages of a page, in its order."""
    seen: Counter[str] = Counter()
    passages = []
    for path, fragment, text in _sections(blocks):
        name = xxhash.xxh3_64_hexdigest("\0".join((*path, "", text)).encode("utf-8", "replace"))
        seen[name] += 1
        number = f"-{seen[name]}" if seen[name] > 1 else ""
        passages.append(Passage(name + number, path, text, fragment))
    return passages


def _sections(blocks: Iterable[Block]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield path, fragment and text of each passage."""
    above: list[tuple[int, str]] = []
    fragment = ""
    around: list[tuple[list[tuple[int, str]], str]] = []  # the headings outside of open insets
    section: list[Block] = []

    def texts() -> Iterator[tuple[tuple[str, ...], str, str]]:
        path = tuple([heading for _, heading in above])
        for terms, text in _divided(section):
            yield path + terms, fragment, text

    for block in blocks:
        if isinstance(block, Heading):
            yield from texts()
            section = []
            while above and above[-1][0] >= block.level:
                above.pop()
            above.append((block.level, plain(block.runs)[:MAX_HEADING_CHARS]))
            fragment = block.fragment
        elif not isinstance(block, Inset):
            section.append(block)
        elif block.begins:
            around.append((above.copy(), fragment))
        elif around and (outside := around.pop())[0] != above:
            yield from texts()
            section = []
            above, fragment = outside
    yield from texts()


def _divided(section: Iterable[Block]) -> Iterator[tuple[Terms, str]]:
    """Yield the texts into which a section is cut."""
    parts: list[str] = []
    length = 0
    above: Terms = ()
    for terms, text, begins_item in _pieces(section, (), MAX_DIVISIONS):
        may_begin = length >= MIN_CHARS and not xxhash.xxh3_64_intdigest(text.encode()) % CHOSEN
        ends = length >= MIN_CONTINUED_CHARS and (begins_item or terms[: len(above)] != above)
        if parts and (may_begin or ends or length + len(text) > MAX_CHARS):
            yield above, "\n\n".join(parts)
            parts, length = [], 0
        above = _shared(above, terms) if parts else terms
        parts.append(text)
        length += len(text)
    if parts:
        yield above, "\n\n".join(parts)


def _shared(one: Terms, other: Terms) -> Terms:
    """The terms with which both begin."""
    return tuple(
        a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    )


def _pieces(blocks: Iterable[Block], above: Terms, divisions: int) -> Iterator[_Piece]:
    """Yield blocks as Markdown, the long ones in several pieces, with the first lines above."""
    for block in blocks:
        text = markdown([block])
        if len(text) <= MAX_CHARS or not divisions:
            if text:
                yield _Piece(above, text)
            continue
        match block:
            case Items([[Paragraph(runs), *further]]) if further:
                for number, piece in enumerate(_pieces([Paragraph(runs)], above, divisions - 1)):
                    yield piece._replace(begins_item=not number)
                term = plain(runs)[:MAX_HEADING_CHARS]
                yield from _pieces(further, (*above, term), divisions - 1)
            case _:
                yield from _pieces(_parts(block), above, divisions - 1)


def _parts(block: Block) -> Sequence[Block]:
    """Return smaller blocks with the text of a long one; itself if it cannot be divided."""
    match block:
        case Items(items, start) if len(items) > 1:
            return [Items([item], start and start + number) for number, item in enumerate(items)]
        case Items([item], _) | Quote(item) if len(item) > 1:
            return item
        case Table(rows) if len(rows) > 2:  # noqa: PLR2004  # a header and one row
            return [Table([rows[0], row]) for row in rows[1:]]
        case Code(text, language) if "\n" in text:
            return [Code(part, language) for part in _cut_lines(text.split("\n"))]
        case Paragraph(runs):
            return [Paragraph(part) for part in _cut_runs(runs)]
    return [block]


def _cut_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines in groups of at most MAX_CHARS, unless a line is longer."""
    group: list[str] = []
    length = 0
    for line in lines:
        if group and length + len(line) > MAX_CHARS // 2:
            yield "\n".join(group)
            group, length = [], 0
        group.append(line)
        length += len(line) + 1
    yield "\n".join(group)


def _cut_runs(runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Yield the runs of a paragraph in groups, each divided at spaces if it is long."""
    group: list[Run] = []
    length = 0
    for run in runs:
        for text in _cut_words(run.text):
            if group and length + len(text) > MAX_CHARS // 2:
                yield group
                group, length = [], 0
            group.append(run._replace(text=text))
            length += len(text) + len(run.href)
    yield group


def _cut_words(text: str) -> Iterator[str]:
    while len(text) > MAX_CHARS // 2:
        at = text.rfind(" ", 0, MAX_CHARS // 2) + 1 or MAX_CHARS // 2
        yield text[:at]
        text = text[at:]
    yield text
