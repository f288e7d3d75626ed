"""How fresh does a real crawl keep pages that change at known rates?

    python bench/recrawl_crawl.py [--pages 800] [--requests 80] [--days 40] [--seed 7] [--seeds 1]
        [--dated 0.3] [--liars 0.1] [--computed]

A fakeweb serves PAGES files on hosts of 100 pages. Their rates of change, importance and dates are
as in bench/recrawl.py. Three fifths of the pages change as Poisson processes, a fifth in bursts of
five changes within two hours, and a fifth only between 8 and 20 o'clock. Pages that changed are
written anew between rounds, of which a day has four; the clock of the crawl advances by six hours
each. Everything else is real: requests, conditional ones too, parsing, and the steps of a round.

Each rule has REQUESTS a day, sitemaps included; those of robots.txt do not count. Freshness is the
share of importance of the pages that are as they were visited, over the last two thirds of the
days; age is how long the others have been stale, in days.

  one interval       interval_factor = 1
  without signals    as Gossamer does without sitemaps
  with signals       the same, with sitemaps, which are requested before other pages when due

Further rules are computed for the same changes, with as many visits. What they know, Gossamer has
to learn, and they do not pay for sitemaps, so no crawl can be expected to reach the last three:

  Nutch's            see bench/recrawl.py
  V, rates known     the greatest gain by the exact formula; it knows no dates
  … bursts, too      the same, and knows that the changes of a burst are one
  … dates, free      also what the dates of each host are worth; it reads them in each round
  … all dates true   each change on hosts with sitemaps is dated, at once

With --computed, only these are run. SEEDS webs are averaged, from SEED on.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from local_settings import local_settings
from pyspark.sql import functions as F
from recrawl import exact_gain
from scipy import special

from gossamer import fetch, generate, lsm, parse, update
from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Web
from gossamer.tables import PAGES

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from gossamer.workspace import Workspace

    Floats = npt.NDArray[np.float64]

PAGES_PER_HOST = 100
ROUNDS_PER_DAY = 4
DAY_MS = 86_400_000
BEGIN_MS = 40_000 * DAY_MS
"""In 2079: hosts, which know the real time, are always ready."""
BURST, BURST_DAYS = 5, 2 / 24
MORNING, EVENING = 8 / 24, 20 / 24
UNTRUE = 0.02
"""Untrue dates of a page, a day."""
CRAWLS = {"one interval": (1, False), "without signals": (16, False), "with signals": (16, True)}
"""The `interval_factor` of each crawl, and whether it has sitemaps."""
MOST_TERMS, NEVER_DAYS = 30, 1e5
WORDS = ("harbour", "winter", "engine", "garden", "signal", "letter", "copper", "island", "market")


@dataclass
class History:
    """What happens to pages, by their numbers; times are days."""

    random: np.random.Generator
    rates: Floats
    importance: Floats
    changes: list[Floats]
    dates: list[Floats]
    """When a sitemap dates each page; empty without one."""
    lies: npt.NDArray[np.bool_]
    """Hosts whose sitemaps date all pages now."""
    dated: npt.NDArray[np.bool_]
    told: Floats
    """The share of changes that a host's sitemap dates."""

    def version(self, page: int, day: float) -> int:
        return int(np.searchsorted(self.changes[page], day, side="right"))

    def date(self, page: int, day: float) -> float:
        """The last date before a time, or the beginning."""
        before = self.dates[page][: np.searchsorted(self.dates[page], day, side="right")]
        return float(before[-1]) if before.size else 0.0


def happened(options: argparse.Namespace) -> History:
    random = np.random.default_rng(options.seed)
    hosts = options.pages // PAGES_PER_HOST
    host = np.arange(options.pages) % hosts
    normal = random.standard_normal(hosts)[host] + random.standard_normal(options.pages)
    rates = 0.08 * np.exp(1.6 * math.sqrt(0.5) * normal)
    importance = 1 + random.pareto(1.2, options.pages)
    place = (np.arange(hosts) + 0.5) / hosts
    lies = place > 1 - options.liars
    dated = (place < options.dated) | lies
    told = random.uniform(0.5, 1, hosts)
    changes, dates = [], []
    for page, rate in enumerate(rates):
        changes.append(times(random, float(rate), page % 5, options.days))
        true = changes[-1][random.random(changes[-1].size) < told[host[page]]]
        untrue = random.uniform(0, options.days, random.poisson(UNTRUE * options.days))
        dates.append(np.sort(np.concatenate([true, untrue])))
    return History(random, rates, importance, changes, dates, lies, dated, told)


