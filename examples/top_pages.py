"""The pages of the highest PageRank, and all links as a CSV file: python top_pages.py CRAWL"""

import sys

from pyspark.sql import functions as F

from gossamer import Crawl

with Crawl.open(sys.argv[1]) as crawl:
    ranks, pages = crawl.dataset("ranks"), crawl.pages()
    top = (
        ranks.join(pages.select("url", "inlinks", "depth"), on="url", how="inner")
        .orderBy(F.desc("rank"), "url")
        .limit(10)
        .toPandas()  # ten rows; whole datasets are better exported
    )
    print(top.to_string(index=False))

    links = crawl.links().where("NOT nofollow").select("src", "dst", "anchor").toArrow()
    links.to_pandas().to_csv("links.csv", index=False)
    print(f"{links.num_rows} links in links.csv")
