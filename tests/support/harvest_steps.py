"""Steps that a test runs with those that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer import dedup, index
from gossamer.dedup import boilerplate
from gossamer.index import postings

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport


def run_index(work: Workspace) -> StepReport:
    """Run the harvest from `boilerplate` to `index`; return the report of the latter."""
    boilerplate.run(work)
    dedup.run(work)
    return index.run(work)


def run_postings(work: Workspace) -> StepReport:
    """Run `dedup` and `postings`; return the report of the latter."""
    dedup.run(work)
    return postings.run(work)