def times(random: np.random.Generator, rate: float, kind: int, days: int) -> Floats:
    """When a page changes: in bursts, by day, or at any time."""
    if kind == 0:
        begins = random.uniform(0, days, random.poisson(rate * days / BURST))
        within = begins[:, None] + random.uniform(0, BURST_DAYS, (begins.size, BURST))
        return np.sort(within.ravel())
    found = np.sort(random.uniform(0, days, random.poisson(rate * days)))
    if kind == 1:
        share = EVENING - MORNING
        found = np.floor(found) + MORNING + (found % 1) * share
    return found


@dataclass
class Site:
    """The files of all hosts."""

    history: History
    folders: list[Path]

    def __post_init__(self) -> None:
        self.written: dict[int, int] = {}

    def host(self, number: int) -> str:
        return f"pages{number}.test"

    def url(self, page: int) -> str:
        return f"http://{self.host(page % len(self.folders))}/{page}.html"

    def write(self, day: float, *, sitemaps: bool) -> None:
        """Bring the files up to date."""
        for page in range(len(self.history.rates)):
            version = self.history.version(page, day)
            if self.written.get(page) != version:
                self.written[page] = version
                folder = self.folders[page % len(self.folders)]
                Path(folder, f"{page}.html").write_text(text(page, version), encoding="utf-8")
        for number, folder in enumerate(self.folders):
            if sitemaps and self.history.dated[number]:
                Path(folder, "sitemap.xml").write_text(self.sitemap(number, day), encoding="utf-8")

    def sitemap(self, host: int, day: float) -> str:
        pages = range(host, len(self.history.rates), len(self.folders))
        lies = self.history.lies[host]
        urls = "".join(
            f"<url><loc>{self.url(page)}</loc>"
            f"<lastmod>{moment(day if lies else self.history.date(page, day))}</lastmod></url>\n"
            for page in pages
        )
        return (
            '<?xml version="1.0" encoding="utf-8"?>'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
        )


def moment(day: float) -> str:
    return datetime.fromtimestamp(BEGIN_MS / 1000 + day * 86_400, UTC).isoformat(
        timespec="milliseconds"
    )


def text(page: int, version: int) -> str:
    words = [WORDS[(page * 7 + version * 13 + n * n) % len(WORDS)] for n in range(150)]
    story = f"Version {version} of page {page}: {' '.join(words)}."
    return f"<!doctype html><title>Page {page}</title><main><p>{story}</p></main>"


def crawled(
    options: argparse.Namespace, history: History, *, factor: float, sitemaps: bool
) -> list[Floats]:
    """Crawl for so many days; return when each page was visited."""
    hosts = options.pages // PAGES_PER_HOST
    visits: list[list[float]] = [[] for _ in range(options.pages)]
    with tempfile.TemporaryDirectory(prefix="recrawl-") as root:
        folders = [Path(root, f"host{number}") for number in range(hosts)]
        for folder in folders:
            folder.mkdir()
        site = Site(history, folders)
        site.write(0, sitemaps=sitemaps)
        web = Web(hosts=0, docs={site.host(n): folder for n, folder in enumerate(folders)})
        more: dict[str, object] = {
            "generate.pages": options.requests // ROUNDS_PER_DAY,
            "generate.pages_per_host": options.requests,
            "generate.domain_share": 1,
            "update.interval_days": options.pages / options.requests,
            "update.interval_factor": factor,
        }
        with FakeWeb(web) as fake:
            settings = local_settings(fake.address, more)
            with Crawl.create(str(Path(root, "crawl")), settings) as crawl:
                work = crawl.work
                work.clock_ms = BEGIN_MS
                numbers = {site.url(page): page for page in range(options.pages)}
                listed = [n for n in range(hosts) if sitemaps and history.dated[n]]
                maps = [f"http://{site.host(n)}/sitemap.xml" for n in listed]
                crawl.inject([*numbers, *maps])
                weigh(work, history, numbers)
                for number in range(options.days * ROUNDS_PER_DAY):
                    day = number / ROUNDS_PER_DAY
                    site.write(day, sitemaps=sitemaps)
                    work.clock_ms = BEGIN_MS + round(day * DAY_MS)
                    for url in a_round(work):
                        if (page := numbers.get(url)) is not None:
                            visits[page].append(day)
    return [np.array(each) for each in visits]


