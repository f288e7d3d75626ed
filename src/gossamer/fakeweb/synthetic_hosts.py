"""The names, sizes and traits of synthetic hosts, computed from (seed, index) and never stored.

Names end in .test, which does not exist in the public DNS (RFC 6761 §6.2):

    site-17.test            the form of most hosts
    www.site-18.test        site-18.test redirects to it
    blog-19.site-10.test    a subdomain: shares its registrable domain with site-10.test
    site-17.mirror.test     the pages of site-17.test, if that has a mirror
"""

from __future__ import annotations

import re
from bisect import bisect
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import gcd
from typing import TYPE_CHECKING

from gossamer.errors import UsageError
from gossamer.fakeweb import seeded_random

if TYPE_CHECKING:
    from gossamer.fakeweb.link_mix import Mix

MAX_HOST_PAGES = 100_000
SIZE_EXPONENT = 0.9  # the k-th largest host has (2k - 1) ** -0.9 times the largest's pages
LANGUAGES = {"en": 0.5, "de": 0.12, "fr": 0.1, "es": 0.1, "ru": 0.08, "zh": 0.06, "ja": 0.04}
LABELS = ("blog", "docs", "news", "shop", "wiki")

_NAME = re.compile(
    r"(?:www\.site-(\d{1,9})|[a-z]+-(\d{1,9})\.site-\d+|site-(\d{1,9})(?:\.mirror)?)\.test"
)


@dataclass(frozen=True, slots=True)
class Host:
    index: int
    name: str
    pages: int
    language: str
    fanout: int  # children per page in the tree that makes every page reachable
    no_robots: bool
    private: bool
    crawl_delay: bool
    calendar: bool
    loop: bool
    slow: bool
    canonical: bool
    manual: bool
    mirrored: bool

    @property
    def mirror(self) -> str:
        """The name of the host with the same pages."""
        return f"site-{self.index}.mirror.test"


class Hosts:
    """`count` hosts with `pages_per_host` pages on average.

    Sizes follow Zipf's law exactly, not by chance: the hosts take the mid-quantiles of the
    distribution in a fixed shuffled order. The seed host (index 0) takes the largest.
    """

    def __init__(self, seed: int, count: int, pages_per_host: float, fanout: int, mix: Mix) -> None:
        if not 0 <= count <= 10**9:
            raise UsageError("hosts", f"{count} is out of range", "choose 0 … 10^9")
        if not 1 <= pages_per_host <= MAX_HOST_PAGES:
            what, remedy = f"{pages_per_host} is out of range", f"choose 1 … {MAX_HOST_PAGES}"
            raise UsageError("pages_per_host", what, remedy)
        self.seed = seed
        self.count = count
        self.mix = mix
        self.fanout = fanout
        self._stride = _stride(count)
        # Mean of u ** -b over the mid-quantiles u: the first term, and an integral for the others.
        many, rest = max(count, 1), 1 - SIZE_EXPONENT
        mean = (2 * many) ** SIZE_EXPONENT / many + (1 - many**-rest) / rest
        self._scale = pages_per_host / mean
        self._languages = tuple(LANGUAGES)
        self._language_limits = list(accumulate(LANGUAGES.values()))
        self.host = lru_cache(maxsize=1 << 16)(self._host)

    def uniform(self, index: int, purpose: str) -> float:
        """Return a number in [0, 1) for one host and purpose."""
        return seeded_random.uniform(self.seed, f"{index} {purpose}")

    def name(self, index: int) -> str:
        turn = 0.0 if index == 0 else self.uniform(index, "name")
        if turn > 0.85:  # noqa: PLR2004 - 15 % of names have this form, 10 % the next one
            return f"www.site-{index}.test"
        if turn > 0.75:  # noqa: PLR2004
            return f"{LABELS[index % len(LABELS)]}-{index}.site-{index // 10 * 10}.test"
        return f"site-{index}.test"

    def size(self, index: int) -> int:
        quantile = (index * self._stride % self.count + 0.5) / self.count
        return max(1, min(MAX_HOST_PAGES, int(self._scale * quantile**-SIZE_EXPONENT + 0.5)))

    def find(self, name: str) -> tuple[Host, str] | None:
        """Return the host that answers for `name`, and the name it redirects to, or ""."""
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        index = int(match[match.lastindex or 0])
        if index >= self.count:
            return None
        host = self.host(index)
        if name in {host.name, host.mirror if host.mirrored else host.name}:
            return host, ""
        if name == f"site-{index}.test" and host.name.startswith("www."):
            return host, host.name
        return None

    def _host(self, index: int) -> Host:
        mix = self.mix

        def has(trait: str) -> bool:
            return index > 0 and self.uniform(index, trait) < getattr(mix, trait)

        private, crawl_delay = has("private"), has("crawl_delay")
        language = bisect(self._language_limits, self.uniform(index, "language"))
        return Host(
            index=index,
            name=self.name(index),
            pages=self.size(index),
            language="en" if index == 0 else self._languages[min(language, len(LANGUAGES) - 1)],
            fanout=self.fanout,
            no_robots=has("no_robots") and not (private or crawl_delay),
            private=private,
            crawl_delay=crawl_delay,
            calendar=has("calendars"),
            loop=has("loops"),
            slow=has("slow"),
            canonical=has("canonical"),
            manual=has("manuals"),
            mirrored=has("mirrors"),
        )


def _stride(count: int) -> int:
    """Return a step near the golden section of `count` that visits every residue modulo `count`."""
    step = max(1, int(count * 0.618))
    while gcd(step, count) != 1:
        step += 1
    return step
