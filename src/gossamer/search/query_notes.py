"""What an answer says about a query that was not read as its author may have expected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.search.query import AROUND, TOKEN, WEIGHED
from gossamer.search.query_text import straighten

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NOTES = 4
"""Notes of one answer, the first ones."""
MAX_SHOWN_CHARS = 40
_WILDCARD = re.compile(r"\*?[^\W\d_]{3,}\*|\*[^\W\d_]{3,}|[^\W\d_]{2,}\*[^\W\d_]{2,}")
"""A word with an asterisk in the place of letters, unlike `**kwargs` and `*.txt`."""


def notes_on(text: str) -> list[str]:
    """What to say about a query, as sentences in plain text; nothing about most."""
    return list(dict.fromkeys(_notes(straighten(text))))[:MAX_NOTES]


def _notes(text: str) -> Iterator[str]:
    for match in TOKEN.finditer(text):
        word = match["word"] or match["required"] or match["excluded"] or ""
        if _WILDCARD.fullmatch(word):
            plain = " ".join(word.replace("*", " ").split())
            yield f"There are no wildcards: {_shown(word)} was searched as {_shown(plain)}."
        if match["near"] or AROUND.fullmatch(word):
            yield (
                f"{match['near'] or word} was ignored: pages with the words close to each other "
                "come first."
            )
        if match["weight"] or WEIGHED.fullmatch(word):
            typed = match["weight"] or word[word.index("^") :]
            yield f"{_shown(typed)} was ignored: words cannot be given a weight."


def _shown(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"
