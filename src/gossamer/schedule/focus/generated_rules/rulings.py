"""What becomes of a page that a generated rule refuses: the columns of its row.

withheld   a new URL: excluded, with the outcome `filtered`
sampled    a withheld page that was drawn: unfetched, but still with that outcome, until it is
           answered; then it is withheld again
released   a page whose rule has fallen: as if nothing had ever refused it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.tables.outcomes import FILTERED

if TYPE_CHECKING:
    from pyspark.sql import Column

WITHHELD, SAMPLED, RELEASED = "withheld", "sampled", "released"
"""Values of the column `ruling`."""


def is_sample() -> Column:
    """Whether a page, by its row, was drawn and waits for its answer."""
    return F.col("status").eqNullSafe("unfetched") & F.col("outcome").eqNullSafe(FILTERED)


def is_withheld_after(done: Column) -> Column:
    """Whether a page is withheld after this round, in which it may be `done`: asked, for good."""
    again = is_sample() & done & ~_is_released()
    return F.col("ruling").eqNullSafe(WITHHELD) | F.coalesce(again, F.lit(False))


def status_after_ruling(status: Column) -> Column:
    """The status of a page; `status` is the one without a ruling. Needs the column `filtered`."""
    as_before = F.when(F.col("stored_ms").isNull(), "unfetched").otherwise("fetched")
    return (
        F.when(F.col("filtered"), "excluded")
        .when(F.col("ruling").eqNullSafe(SAMPLED), "unfetched")
        .when(_is_released() & ~F.col("asked"), as_before)
        .otherwise(status)
    )


def outcome_after_ruling(outcome: Column) -> Column:
    """The outcome of a page; `outcome` is the one without a ruling."""
    is_retried = is_sample() & F.col("retry") & ~_is_released()
    stays = F.col("filtered") | F.col("ruling").eqNullSafe(SAMPLED) | is_retried
    as_before = F.when(F.col("stored_ms").isNotNull(), "ok")
    return (
        F.when(stays, FILTERED).when(_is_released() & ~F.col("asked"), as_before).otherwise(outcome)
    )


def is_due_by_ruling() -> Column:
    return F.col("ruling").eqNullSafe(SAMPLED) | _is_released()


def _is_released() -> Column:
    return F.col("ruling").eqNullSafe(RELEASED)
