"""Makes the job of a parse step from the crawl's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.parse.step.job import Job
from gossamer.rules import filters
from gossamer.rules.filter_rules import crawl_rules
from gossamer.rules.url_rules import rule_updates
from gossamer.tables import DOCUMENTS, LINKS, REWRITTEN, UNPARSED

if TYPE_CHECKING:
    from gossamer.parse.parsed_page import Rules
    from gossamer.state.workspace import Workspace


def create_job(work: Workspace, rules: Rules) -> Job:
    """Return the job of all tasks for the newest round. Raises ConfigError and UsageError."""
    filters.check(work.config.filter)
    return Job(
        work.root,
        work.round,
        work.config,
        rules,
        crawl_rules.filter_recipe(work, generated=()),  # `update` withholds what these refuse
        fetch_began_ms(work),
        (
            work.store.attempt(DOCUMENTS.name),
            work.store.attempt(LINKS.name),
            work.store.attempt(UNPARSED.name),
            work.scratch_attempt(),
        ),
        url_rules=rule_updates.write_active_rules(work),
        rewritten=work.store.attempt(REWRITTEN.name),
    )


def fetch_began_ms(work: Workspace) -> int:
    """Return when the round's fetch began; 0 if the history does not have it."""
    reports = work.store.manifest.history
    fetches = [done for done in reports if (done.step, done.round) == ("fetch", work.round)]
    return fetches[-1].started_ms if fetches else 0
