"""Keep the changes of the index in a folder of Parquet files: changes_to_parquet.py CRAWL FOLDER

Run it again after each harvest: it writes what is new to further files, whose names end with the
cursor after them. The last row of a URL, by file name and `number`, has the page's state.
"""

import sys
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer import Crawl

ROWS = 5_000
COLUMNS = [(name, pa.string()) for name in ("url", "change", "other", "title", "text")]
SCHEMA = pa.schema([("number", pa.int64()), *COLUMNS])

folder, target = sys.argv[1], Path(sys.argv[2])
target.mkdir(exist_ok=True)
written = sorted(target.glob("*.parquet"))
since = written[-1].stem.partition(".")[2] if written else ""
with Crawl.open(folder) as crawl:
    changes = crawl.changes.each(since, texts=True)
    number = len(written)
    while some := list(islice(changes, ROWS)):
        rows = [
            {"number": place, "url": change.url, "change": change.change, "other": change.other}
            | ({"title": page.title, "text": page.text} if page else {})
            for place, (change, _, page) in enumerate(some)
        ]
        number += 1
        part = target / f"{number:08d}.part"
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), part)
        part.rename(target / f"{number:08d}.{some[-1].cursor}.parquet")
