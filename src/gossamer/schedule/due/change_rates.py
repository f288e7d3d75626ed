"""When is a page worth another visit? What follows from how often it has changed.

Let a page change as a Poisson process of D changes a day. Two columns of `pages` learn D:

    watched_days  B   days between the first visit that was answered and the last
    changes       A   changes within these days, seen or not, as far as is known

A visit sees whether a page has changed since the one before, I days ago, but not how often. If it
has, the expected number of changes is x/(1 − e^(−x)) with x = D·I, by the D known so far; else it
is 0. D = A/B is an EM form of the estimator of Cho and Garcia-Molina ("Estimating frequency of
change", TOIT 2003). Before any visit, A is PRIOR_CHANGES, and B such that the page changes as often
as the others of its folder; of these, the same is taken by the others of the host, and of these, a
rate such that they are due after `update.interval_days` (a Gamma prior, whose evidence is in the
dataset `habits`: see change_habits.py).

Signals are dates that a sitemap or feed gives a page: newer than the one that it gave before, and
than the last visit. Let a share ℓ of changes be told so, and let ν dates a day be untrue. After t
days and n signals, a page is as it was at its last visit with the probability

    e^(−X),   X = a·t + n·ln(1 + ℓ·D/ν),   a = D·(1 − ℓ)

(after Busa-Fekete et al., "A scalable crawling algorithm utilizing noisy change-indicating
signals", WWW 2025: X/a is their effective age). Where dates are always those of now, ν is large,
and signals say what time says anyway. The columns of `pages` are `signals`, n; `doubt`, the sum of
what each said when it came; and `recall`, ℓ as of the last visit or signal. A date without a time
counts as the end of its day, unless it is the first that is known.

A date is true with the probability p = ℓ·D/(ℓ·D + ν). So a page that has changed since it was
visited t days ago has done so (n·p + a·t)/(1 − e^(−X)) times, of which n·p are told. Without dates,
that is the formula above. With them, it corrects a bias: a page that is visited because a date
tells a change is seen soon after each change. ℓ is the share of the told among the changes that
visits find, per host and folder. ν is the number of dates a day, times the share of those before
visits that these find to be untrue. All dates count for it, also of pages that are not visited: a
few looks at a sitemap that dates all its pages now tell what it is. While a page waits, its days
and dates are evidence, too: `rate` is (A + n·p)/(B + ℓ·t), as of the last visit or listing.

A page is due again when it has changed with the probability `update.revisit_probability`, after
`interval_days` multiplied or divided by `update.interval_factor` at most; but at once if signals
alone make a change likelier than none. Of the pages that are due, those whose visit gains most are
fetched first. The gain of a page of importance m is

    V(t) = m · X²/2 / (a·(1 + X) + D·X²/2).

Without signals, that is m/D · (1 − e^(−X)·(1 + X)), with the first terms of the series in place of
the exponential function. It is greatest for pages of which nothing is stored: m/D. Always to take
the largest V is optimal in the limit for any number of visits (Azar, Horvitz, Lubetzky, Peres and
Shahaf, "Tractable near-optimal policies for crawling", PNAS 2018, for visits at equal intervals).
With signals, V is about a·t²/2 after a short time without any, and m/D after a sure one, as in the
exact formula, which needs incomplete gamma functions: in simulation, it is no better. V is small
for pages that change faster than they can be visited. So it grows by PATIENCE a day, and no page is
forgotten (after Kolobov, Peres, Lu and Horvitz, "Staying up to speed with web changes", NeurIPS
2019).

What counts as a change is another main text: a clock or an advertisement is none (Olston and
Pandey, "Recrawl scheduling based on information longevity", WWW 2008). Of pages without a main
text, another body counts.

Fact: the exponential function and the logarithm may differ between engines in the last bit. So they
are replaced by terms of their series. The number of changes is 3 % too large at most. The gain is,
with three terms, up to a third too small, for pages that have probably changed twice. The doubt is
right for signals that are often untrue, and too large for others, which are believed anyway. In
simulation, that makes no difference.

The formulas take and return columns, arrays of numpy, or single numbers. Each has one division: the
embedded engine plans a divisor twice, because it looks for zeros, so it would plan the innermost of
three nested ones eight times. What a formula contains often is a column before.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import functions as F

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from pyspark.sql import Column, DataFrame

    from gossamer.config import UpdateConfig

    Numbers = TypeVar("Numbers", Column, npt.NDArray[np.float64], float)

DAY_S = 86_400
DAY_MS = DAY_S * 1000
PRIOR_CHANGES = 0.5
"""What is taken of a page before its first visit weighs as much as half a change."""
PATIENCE = 0.001
"""What a visit gains for each day since the last one, whatever the rate."""
PRIOR_RECALL = 0.25
"""The share of changes that dates tell, of a host of which nothing is known."""
PRIOR_TRUTH = PRIOR_RECALL / (1 + PRIOR_RECALL)
"""The share of true dates, of such a host, if as many are untrue as pages change."""
MOST_RECALL = 0.9
"""Some changes are taken to come without a signal, whatever was seen."""
VISITS = (
    *("more_changes", "more_ms", "told_changes", "untold_changes", "met_dates"),
    *("more_dates", "listed_for_ms"),
)
"""What visits and listings tell about the place of a page: see `learn_change_rates`."""
LEAST_DOUBT = 1e-12
SURE = math.log(2)
"""At this doubt, a page has more likely changed than not."""


def usual_rate(config: UpdateConfig) -> float:
    """The changes per day of a page of which nothing is known."""
    return due_doubt(config) / config.interval_days


def due_doubt(config: UpdateConfig) -> float:
    """The X at which a page is due."""
    return -math.log1p(-config.revisit_probability)


def rate(changes: Numbers, watched_days: Numbers, usual: Numbers | float) -> Numbers:
    """The changes of pages per day; `usual`: what is taken before any visit."""
    return usual * (changes + PRIOR_CHANGES) / (usual * watched_days + PRIOR_CHANGES)


def changes_within(rate: Numbers, days: Numbers) -> Numbers:
    """The expected number of changes in these days, after which a page had changed."""
    x = rate * days
    return x + 6 / (6 + x * (3 + x))  # (1 + x + x²/2 + x³/6) / (1 + x/2 + x²/6)


def doubt_of_signal(rate: Numbers, recall: Numbers, untrue: Numbers) -> Numbers:
    """What a signal adds to the X of pages. `untrue`: untrue dates per day, ν."""
    told = recall * rate
    return told * (6 * untrue + told) / (untrue * (6 * untrue + 4 * told))


def gain(
    rate: Numbers, days: Numbers, recall: Numbers | float = 0.0, doubt: Numbers | float = 0.0
) -> Numbers:
    """What a visit of pages gains so many days after the last one, in days: V for m = 1."""
    untold = rate * (1 - recall)
    x = untold * days + doubt
    return x * x / (2 * untold * (1 + x) + rate * x * x) + PATIENCE * days


def rate_now(config: UpdateConfig) -> Column:
    """The changes per day of each of `pages`, as far as is known."""
    return F.coalesce("rate", F.lit(usual_rate(config)))


def add_gain(pages: DataFrame, now_ms: int, config: UpdateConfig) -> DataFrame:
    """Add the `gain` of a visit, and the `rate`. Nothing counts as stored of a page that failed."""
    days = F.greatest(now_ms - F.col("fetched_ms"), F.lit(1)) / DAY_MS
    gained = gain(F.col("rate"), F.col("days"), _rate_or_zero("recall"), _rate_or_zero("doubt"))
    # A page that failed comes after new ones: it is less and less likely to be there.
    failures = 1 + _rate_or_zero("failures")
    found = F.when(_is_stored(), gained).otherwise(1 / (F.col("rate") * failures))
    pages = pages.withColumns({"rate": rate_now(config), "days": days})
    return pages.withColumn("gain", found).drop("days")


def usual_of_places(config: UpdateConfig) -> Column:
    """The changes per day of other pages in a page's folder. Rows are as for `visit_columns`."""
    changes, watched_days = _known_changes()
    usual = F.lit(usual_rate(config))
    for place in ("host", "folder"):
        others = F.greatest(_rate_or_zero(f"{place}_changes") - changes, F.lit(0.0))
        days = F.greatest(_rate_or_zero(f"{place}_days") - watched_days, F.lit(0.0))
        usual = rate(others, days, usual)
    return usual


