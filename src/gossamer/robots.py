"""robots.txt (RFC 9309): what a host allows to whom, how slowly, and where its sitemaps are.

`judge` says what follows from the answer to a request for the file; `parse` reads its bytes;
`Robots.allows` is asked once per page. Nothing here does I/O, and nothing raises: whatever is no
rule is no rule.

Why not a library. protego 0.7 was underneath, and was right in the end for nothing but matching
one pattern: it decodes reserved octets (`%3F` is `?` to it), lets Crawl-delay and unknown records
end a group, compares parts of product tokens and keeps versions in them, breaks lines at U+0085
and takes `/a$` for `/a%24` too. Our own matching is a page (robots_rules.py); bench/robots.py, on
one core, beside another program:

                                            protego      this
    parse, with 53 rules                     0.3 ms    0.3 ms
    parse, with 20,000 prefixes               94 ms    114 ms
    parse, with 20,000 wildcards             791 ms    160 ms
    allows, of 53 rules                       12 µs      7 µs
    allows, of 20,000 prefixes               236 µs      5 µs
    allows, of 20,000 wildcards               42 ms      4 ms
"""

from __future__ import annotations

import re
from collections import OrderedDict
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

from gossamer.robots_rules import Rule, Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_BYTES = 512 * 1024
"""What is read of a file. RFC 9309 §2.5 wants 500 KiB at least; it is some more, so that a file
of exactly so many bytes was cut for certain, and its last line is none."""
MAX_LINE_BYTES = 8 * 2083 - 1
"""What is read of a line, as by the parser of the RFC's authors. No URL is as long."""
MAX_REDIRECTS = 5
"""RFC 9309 §2.3.1.2."""
MAX_SITEMAPS = 1_000
MAX_CRAWL_DELAY_S = 86_400.0
"""Longer ones are cut to a day: by then the file is read again."""
CACHE_FILES = 4_096
CACHE_BYTES = 4 * 1024 * 1024

ANSWER_KEPT_S = 86_400.0
"""RFC 9309 §2.4: not longer than 24 hours."""
NO_ANSWER_KEPT_S = 3_600.0
"""Short, since it closes a whole host for what may have been a restart; not shorter, since nobody
helps a server in trouble by asking it again and again."""

TOO_MANY_REQUESTS = 429

# Each field with its misspellings: those that the parser of the RFC's authors takes, which knows no
# Crawl-delay.
_FIELDS = {
    b"user-agent": "user-agent",
    b"user agent": "user-agent",
    b"useragent": "user-agent",
    b"allow": "allow",
    b"disallow": "disallow",
    b"disallaw": "disallow",
    b"disalow": "disallow",
    b"dissallow": "disallow",
    b"dissalow": "disallow",
    b"diasllow": "disallow",
    b"crawl-delay": "crawl-delay",
    b"crawl delay": "crawl-delay",
    b"crawldelay": "crawl-delay",
    b"sitemap": "sitemap",
    b"site-map": "sitemap",
}
# `field: value`. Letters behind a field, as in `Sitemaps`, change nothing. Without the colon there
# must be a single word, so that prose is no rule.
_LINE = re.compile(
    rb"(" + rb"|".join(_FIELDS) + rb")[a-z]*\s*(?::\s*(.*)|(?<=\s)(\S+))", re.IGNORECASE | re.DOTALL
)
_PRODUCT_TOKEN = re.compile(rb"\*(?!\S)|[a-z_-]+", re.IGNORECASE)
# What sitemaps.org asks for is a whole URL, and what some files have is a path.
_SITEMAP = re.compile(rb"(?:[a-z][a-z0-9+.-]*:/)?/.+", re.IGNORECASE | re.DOTALL)
_BYTE_ORDER_MARKS = b"\xef\xbb\xbf\xff\xfe"


class Robots:
    """What one file says, to each agent.

    `groups` has the rules for each agent, lower-case, in lists that agents share; `delays_s` what
    each is asked to wait between two requests.
    """

    __slots__ = ("_delays_s", "_groups", "_rules", "_sitemaps")

    def __init__(
        self,
        groups: Mapping[str, Iterable[Iterable[Rule]]],
        delays_s: Mapping[str, float],
        sitemaps: Iterable[str],
    ) -> None:
        self._groups = groups
        self._delays_s = delays_s
        self._sitemaps = tuple(sitemaps)
        self._rules: dict[str, Rules] = {}  # of the agents that asked: one, as a rule

    def allows(self, agent: str, url: str) -> bool:
        """Whether `agent`, a product token, may fetch an absolute URL of this host."""
        name = self._name(agent)
        rules = self._rules.get(name)
        if rules is None:
            rules = self._rules[name] = Rules(chain.from_iterable(self._groups.get(name, ())))
        return rules.allow(url)

    def crawl_delay_s(self, agent: str) -> float | None:
        """What `agent` is asked to wait between two requests."""
        return self._delays_s.get(self._name(agent))

    @property
    def sitemaps(self) -> list[str]:
        """As they are written, each once: whole URLs, or paths of the host that the file is of."""
        return list(self._sitemaps)

    def _name(self, agent: str) -> str:
        """RFC 9309 §2.2.1: the groups of the agent itself, or else those of all; never both."""
        agent = agent.lower()
        return agent if agent in self._groups else "*"


