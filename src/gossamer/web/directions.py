"""Text in two directions: marks that change the direction of whatever is shown behind them.

Embeddings, overrides and isolates last up to a closing mark, which a page may leave out. A title
with one would turn round the rest of the page that lists it, or show `exe.fdp` as `pdf.exe`
(Unicode TR 36 §2.6). Letters have a direction of their own and need none of these marks.
"""

from __future__ import annotations

from gossamer.native import native_text

_OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_REMOVED = dict.fromkeys(map(ord, _OVERRIDES))


def without_overrides(text: str) -> str:
    """Return the text without embeddings, overrides and isolates."""
    if text.isascii() or not has_overrides(text):  # most have none
        return text
    return text.translate(_REMOVED)


@native_text
def has_overrides(text: str) -> bool:
    """Whether a text has embeddings, overrides or isolates."""
    return any(mark in text for mark in _OVERRIDES)
