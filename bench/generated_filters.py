"""What do generated filter rules spare a crawl, and do they cut off a page that matters?

    python bench/generated_filters.py [--sites 15] [--articles 300] [--rounds 6] [--pages 1500]
        [--more 4] [--seed 7]

Crawls fifteen news sites of `gossamer.fakeweb.news`, each of which spells its URLs in its own way,
PAGES in each round, scored by fit, and generates filter rules. Prints for each site how many of
its known pages they refuse, and how many of its articles a walk over the site itself reaches, from
its home page, along links that the rules let in: it knows nothing of the crawl and its graph.
Then the rules are applied, and the crawl goes on for MORE rounds; beside it, so does a copy without
rules. Prints how many pages both know at the end, and how many articles they have fetched.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from local_settings import local_settings

from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Web

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sites", type=int, default=15)
    parser.add_argument("--articles", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--more", type=int, default=4)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    web = Web(options.seed, hosts=0, news_sites=options.sites, news_articles=options.articles)
    with FakeWeb(web) as fake, tempfile.TemporaryDirectory(prefix="filters-") as folder:
        more = {
            "generate.pages": options.pages,
            "generate.pages_per_host": options.pages,
            "update.scoring": "fit",
        }
        with_rules, without = f"{folder}/with", f"{folder}/without"
        with Crawl.create(with_rules, local_settings(fake.address, more)) as crawl:
            crawl.inject(web.seeds())
            crawl.run(options.rounds)
        shutil.copytree(with_rules, without)
        with Crawl.open(with_rules) as crawl:
            crawl.filters.generate()
            prefixes = tuple(each.rule.value for each in crawl.filters.rules())
            print_sites(web, [row.url for row in crawl.pages().select("url").collect()], prefixes)
            crawl.filters.apply()
            crawl.run(options.more)
            print_crawl(web, "with rules", crawl)
        with Crawl.open(without) as crawl:
            crawl.run(options.more)
            print_crawl(web, "without", crawl)


def print_sites(web: Web, known: Sequence[str], prefixes: tuple[str, ...]) -> None:
    assert web.news is not None
    print(f"{'site':12} {'rules':>5} {'known':>7} {'refused':>13} {'articles':>9} {'reached':>8}")
    totals = Counter[str]()
    for seed in web.seeds():
        counts = Counter(rules=sum(each.startswith(seed) for each in prefixes))
        for url in known:
            if url.startswith(seed):
                counts["known"] += 1
                counts["refused"] += url.startswith(prefixes)
        articles = {url for url in web.news.articles() if url.startswith(seed)}
        counts["articles"] = len(articles)
        counts["reached"] = len(articles & walk(web, seed, prefixes))
        print_row(urlsplit(seed).netloc, counts)
        totals += counts
    print_row("all", totals)


def print_row(name: str, counts: Counter[str]) -> None:
    share = counts["refused"] / max(counts["known"], 1)
    print(
        f"{name:12} {counts['rules']:5} {counts['known']:7,} {counts['refused']:7,} {share:5.0%} "
        f"{counts['articles']:9,} {counts['reached']:8,}",
        flush=True,
    )


def walk(web: Web, seed: str, prefixes: tuple[str, ...]) -> set[str]:
    """What a site's links lead to from its home page, without what the prefixes refuse."""
    met, waiting = {seed}, [seed]
    while waiting:
        url = waiting.pop()
        parts = urlsplit(url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        answer = web.answer(parts.netloc, target)
        links = re.findall(r'href="([^"]+)"', answer.body.decode())
        for link in [*links, *(value for name, value in answer.headers if name == "Location")]:
            found = urljoin(url, link)
            if found not in met and not found.startswith(prefixes):
                met.add(found)
                waiting.append(found)
    return met


def print_crawl(web: Web, name: str, crawl: Crawl) -> None:
    assert web.news is not None
    pages = crawl.pages().select("url", "status").collect()
    counts = Counter(row.status for row in pages)
    articles = sum(row.status == "fetched" and web.news.is_article(row.url) for row in pages)
    requests = crawl.dataset("responses").count()
    print(
        f"{name}: {requests:,} requests, {len(pages) - counts['excluded']:,} pages known and not "
        f"excluded, {articles:,} articles fetched"
    )


if __name__ == "__main__":
    main()
