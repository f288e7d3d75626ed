"""The main text as extracted by trafilatura: the setting `parse.extractor`, and an optional extra.

Facts (bench/maintext.py, 123 pages of 206 KB; trafilatura 2.3): F1 is 0.927 in its fast mode, which
runs no fallback extractors, and 0.929 with them; these modes take four and six times as long as our
own extractor, which has 0.966. On 181 other pages, all of them news, the fast mode was the better
of the two, so we use it. If the source has no `body` tag, which HTML makes optional, trafilatura
returns the page as one block or returns nothing; it then gets the tree's serialisation.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from gossamer.errors import ConfigError
from gossamer.parse.page import fold

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_BODY = re.compile(r"<body[\s>]", re.IGNORECASE)

logging.getLogger("trafilatura").addHandler(logging.NullHandler())  # it warns of pages without text


def check() -> None:
    """Raise ConfigError if trafilatura cannot be imported."""
    try:
        import trafilatura  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            'parse.extractor = "trafilatura"',
            f"cannot be used: {error}",
            "pip install 'gossamer[trafilatura]'",
        ) from error


def by_trafilatura(html: str, tree: LexborHTMLParser) -> str:
    """Return the main text of a page, one line per block; "" if it finds none. Never raises."""
    from trafilatura import extract

    if not _BODY.search(html):
        html = tree.html or ""
    try:
        text = extract(html, include_comments=False, fast=True) or ""
    except Exception:  # noqa: BLE001  # a third-party library on untrusted input
        return ""
    return "\n".join(line for line in map(fold, text.splitlines()) if line)
