"""Strangers who would have us read what stands beside us (server-side request forgery, CWE-918).

The attacker is a web server whose address the config allows. The victim listens at another one, on
the same port, and nothing may ever connect to it. It answers nobody: who connects nevertheless
stays in the kernel's queue, and is counted.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest

from gossamer import Crawl
from gossamer.config import SiteConfig
from gossamer.fetch.network import resolver
from gossamer.status.overview import overview
from gossamer.web.urls import WEB, normalize
from tests.support.dns_server import addresses, serve_in_thread
from tests.support.fetched_parts import Fetched, settings, wanted
from tests.support.loopback import Loopback, page

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
    monkeypatch.setattr(resolver, "MIN_TTL_S", 0)
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


@pytest.fixture
def crawl(server: Loopback, engine: Engine, tmp_path: Path) -> Crawl:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "secret.html").write_text("<title>secret</title>")
    text = SETTINGS.format(folder=folder, address=server.address)
    return Crawl.create(str(tmp_path / "crawl"), text, engine)


def outcomes(crawl: Crawl) -> dict[str, Any]:
    return {row["url"]: row["outcome"] for row in crawl.pages().collect()}


def test_no_link_leads_inside(
    server: Loopback, victim: Victim, crawl: Crawl, tmp_path: Path
) -> None:
    urls = urls_inside(victim.port)
    files = ["file:///etc/passwd", f"file://{tmp_path}/folder/secret.html"]
    links = "".join(ELEMENTS[0].format(url) for url in [*urls, *files, "gopher://127.9.9.9/"])
    server.answers["a.test/"] = html(links)
    for number, element in enumerate(ELEMENTS):
        inside = f"http://{VICTIM}:{victim.port}/{number}"
        server.answers[f"a.test/{number}"] = html(element.format(inside))
        urls.append(inside)
    crawl.inject([f"http://a.test/{path}" for path in ("", *range(len(ELEMENTS)))])
    crawl.run(rounds=2)
    found = {url: how for url, how in outcomes(crawl).items() if "a.test" not in url}
    assert found == dict.fromkeys(normal_of_crawl(urls, crawl), "forbidden_address")
    refused = overview(crawl.work)["refused"]
    assert refused.pop("forbidden_address") == len(found)
    assert sum(refused.values()) == len(files) + 1


def test_no_redirect_leads_inside(
    server: Loopback, victim: Victim, crawl: Crawl, tmp_path: Path
) -> None:
    urls = urls_inside(victim.port)
    files = ["file:///etc/passwd", f"file://{tmp_path}/folder/secret.html", "gopher://127.9.9.9/"]
    for number, url in enumerate([*urls, *files]):
        server.answers[f"a.test/{number}"] = moved(url)
    crawl.inject([f"http://a.test/{number}" for number in range(len(urls) + len(files))])
    crawl.run(rounds=2)
    found = {url: how for url, how in outcomes(crawl).items() if "a.test" not in url}
    assert found == dict.fromkeys(normal_of_crawl(urls, crawl), "forbidden_address")
    refused = {"forbidden_address": len(found), "bad_redirect": len(files)}
    assert overview(crawl.work)["refused"] == refused


def test_seeds_read_their_folder_and_no_other(
    server: Loopback, crawl: Crawl, tmp_path: Path
) -> None:
    secret = f"file://{tmp_path}/folder/secret.html"
    crawl.inject(["file:///etc/passwd", secret])
    crawl.run(rounds=1)
    assert outcomes(crawl) == {"file:///etc/passwd": "forbidden_address", secret: "ok"}
    assert overview(crawl.work)["refused"] == {"forbidden_address": 1}
    assert not server.opened


def normal_of_crawl(urls: Sequence[str], crawl: Crawl) -> set[str]:
    rules = crawl.work.config.urls
    found = [normalize(url, None, rules) for url in urls]
    assert None not in found
    return {url for url in found if url is not None}
