"""Refuses requests for other host names than those of the server.

Otherwise, a hostile Web page could let a name of its own resolve to this machine and read the
responses in a visitor's browser (DNS rebinding).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from gossamer.serve.web.problem import refusal_problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Receive, Scope, Send

ANY = "*"
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/?#@\\\[\]]+)(?::[0-9]*)?")
_SHOWN_CHARS = 100


class KnownNames:
    """Passes on requests for `names`, among which `*.example.org` stands for all names below it."""

    def __init__(self, inner: ASGIApp, names: Iterable[str]) -> None:
        self._inner = inner
        self._names = {_bare(name) for name in names}
        self._below = tuple(name[1:] for name in self._names if name.startswith("*."))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and ANY not in self._names:
            host = Headers(scope=scope).get("host", "")
            name = _name_of(host)
            if not name or (name not in self._names and not name.endswith(self._below)):
                error = HTTPException(
                    400,
                    f"This server does not answer for the name {host[:_SHOWN_CHARS]!r}. If it is "
                    "yours, add the name to serve.names in gossamer.toml, and restart the server.",
                )
                await refusal_problem(scope, error)(scope, receive, send)
                return
        await self._inner(scope, receive, send)


def _bare(name: str) -> str:
    return name.lower().strip("[]")


def _name_of(host: str) -> str:
    """The name in a Host header, without its port; empty if it is invalid."""
    match = _HOST.fullmatch(host)
    return _bare(match[1]) if match else ""
