"""Seeds that redirect to where the filters end the crawl, such as a site's new domain.

A page that redirects is no failure, so nothing else reports that nothing of such a site is crawled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.rules.absence import Absence
from gossamer.state.lookup import Lookup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

MOST_SHOWN = 5
MOST_READ = 1_000
"""Redirects of a run that are looked at."""


def refused_seed_redirects(work: Workspace, reports: Iterable[StepReport]) -> list[str]:
    """Describe the redirects of seeds that the filters refuse, in the rounds that a run fetched.

    Each line has the setting that refuses the target, and a command that makes it a seed.
    """
    rounds = [
        done.round for done in reports if done.step == "fetch" and done.counts.get("redirect")
    ]
    if not rounds:
        return []
    # Only seeds, and what they redirect to, have the depth 0.
    answers = work.read("responses").where(
        "outcome = 'redirect' AND depth = 0 AND redirect_url IS NOT NULL"
    )
    answers = answers.where(answers["round"].isin(rounds)).select("url", "redirect_url", "hops")
    absence = Absence(work, Lookup(work))
    refused = {
        (url, target): why
        for url, target, hops in sorted(answers.distinct().limit(MOST_READ).collect())
        if (why := absence.filter_reason(target, 0, hops + 1)) is not None
    }
    lines = [
        f"{url} redirects to {target}, which is not crawled: {why}\n"
        f"  → if it is wanted, make it a seed: gossamer crawl {work.root} {target}"
        for (url, target), why in list(refused.items())[:MOST_SHOWN]
    ]
    more = len(refused) - len(lines)
    return (
        [*lines, f"{more:,} more seeds redirect to pages that are not crawled"] if more else lines
    )
