"""Escapes text for CommonMark 0.31 with GFM's tables and strikethrough, and no more than it must.

A backslash before ASCII punctuation makes it literal (§2.4). Underscores within words, brackets
that cannot become a link, and an ampersand that is no reference need none.
"""

from __future__ import annotations

import re

_MARKS = r"""[\\`*~]
    | (?<![^\W_])_ | _(?![^\W_])     # within a word it opens no emphasis
    | <(?=[A-Za-z/!?]|\Z)            # a tag or an autolink
    | &(?=\#|[A-Za-z]|\Z)            # a reference
    | !(?=\[|\Z)                     # an image
"""
_ANYWHERE = re.compile(rf"{_MARKS} | \](?=[\[(:]|\Z)", re.VERBOSE)
_IN_LINK = re.compile(rf"{_MARKS} | [\[\]]", re.VERBOSE)
_AT_START = re.compile(r"[#>=:|+-]|(\d{1,9})(?=[.)])")
"""What begins a heading, quote, list or table at the start of a line."""
_CLOSING = re.compile(r"(#+)\Z")
_URL_UNSAFE = re.compile(r"""[\s<>()\\"'`|\[\]]|[\x00-\x1f\x7f]""")
_REFERENCE = re.compile(r"&(?=[A-Za-z#][A-Za-z0-9]{0,40};)")


def escape(text: str, *, in_link: bool = False) -> str:
    """Escape text within a line."""
    return (_IN_LINK if in_link else _ANYWHERE).sub(r"\\\g<0>", text)


def escape_start(line: str) -> str:
    """Escape the first characters of an escaped line, which could otherwise begin a block."""
    found = _AT_START.match(line)
    if found is None:
        return line
    digits = found[1] or ""
    return f"{digits}\\{line[len(digits) :]}"


def escape_closing(line: str) -> str:
    """Escape the end of a heading, where number signs would be dropped."""
    return _CLOSING.sub(lambda found: "\\#" * len(found[1]), line)


def escape_url(url: str) -> str:
    """Return a URL without characters that end or interrupt the target of a link."""
    return _REFERENCE.sub("&amp;", _URL_UNSAFE.sub(_percent_encoded, url))


def _percent_encoded(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))
