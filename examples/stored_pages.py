"""Show all fetches of a URL, with the answers from the WARC files: stored_pages.py CRAWL URL"""

import sys
from pathlib import Path

from pyspark.sql import functions as F

from gossamer import Crawl
from gossamer.storage.warc import read_response

folder, url = sys.argv[1:]
with Crawl.open(folder) as crawl:
    visits = crawl.dataset("responses").where(F.col("url") == url).orderBy("round").collect()
    for visit in visits:
        print(f"round {visit.round}: {visit.outcome}, HTTP {visit.http_status}")
        if visit.warc_file is not None:
            stored = read_response(Path(crawl.path, visit.warc_file), visit.warc_offset)
            for name, value in stored.headers.items():
                print(f"  {name}: {value}")
            print(f"  {len(stored.body)} bytes, beginning with {stored.body[:40]!r}")
