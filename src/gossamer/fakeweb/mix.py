"""How odd the web is: the share of links and of hosts that misbehave, each in 0 … 1."""

from __future__ import annotations

from dataclasses import dataclass, fields

from gossamer.errors import UsageError


@dataclass(frozen=True, slots=True)
class Mix:
    """Rates of everything that is not a plain link to a plain page.

    The first group is per link: such a link stands in for a plain one, and its target is odd
    whoever asks (`/missing/…` is 404 on every host). The second is per host, never the seed
    host. The third is per page. `Mix.plain()` has none of it: then the pages a crawl can reach
    are exactly `Web.urls(host)` of every host.
    """

    # Share of links, beyond those of navigation and tree.
    across: float = 0.15  # to another host
    missing: float = 0.015  # 404
    gone: float = 0.004  # 410
    failing: float = 0.003  # 500
    redirects: float = 0.02  # one to four hops; a quarter end on another host
    copies: float = 0.01  # the bytes of another page
    near_copies: float = 0.01  # another page with two sentences changed
    texts: float = 0.005  # text/plain
    tracked: float = 0.02  # utm_… parameters on a page's URL
    fragments: float = 0.02
    dotted: float = 0.005  # ./ and ../ inside an absolute path
    uppercase: float = 0.005  # scheme and host in capitals
    nofollow: float = 0.01
    unfetchable: float = 0.005  # mailto: and javascript:

    # Share of hosts.
    private: float = 0.2  # link to /private/…, which robots.txt disallows
    crawl_delay: float = 0.05  # ask for `crawl_delay_s`
    no_robots: float = 0.3  # robots.txt is 404, where it has nothing to say
    calendars: float = 0.02  # an endless calendar, each page links deeper
    loops: float = 0.02  # link to a redirect loop
    slow: float = 0.02  # answer after the web's `latency_s`
    canonical: float = 0.5  # pages name their canonical URL

    # Share of pages.
    legacy_charsets: float = 0.05  # windows-1251, shift_jis, utf-16 …, correctly declared
    wrong_charsets: float = 0.01  # the header names another charset than the bytes and the meta

    crawl_delay_s: float = 0.2

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "crawl_delay_s" and not 0 <= value <= 1:
                raise UsageError(f"Mix.{field.name}", f"{value} is not a share", "give 0 … 1")
        if sum(self.of_links().values()) > 1:
            raise UsageError("Mix", "the shares of links add up to more than 1", "lower some")

    @classmethod
    def plain(cls, across: float = 0.15, **rates: float) -> Mix:
        """Every link goes to a page in UTF-8 that exists, on a host that allows everything.

        But for `rates`, by their names.
        """
        zeros = {field.name: 0.0 for field in fields(cls)}
        return cls(**(zeros | {"across": across} | rates))

    def of_links(self) -> dict[str, float]:
        names = [field.name for field in fields(self)]
        return {name: getattr(self, name) for name in names[: names.index("private")]}
