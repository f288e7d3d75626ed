"""List the pages with the highest PageRank and write all links to links.csv: top_pages.py CRAWL"""

import sys

from pyspark.sql import functions as F

from gossamer import Crawl

with Crawl.open(sys.argv[1]) as crawl:
    ranks, pages = crawl.dataset("ranks"), crawl.pages()
    top = (
        ranks.join(pages.select("url", "inlinks", "depth"), on="url", how="inner")
        .orderBy(F.desc("rank"), "url")
        .limit(10)
        .toPandas()  # ten rows; for whole datasets use `gossamer export`
    )
    print(top.to_string(index=False))

    links = crawl.links().where("NOT nofollow").select("src", "dst", "anchor").toArrow()
    links.to_pandas().to_csv("links.csv", index=False)
    print(f"wrote {links.num_rows} links to links.csv")
