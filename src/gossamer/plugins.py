"""What plugins may import: docs/plugins.md describes the extension points.

Everything else in the package may change without notice. The names are imported when they are first
used, so that a parser, which runs in a guarded process, does not load the libraries of fetchers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.config import FetchConfig
    from gossamer.fetch.exchange import Fetcher, FetchResult, Request
    from gossamer.fetch.file_results import (
        FolderEntry,
        media_type,
        redirect_to_folder,
        set_body,
        set_folder_page,
    )
    from gossamer.fetch.http.body_reader import Bodies, Body, limit_of
    from gossamer.fetch.http.site_settings import Site, Sites
    from gossamer.fetch.network.allowed_networks import ForbiddenAddress, Networks
    from gossamer.fetch.network.cached_resolver import Resolver
    from gossamer.fetch.network.streams import Stream, connect, connect_address
    from gossamer.parse.parsed_page import Content, Link, ParsedPage, Rules
    from gossamer.parse.reading.charset import decode
    from gossamer.parse.reading.references import References
    from gossamer.rules.filters import UrlFilter
    from gossamer.web.urls import UrlRules

__all__ = [
    "Bodies",
    "Body",
    "Content",
    "FetchConfig",
    "FetchResult",
    "Fetcher",
    "FolderEntry",
    "ForbiddenAddress",
    "Link",
    "Networks",
    "ParsedPage",
    "References",
    "Request",
    "Resolver",
    "Rules",
    "Site",
    "Sites",
    "Stream",
    "UrlFilter",
    "UrlRules",
    "connect",
    "connect_address",
    "decode",
    "limit_of",
    "media_type",
    "redirect_to_folder",
    "set_body",
    "set_folder_page",
]

_MODULES = {
    "gossamer.config": ("FetchConfig",),
    "gossamer.fetch.exchange": ("FetchResult", "Fetcher", "Request"),
    "gossamer.fetch.file_results": (
        "FolderEntry",
        "media_type",
        "redirect_to_folder",
        "set_body",
        "set_folder_page",
    ),
    "gossamer.fetch.http.body_reader": ("Bodies", "Body", "limit_of"),
    "gossamer.fetch.http.site_settings": ("Site", "Sites"),
    "gossamer.fetch.network.allowed_networks": ("ForbiddenAddress", "Networks"),
    "gossamer.fetch.network.cached_resolver": ("Resolver",),
    "gossamer.fetch.network.streams": ("Stream", "connect", "connect_address"),
    "gossamer.rules.filters": ("UrlFilter",),
    "gossamer.parse.reading.charset": ("decode",),
    "gossamer.parse.parsed_page": ("Content", "Link", "ParsedPage", "Rules"),
    "gossamer.parse.reading.references": ("References",),
    "gossamer.web.urls": ("UrlRules",),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(name)
