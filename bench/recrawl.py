"""How fresh do the same number of visits keep a web whose pages change at very different rates?

    python bench/recrawl.py [--pages 2_000] [--visits 200] [--days 120] [--seeds 3]
        [--due-chance 0.1]

Pages change as Poisson processes, at rates that are lognormal with a median of 0.08 a day and
σ = 1.6. Their importance is that of a Pareto distribution (1.2). Each day has VISITS visits, in 20
rounds. Freshness is the share of importance of the pages that are as they were visited, on average
over the last two thirds of the days; age is how long the others have been stale, in days. Visits
are those that were made each day: a rule need not use all.

  one interval        all pages in turn
  Nutch's             an interval per page, × 1.4 if it has not changed, × 0.8 if it has, from a
                      minute to a year (AdaptiveFetchSchedule); the page that is due longest first
  proportional        by rate · importance · days since the last visit; rates are known
  Gossamer            as `generate` chooses: among pages that are due, by gain; rates are learned
  … without waiting   the same among all pages
  … by the exact V    the same by the exact formula (gossamer.recrawl)
  V, rates known      the greatest gain by the exact formula
  bound               equal intervals, the best for these rates: what no rule can exceed
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gossamer import recrawl
from gossamer.config import UpdateConfig

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = npt.NDArray[np.float64]
ROUNDS_PER_DAY = 20
INTERVAL_DAYS = 10
UNSEEN = 1e9
"""Days since the last visit of a page that was never visited."""


@dataclass
class Web:
    """Pages, and what a crawler knows of them."""

    random: np.random.Generator
    rates: Floats
    importance: Floats
    config: UpdateConfig
    days: Floats
    """Since the last visit."""
    stale_days: Floats
    """Since the first change after it."""
    changes: Floats = field(init=False)
    watched: Floats = field(init=False)
    intervals: Floats = field(init=False)
    visits: int = 0

    def __post_init__(self) -> None:
        self.changes, self.watched = np.zeros_like(self.rates), np.zeros_like(self.rates)
        self.intervals = np.full_like(self.rates, self.config.interval_days)

    @property
    def learned(self) -> Floats:
        return recrawl.rate(self.changes, self.watched, recrawl.usual_rate(self.config))

    def passes(self, days: float) -> None:
        """Let pages change for some days."""
        change = self.random.exponential(1 / self.rates)
        self.stale_days = np.where(
            self.stale_days > 0, self.stale_days + days, np.maximum(days - change, 0)
        )
        self.days += days

    def visit(self, pages: npt.NDArray[np.int64]) -> None:
        changed, days = self.stale_days[pages] > 0, self.days[pages]
        met = recrawl.changes_within(self.learned[pages], days)
        known = days < UNSEEN / 2
        self.changes[pages] += np.where(changed & known, met, 0)
        self.watched[pages] += np.where(known, days, 0)
        longer = self.intervals[pages] * np.where(changed, 0.8, 1.4)
        self.intervals[pages] = np.clip(longer, 1 / 1440, 365)
        self.days[pages], self.stale_days[pages] = 0, 0
        self.visits += pages.size


def exact_gain(rates: Floats, days: Floats) -> Floats:
    x = rates * days
    gained: Floats = (-np.expm1(-x) - x * np.exp(-x)) / rates
    return gained


def due(web: Web) -> Floats:
    """As `generate` chooses: 0 for pages that are not due."""
    usual, factor = web.config.interval_days, web.config.interval_factor
    days = usual * recrawl.usual_rate(web.config) / web.learned
    wait = np.clip(days, usual / factor, usual * factor)
    return np.where(web.days >= wait, web.importance * recrawl.gain(web.learned, web.days), 0)


RULES: dict[str, Callable[[Web], Floats]] = {
    "one interval": lambda web: web.days,
    "Nutch's": lambda web: web.days - web.intervals,
    "proportional": lambda web: web.rates * web.importance * web.days,
    "Gossamer": due,
    "… without waiting": lambda web: web.importance * recrawl.gain(web.learned, web.days),
    "… by the exact V": lambda web: web.importance * exact_gain(web.learned, web.days),
    "V, rates known": lambda web: web.importance * exact_gain(web.rates, web.days),
}


def fresh_and_stale(
    rule: Callable[[Web], Floats], seed: int, options: argparse.Namespace
) -> tuple[float, float, float]:
    """The mean freshness, the mean age in days, and the visits a day."""
    web = made(seed, options)
    visits = options.visits // ROUNDS_PER_DAY
    fresh, age = [], []
    for number in range(options.days * ROUNDS_PER_DAY):
        web.passes(1 / ROUNDS_PER_DAY)
        worth = rule(web)
        best = np.argpartition(-worth, visits)[:visits]
        web.visit(best[worth[best] != 0])
        if number * 3 >= options.days * ROUNDS_PER_DAY:
            fresh.append(web.importance[web.stale_days == 0].sum())
            age.append((web.importance * web.stale_days).sum())
    return float(np.mean(fresh)), float(np.mean(age)), web.visits / options.days


def made(seed: int, options: argparse.Namespace) -> Web:
    random = np.random.default_rng(seed)
    rates = 0.08 * np.exp(1.6 * random.standard_normal(options.pages))
    importance = 1 + random.pareto(1.2, options.pages)
    importance /= importance.sum()
    never = np.full(options.pages, UNSEEN)
    config = UpdateConfig(interval_days=INTERVAL_DAYS, due_chance=options.due_chance)
    return Web(random, rates, importance, config, never, np.full(options.pages, 1e-9))


def bound(seed: int, options: argparse.Namespace) -> float:
    """The freshness of the best equal intervals: each page is visited when V reaches the same."""
    web = made(seed, options)
    least, most = 1e-12, float((web.importance / web.rates).max())
    days = np.full(options.pages, np.inf)
    for _ in range(60):
        level = np.sqrt(least * most)
        low, high = np.full(options.pages, 1e-9), np.full(options.pages, 1e9)
        for _ in range(80):
            days = np.sqrt(low * high)
            above = web.importance * exact_gain(web.rates, days) > level
            low, high = np.where(above, low, days), np.where(above, days, high)
        if (1 / days).sum() > options.visits:
            least = level
        else:
            most = level
    x = web.rates * days
    return float((web.importance * -np.expm1(-x) / x).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--visits", type=int, default=200, help="each day")
    parser.add_argument("--days", type=int, default=120)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--due-chance", type=float, default=UpdateConfig().due_chance)
    options = parser.parse_args()
    seeds = range(options.seeds)
    print(f"{'rule':<20}{'freshness':>{8 * len(seeds)}}{'mean':>8}{'age':>8}{'visits':>8}")
    for name, rule in RULES.items():
        found = [fresh_and_stale(rule, seed, options) for seed in seeds]
        fresh, age, visits = map(list, zip(*found, strict=True))
        report(name, fresh, f"{np.mean(age):>8.1f}{np.mean(visits):>8.0f}")
    report("bound", [bound(seed, options) for seed in seeds])


def report(name: str, fresh: list[float], more: str = "") -> None:
    each = "".join(f"{value:>8.3f}" for value in (*fresh, np.mean(fresh)))
    print(f"{name:<20}{each}{more}", flush=True)


if __name__ == "__main__":
    main()
