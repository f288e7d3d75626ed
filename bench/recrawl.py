"""How fresh do the same number of visits keep a web whose pages change at very different rates?

    python bench/recrawl.py [--pages 2_000] [--visits 200] [--days 120] [--seeds 3]
        [--due-chance 0.1] [--dated 0.3] [--liars 0.1]

Pages change as Poisson processes, at rates that are lognormal with a median of 0.08 a day and
σ = 1.6; half of the variance of the logarithm lies between hosts, of 50 pages each. Their
importance is that of a Pareto distribution (1.2). The share DATED of hosts has sitemaps that are
always up to date: they date a share of changes, between 0.5 and 1 for each host, and 0.02 untrue
ones a day. The share LIARS dates each page each day. Rules have to learn which hosts these are.

Each day has VISITS visits, in 20 rounds. Freshness is the share of importance of the pages that are
as they were visited, on average over the last two thirds of the days; age is how long the others
have been stale, in days. Visits are those that were made each day: a rule need not use all.

  one interval        all pages in turn
  Nutch's             an interval per page, × 1.4 if it has not changed, × 0.8 if it has, from a
                      minute to a year (AdaptiveFetchSchedule); the page that is due longest first
  proportional        by rate · importance · days since the last visit; rates are known
  on any signal       pages with a signal, then as one interval
  Gossamer            as `generate` chooses: among pages that are due, or early in a full round, by
                      gain; rates, and what dates are worth, are learned
  … no signals        the same without dates
  … no hosts          the same without dates, and each page learns for itself
  … due alone         as Gossamer, but pages that are not due are never chosen
  … due or not        as Gossamer, among all pages
  V, rates known      the greatest gain by the exact formula, without dates
  bound               equal intervals, the best for these rates: what no rule can exceed that knows
                      no dates
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer import recrawl
from gossamer.config import UpdateConfig
from gossamer.due import EARLY

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
PAGES_PER_HOST = 50
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
    host: Ints
    told: Floats
    """The share of changes of a page that is dated, and …"""
    untrue: Floats
    """… untrue dates a day; both 0 where there are no dates."""
    days: Floats
    """Since the last visit."""
    stale_days: Floats
    """Since the first change after it."""
    a_round: int
    """The visits that a round has at most."""
    visits: int = 0
    has_signals: bool = True
    has_hosts: bool = True
    rate: Floats = field(init=False)
    """What `pages` contains: as of the last visit or date."""
    changes: Floats = field(init=False)
    watched: Floats = field(init=False)
    intervals: Floats = field(init=False)
    doubt: Floats = field(init=False)
    signals: Floats = field(init=False)
    dates: dict[str, Floats] = field(init=False)

    def __post_init__(self) -> None:
        none = (np.zeros_like(self.rates) for _ in range(4))
        self.changes, self.watched, self.doubt, self.signals = none
        self.intervals = np.full_like(self.rates, self.config.interval_days)
        hosts = int(self.host.max()) + 1
        self.dates = {name: np.zeros(hosts) for name in ("told", "untold", "met", "dates", "days")}
        self.rate = np.full_like(self.rates, recrawl.usual_rate(self.config))

    @property
    def dated(self) -> Bools:
        return (self.untrue > 0) & self.has_signals

    @property
    def usual(self) -> Floats:
        """The rates of the other pages of a page's host."""
        usual = recrawl.usual_rate(self.config)
        if not self.has_hosts:
            return np.full_like(self.rates, usual)
        changes, days = (
            np.bincount(self.host, own)[self.host] - own for own in (self.changes, self.watched)
        )
        return recrawl.rate(changes, days, usual)

    @property
    def recall(self) -> Floats:
        told, untold = self.dates["told"], self.dates["untold"]
        share = (told + recrawl.PRIOR_RECALL) / (told + untold + 1)
        return np.where(self.dated, np.minimum(share, recrawl.MOST_RECALL)[self.host], 0)

    @property
    def untrue_dates(self) -> Floats:
        """Untrue dates a day, as far as is known."""
        true = (self.dates["told"] + recrawl.PRIOR_TRUTH) / (self.dates["met"] + 1)
        usual = recrawl.usual_rate(self.config)
        return recrawl.rate(self.dates["dates"] * (1 - true), self.dates["days"], usual)[self.host]

    def passes(self, days: float) -> None:
        """Let pages change for some days, and listings tell it."""
        number = self.random.poisson(self.rates * days)
        first = days * self.random.random(self.rates.size) ** (1 / np.maximum(number, 1))
        self.stale_days = np.where(
            self.stale_days > 0, self.stale_days + days, np.where(number > 0, first, 0)
        )
        self.days += days
        told = self.random.binomial(number, self.told) + self.random.poisson(self.untrue * days)
        is_signal = (told > 0) & self.dated
        np.add.at(self.dates["dates"], self.host, is_signal)
        np.add.at(self.dates["days"], self.host, np.where(self.dated, days, 0))
        known, usual = self.days < UNSEEN / 2, self.usual
        before = recrawl.rate(self.changes, self.watched, usual)
        recall, untrue = self.recall, self.untrue_dates
        is_signal &= known
        self.doubt += np.where(is_signal, recrawl.doubt_of_signal(before, recall, untrue), 0)
        self.signals += is_signal
        likely = self.signals * recall * before / (recall * before + untrue)
        told_days = np.where(known, recall * self.days, 0)
        now = recrawl.rate(self.changes + likely, self.watched + told_days, usual)
        self.rate = np.where(self.dated & known, now, self.rate)

    def visit(self, pages: Ints) -> None:
        """As `update` learns: from visits to pages, and to the others of their hosts."""
        changed, days = self.stale_days[pages] > 0, self.days[pages]
        known, signals = days < UNSEEN / 2, self.signals[pages]
        days = np.where(known, days, 0)
        usual, recall, untrue = (
            of_all[pages] for of_all in (self.usual, self.recall, self.untrue_dates)
        )
        before = recrawl.rate(self.changes[pages], self.watched[pages], usual)
        told, untold = recall * before, (1 - recall) * before * days
        doubt = signals * recrawl.doubt_of_signal(before, recall, untrue) + untold
        doubt = np.maximum(doubt, recrawl.LEAST_DOUBT)
        sure = recrawl.changes_within(doubt, np.ones_like(doubt)) / doubt
        sure = np.where(changed & known, sure, 0)
        told = np.minimum(signals * told / (told + untrue) * sure, signals)
        untold = untold * sure
        self.changes[pages] += told + untold
        self.watched[pages] += days
        self.rate[pages] = recrawl.rate(self.changes[pages], self.watched[pages], usual)
        longer = self.intervals[pages] * np.where(changed, 0.8, 1.4)
        self.intervals[pages] = np.clip(longer, 1 / 1440, 365)
        dated = self.dated[pages]
        for name, values in {"told": told, "untold": untold, "met": signals}.items():
            np.add.at(self.dates[name], self.host[pages], np.where(dated, values, 0))
        for past in (self.days, self.stale_days, self.doubt, self.signals):
            past[pages] = 0
        self.visits += pages.size


