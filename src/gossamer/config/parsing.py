"""What is taken from a page."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from gossamer.config.table import Count, Table


class ParseConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is taken from a page."""

    # Lists of everything (all packages, all posts) are what makes a site's pages known at all.
    max_links: Annotated[
        Count, Meta(description="targets taken from a page, the first in its order")
    ] = 10_000
    max_text_chars: Annotated[Count, Meta(description="text kept of a page")] = 200_000
    media: Annotated[
        bool,
        Meta(
            description="take the addresses of pictures and films as links, so that they are "
            "fetched as far as [filter] lets them"
        ),
    ] = False
    wellknown_paths: Annotated[
        tuple[Annotated[str, Meta(pattern="^/")], ...],
        Meta(
            description="where to look for sitemaps and feeds of a host whose robots.txt names no "
            'sitemap, such as `["/sitemap.xml", "/feed"]`'
        ),
    ] = ()
    extractor: Annotated[
        Literal["gossamer", "trafilatura"],
        Meta(
            description="what tells the main text of HTML; `trafilatura` is slower, and has to be "
            "installed"
        ),
    ] = "gossamer"
    rules: Annotated[
        str,
        Meta(
            description="a TOML file of rules for single sites (docs/parsing.md), relative to the "
            "crawl folder; none where it is empty"
        ),
    ] = ""
