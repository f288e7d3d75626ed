"""When is a page worth another visit? What follows from how often it has changed.

Let a page change as a Poisson process of D changes a day. Two columns of `pages` learn D:

    watched_days  B   days between the first visit that was answered and the last
    changes       A   changes within these days, seen or not, as far as is known

A visit sees whether a page has changed since the one before, I days ago, but not how often. If it
has, the expected number of changes is x/(1 − e^(−x)) with x = D·I, by the D known so far; else it
is 0. D = A/B is an EM form of the estimator of Cho and Garcia-Molina ("Estimating frequency of
change", TOIT 2003). Before any visit, A is PRIOR_CHANGES, and B such that the page is due after
`update.interval_days`.

A page is due again when it has changed with the probability `update.due_chance`, after
`interval_days` multiplied or divided by `update.interval_factor` at most. Of the pages that are
due, those whose visit gains most are fetched first. After t days without a visit, the gain of a
page of importance m is

    V(t) = m/D · (1 − e^(−x)(1 + x)),   x = D·t,

which is greatest for pages of which nothing is stored: m/D. Always to take the largest V is optimal
in the limit for any number of visits (Azar, Horvitz, Lubetzky, Peres and Shahaf, "Tractable
near-optimal policies for crawling", PNAS 2018, for visits at equal intervals). V is small for pages
that change faster than they can be visited. So it grows by PATIENCE a day, and no page is forgotten
(after Kolobov, Peres, Lu and Horvitz, "Staying up to speed with web changes", NeurIPS 2019).

What counts as a change is another main text: a clock or an advertisement is none (Olston and
Pandey, "Recrawl scheduling based on information longevity", WWW 2008). Of pages without a main
text, another body counts.

Fact: the exponential function may differ between engines in the last bit. So it is replaced by the
first terms of its series. The number of changes is 3 % too large at most. The gain is, with three
terms, up to a third too small, for pages that have probably changed twice. In simulation, that
makes no difference (bench/recrawl.py).

The formulas take and return columns, arrays of numpy, or single numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import functions as F

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from pyspark.sql import Column

    from gossamer.config import UpdateConfig

    Numbers = TypeVar("Numbers", Column, npt.NDArray[np.float64], float)

DAY_S = 86_400
PRIOR_CHANGES = 0.5
"""What is taken of a page before its first visit weighs as much as half a change."""
PATIENCE = 0.001
"""What a visit gains for each day since the last one, whatever the rate."""


def usual_rate(config: UpdateConfig) -> float:
    """The changes per day of a page of which nothing is known."""
    return -math.log1p(-config.due_chance) / config.interval_days


def rate(changes: Numbers, watched_days: Numbers, usual: float) -> Numbers:
    """The changes of pages per day; `usual`: what is taken before any visit."""
    return (changes + PRIOR_CHANGES) / (watched_days + PRIOR_CHANGES / usual)


def changes_within(rate: Numbers, days: Numbers) -> Numbers:
    """The expected number of changes in these days, after which a page had changed."""
    x = rate * days
    return (1 + x + x * x / 2 + x * x * x / 6) / (1 + x / 2 + x * x / 6)


def gain(rate: Numbers, days: Numbers) -> Numbers:
    """What a visit of pages gains so many days after the last one, in days: V for m = 1."""
    x = rate * days
    return x * x / (2 + 2 * x + x * x) / rate + PATIENCE * days


def rate_now(config: UpdateConfig) -> Column:
    """The changes per day of each of `pages`, as far as is known."""
    return rate(*_known(), usual_rate(config))


def gain_now(now_ms: int, config: UpdateConfig) -> Column:
    """The gain of a visit to each of `pages`. Of one that failed, nothing is taken as stored."""
    of_page = rate_now(config)
    stored = F.col("stored_ms").isNotNull() & (F.col("failures") == 0)
    days = F.greatest(now_ms - F.col("fetched_ms"), F.lit(1)) / (DAY_S * 1000)
    return F.when(stored, gain(of_page, days)).otherwise(1 / of_page)


def visits(changed: Column, config: UpdateConfig) -> dict[str, Column]:
    """What a round's answers tell about pages, as columns from which `learned` and `wait_s` follow.

    `changed`: whether a page that answered differs from what is stored.
    """
    answered = F.coalesce("o_answered", F.lit(False))
    days = F.greatest(F.col("r_asked_ms") - F.col("fetched_ms"), F.lit(0)) / (DAY_S * 1000)
    return {
        "is_visit": answered & F.col("stored_ms").isNotNull() & (F.col("failures") == 0),
        "has_changed": changed,
        "visit_days": days,
        "rate_before": rate_now(config),
    }


def learned() -> dict[str, Column]:
    """The columns `changes` and `watched_days` of pages after a round, with the ending `_now`."""
    changes, watched_days = _known()
    met = changes_within(F.col("rate_before"), F.col("visit_days"))
    is_visit = F.col("is_visit")
    return {
        "changes_now": F.when(is_visit & F.col("has_changed"), changes + met).otherwise(changes),
        "watched_now": F.when(is_visit, watched_days + F.col("visit_days")).otherwise(watched_days),
    }


def wait_s(config: UpdateConfig) -> Column:
    """The seconds from an answer until the page is due again."""
    usual_s, factor = int(config.interval_days * DAY_S), config.interval_factor
    usual = usual_rate(config)
    # After so many seconds, a page has changed with the probability `due_chance`.
    due_s = usual_s * usual / rate(F.col("changes_now"), F.col("watched_now"), usual)
    within_s = F.greatest(F.lit(usual_s / factor), F.least(F.lit(usual_s * factor), due_s))
    return F.floor(F.when(F.col("is_visit"), within_s).otherwise(F.lit(usual_s))).cast("long")


def _known() -> tuple[Column, Column]:
    """What is known of `pages`; rows of older versions have no such columns."""
    return F.coalesce("changes", F.lit(0.0)), F.coalesce("watched_days", F.lit(0.0))