def credible_ms(now_ms: int) -> Column:
    """The date that a link of a listing gives, unless that is days ahead, as of a coming event."""
    return F.when(F.col("dated_ms") <= now_ms + DAY_MS, F.col("dated_ms"))


def visit_columns(
    changed: Column, usual: Column, config: UpdateConfig, now_ms: int
) -> dict[str, Column]:
    """What a round tells about pages: columns for `likely_changes` and `learn_change_rates`.

    `changed`: whether a page that answered differs from what is stored; `usual`: the changes per
    day of others, which becomes `usual_before`. Each row has the columns of
    `change_habits.habits_of_urls`, null if nothing is known; `found_dated_ms`, the newest date that
    listings of the round give; and its response.
    """
    answered = F.coalesce("o_answered", F.lit(False))
    # A clock may be set back.
    moment_ms = F.coalesce("r_asked_ms", F.lit(now_ms))
    since_ms = F.greatest(moment_ms - F.col("fetched_ms"), F.lit(0))
    told_ms, before_ms = F.col("found_dated_ms"), F.col("dated_ms")
    is_newer = F.coalesce(told_ms > F.coalesce(before_ms, F.lit(0)), F.lit(False))
    whole_day = before_ms.isNotNull() & (told_ms % DAY_MS == 0)
    until_ms = F.when(whole_day, told_ms + DAY_MS).otherwise(told_ms)
    is_late = answered & (told_ms > F.col("r_asked_ms"))
    is_told = told_ms.isNotNull()
    is_dated = is_told | before_ms.isNotNull()
    recall = F.least(F.coalesce("told_share", F.lit(PRIOR_RECALL)), F.lit(MOST_RECALL))
    listed_for_ms = F.greatest(now_ms - F.col("listed_ms"), F.lit(0))
    return {
        "is_answered": answered,
        "is_visit": answered & _is_stored(),
        "is_waiting": ~answered & is_told & _is_stored(),
        "is_dated": is_dated,
        "has_changed": changed,
        "visit_ms": since_ms,
        "visit_days": since_ms / DAY_MS,
        "usual_before": usual,
        "rate_before": rate(*_known_changes(), usual),
        "signal": is_newer & ~is_late & _is_stored() & (until_ms > F.col("fetched_ms")),
        "late_signal": is_newer & is_late,
        "recall_before": F.when(is_dated, recall).otherwise(0.0),
        "untrue": F.coalesce("untrue_rate", F.lit(usual_rate(config))),
        "listed_for_ms": F.when(is_told & F.col("listed_ms").isNotNull(), listed_for_ms),
        "listed_ms": F.when(is_told, F.lit(now_ms)).otherwise(F.col("listed_ms")),
        "is_newer": is_newer,
    }


