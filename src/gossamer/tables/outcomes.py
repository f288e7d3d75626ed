"""The outcomes of a fetch and their consequences: the policy as one table.

`fetch` determines the outcome, and `update` looks up its consequences here. A page that failed is
asked for again after `retry_wait_s`, doubled for each failure in a row, without end. From the try
`max_tries` on, it has the status `gone`, unless its host is away (schedule/due/outages.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DAY_S = 86_400
FILTERED, FILTERED_TYPE = "filtered", "filtered_type"
"""Outcomes of pages that filters refuse: for their URLs, and for their content types."""


@dataclass(frozen=True)
class Policy:
    meaning: str
    status: str
    """The page's status; of a failure, that from the try `max_tries` on."""
    answered: bool = False
    """The server sent a page, or confirmed that ours is current."""
    retry_wait_s: int = 0
    """The wait before the first retry of a failure; 0: it is none."""
    max_tries: int = 1
    """The number of failures in a row after which a page is gone."""
    refuses: bool = False
    """The server does not want to send the page, so its host is not away."""
    affects_host: bool = False
    """A failure of the server, not of the page: several in a row postpone all pages of the host."""
    host_wait_s: int = 0
    """How long the host is not contacted, doubled for each of its failures in a row."""
    remedy: str = ""
    """What the user can do about a seed with this outcome."""
    settings: tuple[str, ...] = ()
    """Settings that may change the outcome of a seed."""


OUTCOMES: Mapping[str, Policy] = {
    "ok": Policy("a body was stored", "fetched", answered=True),
    "unchanged": Policy("304, or the same body as before", "fetched", answered=True),
    "redirect": Policy(
        "a redirect; its target is a separate page",
        "redirected",
        remedy="use the URL that it redirects to as a seed, or let the filters accept that URL",
        settings=("filter.scope",),
    ),
    "bad_redirect": Policy(
        "a redirect to a URL that cannot be crawled",
        "gone",
        retry_wait_s=DAY_S,
        remedy="open it in a browser, and use the URL that you end up at as a seed",
        settings=("urls.schemes",),
    ),
    "not_found": Policy(
        "404 or 410", "gone", retry_wait_s=DAY_S, remedy="check the URL in a browser"
    ),
    "refused": Policy(
        "any other 4xx",
        "gone",
        retry_wait_s=DAY_S,
        max_tries=2,
        refuses=True,
        remedy="the server requires a login, or refuses crawlers: set a user or headers for it",
        settings=("fetch.sites",),
    ),
    "busy": Policy(
        "429 or 503",
        "gone",
        retry_wait_s=3_600,
        max_tries=8,
        affects_host=True,
        host_wait_s=15,
        remedy="run the same command later",
    ),
    "server_error": Policy(
        "any other 5xx",
        "gone",
        retry_wait_s=3_600,
        max_tries=4,
        remedy="look at the server's log, or run the same command later",
    ),
    "timeout": Policy(
        "no complete answer in time, or too slow an answer",
        "gone",
        retry_wait_s=3_600,
        max_tries=4,
        affects_host=True,
        host_wait_s=5,
        remedy="run the same command later, or allow more time",
        settings=("fetch.head_timeout_s", "fetch.timeout_s", "fetch.min_bytes_per_s"),
    ),
    "unreachable": Policy(
        "no address or no connection",
        "gone",
        retry_wait_s=3_600,
        max_tries=4,
        affects_host=True,
        host_wait_s=2,
        remedy="check this machine's network, the host's name and port, and that the server runs; "
        "if it can only be reached through a proxy, set the proxy",
        settings=("fetch.sites", "fetch.nameservers", "fetch.connect_timeout_s"),
    ),
    "tls": Policy(
        "an invalid certificate, or a failed handshake",
        "gone",
        retry_wait_s=DAY_S,
        max_tries=3,
        affects_host=True,
        host_wait_s=2,
        remedy="write http:// before the host if the server has no TLS; if your own authority "
        "issued the certificate, set the variable SSL_CERT_FILE, or do not verify it",
        settings=("fetch.verify_tls",),
    ),
    "broken": Policy(
        "an answer that is not HTTP",
        "gone",
        retry_wait_s=3_600,
        max_tries=3,
        remedy="check scheme and port: the server there does not speak HTTP",
    ),
    "forbidden_address": Policy(
        "an address or folder that the settings do not allow",
        "gone",
        retry_wait_s=DAY_S,
        remedy="if it is your own server, run gossamer crawl with --own, or allow its network",
        settings=("fetch.own_hosts", "fetch.allow_networks", "fetch.file_folders", "urls.schemes"),
    ),
    "robots": Policy(
        "robots.txt forbids it",
        "excluded",
        remedy="ask the webmaster to allow your agent; on your own server, you may ignore the file",
        settings=("fetch.agent", "fetch.own_hosts", "fetch.own_robots"),
    ),
    "filtered": Policy(
        "the filters refuse it, since `gossamer filter apply`; it is never due",
        "excluded",
        remedy="see what refuses it: gossamer filter test",
    ),
    "filtered_type": Policy(
        "a filter rule refuses its content type; the body was not downloaded",
        "excluded",
        remedy="allow its content type by a filter rule before the one that denies it",
        settings=("filter.rules", "filter.files"),
    ),
    "postponed": Policy(
        "not requested: the round ended before its turn",
        "unfetched",
        remedy="run the same command again",
    ),
}

FAILED = tuple(name for name, policy in OUTCOMES.items() if policy.retry_wait_s)
"""Outcomes after which a page is tried again, after growing waits."""
HEARD = (
    *(name for name, policy in OUTCOMES.items() if policy.answered),
    *("redirect", FILTERED_TYPE),
)
"""Outcomes of a host that is not away: it sent what was asked for, or said where that is."""
UNANSWERED = tuple(
    name
    for name, policy in OUTCOMES.items()
    if not policy.answered and policy.status != "redirected"
)
"""Outcomes after which a seed that is injected again is due at once."""
SETTINGS_DECIDE = tuple(name for name in UNANSWERED if OUTCOMES[name].settings)
"""Outcomes after which a seed is due again if the settings have changed."""