def weigh(work: Workspace, history: History, numbers: dict[str, int]) -> None:
    """Give pages inlinks, so that the scoring `links` is their importance, and sitemaps most."""
    inlinks = {url: round((10 * history.importance[page]) ** 2) for url, page in numbers.items()}
    weights = work.engine.spark.createDataFrame(list(inlinks.items()), "url string, weight long")
    rows = lsm.current(work, PAGES).join(weights, on="url", how="left")
    rows = rows.withColumn("inlinks", F.coalesce("weight", F.lit(10**12)).cast("long"))
    with work.step("test", work.round) as draft:
        draft.replace["pages"] = (work.write(rows, "pages", work.round),)


def a_round(work: Workspace) -> list[str]:
    """Run a round; return what was answered."""
    if not generate.run(work).counts["pages"]:
        return []
    fetch.run(work)
    answers = work.read("responses", work.round)
    told = answers.withColumn("fetched_ms", F.lit(work.now_ms()).cast("long"))
    with work.step("test", work.round) as draft:
        kept = work.store.manifest.layers("responses")[:-1]
        draft.replace["responses"] = (*kept, work.write(told, "responses", work.round))
    parse.run(work)
    update.run(work)
    answered = answers.where(F.col("outcome").isin("ok", "unchanged"))
    return [row.url for row in answered.select("url").collect()]


@dataclass
class Known:
    """What a computed rule knows of pages at the time of a round."""

    days: Floats
    """Since the last visit, …"""
    intervals: Floats
    """… by Nutch's rule, …"""
    signals: Floats
    """… dates since the last visit, …"""
    is_stale: npt.NDArray[np.bool_]
    """… and whether the page has changed since."""


