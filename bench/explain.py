"""How long does `explain` take in a large crawl, for URLs that are known and for others?

    python bench/explain.py FOLDER [--urls 20] [--seed 7]

FOLDER holds a crawl, for instance one that `bench/in_proportion.py --folder` has left. Explains so
many of its fetched pages, of its pages that were never asked for, and of URLs that it has never
met, one after the other in one process, and prints the median and the longest of each.
"""

from __future__ import annotations

import argparse
import random
import time
from statistics import median
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.api import Crawl

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--urls", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    draw = random.Random(options.seed)  # noqa: S311  # the same URLs each time
    with Crawl.open(options.folder) as crawl:
        pages = crawl.pages()
        print(f"{pages.count():,} pages")
        kinds = {}
        for status in ("fetched", "unfetched"):
            of_status = pages.where(F.col("status") == status).select("url")
            some = of_status.orderBy(F.xxhash64("url")).limit(1_000).collect()
            kinds[status] = draw.sample([row.url for row in some], options.urls)
        kinds["unknown"] = [f"{url}/more" for url in kinds["fetched"]]
        crawl.explain(kinds["unknown"][0])  # opens what it reads
        for kind, urls in kinds.items():
            took_s = []
            for url in urls:
                began_s = time.perf_counter()
                assert crawl.explain(url).known == (kind != "unknown")
                took_s.append(time.perf_counter() - began_s)
            print(f"{kind:10} median {median(took_s):.2f} s, longest {max(took_s):.2f} s")


if __name__ == "__main__":
    main()
