"""The shares of links, hosts and pages in the web that are unusual, each in 0 … 1."""

from __future__ import annotations

from dataclasses import dataclass, fields

from gossamer.errors import UsageError


@dataclass(frozen=True, slots=True)
class Mix:
    """The rates of everything that is not a plain link to a plain page.

    The first group is per link: such a link replaces a plain one, and its target answers the same
    to any client (`/missing/…` is 404 on every host). The second group is per host and never
    applies to the seed host. The third is per page. `Mix.plain()` sets all but `across` to 0: a
    crawl can then reach exactly the pages in `Web.urls(host)` of every host.
    """

    # Shares of links, apart from navigation and tree links.
    across: float = 0.15  # to another host
    missing: float = 0.015  # 404
    gone: float = 0.004  # 410
    failing: float = 0.003  # 500
    redirects: float = 0.02  # one to four hops; a quarter of them end on another host
    copies: float = 0.01  # the bytes of another page
    near_copies: float = 0.01  # another page with two sentences changed
    texts: float = 0.005  # text/plain
    tracked: float = 0.02  # utm_… parameters on a page's URL
    sessions: float = 0.0  # a session id, another one in each link
    fragments: float = 0.02
    dotted: float = 0.005  # ./ and ../ inside an absolute path
    uppercase: float = 0.005  # scheme and host in capitals
    nofollow: float = 0.01
    unfetchable: float = 0.005  # mailto: and javascript:

    # Shares of hosts.
    private: float = 0.2  # link to /private/…, which robots.txt disallows
    crawl_delay: float = 0.05  # request a crawl delay of `crawl_delay_s`
    no_robots: float = 0.3  # robots.txt is 404, unless the host needs one for the two above
    calendars: float = 0.02  # have an endless calendar, each of whose pages links deeper
    loops: float = 0.02  # link to a redirect loop
    slow: float = 0.02  # answer after the web's `latency_s`
    canonical: float = 0.5  # their pages declare their canonical URL
    manuals: float = 0.0  # have a manual in several versions
    mirrors: float = 0.0  # another host has the same pages at the same paths

    # Shares of pages.
    legacy_charsets: float = 0.05  # windows-1251, shift_jis, utf-16 …, correctly declared
    wrong_charsets: float = 0.01  # the header's charset differs from that of the bytes and <meta>

    crawl_delay_s: float = 0.2

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "crawl_delay_s" and not 0 <= value <= 1:
                raise UsageError(f"Mix.{field.name}", f"{value} is not a share", "choose 0 … 1")
        if sum(self.link_shares().values()) > 1:
            raise UsageError("Mix", "the shares of links add up to more than 1", "reduce some")

    @classmethod
    def plain(cls, across: float = 0.15, **rates: float) -> Mix:
        """A mix in which every link leads to an existing UTF-8 page on a host that allows crawling.

        `rates` sets exceptions by name.
        """
        zeros = {field.name: 0.0 for field in fields(cls)}
        return cls(**(zeros | {"across": across} | rates))

    def link_shares(self) -> dict[str, float]:
        names = [field.name for field in fields(self)]
        return {name: getattr(self, name) for name in names[: names.index("private")]}
