"""The links and markup of a synthetic host's pages. Their names are in page_names.py.

Page n links to all its children in the tree, the pages fanout·n + 1 … fanout·n + fanout, so every
page is reachable from the home page. Likewise, the home page of host i links to the home pages of
hosts HOST_FANOUT·i + 1 … HOST_FANOUT·i + HOST_FANOUT, so every host is reachable from host 0. All
other links are drawn by Zipf's law.
"""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING

from gossamer.fakeweb.link_makers import LINKS
from gossamer.fakeweb.page_names import PageNames
from gossamer.fakeweb.prose import prose
from gossamer.fakeweb.seeded_random import Draw, stream
from gossamer.fakeweb.synthetic_hosts import MAX_HOST_PAGES, Host, Hosts
from gossamer.fakeweb.vocabulary import VOCABULARIES

if TYPE_CHECKING:
    from gossamer.fakeweb.link_mix import Mix

HOST_FANOUT = 16  # hosts in the directory on a home page
MANUAL_VERSIONS = ("1.8", "1.9", "1.10", "stable")  # the oldest first
MANUAL_PAGES = 8
# The charset in the header, the charset of the bytes: mistakes of real servers' defaults.
WRONG_CHARSET = {
    "en": ("utf-8", "windows-1252"),
    "de": ("utf-8", "iso-8859-1"),
    "fr": ("iso-8859-1", "utf-8"),
    "es": ("iso-8859-1", "utf-8"),
    "ru": ("iso-8859-1", "windows-1251"),
    "zh": ("utf-8", "gb18030"),
    "ja": ("shift_jis", "utf-8"),
}


class Pages(PageNames):
    """Renders the pages of synthetic hosts."""

    def __init__(self, hosts: Hosts, page_bytes: int, links_per_page: int, mix: Mix) -> None:
        super().__init__(hosts)
        self.page_bytes = page_bytes
        self.links_per_page = links_per_page
        rates = {name: rate for name, rate in mix.link_shares().items() if rate}
        self._plain = 1 - sum(rates.values())
        self._limits = list(accumulate(rates.values(), initial=self._plain))[1:-1]
        self._makers = [LINKS[name] for name in rates]

    def charsets(self, host: Host, n: int) -> tuple[str, str]:
        """Return the charset in the Content-Type header, and the charset of the bytes."""
        mix = self.hosts.mix
        turn = self.hosts.uniform(self.number(host, n), "charset")
        if turn < mix.wrong_charsets:
            return WRONG_CHARSET[host.language]
        if turn < mix.wrong_charsets + mix.legacy_charsets:
            choices = VOCABULARIES[host.language].charsets
            charset = choices[n % len(choices)]
            return charset, charset
        return "utf-8", "utf-8"

    # Markup

    def render(
        self, host: Host, n: int, charset: str = "utf-8", changed: int = 0, depth: int | None = None
    ) -> bytes:
        """Return the page as HTML, encoded in UTF-8, with `charset` in its <meta> element.

        In a near-copy, `changed` sentences are replaced. `depth`: the folders of its URL, if that
        is not the one of page n.
        """
        text = prose(host.language)
        number = self.number(host, n)
        rng = stream(self.hosts.seed, f"page {number}")
        draw = rng.random
        title = self.title(host, n)
        up = "../" * (self.path(host, n).count("/") - 1 if depth is None else depth)
        size = self.page_bytes * (0.5 + draw())
        links = self._links(host, n, up, draw, int(self.links_per_page * (0.5 + draw())))
        split = len(links) // 2
        head = _HEAD.format(
            language=host.language,
            charset=charset,
            title=title,
            description=text.plain(draw, 1),
            canonical=self._canonical(host, n),
            home=up or "/",
            host=host.name,
        ).encode()
        inline = [(link + text.stop).encode() for link in links[:split]]
        tail = _TAIL.format(
            links="</li>\n<li>".join(links[split:]), host=host.name, number=number
        ).encode()
        room = size - len(head) - len(tail) - sum(map(len, inline))
        count = max(4, int(room / text.sentence_bytes))
        parts = text.sentences(rng, count)
        if changed:
            self._change(parts, text.sentences(stream(self.hosts.seed, f"near {number}"), changed))
        step = max(1, count // (split + 1))
        for position, link in enumerate(inline):
            parts[min(2 * step * position, 2 * count - 2) + 1] += link
        return b"".join((head, *parts, tail))

    def _change(self, parts: list[bytes], others: list[bytes]) -> None:
        """Replace evenly spread sentences with others. A sentence consists of two parts."""
        for index in range(0, len(others), 2):
            at = len(parts) * index // len(others) // 2 * 2
            parts[at : at + 2] = others[index : index + 2]

    def _canonical(self, host: Host, n: int) -> str:
        if not host.canonical:
            return ""
        return f'<link rel="canonical" href="http://{host.name}{self.path(host, n)}">\n'

    def _links(self, host: Host, n: int, up: str, draw: Draw, count: int) -> list[str]:
        """Return the links of tree, directory and traps, then drawn links up to `count`."""
        first = host.fanout * n + 1
        links = [
            '<a href="/' + self.tail(host, child)
            for child in range(first, min(first + host.fanout, host.pages))
        ]
        if n:
            parent = (n - 1) // host.fanout
            links.append(f'<a href="{up if parent == 0 else "/"}{self.tail(host, parent)}')
        else:
            links += self._directory(host)
        makers, limits, plain = self._makers, self._limits, self._plain
        prefixes = ("/", up or "/", "/", f"http://{host.name}/")
        span, tails, base = host.pages + 1, self._tails, host.index * MAX_HOST_PAGES - 1
        for _ in range(count - len(links)):
            turn = draw()
            if turn < plain:
                rank = int(span ** draw())  # 1 … pages, with a probability proportional to 1/rank
                tail = tails.get(base + rank) or self.tail(host, rank - 1)
                links.append('<a href="' + prefixes[int(turn * 4096) & 3] + tail)
            else:
                links.append(makers[bisect(limits, turn)](self, host, draw))
        return links

    def _directory(self, host: Host) -> list[str]:
        first = HOST_FANOUT * host.index + 1
        links = [
            self.absolute_link(self.hosts.host(index), 0)
            for index in range(first, min(first + HOST_FANOUT, self.hosts.count))
        ]
        if host.private:
            links.append('<a href="/private/1">Members</a>')
        if host.loop:
            links.append('<a href="/loop/1">Round trip</a>')
        if host.calendar:
            links.append('<a href="/calendar/2024/1/">Calendar</a>')
        if host.manual:
            links += [
                f'<a href="/manual/{version}/{chapter}.html">Chapter {chapter}, {version}</a>'
                for version in MANUAL_VERSIONS
                for chapter in range(MANUAL_PAGES)
            ]
        if host.mirrored:
            links.append(f'<a href="http://{host.mirror}/">Mirror</a>')
        return links


_HEAD = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="{charset}">
<title>{title}</title>
<meta name="description" content="{description}">
{canonical}</head>
<body>
<header><nav><a href="{home}">{host}</a></nav></header>
<main><article>
<h1>{title}</h1>
<p>"""

_TAIL = """</p>
</article></main>
<aside><ul>
<li>{links}</li>
</ul></aside>
<footer><p>&copy; {host}, {number}</p></footer>
</body>
</html>
"""
