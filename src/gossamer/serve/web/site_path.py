"""Answers below a path of a site, such as https://example.org/find/.

The path is the setting `serve.path`, or, if `serve.forwarded_path` says so, what a trusted proxy
has removed and reports in X-Forwarded-Prefix. The application gets it as `root_path` of ASGI, with
which `path` begins.

A request below the path is answered, and so is one without the path: a proxy has removed it, or a
monitor asks past the proxy.
"""

from __future__ import annotations

import re
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from gossamer.config.searching import UNIX
from gossamer.config.settings_table import SITE_PATH

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from starlette.types import ASGIApp, Receive, Scope, Send

    from gossamer.config import ServeConfig
    from gossamer.serve.web.clients import Clients

HEADER = b"x-forwarded-prefix"
MAX_BYTES = 200
_PATH = re.compile(SITE_PATH)


def root_of(scope: MutableMapping[str, Any]) -> str:
    """The path that all links begin with: "", or one such as "/find"."""
    # A mounted application's own root_path is longer.
    root: str = scope.get("app_root_path", scope.get("root_path", ""))
    return root


def route_of(scope: MutableMapping[str, Any]) -> str:
    """The path of a request without that of the site."""
    path: str = scope["path"]
    return path.removeprefix(root_of(scope))


def behind_proxies(inner: ASGIApp, config: ServeConfig, clients: Clients) -> ASGIApp:
    """An application that gets the client, scheme and path that trusted proxies report."""
    # uvicorn takes 10.0.0.1/8 for a name, which never matches.
    networks = [
        each if each == UNIX else str(ip_network(each, strict=False)) for each in config.proxies
    ]
    reported: Any = ProxyHeadersMiddleware(inner, networks)  # type: ignore[arg-type]  # its own types of ASGI
    return SitePath(reported, config.path, clients if config.forwarded_path else None)


class SitePath:
    """Sets `root_path`. It must see the address of the proxy, not that of the proxy's client."""

    def __init__(self, inner: ASGIApp, path: str, proxies: Clients | None) -> None:
        """`proxies` are those whose X-Forwarded-Prefix is trusted."""
        self._inner = inner
        self._path = path
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path, removed = scope["path"], self._removed(scope)
            root = self._path if removed is None else removed
            is_below = removed is None and f"{path}/".startswith(f"{root}/")
            scope = {**scope, "root_path": root, "path": path if is_below else root + path}
        await self._inner(scope, receive, send)

    def _removed(self, scope: Scope) -> str | None:
        """What a trusted proxy says that it has removed; None without one valid value."""
        host, _ = scope.get("client") or ("", 0)
        if self._proxies is None or not self._proxies.is_proxy(host):
            return None
        given = [value for name, value in scope["headers"] if name == HEADER]
        if len(given) != 1 or len(given[0]) > MAX_BYTES:
            return None
        removed = given[0].decode("latin-1").removesuffix("/")
        return removed if _PATH.match(removed) else None
