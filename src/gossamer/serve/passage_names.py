"""What a passage is about by its form: the names of its items, and whether it is a list of links.

References describe a thing in an item that begins with its name or signature. Such a line counts as
a name if the item goes on below it, or if the next item does, as where two signatures share a
description. Items without more below them, and lines that are a link, are no names: these are
tables of contents. The first line of a passage counts, too, as it may be that of a longer item.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NAME_CHARS = 200
LINKS_SHARE = 0.8
"""The share of letters in links from which on a passage is a list of links."""
_ITEM = re.compile(r" *[-*+] +(.*)")
_FENCE = re.compile(r" *(?:```|~~~)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^()\s]*\)")
_OTHER = re.compile(r"[\W_]+")
_END = re.compile(r"(?<=.)(?:[(:=]|\s[–—-]\s)")
"""Where a signature or definition begins behind a name: `stat(path)`, `--level=N`, `size: int`."""


def names_of(markdown: str) -> Iterator[str]:
    """The first line and the names of the items, as Markdown without what follows a name."""
    first = markdown.lstrip("#*->` \n").partition("\n")[0]
    for line in (first, *_first_lines(markdown)):
        if not _LINK.fullmatch(line):
            yield _name(line)


def _name(line: str) -> str:
    shown = _LINK.sub(r"\1", line[: 4 * MAX_NAME_CHARS])
    end = _END.search(shown)
    return shown[: end.start() if end else None][:MAX_NAME_CHARS]


def _first_lines(markdown: str) -> Iterator[str]:
    """The first lines of the items that go on below them, and of those that share what follows."""
    waiting: list[str] = []
    depth = 0
    is_code = False
    for line in markdown.split("\n"):
        if _FENCE.match(line):
            is_code = not is_code
        if not line or is_code:
            continue
        item = _ITEM.match(line)
        indent = len(line) - len(line.lstrip(" "))
        if waiting and indent > depth:
            yield from waiting
        if item is None or indent != depth:
            waiting = []
        if item is not None:
            depth = indent
            waiting.append(item[1])


def is_list_of_links(markdown: str) -> bool:
    """Whether nearly all letters that are visible are those of links."""
    links = [*_LINK.finditer(markdown)]
    if 2 * sum(len(link[0]) for link in links) < len(markdown):  # for most texts, that is enough
        return False
    linked = len(_OTHER.sub("", "".join([link[1] for link in links])))
    return linked > LINKS_SHARE * (linked + len(_OTHER.sub("", _LINK.sub("", markdown))))
