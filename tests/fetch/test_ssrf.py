"""Strangers who would have us read what stands beside us (server-side request forgery, CWE-918).

The attacker is a web server whose address the config allows. The victim listens at another one, on
the same port, and nothing may ever connect to it. It answers nobody: who connects nevertheless
stays in the kernel's queue, and is counted.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gossamer import Crawl
from gossamer.config import SiteConfig
from gossamer.fetch.network import cached_resolver
from gossamer.status.overview import overview
from gossamer.web.urls import WEB, normalize
from tests.support.bare_rounds import run_rounds
from tests.support.dns_server import addresses, serve_in_thread
from tests.support.fetched_parts import Fetched, settings, wanted
from tests.support.loopback import Loopback, loopback, page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gossamer.engine.engine import Engine

ALLOWED = ("127.0.0.1/32",)
VICTIM = "127.9.9.9"
SPELLINGS = (
    VICTIM,
    f"{VICTIM}.",
    "2131298569",
    "0x7f090909",
    "017702204411",
    "0177.011.011.011",
    "0x7f.9.011.9",
    "127.592137",
    "127.9.2313",
    "%31%32%37.9.9.9",
    "127\N{IDEOGRAPHIC FULL STOP}9.9.9",
    "\N{FULLWIDTH DIGIT ONE}27.9.9.9",
    f"user:password@{VICTIM}",
    f"a.test@{VICTIM}",
    f"[::ffff:{VICTIM}]",
    "[::FFFF:7F09:909]",
    "[0:0:0:0:0:ffff:7f09:0909]",
)
"""Of the victim's address: who connects to one of these gets there."""
ELSEWHERE = (
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "169.254.169.254",
    "[::]",
    "[::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    f"[::{VICTIM}]",
    "[64:ff9b::7f09:909]",
    "[2002:7f09:909::1]",
)
NAMES = {
    "victim.test": VICTIM,
    "private.test": "10.0.0.1",
    "metadata.test": "169.254.169.254",
    "loopback.test": "::1",
    "unique-local.test": "fd00::1",
    "mapped.test": f"::ffff:{VICTIM}",
    "nat64.test": "64:ff9b::7f09:909",
}
"""What the attacker's DNS server says of his names."""


class Victim:
    def __init__(self, listening: socket.socket) -> None:
        listening.setblocking(False)
        self._listening = listening
        self.port = listening.getsockname()[1]

    def connections(self) -> int:
        """Since the last time that it was asked."""
        count = 0
        while True:
            try:
                self._listening.accept()[0].close()
            except BlockingIOError:
                return count
            count += 1


@pytest.fixture
def victim(server: Loopback) -> Iterator[Victim]:
    """Fails the test if somebody connected to it."""
    with socket.create_server((VICTIM, server.port), backlog=200) as listening:
        made = Victim(listening)
        yield made
        assert made.connections() == 0


def urls_inside(port: int) -> list[str]:
    hosts = (*SPELLINGS, *ELSEWHERE)
    return [f"{scheme}://{host}:{port}/" for scheme in WEB for host in hosts]


def normal(urls: Sequence[str]) -> list[str]:
    return sorted({url for text in urls if (url := normalize(text)) is not None})


# The net is sound: without a guard the victim is reached


@pytest.mark.parametrize("host", SPELLINGS)
def test_a_spelling_leads_to_the_victim_where_that_is_allowed(
    server: Loopback, tmp_path: Path, host: str
) -> None:
    (url,) = normal([f"http://{host}:{server.port}/"])
    with socket.create_server((VICTIM, server.port)) as listening:
        victim = Victim(listening)
        Fetched(tmp_path, [wanted(url)], settings(server, head_timeout_s=0.05))
        assert victim.connections() == 1


# One task


def test_no_spelling_of_an_address_leads_inside(
    server: Loopback, victim: Victim, tmp_path: Path
) -> None:
    urls = normal(urls_inside(victim.port))
    fetched = Fetched(
        tmp_path, [wanted(url) for url in urls], settings(server, allow_networks=ALLOWED)
    )
    assert fetched.counts == {"forbidden_address": len(urls)}
    assert all("is not in fetch.allow_networks" in str(detail) for detail in fetched.details())


