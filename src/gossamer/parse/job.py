"""The job of a parse step: what all its tasks have in common, from the crawl's state."""

from __future__ import annotations

from time import gmtime
from typing import TYPE_CHECKING

from gossamer import filters
from gossamer.errors import UsageError
from gossamer.parse.task import Job
from gossamer.tables import DOCUMENTS, LINKS, REWRITTEN, UNPARSED
from gossamer.url_rules import lessons

if TYPE_CHECKING:
    from gossamer.parse.page import Rules
    from gossamer.workspace import Workspace

MAX_SEED_HOSTS = 100_000
"""Largest number of hosts for `filter.scope`: every task holds them in memory."""


def job_of(work: Workspace, rules: Rules) -> Job:
    """Return the job of all tasks for the newest round. Raises ConfigError and UsageError."""
    filters.check(work.config.filter)
    return Job(
        work.root,
        work.round,
        work.config,
        rules,
        seed_hosts(work),
        gmtime(work.now_ms() / 1000).tm_year,
        fetch_began_ms(work),
        (
            work.store.attempt(DOCUMENTS.name),
            work.store.attempt(LINKS.name),
            work.store.attempt(UNPARSED.name),
            work.scratch_attempt(),
        ),
        url_rules=lessons.active(work),
        rewritten=work.store.attempt(REWRITTEN.name),
    )


def fetch_began_ms(work: Workspace) -> int:
    """Return when the round's fetch began; 0 if the history does not have it."""
    reports = work.store.manifest.history
    fetches = [done for done in reports if (done.step, done.round) == ("fetch", work.round)]
    return fetches[-1].started_ms if fetches else 0


def seed_hosts(work: Workspace) -> tuple[str, ...]:
    """Return the hosts of the seeds, sorted, if the scope of the crawl depends on them; else ()."""
    if work.config.filter.scope == "any":
        return ()
    seeds = work.read("pages").where("source = 'seed'").select("host").distinct()
    hosts = [row.host for row in seeds.limit(MAX_SEED_HOSTS + 1).collect()]
    if len(hosts) > MAX_SEED_HOSTS:
        raise UsageError(
            f"{work.root}/gossamer.toml",
            f"the seeds are on more than {MAX_SEED_HOSTS:,} hosts, too many for filter.scope",
            'set filter.scope to "any", and restrict the crawl by filter.allow or filter.deny',
        )
    return tuple(sorted(hosts))
