from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from typing import TYPE_CHECKING, Any

import pytest
import trustme
from yarl import URL

from gossamer.config import Secret, SiteConfig
from gossamer.errors import ConfigError
from gossamer.fetch.exchange import Request
from gossamer.fetch.http.site_settings import ProxyNetwork, Sites
from gossamer.fetch.network.allowed_networks import ForbiddenAddress
from gossamer.storage.warc import request_head
from tests.support.loopback import Loopback, Script, loopback, page
from tests.support.loopback_fetches import LIMIT, config, fetch, fetch_url

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from pathlib import Path

PAGE = "http://a.test/page"


def test_headers_are_sent_in_place_of_ours(server: Loopback) -> None:
    site = SiteConfig(hosts="http://a.*", headers={"user-agent": "mine/1", "X-Key": "caf\xe9"})
    request = Request(PAGE, LIMIT, etag='"v1"')
    fetch(config(server, sites=(site,)), request, Request("http://b.test/page", LIMIT))
    first, second = (asked.headers for asked in server.asked)
    assert (first["user-agent"], first["if-none-match"]) == ("mine/1", '"v1"')
    assert "x-key" in first
    assert second["user-agent"].startswith("gossamer/")
    assert "x-key" not in second


def test_a_password_is_sent_to_its_hosts_alone(server: Loopback) -> None:
    site = SiteConfig(hosts="http://a.test", user="me", password="p:\xe9")  # noqa: S106
    hosts = ["a.test", "b.test", "xa.test"]
    settings = config(server, sites=(site,))
    fetch(settings, *(Request(f"http://{host}/page", LIMIT) for host in hosts))
    secrets = [asked.headers.get("authorization") for asked in server.asked]
    assert secrets == ["Basic " + base64.b64encode(b"me:p:\xe9").decode(), None, None]


def test_the_first_site_that_fits_counts() -> None:
    sites = Sites(
        [SiteConfig(hosts="a.test", headers={"X": "1"}), SiteConfig(hosts="*", headers={"X": "2"})]
    )
    found = [sites.for_origin("https", host, 443).headers["X"] for host in ("a.test", "b.test")]
    assert found == ["1", "2"]


SECRETIVE: dict[str, Any] = {"user": "me", "password": "secret", "headers": {"X-Key": "key"}}


@pytest.mark.parametrize(
    ("hosts", "its_own"),
    [
        ("a.test", {"https://a.test"}),
        ("a.test:8443", {"https://a.test:8443"}),
        ("https://a.test:8443/", {"https://a.test:8443"}),
        ("http://a.test", {"http://a.test"}),
        ("http://A.test:8080", {"http://a.test:8080"}),
        ("ftp://a.test", {"ftp://a.test"}),
        ("ftp://a.test:2121", {"ftp://a.test:2121"}),
        ("gopher://a.test", {"gopher://a.test"}),
        ("*.test", {"https://a.test", "https://b.test"}),
        ("[ab].test:8443", {"https://a.test:8443"}),
        ("[2001:db8::1]", {"https://[2001:db8::1]"}),
    ],
)
def test_secrets_belong_to_an_origin(hosts: str, its_own: set[str]) -> None:
    """Scheme, host and port; https and its port unless others are written."""
    sites = Sites([SiteConfig(hosts=hosts, **SECRETIVE)])
    urls = [
        *("http://a.test", "https://a.test", "ftp://a.test", "ftp://a.test:2121", "https://b.test"),
        *("gopher://a.test", "gopher://a.test:80", "ftp://b.test", "ws://a.test"),
        *("http://a.test:8443", "https://a.test:8443", "http://a.test:8080", "http://a.test:443"),
        *("https://a.test:80", "https://xa.test.", "https://[2001:db8::1]", "http://[2001:db8::1]"),
    ]
    found = {url: sites.for_url(URL(url)) for url in urls}
    assert {url for url, site in found.items() if site.login} == its_own
    assert {url for url, site in found.items() if "Authorization" in site.headers} == its_own
    assert {url for url, site in found.items() if "X-Key" in site.headers} == its_own