def simulated(
    options: argparse.Namespace, history: History, worth: Callable[[Known], Floats]
) -> list[Floats]:
    """When each page would be visited, if the pages of most worth are in each round."""
    pages = range(options.pages)
    visits: list[list[float]] = [[] for _ in pages]
    last, intervals = np.full(options.pages, -1e6), np.full(options.pages, 10.0)
    signals, dated = np.zeros(options.pages), np.zeros(options.pages)
    had = np.full(options.pages, -1)
    for number in range(options.days * ROUNDS_PER_DAY):
        day = number / ROUNDS_PER_DAY
        dates = np.array([history.date(page, day) for page in pages])
        signals += (dates > dated) & (dates > last)
        dated = dates
        versions = np.array([history.version(page, day) for page in pages])
        known = Known(day - last, intervals, signals, versions != had)
        best = np.argsort(-worth(known), kind="stable")[: options.requests // ROUNDS_PER_DAY]
        has_changed = known.is_stale & (known.days < NEVER_DAYS)
        longer = np.where(has_changed[best], 0.8, 1.4)
        intervals[best] = np.clip(intervals[best] * longer, 1 / 1440, 365)
        last[best], had[best], signals[best] = day, versions[best], 0
        for page in best:
            visits[page].append(day)
    return [np.array(each) for each in visits]


def gain_of_dates(rates: Floats, recall: Floats, days: Floats, signals: Floats) -> Floats:
    """The exact V for m = 1, with UNTRUE dates a day, after Busa-Fekete et al.

    P is the regularised incomplete gamma function, and x the effective age; sums over k·b < x:

        V = Σ ν^k/(a + g)^(k+1) · P(k + 1, (a + g)(x − kb)) − e^(−ax) · Σ P(k + 1, g(x − kb))/g
    """
    a, g = rates * (1 - recall), recall * rates + UNTRUE
    b = np.log(g / UNTRUE) / a
    x = days + b * signals
    waits, fresh = np.zeros_like(x), np.zeros_like(x)
    for k in range(int(min(MOST_TERMS, (x / b).max())) + 1):
        left = np.maximum(x - k * b, 0)
        fresh += special.gammainc(k + 1, g * left) / g
        waits += (UNTRUE / (a + g)) ** k / (a + g) * special.gammainc(k + 1, (a + g) * left)
    gained: Floats = waits - np.exp(-a * x) * fresh
    return gained


def computed(history: History) -> dict[str, Callable[[Known], Floats]]:
    """The worth of pages by each rule that is computed."""
    weights, pages = history.importance, np.arange(len(history.rates))
    hosts = history.dated.size
    true = (history.dated & ~history.lies)[pages % hosts]
    recall = history.told[pages % hosts]
    rates = np.where(pages % 5 == 0, history.rates / BURST, history.rates)

    def by_dates(known: Known) -> Floats:
        gained = exact_gain(rates, known.days)
        seen = true & (known.days < NEVER_DAYS)
        if seen.any():
            of_seen = (of_all[seen] for of_all in (rates, recall, known.days, known.signals))
            gained[seen] = gain_of_dates(*of_seen)
        return weights * gained

    def by_all_dates(known: Known) -> Floats:
        sure = np.where(known.is_stale, 1 / rates, 0)
        return weights * np.where(true, sure, exact_gain(rates, known.days))

    return {
        "Nutch's": lambda known: known.days - known.intervals,
        "V, rates known": lambda known: weights * exact_gain(history.rates, known.days),
        "… bursts, too": lambda known: weights * exact_gain(rates, known.days),
        "… dates, free": by_dates,
        "… all dates true": by_all_dates,
    }


def fresh_and_stale(
    history: History, visits: list[Floats], days: int
) -> tuple[float, float, float]:
    """The mean freshness and age, and the visits a day."""
    begin = days / 3
    fresh = age = total = 0.0
    for page, weight in enumerate(history.importance / history.importance.sum()):
        when = visits[page]
        total += when.size
        for at, until in pairwise([*when, days]):
            changes = history.changes[page]
            place = np.searchsorted(changes, at, side="right")
            stale = changes[place] if place < changes.size else math.inf
            since, to = max(at, begin), min(until, stale)
            fresh += weight * max(to - since, 0)
            first = max(stale, begin)
            if until > first:
                age += weight * ((until - stale) ** 2 - (first - stale) ** 2) / 2
    return fresh / (days - begin), age / (days - begin), total / days


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=800)
    parser.add_argument("--requests", type=int, default=80, help="each day")
    parser.add_argument("--days", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--dated", type=float, default=0.3, help="share of hosts with sitemaps")
    parser.add_argument("--liars", type=float, default=0.1, help="share of hosts that date all now")
    parser.add_argument("--computed", action="store_true", help="crawl nothing")
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(options.seed, options.seed + options.seeds):
        options.seed = seed
        history = happened(options)
        rules: dict[str, Callable[[], list[Floats]]] = {
            name: partial(simulated, options, history, worth)
            for name, worth in computed(history).items()
        }
        if options.computed:
            rules["one interval"] = partial(simulated, options, history, lambda now: now.days)
        else:
            for name, (factor, sitemaps) in CRAWLS.items():
                rules[name] = partial(crawled, options, history, factor=factor, sitemaps=sitemaps)
        for name, rule in rules.items():
            row = fresh_and_stale(history, rule(), options.days)
            found.setdefault(name, []).append(row)
    print(f"{'rule':<24}{'freshness':>10}{'age':>8}{'visits':>8}")
    for name, rows in found.items():
        fresh, age, visits = np.mean(rows, axis=0)
        print(f"{name:<24}{fresh:>10.3f}{age:>8.2f}{visits:>8.1f}", flush=True)


if __name__ == "__main__":
    main()
