"""What plugins may import: docs/plugins.md describes the extension points.

Everything else in the package may change without notice. The names are imported when they are first
used, so that a parser, which runs in a guarded process, does not load the libraries of fetchers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.fetch.exchange import Fetcher, FetchResult, Request
    from gossamer.fetch.http.streams import Stream, connect, connect_address
    from gossamer.fetch.resource import Entry, give_body, give_folder
    from gossamer.parse.page import Content, Link, ParsedPage, Rules
    from gossamer.parse.reading.charset import decode
    from gossamer.parse.reading.references import References
    from gossamer.rules.filters import UrlFilter

__all__ = [
    "Content",
    "Entry",
    "FetchResult",
    "Fetcher",
    "Link",
    "ParsedPage",
    "References",
    "Request",
    "Rules",
    "Stream",
    "UrlFilter",
    "connect",
    "connect_address",
    "decode",
    "give_body",
    "give_folder",
]

_MODULES = {
    "gossamer.fetch.exchange": ("FetchResult", "Fetcher", "Request"),
    "gossamer.fetch.resource": ("Entry", "give_body", "give_folder"),
    "gossamer.fetch.http.streams": ("Stream", "connect", "connect_address"),
    "gossamer.rules.filters": ("UrlFilter",),
    "gossamer.parse.reading.charset": ("decode",),
    "gossamer.parse.page": ("Content", "Link", "ParsedPage", "Rules"),
    "gossamer.parse.reading.references": ("References",),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(name)
