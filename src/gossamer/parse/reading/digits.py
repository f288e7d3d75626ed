"""Whether a text has a digit: asked of each line of a page, and the answer is nearly always no.

Facts (CPython 3.11): to search 40 characters by a pattern takes 0.6 µs; to encode them and delete
bytes takes 0.2 µs.
"""

from __future__ import annotations

from typing import Final

_DIGITS: Final = b"0123456789"
_LEADS: Final = b"\xd9\xdb\xdf\xe0\xe1\xea\xef\xf0\xf1\xf2\xf3\xf4"
"""The first bytes, in UTF-8, of the digits of other scripts, and of other letters of these."""
_DELETED: Final = _DIGITS + _LEADS


def may_have_digit(text: str) -> bool:
    """Whether a text has a decimal digit, of any script, or a letter of such a script."""
    encoded = text.encode("utf-8", "replace")
    return len(encoded.translate(None, _DELETED)) < len(encoded)
