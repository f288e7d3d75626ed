"""How much rank does a link farm get, and which honest hosts are taken for one?

    python bench/farm_ranks.py [--hosts 40] [--pages 30] [--rounds 4]

Crawls a fakeweb of good hosts, and beside them folders that it serves as hosts:

  a farm        40 hosts of a registrable domain, each page of which links to the home pages of all
                of them and to one target on another domain
  a university  25 hosts of a domain, which link to each other in the same way
  two sites     of one owner, which link to each other on all of their 120 pages
  readers       five hosts that link to the university and to one of the two sites
  a portal      the seed, which links to the home pages of all of them

Ranks the crawl without and with what the step farms found. Prints the share of all rank that each
of them has, the place of the target among all pages, and the hosts that were taken for farms. Exits
with 1 if an honest host was or a host of the farm was not, or if the target kept half of its rank.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from local_settings import local_settings

from gossamer import Crawl, farms, rank
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.rounds import ROUND
from gossamer.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SEED = "portal.test"
TARGET = "casino.test"
FARM = [f"x{n}.farm.test" for n in range(40)]
UNIVERSITY = [f"d{n}.uni.test" for n in range(25)]
SITES = ["one-owner.test", "same-owner.test"]
READERS = [f"reader-{n}.test" for n in range(5)]
PAGES = 5
SITE_PAGES = 120


def folder(root: Path, host: str, links: Iterable[str], pages: int) -> Path:
    """A host with pages that all have these links, and its home page links to all pages."""
    made = root / host
    made.mkdir()
    text = "".join(f'<p><a href="{link}">{link}</a>' for link in links)
    own = "".join(f'<p><a href="{n}.html">{n}</a>' for n in range(1, pages))
    (made / "index.html").write_text(f"<title>{host}</title>{own}{text}")
    for n in range(1, pages):
        (made / f"{n}.html").write_text(f"<title>{host} {n}</title><p>Page {n}.{text}")
    return made


def folders(root: Path, good: Iterable[str]) -> Mapping[str, Path]:
    def home(hosts: Iterable[str]) -> list[str]:
        return [f"http://{host}/" for host in hosts]

    links: dict[str, tuple[list[str], int]] = {
        **{host: (home([*FARM, TARGET]), PAGES) for host in FARM},
        TARGET: ([], PAGES),
        **{host: (home(UNIVERSITY), PAGES) for host in UNIVERSITY},
        **dict(zip(SITES, ((home([other]), SITE_PAGES) for other in SITES[::-1]), strict=True)),
        **{host: (home([UNIVERSITY[n], SITES[0]]), PAGES) for n, host in enumerate(READERS)},
        SEED: (home([*good, *READERS, UNIVERSITY[0], *FARM[:2]]), 1),
    }
    return {host: folder(root, host, *of_host) for host, of_host in links.items()}


def crawled(root: Path, hosts: int, pages: int, rounds: int) -> Crawl:
    plain = {"hosts": hosts, "pages_per_host": pages, "page_bytes": 2_000, "mix": Mix.plain()}
    good = list(Web(**plain).hosts())
    with FakeWeb(Web(**plain, docs=folders(root, good))) as fake:
        settings = {"generate.domain_share": 1.0, "generate.pages_per_host": 1_000}
        crawl = Crawl.create(str(root / "crawl"), local_settings(fake.address, settings))
        crawl.inject([f"http://{SEED}/"])
        for step in rounds * tuple(ROUND.values()):
            step(crawl.work)
    return crawl


def ranks(crawl: Crawl) -> dict[str, float]:
    crawl.build_graph()
    rank.run(crawl.work)
    return {row["url"]: row["rank"] for row in crawl.dataset("ranks").collect()}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=40, help="good hosts")
    parser.add_argument("--pages", type=int, default=30, help="pages per good host")
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="farm-ranks-") as root,
        crawled(Path(root), options.hosts, options.pages, options.rounds) as crawl,
    ):
        before = ranks(crawl)
        print(f"{len(before):,} pages; farms: {farms.run(crawl.work).counts}")
        rows = [row for row in crawl.dataset("farms").collect() if row["kind"] == "host"]
        after = ranks(crawl)
    kinds = {"farm": FARM, "target": [TARGET], "university": UNIVERSITY, "two sites": SITES}
    print(f"{'share of all rank':>20}{'without':>10}{'with':>10}")
    for name, hosts in kinds.items():
        shares = [
            sum(value for url, value in found.items() if host_of(url) in hosts)
            for found in (before, after)
        ]
        print(f"{name:>20}{shares[0]:10.2%}{shares[1]:10.2%}")
    home = f"http://{TARGET}/"
    places = [sum(value > found[home] for value in found.values()) + 1 for found in (before, after)]
    print(f"the target is page {places[0]:,} of {len(before):,} without and {places[1]:,} with it")
    flagged = {row["name"] for row in rows}
    print(f"hosts of the farm that were found: {len(flagged & set(FARM))} of {len(FARM)}")
    print(f"honest hosts that were taken for farms: {sorted(flagged - set(FARM))}")
    return int(flagged != set(FARM) or after[home] > before[home] / 2)


if __name__ == "__main__":
    sys.exit(main())
