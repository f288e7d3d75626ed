"""Is the fetcher polite, and as fast as politeness permits?

    python bench/politeness.py [--hosts 1_100] [--pages 100]

A fifth of the hosts share sixteen addresses, so that the limits per address take effect; the other
hosts share an address with three others each. Some set a Crawl-delay, disallow a folder, or answer
429, with Retry-After or without. The server's log is judged. Exits with 1 if any request came too
early, was for a disallowed URL, or came over a second connection.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from harness import Options, report

from gossamer.config import FetchConfig
from gossamer.fakeweb import FakeWeb, Mix, Web, politeness_audit
from gossamer.fetch.part import Part
from gossamer.fetch.task import fetch_part
from gossamer.storage.task_output import counts_of
from gossamer.tables import FETCHLIST
from gossamer.tables.outcomes import OUTCOMES
from gossamer.web.urls import UrlRules

if TYPE_CHECKING:
    from gossamer.fakeweb.log import LogEntry

DELAY_S = 1.0
CRAWL_DELAY_S = 1.5
ADDRESS_DELAY_S = 0.1
RETRY_AFTER_S = 1
CROWDED_ADDRESSES = 16
HOSTS_PER_ADDRESS = 4
BUSY_PAGES = 2
FORBIDDEN_PAGES = 5


def urls_of(web: Web, number: int, host: str, pages: int) -> list[str]:
    """Return URLs of a host: `pages` existing, missing or busy ones, and some disallowed ones."""
    found = [f"http://{host}/missing/{n}" for n in range(pages)]
    real = [url for url, _ in zip(web.urls(host), range(pages // 2), strict=False)]
    found[: len(real)] = real
    if number % 5 == 0:
        wait = "none" if number % 50 == 45 else RETRY_AFTER_S
        found[-BUSY_PAGES:] = [f"http://{host}/busy/{wait}/{n}" for n in range(BUSY_PAGES)]
    return found + [f"http://{host}/private/{n}" for n in range(FORBIDDEN_PAGES)]


def addresses_of(hosts: list[str], port: int) -> dict[str, str]:
    crowded = len(hosts) // 5
    places = {}
    for number, host in enumerate(hosts):
        last = 1 + number % CROWDED_ADDRESSES
        if number >= crowded:
            last = 1 + CROWDED_ADDRESSES + (number - crowded) // HOSTS_PER_ADDRESS
        places[host] = f"127.0.0.{last}:{port}"
    return places


def fetch(root: str, urls: dict[str, list[str]], config: FetchConfig) -> Counter[str]:
    blank = {"round": 1, "part": 0, "depth": 0, "hops": 0, "fetches": 0, "asked": False}
    rows = [
        blank | {"url": url, "host": host, "score": 1 / (1 + place)}
        for host, listed in urls.items()
        for place, url in enumerate(listed)
    ]
    path = Path(root, "fetchlist.parquet")
    pq.write_table(pa.Table.from_pylist(rows, schema=FETCHLIST.schema), path)
    attempts = ("responses/1", "warc/1", "hosts/1")
    return counts_of(fetch_part(Part(root, 1, 0, (str(path),), (), config, UrlRules(), attempts)))


def owed(web: Web) -> politeness_audit.Owed:
    """Return the delays that the config and the table of outcomes require for this web's hosts."""
    slow = {name for name in web.hosts() if "Crawl-delay" in robots_of(web, name)}
    backoff_s: float = OUTCOMES["busy"].host_wait_s

    def seconds(entry: LogEntry, failures: int) -> float:
        wait_s = CRAWL_DELAY_S if entry.host in slow else DELAY_S
        if failures and "/none/" in entry.target:
            return max(wait_s, backoff_s * (1 << (failures - 1)))
        return max(wait_s, RETRY_AFTER_S) if failures else wait_s

    return seconds


def robots_of(web: Web, host: str) -> str:
    return web.answer(host, "/robots.txt").body.decode()


def judged(web: Web, log: list[LogEntry], took_s: float) -> bool:
    """Print the findings in the log, and return whether there is no fault."""
    hosts, what_is_owed = politeness_audit.by_host(log), owed(web)
    private = {host for host in hosts if "Disallow: /private" in robots_of(web, host)}
    gaps = [gap for each in hosts.values() for gap in politeness_audit.gaps(each, what_is_owed)]
    groups = politeness_audit.by_address(log)
    close = [
        gap
        for each in groups.values()
        for gap in politeness_audit.gaps(each, lambda *_: ADDRESS_DELAY_S)
    ]
    faults = {
        "too early for a host": sum(gap.early for gap in gaps),
        "too early for an address": sum(gap.early for gap in close),
        "forbidden": sum(e.target.startswith("/private") and e.host in private for e in log),
        "on a second connection": sum(
            map(politeness_audit.overlapping_connections, hosts.values())
        ),
    }
    least_s = spent_s = 0.0
    for each in groups.values():
        least_s += politeness_audit.permitted_s(
            politeness_audit.by_host(each).values(), what_is_owed, ADDRESS_DELAY_S
        )
        spent_s += politeness_audit.span_s(each)
    print(f"{len(log):,} requests in {took_s:.0f} s")
    print(f"hosts      {len(hosts):,} at {len(groups)} addresses")
    print(f"answers    {dict(sorted(Counter(entry.status for entry in log).items()))}")
    for fault, times in faults.items():
        print(f"{times:10,} {fault}")
    print(f"{min(gap.seconds - gap.owed_s for gap in gaps) * 1000:10.1f} ms smallest margin")
    speed = least_s / spent_s
    report(f"{sum(faults.values())} faults, {speed:.0%} of the speed that the delays permit")
    return not any(faults.values())


def main(hosts: int, pages: int) -> int:
    mix = Mix.plain(crawl_delay=0.2, private=0.5, crawl_delay_s=CRAWL_DELAY_S)
    web = Web(hosts=hosts, pages_per_host=pages, page_bytes=2_000, mix=mix)
    names = list(web.hosts())
    urls = {host: urls_of(web, number, host, pages) for number, host in enumerate(names)}
    addresses = CROWDED_ADDRESSES + -(-(hosts - hosts // 5) // HOSTS_PER_ADDRESS)
    with FakeWeb(web, addresses=addresses) as fake, tempfile.TemporaryDirectory() as root:
        config = FetchConfig(
            delay_s=DELAY_S,
            delay_factor=0,
            address_delay_s=ADDRESS_DELAY_S,
            connections_per_address=1,
            hosts_at_once=1_000,
            allow_networks=("127.0.0.0/8",),
            resolve=addresses_of(names, fake.port),
        )
        began_s = time.monotonic()
        counts = fetch(root, urls, config)
        took_s = time.monotonic() - began_s
        log = fake.log()
    print(f"outcomes   {dict(sorted(counts.items()))}")
    return 0 if judged(web, log, took_s) else 1


if __name__ == "__main__":
    sizes = Options(__doc__, hosts=(1_100, 15), pages=(100, 4)).read()
    sys.exit(main(sizes.hosts, sizes.pages))