def test_our_own_names_are_refused_where_nothing_inside_is_allowed(
    server: Loopback, tmp_path: Path
) -> None:
    urls = [f"http://{host}:{server.port}/" for host in ("localhost", "127.0.0.1", "[::1]")]
    fetched = Fetched(tmp_path, [wanted(url) for url in urls], settings(server, allow_networks=()))
    assert fetched.counts == {"forbidden_address": 3}
    assert not server.opened


@pytest.mark.parametrize("name", NAMES)
def test_no_name_leads_inside(server: Loopback, victim: Victim, tmp_path: Path, name: str) -> None:
    with serve_in_thread({name: addresses(NAMES[name])}) as dns:
        config = settings(
            server, allow_networks=ALLOWED, host_overrides={}, nameservers=(dns.address,)
        )
        fetched = Fetched(tmp_path, [wanted(f"http://{name}:{victim.port}/")], config)
        assert dns.asked(name)
    assert fetched.counts == {"forbidden_address": 1}


@pytest.mark.parametrize("harmless", [1, 2, 3])
def test_a_rebound_name_leads_nowhere(
    server: Loopback,
    victim: Victim,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    harmless: int,
) -> None:
    """DNS rebinding, after the host was located, after its robots.txt, and after a page."""
    monkeypatch.setattr(cached_resolver, "MIN_TTL_S", 0)
    closing = ("Content-Type: text/html", "Connection: close")
    server.answers |= {path: page(b"", closing) for path in ("/robots.txt", "/1", "/2")}
    where = [*["127.0.0.1"] * harmless, VICTIM]
    with serve_in_thread({"a.test": [addresses(to, ttl_s=0) for to in where]}) as dns:
        config = settings(
            server, allow_networks=ALLOWED, host_overrides={}, nameservers=(dns.address,)
        )
        rows = [wanted(f"http://a.test:{victim.port}/{number}") for number in (1, 2)]
        fetched = Fetched(tmp_path, rows, config)
        assert dns.asked("a.test") > harmless
    assert fetched.outcomes() == [
        "ok" if harmless == 3 else "forbidden_address",
        "forbidden_address",
    ]
    assert server.paths == ["/robots.txt", "/1"][: harmless - 1]


def test_no_robots_leads_inside(server: Loopback, victim: Victim, tmp_path: Path) -> None:
    urls = urls_inside(victim.port)
    for number, url in enumerate(urls):
        server.answers[f"{number}.test/robots.txt"] = moved(f"{url}robots.txt")
    rows = [wanted(f"http://{number}.test/") for number in range(len(urls))]
    fetched = Fetched(tmp_path, rows, settings(server, allow_networks=ALLOWED))
    assert fetched.counts == {"postponed_no_robots": len(urls)}
    assert set(server.paths) == {"/robots.txt"}


def test_no_proxy_is_asked_for_what_is_inside(
    server: Loopback, victim: Victim, tmp_path: Path
) -> None:
    hosts = ("localhost", "a.localhost", "127.0.0.2")
    urls = normal(urls_inside(victim.port)) + [f"http://{host}/" for host in hosts]
    config = settings(
        server,
        allow_networks=(),
        host_overrides={},
        sites=(SiteConfig(hosts="*", proxy=f"http://{server.address}"),),
    )
    fetched = Fetched(tmp_path, [wanted(url) for url in urls], config)
    assert fetched.counts == {"forbidden_address": len(urls)}
    assert not server.opened


# Whole rounds


SETTINGS = """
urls.schemes = ["http", "https", "file"]
filter.scope = "any"
fetch.file_folders = ["{folder}"]
fetch.contact = "mailto:me@a.test"
fetch.delay_s = 0
fetch.delay_factor = 0
fetch.address_delay_s = 0
fetch.allow_networks = ["127.0.0.1/32"]
fetch.host_overrides = {{ "*.test" = "{address}" }}
"""
ELEMENTS = (
    '<a href="{}">',
    '<iframe src="{}"></iframe>',
    '<area href="{}">',
    '<link rel="canonical" href="{}">',
    '<meta http-equiv="refresh" content="0; url={}">',
)


def moved(target: str) -> bytes:
    location = target.encode().decode("latin-1")
    return page(b"", (f"Location: {location}",), status="302 Found")


