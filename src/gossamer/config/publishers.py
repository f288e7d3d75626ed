"""The settings of [publishers]."""

from __future__ import annotations

from typing import Literal

from gossamer.config.settings_table import Table

Use = Literal["search", "ai-input", "ai-train"]
"""The names of `gossamer.web.publisher_wishes.USES`."""


class PublishersConfig(Table, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Obedience to what publishers say about the use of their pages (docs/wishes.md)."""

    obey: tuple[Use, ...] = ("search", "ai-input", "ai-train")
    """Uses of which pages are left out whose publishers forbid them: `search` (results of
    searches), `ai-input` (tools for language models, Markdown, passages, llms.txt) and `ai-train`
    (the export of `documents`). Pages of fetch.own_hosts are never left out. Take a use out only
    if the publishers of all crawled pages have agreed to it."""
    site_files: bool = True
    """Once a day, request `/.well-known/tdmrep.json` from each host, and the RSL file on the host
    that its robots.txt names, if robots.txt allows it. `false` saves these requests. Then pages
    that are reserved only in tdmrep.json are handed out, and RSL files forbid all uses by AI,
    whatever their terms are."""

    @property
    def reads_files(self) -> bool:
        """Whether hosts are asked for such files."""
        return self.site_files and bool(self.obey)