def likely_changes() -> dict[str, Column]:
    """What dates and days say about changes since the last visit, from `visit_columns`."""
    told = F.col("recall_before") * F.col("rate_before")
    dates = F.coalesce("signals", F.lit(0)) + F.col("signal").cast("int")
    one = doubt_of_signal(F.col("rate_before"), F.col("recall_before"), F.col("untrue"))
    untold = (F.col("rate_before") - told) * F.col("visit_days")
    return {
        "met_signals": dates,
        "doubt_of_one": one,
        "likely_told": dates * (told / (told + F.col("untrue"))),
        "likely_untold": untold,
        "doubt_met": F.greatest(dates * one + untold, F.lit(LEAST_DOUBT)),
    }


def learn_change_rates() -> dict[str, Column]:
    """What is known of pages after a round, as the columns of `pages`, and VISITS.

    Those of VISITS are what visits and listings tell, for `habits`. The others are as before
    without a visit.
    """
    changes, watched_days = _known_changes()
    is_visit, is_answered = F.col("is_visit"), F.col("is_answered")
    # As they are known to have changed, one over the probability of that.
    sure = changes_within(F.col("doubt_met"), F.lit(1.0)) / F.col("doubt_met")
    changed = F.col("has_changed").cast("int")
    told = changed * F.least(F.col("likely_told") * sure, F.col("met_signals"))
    untold = changed * F.col("likely_untold") * sure
    dates = F.col("met_signals")
    is_signal = F.col("late_signal") | (F.col("signal") & ~is_answered)
    since = F.when(is_answered, F.lit(0.0)).otherwise(_rate_or_zero("doubt"))
    more = F.when(is_visit, told + untold)
    waits = F.col("is_waiting")
    changes_now = changes + F.coalesce(more, F.lit(0.0))
    watched_now = watched_days + F.when(is_visit, F.col("visit_days")).otherwise(F.lit(0.0))
    told_days = F.col("recall_before") * F.col("visit_days")
    found = rate(
        changes_now + F.when(waits, F.col("likely_told")).otherwise(F.lit(0.0)),
        watched_now + F.when(waits, told_days).otherwise(F.lit(0.0)),
        F.col("usual_before"),
    )
    is_met = is_answered | waits
    recall = F.when(F.col("is_dated"), F.col("recall_before"))
    # Listings change whenever they list something, and would speak for the pages of their host.
    is_listing = F.coalesce(F.col("kind") != "page", F.lit(False))
    is_counted = is_visit & ~is_listing
    counts = is_counted & F.col("is_dated")
    is_listed = F.col("listed_for_ms").isNotNull()
    return {
        "changes": changes_now,
        "watched_days": watched_now,
        "rate": F.when(is_met, found).otherwise(F.col("rate")),
        "dated_ms": F.greatest("dated_ms", "found_dated_ms"),
        "doubt": since + F.when(is_signal, F.col("doubt_of_one")).otherwise(F.lit(0.0)),
        "signals": F.when(is_answered, F.col("late_signal").cast("int")).otherwise(dates),
        "recall": F.when(is_met, recall).otherwise(F.col("recall")),
        "more_changes": F.when(is_counted, more),
        "more_ms": F.when(is_counted, F.col("visit_ms")),
        "told_changes": F.when(counts, told),
        "untold_changes": F.when(counts, untold),
        "met_dates": F.when(counts, dates),
        "more_dates": F.when(is_listed, F.col("is_newer").cast("int")),
    }


