"""Text in two directions: marks that change the direction of whatever is shown behind them.

Embeddings, overrides and isolates last up to a closing mark, which a page may leave out. A title
with one would turn round the rest of the page that lists it, or show `exe.fdp` as `pdf.exe`
(Unicode TR 36 §2.6). Letters have a direction of their own and need none of these marks.
"""

from __future__ import annotations

import re

_OVERRIDES = re.compile("[\u202a-\u202e\u2066-\u2069]")


def without_overrides(text: str) -> str:
    """Return the text without embeddings, overrides and isolates."""
    return text if text.isascii() else _OVERRIDES.sub("", text)
