"""The addresses that people type: `site:` and `host:` with a host, and perhaps a path below it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gossamer.web.urls import LOCALHOST, host_of, normalize

MAX_TYPED_CHARS, MAX_PATH_CHARS = 300, 500
"""What is longer is cut, as it was typed and as a URL: tantivy refuses automata of more than 1,000
states."""
MAX_KEPT = 1_000
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_HTTPS_PORT = re.compile(r"[^/?#]*:443(?:[/?#]|\Z)")
_SUBDOMAINS = r"(?:[!-.0-9;-~]*\.)?"
_BELOW, _ANYTHING = "(?:[/?&][!-~]*)?", "[!-~]*"
"""URLs are in ASCII (`web/urls.py`)."""


class TypedAddress(NamedTuple):
    """A host with its port, and a pattern of the URLs at and below a path; "" without a path.

    The pattern is a regular expression for whole URLs, in the syntax of tantivy. It also holds for
    subdomains of the host: a filter for `host` excludes them.
    """

    host: str
    pattern: str = ""


@lru_cache(MAX_KEPT)
def typed_address(typed: str) -> TypedAddress:
    """The address that somebody has typed.

    It may be a URL, have capitals, international letters, percent-encoding, a port, dots and
    asterisks before its host, and a slash or an asterisk at the end of its path. `/docs` holds for
    `/docs`, `/docs/x` and `/docs?x`, but not for `/docs2`, while `/docs*` holds for all of them.
    """
    is_open = (typed.endswith("*") and not typed.endswith("/*")) or len(typed) > MAX_TYPED_CHARS
    typed = typed[:MAX_TYPED_CHARS].rstrip("*")
    written = _SCHEME.match(typed)
    scheme, rest = (written[1].lower(), typed[written.end() :]) if written else ("", typed)
    rest = f"{LOCALHOST}{rest}" if scheme == "file" else rest.lstrip(".*/")
    is_https = scheme == "https" or (not scheme and _HTTPS_PORT.match(rest))
    url = normalize(f"{'https' if is_https else 'http'}://{rest}")
    if url is None:
        return TypedAddress(re.split("[/?#]", rest, maxsplit=1)[0].strip(".").lower())
    host, path = host_of(url), url.split("/", 3)[3]
    path = path if is_open else path.rstrip("/")
    if not path:
        return TypedAddress(host)
    after = _ANYTHING if is_open or len(path) > MAX_PATH_CHARS else _BELOW
    escaped = re.escape(path[:MAX_PATH_CHARS])
    return TypedAddress(host, f"[a-z][a-z0-9+.-]*://{_authority(host)}/{escaped}{after}")


def _authority(host: str) -> str:
    """A pattern of the host, its subdomains, and any port if it has none. Files have no host."""
    port = "" if re.search(r":[0-9]+\Z", host) else "(?::[0-9]+)?"
    pattern = f"{_SUBDOMAINS}{re.escape(host)}{port}"
    return f"(?:{pattern})?" if host == LOCALHOST else pattern
