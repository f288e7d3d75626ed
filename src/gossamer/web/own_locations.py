"""Locations in files about uses of pages: patterns of robots.txt, or absolute URLs of them.

A file speaks only about pages of its own host. So a location that is an absolute URL on another one
is none.
"""

from __future__ import annotations

import re
from typing import Final

from gossamer.web.robots_rules import Rule, Rules

EVERYTHING: Final = "/"
_ABSOLUTE = re.compile(r"(?:https?:)?//([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def own_location(location: str, host: str) -> Rules | None:
    """Return what matches the pages at a location; None if it is on another host.

    `host` has its port, if that is not the default.
    """
    path = location.strip()
    if absolute := _ABSOLUTE.fullmatch(path):
        if not _is_own(absolute[1].rpartition("@")[2].lower(), host):
            return None
        path = absolute[2]
    elif _OTHER_SCHEME.match(path):
        return None
    if path[:1] not in ("/", "*"):
        path = f"/{path}"
    return Rules((Rule(False, path.encode("utf-8", "surrogatepass")),))


def _is_own(authority: str, host: str) -> bool:
    """Whether an authority, maybe with a wildcard for subdomains, is the host."""
    named = authority.removesuffix(":80").removesuffix(":443")
    if not named.startswith("*"):
        return named == host
    return f".{host}".endswith(f".{named.lstrip('*.')}") or not named.strip("*.")