def test_what_is_no_secret_holds_for_all_origins_of_a_host() -> None:
    site = SiteConfig(hosts="a.test", headers={"User-Agent": "mine/1", "X-Key": "key"})
    found = Sites([site]).for_origin("http", "a.test", 80)
    assert found.headers == {"User-Agent": "mine/1"}


def test_a_delay_holds_for_a_host_and_where_a_port_is_written_for_that_port() -> None:
    first = SiteConfig(hosts="https://a.test:8443", delay_s=1)
    second = SiteConfig(hosts="a.test", user="me")
    sites = Sites([first, second, SiteConfig(hosts="*", delay_s=3)])
    hosts = ["a.test", "a.test:8443", "a.test:80", "b.test", "[2001:db8::1]:80"]
    assert [sites.delay_s(host) for host in hosts] == [3, 1, 3, 3, 3]


@pytest.mark.parametrize(
    "target", ["http://b.test/page", "http://a.test:{other}/page", "https://a.test/page"]
)
def test_a_secret_does_not_follow_a_redirect_to_another_origin(
    server: Loopback, target: str
) -> None:
    with loopback() as other:
        to = target.format(other=other.port)
        server.answers["/"] = page(b"", [f"Location: {to}"], status="302 Found")
        site = SiteConfig(hosts="http://a.test", **SECRETIVE)
        settings = config(server, sites=(site,))
        first = fetch_url(settings, "http://a.test/")
        assert (first.outcome, first.redirect_url) == ("redirect", to)
        fetch_url(settings, to)
        (asked, *rest) = [*server.asked, *other.asked]
    assert asked.headers["x-key"] == "key"
    assert not any({"authorization", "x-key"} & set(asked.headers) for asked in rest)


def test_secrets_are_not_archived() -> None:
    head = request_head("/", [("Authorization", "Basic abc"), ("X-Key", "def"), ("Accept", "*")])
    assert b"Accept: *\r\n" in head
    assert b"abc" not in head
    assert b"def" not in head


def test_a_secret_that_nobody_read_is_not_sent() -> None:
    with pytest.raises(ConfigError, match="password: was not read"):
        Sites([SiteConfig(hosts="a.test", password=Secret(env="X"))])


@pytest.mark.parametrize(
    "site",
    [
        {"headers": {"Host": "b.test"}},
        {"headers": {"accept-encoding": "compress"}},
        {"headers": {"Content-Length": "1"}},
        {"headers": {"Transfer-Encoding": "chunked"}},
        {"headers": {"If-None-Match": "*"}},
        {"headers": {"X: y": "1"}},
        {"headers": {"": "1"}},
        {"headers": {"X": "1\r\nY: 2"}},
        {"headers": {"X": "\0"}},
        {"headers": {"X": "\u20ac"}},
        {"user": "me\n"},
        {"user": "m:e"},
        {"password": "\u20ac"},
        {"proxy": "http://:80"},
        {"proxy": "http://a:b"},
    ],
)
def test_what_can_never_be_sent_is_an_error(site: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"fetch\.sites 'a\.\*'") as raised:
        Sites([SiteConfig(hosts="a.*", **site)])  # type: ignore[arg-type]
    assert not any(secret in str(raised.value) for secret in map(str, site.values()))


def proxied(server: Loopback, hosts: str = "*", **settings: object) -> dict[str, object]:
    return {
        "allow_networks": (),  # the proxy is trusted, wherever it stands
        "host_overrides": {},
        "sites": (SiteConfig(hosts=hosts, proxy=f"http://{server.address}"),),
        **settings,
    }


def test_a_proxy_asks_in_our_place(server: Loopback) -> None:
    server.answers[PAGE] = page(b"by proxy")
    answer = fetch_url(config(server, **proxied(server)), PAGE)
    assert (answer.outcome, answer.body, answer.address) == ("ok", b"by proxy", None)
    (asked,) = server.asked
    assert (asked.path, asked.host) == (PAGE, "a.test")


