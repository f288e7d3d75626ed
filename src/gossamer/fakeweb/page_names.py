"""Numbers, paths and titles of a synthetic host's pages, and links to them.

A page's number n is below the size of its host; page 0 is the home page.
"""

from __future__ import annotations

import re

from gossamer.fakeweb.prose import prose
from gossamer.fakeweb.seeded_random import Draw, digest
from gossamer.fakeweb.synthetic_hosts import MAX_HOST_PAGES, Host, Hosts

SECTIONS = 12  # folders per host
TAILS = 1 << 18  # cached tails, about 150 bytes each

_PATH = re.compile(r"/[^/?]+/[^/?]*?(\d{1,6})(?:\.html|/|)")
_SHAPES = ("{s}/{w}-{n}.html", "{s}/{w}-{n}", "{s}/{w}-{n}/", "{s}/item?id={n}")


class PageNames:
    """Paths and titles, which depend only on seed, host and page number.

    `path">title</a>`, which all links to a page end with, is called its tail. Tails are cached.
    """

    def __init__(self, hosts: Hosts) -> None:
        self.hosts = hosts
        self._tails: dict[int, str] = {}

    def number(self, host: Host, n: int) -> int:
        """Return the page's number in the whole web, which its title ends with."""
        return host.index * MAX_HOST_PAGES + n

    def path(self, host: Host, n: int) -> str:
        """Return path and query, with the leading slash."""
        return "/" + self.tail(host, n).partition('"')[0]

    def title(self, host: Host, n: int) -> str:
        return self.tail(host, n).partition(">")[2].removesuffix("</a>")

    def tail(self, host: Host, n: int) -> str:
        number = host.index * MAX_HOST_PAGES + n
        tail = self._tails.get(number)
        if tail is None:
            if len(self._tails) >= TAILS:
                self._tails.clear()
            tail = self._tails[number] = self._tail(host, n, number)
        return tail

    def _tail(self, host: Host, n: int, number: int) -> str:
        text = prose(host.language)
        key = digest(self.hosts.seed, f"title {number}")
        count = len(text.topics)
        first, second, third = key % count, (key >> 16) % count, (key >> 32) % count
        title = text.space.join((text.topics[first], text.topics[second], text.topics[third]))
        title = f"{title} - {number}"
        if n == 0:
            return f'">{title}</a>'
        section = text.slugs[(host.index * SECTIONS + key % SECTIONS) % count]
        words = f"{text.slugs[first]}-{text.slugs[second]}"
        path = _SHAPES[(key >> 48) % len(_SHAPES)].format(s=section, w=words, n=n)
        return f'{path}">{title}</a>'

    def find(self, host: Host, path: str, query: str) -> int | None:
        """Return the page at this path, or None. The query counts only if the path is /…/item."""
        if path == "/":
            return 0
        if path.endswith("/item"):
            digits = re.match(r"id=(\d{1,6})(?:&|$)", query)
            path = f"{path}?id={digits[1]}" if digits else path
        else:
            digits = _PATH.fullmatch(path)
        if digits is None or int(digits[1]) >= host.pages:
            return None
        n = int(digits[1])
        return n if path == self.path(host, n) else None

    def absolute_link(self, host: Host, n: int) -> str:
        """Return an absolute link to page n of `host`, for pages of other hosts."""
        return f'<a href="http://{host.name}/{self.tail(host, n)}'

    def zipf_page(self, host: Host, draw: Draw) -> int:
        """Draw a page of the host: page n with a probability proportional to about 1/(n + 1)."""
        return int((host.pages + 1) ** draw()) - 1
