"""What does a farm of host names take from good hosts? A wildcard record in DNS makes it endless.

    python bench/farm.py [--hosts 40] [--pages 200] [--rounds 8] [--scoring links]

Two crawls of one fakeweb: without a farm, and with 100 links on the seed to hosts of a farm, each
of whose pages links to ten new hosts in its domain. Prints, for each round, the pages fetched from
good hosts without and with the farm, and those fetched from the farm. Exits with 1 if in any round
the good hosts got less than 90 % of the pages that they get without the farm.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from local_settings import local_settings

from gossamer import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.rounds import ROUND

FARM = "farm.hostile.test"
SPAM = 100
"""Links to hosts of the farm on the seed page, so that these are as near as the good hosts."""
WANTED = 0.9


def portal(folder: Path, web: Web, *, farm: bool) -> Path:
    """Create a folder with a page that links to all good hosts and, if wanted, to the farm."""
    links = [f"http://{host}/" for host in web.hosts()] + [
        f"http://x{n}.{FARM}/" for n in range(SPAM * farm)
    ]
    folder.mkdir()
    (folder / "index.html").write_text("".join(f"<p><a href={link}>x</a>" for link in links))
    return folder


def fetched(
    hosts: int, pages: int, rounds: int, scoring: str, *, farm: bool
) -> list[Counter[bool]]:
    """Crawl, and count the pages fetched in each round by whether they belong to the farm."""
    plain = {"hosts": hosts, "pages_per_host": 10 * pages * rounds / hosts, "page_bytes": 4_000}
    with tempfile.TemporaryDirectory(prefix="farm-") as folder:
        place = portal(Path(folder, "portal"), Web(mix=Mix.plain(), **plain), farm=farm)
        web = Web(mix=Mix.plain(), **plain, docs={"portal.test": place}, hostile=True)
        with FakeWeb(web) as fake:
            settings = {"generate.pages": pages, "update.scoring": scoring}
            text = local_settings(fake.address, settings)
            with Crawl.create(str(Path(folder, "crawl")), text) as crawl:
                crawl.inject(["http://portal.test/"])
                for step in rounds * tuple(ROUND.values()):
                    step(crawl.work)
                rows = crawl.work.read("responses").select("round", "host", "outcome").collect()
    answered = [row for row in rows if row["outcome"] == "ok"]
    return [
        Counter(row["host"].endswith(FARM) for row in answered if row["round"] == number)
        for number in range(1, rounds + 1)
    ]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--pages", type=int, default=200, help="pages per round")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--scoring", default="links")
    options = parser.parse_args()
    sizes = options.hosts, options.pages, options.rounds, options.scoring
    alone, beside = fetched(*sizes, farm=False), fetched(*sizes, farm=True)
    print(f"{options.hosts} good hosts, {options.pages} pages per round; pages of good hosts")
    print(f"{'round':>5}{'alone':>10}{'with farm':>12}{'share':>8}{'of farm':>10}")
    least = 1.0
    for number, (without, with_farm) in enumerate(zip(alone, beside, strict=True), 1):
        share = with_farm[False] / without[False]
        least = min(least, share)
        cells = f"{without[False]:10}{with_farm[False]:12}{share:8.1%}{with_farm[True]:10}"
        print(f"{number:5}{cells}")
    return int(least < WANTED)


if __name__ == "__main__":
    sys.exit(main())