def wait_s(config: UpdateConfig) -> Column:
    """The seconds from the last answer until a page is due again, from `learn_change_rates`."""
    usual_s, factor = config.interval_days * DAY_S, config.interval_factor
    untold = F.col("rate") * (1 - F.coalesce("recall", F.lit(0.0)))
    due_s = (due_doubt(config) - F.col("doubt")) / untold * DAY_S
    within_s = F.greatest(F.lit(usual_s / factor), F.least(F.lit(usual_s * factor), due_s))
    wait = F.when(F.col("doubt") >= SURE, F.lit(0.0)).otherwise(within_s)
    is_known = F.col("is_answered") | F.col("signal")
    return F.floor(F.when(is_known, wait).otherwise(F.lit(usual_s)) + 0.5).cast("long")


def _is_stored() -> Column:
    """Whether a page is stored as of its last visit."""
    return F.col("stored_ms").isNotNull() & F.col("failures").eqNullSafe(0)


def _known_changes() -> tuple[Column, Column]:
    """What is known of `pages`; rows of older versions have no such columns."""
    return _rate_or_zero("changes"), _rate_or_zero("watched_days")


def _rate_or_zero(name: str) -> Column:
    """Of a column without negative numbers.

    Fact (Sail 0.7.2): `coalesce` is planned as a CASE, and would stand many times in the gain.
    """
    return F.greatest(F.col(name), F.lit(0.0))