def test_only_proxies_are_connected_to() -> None:
    async def run() -> None:
        network = ProxyNetwork([URL("http://localhost:3128"), URL("http://127.0.0.9")])
        for host, port in (("127.0.0.1", 3128), ("localhost", 80), ("a.test", 3128)):
            with pytest.raises(ForbiddenAddress, match=host):
                await network.resolve(host, port)
        for address, port in (("127.0.0.1", 3128), ("127.0.0.9", 3128)):
            with pytest.raises(ForbiddenAddress, match=address):
                network.socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, port)))
        found = await network.resolve("localhost", 3128, socket.AF_INET)
        assert {each["host"] for each in found} == {"127.0.0.1"}
        for address, port in (("127.0.0.1", 3128), ("127.0.0.9", 80)):
            network.socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, port))).close()
        await network.close()

    asyncio.run(run())


def test_a_proxy_with_a_password(server: Loopback) -> None:
    site = SiteConfig(hosts="*", proxy=f"http://me:secret@{server.address}")
    fetch_url(config(server, **proxied(server, sites=(site,))), PAGE)
    (asked,) = server.asked
    secret = base64.b64encode(b"me:secret").decode()
    assert asked.headers["proxy-authorization"] == f"Basic {secret}"


def test_hosts_that_no_proxy_is_for_are_asked_directly(server: Loopback) -> None:
    with loopback() as proxy:
        settings = proxied(proxy, "b.test")
        del settings["allow_networks"], settings["host_overrides"]
        answers = fetch(
            config(server, **settings),
            Request(PAGE, LIMIT),
            Request("http://b.test/page", LIMIT),
        )
    assert [answer.address for answer in answers] == ["127.0.0.1", None]
    assert server.paths == ["/page"]
    assert proxy.paths == ["http://b.test/page"]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "169.254.169.254",
        "10.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "localhost",
        "x.localhost",
        "localhost.",
    ],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_is_not_asked_for_what_we_must_not_ask(
    server: Loopback, scheme: str, host: str
) -> None:
    answer = fetch_url(config(server, **proxied(server)), f"{scheme}://{host}/")
    assert answer.outcome == "forbidden_address"
    assert not server.opened


@pytest.mark.server
@pytest.mark.parametrize("url", ["http://a.test/", "https://a.test/"])
def test_a_proxy_that_is_down(url: str) -> None:
    with loopback() as server:
        pass
    answer = fetch_url(config(server, **proxied(server)), url)
    assert (answer.outcome, answer.detail) == (
        "unreachable",
        "no connection to the proxy: connection refused",
    )


def test_a_proxy_that_will_not(server: Loopback) -> None:
    server.answers["a.test:443"] = page(status="403 Forbidden")
    answer = fetch_url(config(server, **proxied(server)), "https://a.test/")
    assert (answer.outcome, answer.detail) == ("unreachable", "the proxy answered 403 Forbidden")


@pytest.mark.parametrize(("host", "outcome"), [("a.test", "ok"), ("b.test", "tls")])
def test_tls_through_a_proxy(
    server: Loopback, host: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with loopback(secured(authority.issue_cert("a.test"))) as target:
        target.answers["/page"] = page(b"through a tunnel")
        server.answers[f"{host}:443"] = tunnel(target.port)
        answer = fetch_url(config(server, **proxied(server)), f"https://{host}/page")
    assert answer.outcome == outcome
    if outcome == "ok":
        assert (answer.body, answer.address) == (b"through a tunnel", None)
        assert target.paths == ["/page"]


def secured(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


def tunnel(port: int) -> Script:
    async def pipe(reader: StreamReader, writer: StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()

    async def connect(reader: StreamReader, writer: StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pipe(reader, back), pipe(there, writer))

    return connect