def html(body: str) -> bytes:
    return page(f"<!doctype html>{body}".encode(), ("Content-Type: text/html; charset=utf-8",))


class Attacked(NamedTuple):
    """Two rounds of a crawl whose seeds, links and redirects lead to what is inside."""

    outcomes: dict[str, str]
    """Of all pages that became known, but for those of the attacker."""
    refused: dict[str, int]
    linked: set[str]
    redirected: set[str]
    files: Sequence[str]
    """Targets of links and of redirects that no link of the web may have."""
    connections: int
    hosts: set[str]
    """That the attacker's server was asked for."""


@pytest.fixture(scope="module")
def attacked(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    top = tmp_path_factory.mktemp("attacked")
    (top / "folder").mkdir()
    (top / "folder" / "secret.html").write_text("<title>secret</title>")
    (top / "folder" / "seed.html").write_text("<title>seed</title>")
    files = ["file:///etc/passwd", f"file://{top}/folder/secret.html", "gopher://127.9.9.9/"]
    with loopback() as server, socket.create_server((VICTIM, server.port), backlog=200) as inside:
        text = SETTINGS.format(folder=top / "folder", address=server.address)
        crawl = Crawl.create(str(top / "crawl"), text, engine)
        linked = [f"{url}linked" for url in urls_inside(server.port)]
        links = "".join(ELEMENTS[0].format(url) for url in [*linked, *files])
        server.answers["a.test/"] = html(links)
        for number, element in enumerate(ELEMENTS):
            url = f"http://{VICTIM}:{server.port}/{number}"
            server.answers[f"a.test/{number}"] = html(element.format(url))
            linked.append(url)
        redirected = [f"{url}redirected" for url in urls_inside(server.port)]
        for number, url in enumerate([*redirected, *files]):
            server.answers[f"b.test/{number}"] = moved(url)
        crawl.inject(
            [
                *(f"http://a.test/{path}" for path in ("", *range(len(ELEMENTS)))),
                *(f"http://b.test/{number}" for number in range(len(redirected) + len(files))),
                "file:///etc/hosts",
                f"file://{top}/folder/seed.html",
            ]
        )
        run_rounds(crawl, 2)
        return Attacked(
            {
                row["url"].replace(str(top), ""): row["outcome"]
                for row in crawl.pages().collect()
                if ".test/" not in row["url"]
            },
            overview(crawl.work)["refused"],
            normal_of_crawl(linked, crawl),
            normal_of_crawl(redirected, crawl),
            files,
            Victim(inside).connections(),
            {asked.host for asked in server.asked},
        )


@pytest.mark.slow
def test_no_link_leads_inside(attacked: Attacked) -> None:
    found = {url: how for url, how in attacked.outcomes.items() if url in attacked.linked}
    assert found == dict.fromkeys(attacked.linked, "forbidden_address")


@pytest.mark.slow
def test_no_redirect_leads_inside(attacked: Attacked) -> None:
    found = {url: how for url, how in attacked.outcomes.items() if url in attacked.redirected}
    assert found == dict.fromkeys(attacked.redirected, "forbidden_address")


@pytest.mark.slow
def test_seeds_read_their_folder_and_no_other(attacked: Attacked) -> None:
    others = attacked.outcomes.keys() - attacked.linked - attacked.redirected
    assert {url: attacked.outcomes[url] for url in others} == {
        "file:///etc/hosts": "forbidden_address",
        "file:///folder/seed.html": "ok",
    }


@pytest.mark.slow
def test_what_was_refused_is_counted(attacked: Attacked) -> None:
    refused = dict(attacked.refused)
    inside = len(attacked.linked) + len(attacked.redirected)
    assert refused.pop("forbidden_address") == inside + 1
    assert refused.pop("bad_redirect") == len(attacked.files)
    assert sum(refused.values()) == len(attacked.files)


@pytest.mark.slow
def test_nothing_inside_is_reached_by_a_crawl(attacked: Attacked) -> None:
    assert attacked.connections == 0
    assert attacked.hosts == {"a.test", "b.test"}


def normal_of_crawl(urls: Sequence[str], crawl: Crawl) -> set[str]:
    rules = crawl.work.config.urls
    found = [normalize(url, None, rules) for url in urls]
    assert None not in found
    return {url for url in found if url is not None}
