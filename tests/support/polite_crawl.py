"""A crawl of polite and busy hosts, and what the log of their server says about it.

A fifth of the hosts share sixteen addresses, so that the limits per address take effect; the other
hosts share an address with three others each. Some set a Crawl-delay, disallow a folder, or answer
429, with Retry-After or without.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.config import FetchConfig
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fakeweb.request_log import group_by_host
from gossamer.fetch.fetch_part import FetchPart
from gossamer.fetch.fetch_task import fetch_part
from gossamer.tables import FETCHLIST
from gossamer.tables.outcomes import OUTCOMES
from gossamer.web.urls import UrlRules
from tests.support import politeness_audit
from tests.support.robots_judge import RobotsJudge

if TYPE_CHECKING:
    from gossamer.fakeweb.request_log import LogEntry

RETRY_AFTER_S = 1
CROWDED_ADDRESSES = 16
HOSTS_PER_ADDRESS = 4
BUSY_PAGES = 2
FORBIDDEN_PAGES = 5


class Delays(NamedTuple):
    host_s: float = 1.0
    crawl_delay_s: float = 1.5
    """What the robots.txt of some hosts asks for."""
    address_s: float = 0.1


class Manners(NamedTuple):
    requests: int
    early_for_a_host: int
    early_for_an_address: int
    forbidden: int
    second_connections: int
    speed: float
    """Share of the speed that the delays permit."""


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


def fetch(root: str, urls: dict[str, list[str]], config: FetchConfig) -> None:
    blank = {"round": 1, "part": 0, "depth": 0, "hops": 0, "fetches": 0, "asked": False}
    rows = [
        blank | {"url": url, "host": host, "score": 1 / (1 + place)}
        for host, listed in urls.items()
        for place, url in enumerate(listed)
    ]
    path = Path(root, "fetchlist.parquet")
    pq.write_table(pa.Table.from_pylist(rows, schema=FETCHLIST.schema), path)
    attempts = ("responses/1", "warc/1", "scratch/1", "hosts/1")
    for _ in fetch_part(FetchPart(root, 1, 0, (str(path),), (), config, UrlRules(), attempts, 0)):
        pass


def owed(web: Web, delays: Delays) -> politeness_audit.Owed:
    """Return the delays that the config and the table of outcomes require for this web's hosts."""
    slow = {name for name in web.hosts() if "Crawl-delay" in robots_of(web, name)}
    backoff_s: float = OUTCOMES["busy"].host_wait_s

    def seconds(entry: LogEntry, failures: int) -> float:
        wait_s = delays.crawl_delay_s if entry.host in slow else delays.host_s
        if failures and "/none/" in entry.target:
            return max(wait_s, backoff_s * (1 << (failures - 1)))
        return max(wait_s, RETRY_AFTER_S) if failures else wait_s

    return seconds


def robots_of(web: Web, host: str) -> str:
    return web.answer(host, "/robots.txt").body.decode()


def judged(web: Web, log: list[LogEntry], delays: Delays) -> Manners:
    hosts, what_is_owed = group_by_host(log), owed(web, delays)
    judges = {host: RobotsJudge(robots_of(web, host)) for host in hosts}
    gaps = [gap for each in hosts.values() for gap in politeness_audit.gaps(each, what_is_owed)]
    groups = politeness_audit.group_by_address(log)
    close = [
        gap
        for each in groups.values()
        for gap in politeness_audit.gaps(each, lambda *_: delays.address_s)
    ]
    least_s = spent_s = 0.0
    for each in groups.values():
        least_s += politeness_audit.permitted_s(
            group_by_host(each).values(), what_is_owed, delays.address_s
        )
        spent_s += politeness_audit.span_s(each)
    return Manners(
        len(log),
        sum(gap.early for gap in gaps),
        sum(gap.early for gap in close),
        sum(judges[entry.host].forbids(entry.target) for entry in log),
        sum(map(politeness_audit.overlapping_connections, hosts.values())),
        least_s / spent_s,
    )


def crawl(hosts: int, pages: int, delays: Delays) -> Manners:
    """Fetch pages of each host, and judge the log."""
    mix = Mix.plain(crawl_delay=0.2, private=0.5, crawl_delay_s=delays.crawl_delay_s)
    web = Web(hosts=hosts, pages_per_host=pages, page_bytes=2_000, mix=mix)
    names = list(web.hosts())
    urls = {host: urls_of(web, number, host, pages) for number, host in enumerate(names)}
    addresses = CROWDED_ADDRESSES + -(-(hosts - hosts // 5) // HOSTS_PER_ADDRESS)
    with FakeWeb(web, addresses=addresses) as fake, tempfile.TemporaryDirectory() as root:
        config = FetchConfig(
            delay_s=delays.host_s,
            delay_factor=0,
            address_delay_s=delays.address_s,
            connections_per_address=1,
            hosts_at_once=1_000,
            allow_networks=("127.0.0.0/8",),
            host_overrides=addresses_of(names, fake.port),
        )
        fetch(root, urls, config)
        return judged(web, fake.log(), delays)
