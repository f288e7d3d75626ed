"""Does a crawl find the pages that matter among ten times as many others?

    python bench/focus.py [--sites 40] [--articles 300] [--pages 2000] [--rounds 8] [--seed 7]

Crawls the news sites of `gossamer.fakeweb.news`, PAGES in each round, with `update.scoring` as
below, and prints which share of each round's requests went to articles; then the share of all
articles that were found, and of the old ones, which the last half of the archive holds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from local_settings import local_settings

from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Web

if TYPE_CHECKING:
    from collections.abc import Sequence

SCORINGS = ("opic", "breadth", "opic*fit", "fit")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sites", type=int, default=40)
    parser.add_argument("--articles", type=int, default=300)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--scorings", nargs="+", default=SCORINGS)
    options = parser.parse_args(arguments)
    web = Web(options.seed, hosts=0, news_sites=options.sites, news_articles=options.articles)
    assert web.news is not None
    articles, old = web.news.articles(), web.news.articles(0.5)
    with FakeWeb(web) as fake, tempfile.TemporaryDirectory(prefix="focus-") as folder:
        for number, scoring in enumerate(options.scorings):
            more = {
                "generate.pages": options.pages,
                "generate.pages_per_host": options.pages,
                "update.scoring": scoring,
            }
            settings = local_settings(fake.address, more)
            with Crawl.create(str(Path(folder, str(number))), settings) as crawl:
                crawl.inject(web.seeds())
                begun_s = time.process_time()
                crawl.run(options.rounds)
                cpu_s = time.process_time() - begun_s
                rows = crawl.dataset("responses").select("round", "url").collect()
            asked = Counter(round_ for round_, _ in rows)
            fit = Counter(round_ for round_, url in rows if web.news.is_article(url))
            found = {url for _, url in rows} & articles
            shares = " ".join(f"{fit[n] / asked[n]:4.0%}" for n in sorted(asked))
            print(
                f"{scoring:10} {shares}  found {len(found) / len(articles):4.0%}, "
                f"old {len(found & old) / len(old):4.0%}  {cpu_s:.0f} CPU s",
                flush=True,
            )


if __name__ == "__main__":
    main()
