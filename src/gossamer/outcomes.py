"""What may become of a fetch, and what follows from it: policy as one table.

`fetch` says the outcome, `update` looks up here what it means for the page. A temporary
failure is tried again after `retry_wait_s`, doubled for each failure in a row; when
`max_tries` is reached the page is given the status `gone`, and is kept, so that it is not
found again as new.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DAY_S = 86_400


@dataclass(frozen=True)
class Policy:
    meaning: str
    status: str
    """The page's status when it is not to be tried again."""
    answered: bool = False
    """The server gave a page, or said that ours is current."""
    retry_wait_s: int = 0
    """Wait before the first retry."""
    max_tries: int = 1
    affects_host: bool = False
    """A failure of the server, not of the page: several in a row postpone all of the host."""
    host_wait_s: int = 0
    """The host is left alone for so long, doubled for each of its failures in a row."""


OUTCOMES: Mapping[str, Policy] = {
    "ok": Policy("a body was stored", "fetched", answered=True),
    "unchanged": Policy("304, or the same body as before", "fetched", answered=True),
    "redirect": Policy("a redirect; its target is a page of its own", "redirected"),
    "bad_redirect": Policy("a redirect to no URL that can be crawled", "gone"),
    "not_found": Policy("404 or 410", "gone"),
    "refused": Policy("any other 4xx", "gone", retry_wait_s=DAY_S, max_tries=2),
    "busy": Policy(
        "429 or 503", "gone", retry_wait_s=3_600, max_tries=8, affects_host=True, host_wait_s=15
    ),
    "server_error": Policy("any other 5xx", "gone", retry_wait_s=3_600, max_tries=4),
    "timeout": Policy(
        "no whole answer in time, or one too slow",
        "gone",
        retry_wait_s=3_600,
        max_tries=4,
        affects_host=True,
        host_wait_s=5,
    ),
    "unreachable": Policy(
        "no address or no connection",
        "gone",
        retry_wait_s=3_600,
        max_tries=4,
        affects_host=True,
        host_wait_s=2,
    ),
    "tls": Policy(
        "a certificate or handshake that fails",
        "gone",
        retry_wait_s=DAY_S,
        max_tries=3,
        affects_host=True,
        host_wait_s=2,
    ),
    "broken": Policy("an answer that is not HTTP", "gone", retry_wait_s=3_600, max_tries=3),
    "forbidden_address": Policy("an address or folder the config does not allow", "gone"),
    "robots": Policy("robots.txt forbids it", "excluded"),
    "postponed": Policy("not asked for: the round ended before its turn", "unfetched"),
}
