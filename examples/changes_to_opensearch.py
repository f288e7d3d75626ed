"""Keep an index of OpenSearch or Elasticsearch like ours: changes_to_opensearch.py CRAWL URL FILE

URL is that of the index, such as http://localhost:9200/my-web; FILE keeps the cursor. Run it again
after each harvest. What is sent twice changes nothing, as a page's URL decides its id.
"""

import hashlib
import json
import sys
import urllib.request
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from gossamer import Crawl
from gossamer.api.changes import NextChange

folder, url, kept = sys.argv[1], sys.argv[2], Path(sys.argv[3])


def lines(some: list[NextChange]) -> Iterator[str]:
    for change, _, page in some:
        name = {"_id": hashlib.sha256(change.url.encode()).hexdigest()}
        yield json.dumps({"index" if page else "delete": name})
        if page:
            yield json.dumps({"url": change.url, "title": page.title, "text": page.text})


with Crawl.open(folder) as crawl:
    changes = crawl.changes.each(kept.read_text() if kept.exists() else "", texts=True)
    while some := list(islice(changes, 500)):
        body = "".join(f"{line}\n" for line in lines(some)).encode()
        headers = {"Content-Type": "application/x-ndjson"}
        request = urllib.request.Request(f"{url}/_bulk", body, headers)  # noqa: S310  # your URL
        with urllib.request.urlopen(request) as told:  # noqa: S310
            answer = json.load(told)
        if answer["errors"]:
            sys.exit(f"{url}: not all changes were taken; run it again: {answer['items'][:3]}")
        kept.write_text(some[-1].cursor)
