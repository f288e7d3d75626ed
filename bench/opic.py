"""Which scoring finds the important pages early? Parts of webs, crawled in different orders.

    python bench/opic.py [--seeds 1 2 3] [--hosts 100] [--docs HOST=FOLDER …]

Crawls a web completely and ranks it. The most important pages are the 5 % with the highest
PageRank. Then, once per scoring, crawls a quarter of its pages in ten rounds, and prints which
share of the most important pages was fetched. `pagerank` ranks again after every round; `limit` is
a crawl that knows the ranks of the whole web from the beginning. Budgets of hosts and domains are
off. The webs are fakewebs with these seeds, and all folders of `--docs` as one more.

A fakeweb draws links to a host's pages by Zipf's law in the order of their numbers, and the same
numbers are their places in the tree of links below the home page. So the distance from the home
page almost tells how important a page is, and breadth first has an advantage that it does not have
on the Web.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from local_settings import local_settings
from pyspark.sql import functions as F

from gossamer.api import Crawl
from gossamer.config import EngineConfig
from gossamer.engine import Engine
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.rounds import HARVEST, ROUND
from gossamer.store import StepReport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gossamer.store import Layer

SCORINGS = ("breadth", "links", "opic", "pagerank", "limit")
BEST = 0.05
CRAWLED = 0.25
ROUNDS = 10
ALL = 1_000_000
SETTINGS = {
    "filter.allow": [r"^http://[^/]+\.test/"],
    "generate.pages_per_host": ALL,
    "generate.domain_share": 1,
}
RANKING = ("graph", "rank")
"""The steps of a harvest that rank."""


class Truth(NamedTuple):
    """A web: the number of its pages, the most important ones, and ranks as a crawl has them."""

    pages: int
    best: frozenset[str]
    ranks: Path


def crawled(
    folder: Path, web: Web, engine: Engine, settings: Mapping[str, object]
) -> Iterator[Crawl]:
    """Crawl round after round; yield the crawl before the first and after each."""
    with FakeWeb(web) as fake:
        text = local_settings(fake.address, SETTINGS | dict(settings))
        crawl = Crawl.create(str(folder), text, engine)
        crawl.inject(web.seeds())
        yield crawl
        while True:
            for name, step in ROUND.items():
                report = step(crawl.work)
                if name == "generate" and not report.counts["pages"]:
                    return
            yield crawl


def rank(crawl: Crawl) -> None:
    for name, step in HARVEST.items():
        if name in RANKING:
            step(crawl.work)


def fetched(crawl: Crawl) -> set[str]:
    rows = crawl.work.read("responses").where("outcome = 'ok'").select("url").collect()
    return {row["url"] for row in rows}


def truth(folder: Path, web: Web, engine: Engine) -> Truth:
    for crawl in crawled(folder, web, engine, {"generate.pages": ALL}):
        whole = crawl
    rank(whole)
    pages = fetched(whole)
    rows = whole.work.read("ranks").orderBy(F.desc("rank"), "url").select("url").collect()
    ranked = [row["url"] for row in rows if row["url"] in pages]
    return Truth(len(pages), frozenset(ranked[: int(BEST * len(pages))]), folder)


def given(crawl: Crawl, of: Path) -> None:
    """Give a crawl the ranks of another one."""
    source = Crawl.open(str(of), crawl.work.engine).work
    layers: dict[str, tuple[Layer, ...]] = {}
    for name in ("ranks", "host_ranks"):
        rows = source.read(name)
        layers[name] = (crawl.work.write(rows, name, 0),)
    crawl.work.store.commit(StepReport("rank", 0, 0, 0.0), replace=layers)


def share_found(folder: Path, web: Web, engine: Engine, scoring: str, true: Truth) -> float:
    wanted = int(CRAWLED * true.pages)
    settings = {
        "generate.pages": -(-wanted // ROUNDS),
        "update.scoring": "pagerank" if scoring == "limit" else scoring,
    }
    for number, crawl in enumerate(crawled(folder, web, engine, settings)):
        if number == 0 and scoring == "limit":
            given(crawl, true.ranks)
        if number == ROUNDS:
            break
        if number and scoring == "pagerank":
            rank(crawl)
    return len(true.best & fetched(crawl)) / len(true.best)


def webs(options: argparse.Namespace) -> Iterator[tuple[str, Web]]:
    for seed in options.seeds:
        plain = Mix.plain()
        pages = {"pages_per_host": 60, "page_bytes": 4_000, "links_per_page": 20}
        yield f"fakeweb {seed}", Web(seed, options.hosts, mix=plain, **pages)
    if options.docs:
        folders = dict(each.split("=", 1) for each in options.docs)
        yield ", ".join(name.removesuffix(".test") for name in folders), Web(hosts=0, docs=folders)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--docs", nargs="*", default=[], metavar="HOST=FOLDER")
    parser.add_argument("--scorings", nargs="*", default=SCORINGS)
    options = parser.parse_args()
    print("| web | pages | " + " | ".join(options.scorings) + " |")
    print("|---" * (2 + len(options.scorings)) + "|")
    with Engine(EngineConfig()) as engine, tempfile.TemporaryDirectory(prefix="opic-") as root:
        for number, (name, web) in enumerate(webs(options)):
            true = truth(Path(root, f"{number}"), web, engine)
            print(f"| {name} | {true.pages:,}", end="", flush=True)
            for scoring in options.scorings:
                folder = Path(root, f"{number}-{scoring.replace('*', '-')}")
                print(
                    f" | {share_found(folder, web, engine, scoring, true):.1%}", end="", flush=True
                )
            print(" |", flush=True)


if __name__ == "__main__":
    main()
