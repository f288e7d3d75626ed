"""Steps that a test runs with those that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer import boilerplate, dedup, index, postings

if TYPE_CHECKING:
    from gossamer.store import StepReport
    from gossamer.workspace import Workspace


def run_index(work: Workspace) -> StepReport:
    """Run the harvest from `boilerplate` to `index`; return the report of the latter."""
    boilerplate.run(work)
    dedup.run(work)
    return index.run(work)


def run_postings(work: Workspace) -> StepReport:
    """Run `dedup` and `postings`; return the report of the latter."""
    dedup.run(work)
    return postings.run(work)
