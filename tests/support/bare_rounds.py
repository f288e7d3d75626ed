"""Rounds without the harvest that follows them, which takes about as long as a round."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import patch

from gossamer.flow import rounds

if TYPE_CHECKING:
    from gossamer.api.crawl import Crawl
    from gossamer.storage.store import StepReport


def run_rounds(crawl: Crawl, most: int | None = None) -> list[StepReport]:
    """Run rounds until nothing is due, or at most so many; return their reports."""
    with patch.object(rounds, "HARVEST", {}):
        return crawl.run(most)
