"""Can all settings of a crawl be used? They are checked together, before the first step.

What a gossamer.toml says by itself was checked when it was read. These checks also read the files,
environment variables and packages that it names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.config import listed, reveal_secrets
from gossamer.errors import ConfigError
from gossamer.links.rank.trust import read_lists
from gossamer.parse.page_rules import sites_of
from gossamer.rules.filter_rules import crawl_rules
from gossamer.rules.filters import Allow, Deny
from gossamer.schedule.focus import fitness
from gossamer.schedule.order import scoring
from gossamer.web.urls import WEB

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.state.workspace import Workspace


def check_settings(work: Workspace) -> None:
    """Raises ConfigError, which lists everything that is wrong."""
    errors = [error for check in CHECKS if (error := _error_of(check, work)) is not None]
    if len(errors) == 1:
        raise errors[0]
    if errors:
        problems = [f"{each.subject}: {each.what}; {each.remedy}" for each in errors]
        raise ConfigError(work.root, listed(problems), "see docs/settings.md")


def _error_of(check: Callable[[Workspace], object], work: Workspace) -> ConfigError | None:
    try:
        check(work)
    except ConfigError as error:
        return error
    return None


def _check_sites(work: Workspace) -> None:
    if work.config.fetch.sites:
        from gossamer.fetch.http.site_settings import Sites  # aiohttp takes long to import

        Sites(reveal_secrets(work.config.fetch, work.root).sites)


def _check_schemes(work: Workspace) -> None:
    if others := frozenset(work.config.urls.schemes).difference(WEB):
        from gossamer.fetch.file_fetcher import FileFetcher
        from gossamer.fetch.scheme_fetchers import BUILT_IN, installed_fetchers  # as above

        installed_fetchers(others - BUILT_IN)
        if "file" in others:
            FileFetcher(work.config.fetch, work.config.urls)


CHECKS: tuple[Callable[[Workspace], object], ...] = (
    crawl_rules.rules_in_force,
    fitness.check,
    lambda work: scoring.load(work.config.update.scoring),
    lambda work: Allow(work.config.filter.allow),
    lambda work: Deny(work.config.filter.deny),
    _check_sites,
    _check_schemes,
    lambda work: sites_of(work.config.parse, work.root),
    lambda work: read_lists(work, "page"),
)
