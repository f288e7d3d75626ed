"""By which rules are a crawl's pages parsed?

The process that crawls asks this, and has no use for the parsers, which take long to import.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.parse.installed_parsers import installed_parsers
from gossamer.parse.parsed_page import Rules

if TYPE_CHECKING:
    from gossamer.config import Config, ParseConfig
    from gossamer.parse.parsed_page import SiteRule


def rules_of(config: Config, root: str, sites: tuple[SiteRule, ...] | None = None) -> Rules:
    """Return the rules by which a crawl's pages are parsed.

    `sites` replaces the site rules that the settings name. Raises ConfigError, also if a parser of
    an installed package cannot be used.
    """
    rules = Rules.of(config, sites_of(config.parse, root) if sites is None else sites)
    installed_parsers()
    return rules


def sites_of(config: ParseConfig, root: str) -> tuple[SiteRule, ...]:
    """Return the site rules of the crawl in the folder `root`. Raises ConfigError."""
    if not config.site_rules:
        return ()
    from gossamer.parse.html.site_rules import read_site_rules

    return read_site_rules(Path(root, config.site_rules))
