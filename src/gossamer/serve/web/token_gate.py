"""Who may use the routes for language models, /mcp and /open-webui?

With a file of tokens (`serve.mcp_tokens`), each request needs one of them, and a token may be used
`serve.mcp_calls_per_minute` times per minute, for all these routes together. Without that file,
only programs on this machine are answered: those that connect from loopback to loopback, name it as
the host, and were passed on by no proxy. A page in a browser on this machine is refused by its
Origin, as the specification of MCP's transport asks.
"""

from __future__ import annotations

import math
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from gossamer.errors import ConfigError
from gossamer.serve.mcp.tokens import Rates, Tokens
from gossamer.serve.web.site_path import route_of

if TYPE_CHECKING:
    from collections import Counter

    from starlette.types import Scope

    from gossamer.state.workspace import Workspace

HERE = ("localhost", "127.0.0.1", "::1")
PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Headers of requests that a proxy has passed on."""
BURST_SHARE = 0.5
"""Share of a minute's requests that may come at once."""


class TokenGate:
    """Admits requests, and counts those that it refuses."""

    def __init__(self, work: Workspace, refused: Counter[str]) -> None:
        """Raises ConfigError if the file of tokens cannot be read."""
        config = work.config.serve
        file = config.mcp_tokens
        self._tokens = Tokens(Path(work.root, file)) if file else None
        per_minute = config.mcp_calls_per_minute
        self._rates = Rates(per_minute, math.ceil(per_minute * BURST_SHARE))
        self._refused = refused

    def admit(self, scope: Scope) -> None:
        """Raises HTTPException if the request must not be answered."""
        try:
            self._check(scope)
        except HTTPException:
            self._refused["mcp"] += 1
            raise

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        path = route_of(scope)
        if self._tokens is None:
            if not is_local(scope, headers):
                raise HTTPException(
                    403,
                    f"Without serve.mcp_tokens, {path} answers only programs on the server's own "
                    "machine.",
                )
            return
        try:
            name = self._tokens.name_of(headers.get("authorization"))
        except ConfigError as error:
            raise HTTPException(503, str(error)) from None
        if name is None:
            raise HTTPException(
                401,
                f"{path} needs a token: Authorization: Bearer TOKEN",
                {"www-authenticate": "Bearer"},
            )
        if wait_s := self._rates.wait_s(name):
            retry = {"retry-after": str(math.ceil(wait_s))}
            raise HTTPException(429, "this token was used too often", retry)


def is_local(scope: Scope, headers: Headers) -> bool:
    """Whether a request comes from a program on this machine, and not through a proxy."""
    ends = (scope.get("client"), scope.get("server"))
    if any(end is None or not _is_loopback(end[0]) for end in ends):
        return False
    if any(name in headers for name in PASSED_ON):
        return False
    if _name_in(f"http://{headers.get('host', '')}") not in HERE:
        return False
    origin = headers.get("origin")
    return origin is None or _name_in(origin) in HERE


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _name_in(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
