"""How many bytes does a crawl take, by dataset, for each page that it fetched and each it knows?

    python bench/footprint.py [--manual FOLDER] ...

Each manual is served on loopback as a host of its own. Gossamer crawls all of them with the default
settings, but without delays, and makes them searchable.

Prints for each dataset its rows, files and bytes, and the bytes per fetched page, beside the mean
size of a body. `docs/scaling.md` computes from these what larger crawls need.
"""

from __future__ import annotations

import tempfile

from harness import Options, local_settings, manuals, report

from gossamer import Crawl
from gossamer.fakeweb import FakeWeb, Web


def main() -> None:
    options = Options(__doc__).read()
    with tempfile.TemporaryDirectory(prefix="footprint-") as scratch:
        folders = manuals(options, scratch)
        docs = {f"site-{number}.test": folder for number, folder in enumerate(folders)}
        with (
            FakeWeb(Web(hosts=0, docs=docs), log_path="/dev/null") as fake,
            Crawl.create(
                f"{scratch}/crawl", local_settings(fake.address, {"filter.scope": "host"})
            ) as crawl,
        ):
            crawl.inject(f"http://{host}/" for host in docs)
            crawl.run()
            measure(crawl)


def measure(crawl: Crawl) -> None:
    manifest = crawl.work.store.refresh()
    documents = crawl.dataset("documents").where("outcome = 'parsed'")
    pages, body = documents.selectExpr("count(*)", "avg(body_bytes)").collect()[0]
    print(f"{pages:,} pages, {body:,.0f} bytes of HTML each")
    print(f"{'dataset':18}{'rows':>12}{'files':>8}{'MB':>10}{'bytes a page':>14}{'a row':>8}")
    everything = 0
    for name in manifest.datasets:
        held = manifest.totals(name)
        everything += held.bytes
        row = held.bytes / held.rows if held.rows else 0
        print(
            f"{name:18}{held.rows:12,}{held.files:8,}{held.bytes / 1e6:10.2f}"
            f"{held.bytes / pages:14,.0f}{row:8,.0f}"
        )
    print(f"{'all':38}{everything / 1e6:10.2f}{everything / pages:14,.0f}")
    report(f"{everything / pages / body:.2f} bytes stored per byte of HTML")


if __name__ == "__main__":
    main()
