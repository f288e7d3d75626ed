"""robots.txt (RFC 9309): what a host allows us, and how slowly it wants it.

Matching is protego's: linear in URL and rules, whatever the patterns. It is given only the
rules of our own group, which are chosen here, because

  * RFC 9309 §2.2.1 compares whole product tokens, protego also parts of them;
  * protego keeps each rule once for every group it stands in: 500 KiB that name 17,000 agents
    and then 20,000 rules would take all memory.

Parsed files are cached by their bytes: a host farm sends the same file from each of its names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from protego import Protego

if TYPE_CHECKING:
    from gossamer.fetch.exchange import Answer

MAX_BYTES = 500 * 1024
"""RFC 9309 §2.5: the least that a crawler has to read."""
MAX_REDIRECTS = 5
"""RFC 9309 §2.3.1.2."""
MAX_SITEMAPS = 1_000
CACHE_FILES = 1_024
NOT_REACHED = frozenset(("unreachable", "timeout", "forbidden_address"))
TOO_MANY_REQUESTS = 429
SERVER_ERRORS = 500

_PRODUCT_TOKEN = re.compile(r"\*|[A-Za-z_-]+")
_RULES = frozenset(("allow", "disallow", "crawl-delay"))


@dataclass(frozen=True)
class Robots:
    """One file, as one agent reads it. `rules` of None allow all."""

    rules: Protego | None = None
    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:
        """Whether a URL of this host, normalised, may be fetched."""
        return self.rules is None or bool(self.rules.can_fetch(url, "*"))


class Refusal(NamedTuple):
    """The file could not be had: the outcome of every page it would have ruled."""

    outcome: str
    detail: str


ALLOW_ALL = Robots()


@lru_cache(maxsize=CACHE_FILES)
def parse(body: bytes, agent: str) -> Robots:
    """What a file says to `agent`, a product token. Never raises: what is no rule is no rule."""
    own: list[str] = []
    everyone: list[str] = []
    sitemaps: list[str] = []
    named = False
    agents: set[str] = set()
    in_rules = False
    for line in _text(body).splitlines():
        field, colon, value = line.partition("#")[0].partition(":")
        field, value = field.strip().lower(), value.strip()
        if field == "user-agent" and colon:
            if in_rules:
                agents, in_rules = set(), False
            token = _PRODUCT_TOKEN.match(value)
            agents.add(token[0].lower() if token else "")
            named = named or agent.lower() in agents
        elif field in _RULES:
            in_rules = True
            if agent.lower() in agents:
                own.append(f"{field}: {value}")
            if "*" in agents:
                everyone.append(f"{field}: {value}")
        elif field == "sitemap" and len(sitemaps) < MAX_SITEMAPS:
            sitemaps.append(value)
    rules = own if named else everyone
    if not rules:
        return Robots(sitemaps=tuple(sitemaps))
    matcher = Protego.parse("\n".join(("user-agent: *", *rules)))
    return Robots(matcher, matcher.crawl_delay("*"), tuple(sitemaps))


def judge(answer: Answer, agent: str, *, redirected: bool = False) -> Robots | Refusal:
    """What follows from the answer to GET /robots.txt, its redirects followed.

    A 4xx allows all (RFC 9309 §2.3.1.3), a 5xx forbids all (§2.3.1.4). 429 counts as a 5xx: it
    says that the server has too much to do, not that there is no file. A host that cannot be
    reached gives its pages that very outcome, so that none of them waits for the same failure;
    unless the file was `redirected`, maybe to another host, of which that says nothing.
    """
    if answer.outcome == "ok":
        return parse(answer.body, agent)
    if answer.outcome in NOT_REACHED and not redirected:
        return Refusal(answer.outcome, f"robots.txt: {answer.detail}")
    if answer.outcome in NOT_REACHED or answer.outcome == "broken":
        return Refusal("robots", f"robots.txt unreachable: {answer.detail}")
    status = answer.http_status or SERVER_ERRORS
    if status == TOO_MANY_REQUESTS or status >= SERVER_ERRORS:
        return Refusal("robots", f"robots.txt unreachable: HTTP {status}")
    return ALLOW_ALL


def _text(body: bytes) -> str:
    """UTF-8 without its byte order mark; a line that the limit cuts is no line."""
    if len(body) > MAX_BYTES:
        body = body[: body.rfind(b"\n", 0, MAX_BYTES) + 1]
    return body.decode("utf-8-sig", errors="replace")
