"""The settings of [parse]."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from gossamer.config.settings_table import Line, Seconds, Table

PATH = r"^/[^\x00-\x20\x7f-\x9f]*\Z"


class ParseConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is extracted from a page."""

    # Some pages of a site are linked only from long lists (all packages, all posts).
    max_links: Annotated[int, Meta(ge=1, le=10_000_000)] = 10_000
    """Maximum link targets kept per page; the first ones on the page are kept."""
    # The longest pages of the JDK's manual have 1.7 million.
    max_text_chars: Annotated[int, Meta(ge=1, le=100_000_000)] = 10_000_000
    """Maximum characters of text kept per page; longer pages are marked as truncated."""
    media: bool = False
    """Treat images, audio and video on a page as links, so that they are fetched if [filter]
    accepts them."""
    # An average page takes 6 ms, so this is enough for 50,000 pages per domain and round.
    domain_cpu_s: Seconds = 300
    """Maximum CPU time, in seconds, that a round spends on parsing the pages of one registrable
    domain; later rounds parse the rest; 0: no limit."""
    wellknown_paths: tuple[Annotated[str, Meta(pattern=PATH, max_length=1_000)], ...] = ()
    """Paths where sitemaps and feeds may be found if a host's robots.txt names no sitemap, such as
    `["/sitemap.xml", "/feed"]`."""
    sandbox: bool = True
    """Forbid the parser process to write files, to read files other than Python's and its
    libraries', to use the network and to start programs, if the kernel has Landlock and seccomp;
    set it to false for a plugin's parser that needs more."""
    site_rules: Line = ""
    """TOML file with rules for single sites (docs/parsing.md), relative to the crawl's folder;
    empty: no rules."""
