"""Which documents are indexed: those that the step `dedup` selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.errors import UsageError
from gossamer.tables import DISPOSITIONS, DOCUMENTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.workspace import Workspace


def dispositions(work: Workspace) -> DataFrame:
    """What becomes of each document. Raises UsageError if `dedup` has not run yet."""
    layers = work.store.manifest.layers
    if layers(DOCUMENTS.name) and not layers(DISPOSITIONS.name):
        remedy = f"gossamer dedup {work.root}"
        raise UsageError(work.root, "it is not known yet which pages have equal texts", remedy)
    return work.read(DISPOSITIONS.name)
