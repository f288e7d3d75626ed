"""Which pages would other settings select for the next round? Nothing is fetched or changed.

python what_if.py CRAWL

A scoring is an expression of columns; a filter is any object with `reject`. As plugins
(docs/plugins.md), they would apply while crawling. Here, both are tried on the known pages.
"""

import sys

from pyspark.sql import Column

from gossamer import Crawl
from gossamer.schedule.due.due_pages import due_pages
from gossamer.schedule.selection import select_best


def near_first(depth: Column, inlinks: Column) -> Column:
    return (1 + inlinks / (1 + inlinks)) / (1 + depth)


class NoQueries:
    def reject(self, url: str) -> str | None:
        return "query" if "?" in url else None


with Crawl.open(sys.argv[1]) as crawl:
    known = crawl.pages()
    # So far in the future that every page is due.
    due = due_pages(known, now_ms=2**62, config=crawl.work.config.update)
    scored = due.withColumn("score", near_first(due.depth, due.inlinks))
    chosen = [row.url for row in select_best(scored, total=10, per_host=3).collect()]
    kept = [url for url in chosen if NoQueries().reject(url) is None]
    print(f"{len(kept)} of {len(chosen)} selected pages have no query:")
    print("\n".join(sorted(kept)))
