"""What a fetch task is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gossamer.config import FetchConfig
    from gossamer.rules.filter_rules.recipe import RuleFile
    from gossamer.web.urls import UrlRules


@dataclass(frozen=True)
class Part:
    """The input of a task. The paths in `fetchlist` and `hosts` are absolute."""

    root: str
    round: int
    number: int
    fetchlist: tuple[str, ...]
    hosts: tuple[str, ...]
    """Files with the `hosts` rows of the part's hosts, from earlier rounds."""
    config: FetchConfig
    rules: UrlRules
    attempts: tuple[str, str, str]
    """The output folders of responses, warc and hosts, relative to the crawl's."""
    min_free_gb: float = 0
    """As in the settings of the store."""
    notes: str | None = None
    """The folder for notes of files that were closed (gossamer.state.finished_files)."""
    filter_rules: RuleFile | None = None
    """None if no rule is about content types."""
    run: str | None = None
    """The run that may fetch (fetch_lease.py); None on the embedded engine."""
    egress: frozenset[str] = frozenset()
    """Groups that a worker must be of to fetch it."""