def exact_gain(rates: Floats, days: Floats) -> Floats:
    x = rates * days
    gained: Floats = (-np.expm1(-x) - x * np.exp(-x)) / rates
    return gained


def gain(web: Web) -> Floats:
    days = np.minimum(web.days, UNSEEN)
    return web.importance * recrawl.gain(web.rate, days, web.recall, web.doubt)


def due(web: Web, early: float = 1 / EARLY) -> Floats:
    """As `generate` chooses: 0 for pages that are not due."""
    usual, factor = web.config.interval_days, web.config.interval_factor
    untold = web.rate * (1 - web.recall)
    wait = (recrawl.due_doubt(web.config) - web.doubt) / untold
    wait = np.clip(wait, usual / factor, usual * factor)
    wait[web.doubt >= recrawl.SURE] = 0
    is_due = web.days >= wait
    if is_due.sum() > web.a_round:
        is_due = web.days >= np.maximum(wait * early, np.minimum(wait, usual / factor))
    return np.where(is_due, gain(web), 0)


class Rule(NamedTuple):
    worth: Callable[[Web], Floats]
    has_signals: bool = True
    has_hosts: bool = True


RULES: dict[str, Rule] = {
    "one interval": Rule(lambda web: web.days),
    "Nutch's": Rule(lambda web: web.days - web.intervals),
    "proportional": Rule(lambda web: web.rates * web.importance * web.days),
    "on any signal": Rule(lambda web: np.where(web.signals > 0, UNSEEN, 0) + web.days),
    "Gossamer": Rule(due),
    "… no signals": Rule(due, has_signals=False),
    "… no hosts": Rule(due, has_signals=False, has_hosts=False),
    "… due alone": Rule(partial(due, early=1)),
    "… due or not": Rule(gain),
    "V, rates known": Rule(lambda web: web.importance * exact_gain(web.rates, web.days)),
}


def fresh_and_stale(
    rule: Rule, seed: int, options: argparse.Namespace
) -> tuple[float, float, float]:
    """The mean freshness, the mean age in days, and the visits a day."""
    web = made(seed, options)
    web.has_signals, web.has_hosts = rule.has_signals, rule.has_hosts
    visits = web.a_round
    fresh, age = [], []
    for number in range(options.days * ROUNDS_PER_DAY):
        web.passes(1 / ROUNDS_PER_DAY)
        worth = rule.worth(web)
        best = np.argpartition(-worth, visits)[:visits]
        web.visit(best[worth[best] != 0])
        if number * 3 >= options.days * ROUNDS_PER_DAY:
            fresh.append(web.importance[web.stale_days == 0].sum())
            age.append((web.importance * web.stale_days).sum())
    return float(np.mean(fresh)), float(np.mean(age)), web.visits / options.days


def made(seed: int, options: argparse.Namespace) -> Web:
    random = np.random.default_rng(seed)
    hosts = options.pages // PAGES_PER_HOST
    host = np.arange(options.pages) % hosts
    normal = random.standard_normal(hosts)[host] + random.standard_normal(options.pages)
    rates = 0.08 * np.exp(1.6 * np.sqrt(0.5) * normal)
    importance = 1 + random.pareto(1.2, options.pages)
    importance /= importance.sum()
    place = np.arange(hosts) / hosts
    is_dated, lies = place < options.dated, place >= 1 - options.liars
    told = np.where(is_dated, random.uniform(0.5, 1, hosts), lies)
    untrue = np.where(is_dated, 0.02, lies)
    return Web(
        random,
        rates,
        importance,
        UpdateConfig(interval_days=INTERVAL_DAYS, due_chance=options.due_chance),
        host,
        told[host],
        untrue[host],
        days=np.full(options.pages, UNSEEN),
        stale_days=np.full(options.pages, 1e-9),
        a_round=options.visits // ROUNDS_PER_DAY,
    )


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
    parser.add_argument("--dated", type=float, default=0.3, help="share of hosts with sitemaps")
    parser.add_argument("--liars", type=float, default=0.1, help="share of hosts that date all now")
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
