"""The score of each page: its importance, times what a visit gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.schedule.due import change_rates, listing_polls
from gossamer.schedule.due.due_pages import JUDGED, POLLED, RECRAWLED
from gossamer.schedule.focus import fit_prediction
from gossamer.schedule.order import opic, scoring
from gossamer.schedule.order.page_ranks import add_ranks
from gossamer.schedule.order.sections.page_worth import add_page_worth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

IMPORTANCE = ("inlinks", "cash", "history", "rank", "host_rank", "worth")
"""Columns that only importance depends on, besides JUDGED."""
GAIN = ("rate", "gain", *RECRAWLED, *POLLED)
"""Columns that only the gain of a visit depends on."""


def score_pages(work: Workspace, due: DataFrame, sections: Sequence[Layer] = ()) -> DataFrame:
    """Add the column `score`: importance by `update.scoring`, times what a visit gains.

    It is far higher for pages with a rhythm and for news (listing_polls.py). Columns that only the
    score depends on are dropped. `sections`: layers of the dataset.
    """
    importance = scoring.load(work.config.update.scoring)
    if importance.needs_ranks:
        due, _ = work.scratch(add_ranks(work, due))
    if importance.needs_worth:
        due = add_page_worth(work, due, sections)
    due = change_rates.add_gain(due, work.now_ms(), work.config.update)
    factor = F.col("gain") * listing_polls.rhythm_factor(work.now_ms())
    score = importance(page_signals(work)) * factor
    return due.withColumn("score", score).drop(*IMPORTANCE, *GAIN, *JUDGED)


def page_signals(work: Workspace) -> scoring.Signals:
    """Scorings' signals, by the columns of `pages`, `add_ranks` and `add_page_worth`."""
    return scoring.Signals(
        depth=F.col("depth"),
        inlinks=F.col("inlinks"),
        opic=opic.importance(opic.virtual_page(work).given),
        rank=F.col("rank"),
        host_rank=F.col("host_rank"),
        worth=F.col("worth"),
        promise=fit_prediction.promise_column(work),
    )