ALLOW_ALL = Robots({}, {}, ())


def parse(body: bytes) -> Robots:
    """What a file says, read up to MAX_BYTES. Never raises."""
    if len(body) >= MAX_BYTES:
        cut = max(body.rfind(b"\n", 0, MAX_BYTES), body.rfind(b"\r", 0, MAX_BYTES))
        body = body[: cut + 1]
    return _CACHE.parse(body)


def judge(status: int, body: bytes) -> Robots | None:
    """What follows from the answer to GET /robots.txt, up to MAX_REDIRECTS redirects followed.

    `status` is HTTP's, 0 where no answer came. None forbids everything, for now.
    """
    if 200 <= status < 300:  # noqa: PLR2004  the classes of RFC 9110 §15
        return parse(body)
    if 300 <= status < 500 and status != TOO_MANY_REQUESTS:  # noqa: PLR2004
        return ALLOW_ALL  # §2.3.1.2 and §2.3.1.3: there is no file
    # §2.3.1.4. To the RFC 429 is a 4xx like others, which allows all; but it says that the server
    # is asked too much, not that there is no file.
    return None


def keep_s(status: int) -> float:
    """For how long the verdict on an answer of this status may be kept, seconds."""
    return NO_ANSWER_KEPT_S if judge(status, b"") is None else ANSWER_KEPT_S


class _Cache:
    """Parsed files by their bytes; the one not asked for longest is forgotten first.

    A host farm sends the same file from each of its names. Parsed, a file takes 8 times the memory
    of its bytes, and 20 times at the worst.
    """

    def __init__(self, max_files: int, max_bytes: int) -> None:
        self._max_files = max_files
        self._max_bytes = max_bytes
        self._files: OrderedDict[bytes, Robots] = OrderedDict()
        self._bytes = 0

    def parse(self, body: bytes) -> Robots:
        known = self._files.get(body)
        if known is not None:
            self._files.move_to_end(body)
            return known
        robots = self._files[body] = _read(body)
        self._bytes += len(body)
        while len(self._files) > self._max_files or self._bytes > self._max_bytes:
            forgotten, _ = self._files.popitem(last=False)
            self._bytes -= len(forgotten)
        return robots


_CACHE = _Cache(CACHE_FILES, CACHE_BYTES)


def _read(body: bytes) -> Robots:
    reader = _Reader()
    # UTF-16 without its NULs is ASCII, as far as rules go.
    for line in body.replace(b"\0", b"").lstrip(_BYTE_ORDER_MARKS).splitlines():
        match = _LINE.fullmatch(line[:MAX_LINE_BYTES].partition(b"#")[0].strip())
        if match is not None:
            reader.read(_FIELDS[match[1].lower()], match[2] or match[3] or b"")
    return Robots(reader.groups, reader.delays_s, reader.sitemaps)


class _Reader:
    """The group that is being read, and what was read before.

    A group is user-agent lines and then rules. Only the next user-agent line ends it, and only if
    it had rules: neither blank lines nor records such as Sitemap do (RFC 9309 §2.2.4).
    """

    def __init__(self) -> None:
        self.groups: dict[str, list[list[Rule]]] = {}
        self.delays_s: dict[str, float] = {}
        self.sitemaps: dict[str, None] = {}
        self._rules: list[Rule] = []  # those above the first user-agent are nobody's
        self._has_rules = False
        self._undelayed: list[str] = []

    def read(self, field: str, value: bytes) -> None:
        match field:
            case "user-agent":
                self._user_agent(value)
            case "crawl-delay":
                self._crawl_delay(value)
            case "sitemap":
                if len(self.sitemaps) < MAX_SITEMAPS and _SITEMAP.fullmatch(value):
                    self.sitemaps[value.decode("utf-8", "replace")] = None
            case _:
                self._has_rules = True
                self._rule(field == "allow", value)

    def _user_agent(self, value: bytes) -> None:
        if self._has_rules:
            self._rules, self._has_rules, self._undelayed = [], False, []
        token = _PRODUCT_TOKEN.match(value)
        if token is None:
            return
        agent = token[0].decode().lower()
        groups = self.groups.setdefault(agent, [])
        if not groups or groups[-1] is not self._rules:
            groups.append(self._rules)
        self._undelayed.append(agent)

    def _rule(self, allow: bool, pattern: bytes) -> None:
        if not pattern:
            return
        self._rules.append(Rule(allow, pattern))
        if allow and pattern.endswith(b"/index.html"):
            # As Google reads it: who allows a folder's page means the folder's URL too.
            self._rules.append(Rule(allow, pattern.removesuffix(b"index.html") + b"$"))

    def _crawl_delay(self, value: bytes) -> None:
        # It holds for the agents above it. `User-agent: a`, `Crawl-delay: 9`, `User-agent: *`,
        # `Disallow: /b` is one group, but nobody wrote that all should wait.
        try:
            delay_s = float(value)
        except ValueError:
            return
        if 0 <= delay_s < inf:
            for agent in self._undelayed:
                longest_s = max(delay_s, self.delays_s.get(agent, 0.0))
                self.delays_s[agent] = min(longest_s, MAX_CRAWL_DELAY_S)
            self._undelayed.clear()
