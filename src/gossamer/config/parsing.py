"""The settings of [parse]."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from gossamer.config.table import Line, Table

PATH = r"^/[^\x00-\x20\x7f-\x9f]*\Z"


class ParseConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is extracted from a page."""

    # Some pages of a site are linked only from long lists (all packages, all posts).
    max_links: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000_000,
            description="maximum link targets kept per page; the first ones on the page are kept",
        ),
    ] = 10_000
    # The longest pages of the JDK's manual have 1.7 million.
    max_text_chars: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000_000,
            description="maximum characters of text kept per page; longer pages are marked as "
            "truncated",
        ),
    ] = 10_000_000
    media: Annotated[
        bool,
        Meta(
            description="treat images, audio and video on a page as links, so that they are "
            "fetched if [filter] accepts them"
        ),
    ] = False
    # An average page takes 6 ms, so this is enough for 50,000 pages per domain and round.
    domain_cpu_s: Annotated[
        float,
        Meta(
            ge=0,
            le=86_400,
            description="maximum CPU time, in seconds, that a round spends on parsing the pages of "
            "one registrable domain; later rounds parse the rest; 0: no limit",
        ),
    ] = 300
    wellknown_paths: Annotated[
        tuple[Annotated[str, Meta(pattern=PATH, max_length=1_000)], ...],
        Meta(
            description="paths where sitemaps and feeds may be found if a host's robots.txt names "
            'no sitemap, such as `["/sitemap.xml", "/feed"]`'
        ),
    ] = ()
    sandbox: Annotated[
        bool,
        Meta(
            description="forbid the parser process to write files, to read files other than "
            "Python's and its libraries', to use the network and to start programs, if the kernel "
            "has Landlock and seccomp; set it to false for a plugin's parser that needs more"
        ),
    ] = True
    site_rules: Annotated[
        Line,
        Meta(
            description="TOML file with rules for single sites (docs/parsing.md), relative to the "
            "crawl's folder; empty: no rules"
        ),
    ] = ""
