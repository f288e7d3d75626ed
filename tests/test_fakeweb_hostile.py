"""The hostile web, as raw sockets see it: each host does what the catalogue says."""

from __future__ import annotations

import asyncio
import gzip
import re
import select
import socket
import ssl
import sys
import zlib
from html import unescape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import brotli
import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import GossamerError
from gossamer.fakeweb import Answer, FakeWeb, Server, Web, serve
from gossamer.fakeweb.hostile import CATALOGUE, Act, Case, codings, markdown
from gossamer.fakeweb.hostile.catalogue import GROUPS
from gossamer.fakeweb.tls import MAX_RECORD_BYTES, Certificates, server_name
from gossamer.outcomes import OUTCOMES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from gossamer.fakeweb.hostile.act import Steps

WEB = Web(seed=3, hosts=3, pages_per_host=5, page_bytes=3000, hostile=True, tls=True, drip_s=0.001)
HOSTILE = WEB.hostile
DRIPS = 100  # bytes that are awaited of a slow host
LIMIT = 600_000
PATIENCE_S = 20
LAST = "GET /robots.txt HTTP/1.1\r\nHost: hostile.test\r\nConnection: close\r\n\r\n"
LAST_ANSWER = b"hostile.test: no robots.txt\n"

Reading = asyncio.StreamReader
Writing = asyncio.StreamWriter


class Seen(NamedTuple):
    """What came over the wire, and how it ended.

    kept     the next request on the connection was answered
    closed   the connection was closed without an answer to it
    reset    it was reset
    endless  more came than LIMIT
    """

    data: bytes
    end: str


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeWeb]:
    with FakeWeb(WEB) as running:
        yield running


def endpoint(fake: FakeWeb, case: Case) -> tuple[str, int]:
    where = fake.routes.get(case.host, fake.routes["tls-*.hostile.test" if case.tls else "*.test"])
    address, _, port = where.rpartition(":")
    return address, int(port)


def get(host: str, target: str = "/", *headers: str) -> str:
    return "\r\n".join((f"GET {target} HTTP/1.1", f"Host: {host}", *headers, "", ""))


def ask(fake: FakeWeb, host: str, target: str = "/", limit: int = LIMIT) -> Seen:
    """One request to a host, and one more behind it, which tells whether it kept the connection."""
    with socket.create_connection(("127.0.0.1", fake.port), PATIENCE_S) as client:
        client.sendall((get(host, target) + LAST).encode())
        return received(client, limit)


def received(client: socket.socket, limit: int = LIMIT) -> Seen:
    data = bytearray()
    while len(data) < limit:
        try:
            part = client.recv(limit - len(data))
        except ConnectionResetError:
            return Seen(bytes(data), "reset")
        if not part:
            if not data.endswith(LAST_ANSWER):
                return Seen(bytes(data), "closed")
            own, _, _ = data.rpartition(b"HTTP/1.1 404 Not Found\r\n")
            return Seen(bytes(own), "kept")
        data += part
    return Seen(bytes(data), "endless")


def answered(fake: FakeWeb) -> None:
    """A good request: when it is answered, so is whatever was asked before, if ever."""
    assert ask(fake, "site-0.test").end == "kept"


def assert_silent(client: socket.socket, fake: FakeWeb) -> None:
    """Nothing has come that was not read, not even an end."""
    answered(fake)
    client.setblocking(False)
    with pytest.raises(BlockingIOError):
        client.recv(1)


# The catalogue


def test_the_catalogue_is_sound() -> None:
    assert len(CATALOGUE) == sum(map(len, GROUPS.values()))
    for case in CATALOGUE.values():
        assert re.fullmatch(r"[a-z0-9-]{1,63}", case.name)
        assert case.outcomes
        assert set(case.outcomes) <= OUTCOMES.keys()
        assert case.does


def test_the_docs_show_the_catalogue() -> None:
    docs = Path(__file__).parent.parent / "docs" / "fakeweb.md"
    shown = "python -c 'from gossamer.fakeweb.hostile import markdown; print(markdown())'"
    assert markdown() in docs.read_text(encoding="utf-8"), f"put in what this prints: {shown}"


def test_the_hosts_are_reached_from_the_seeds() -> None:
    assert "http://hostile.test/" in WEB.seeds()
    index = WEB.reply("hostile.test", "/")
    assert isinstance(index, Answer)
    linked = re.findall(r'href="([^"]+)"', index.body.decode())
    assert linked == [case.url for case in CATALOGUE.values()]
    plain = Web(hosts=1, hostile=True)
    index = plain.reply("hostile.test", "/")
    assert isinstance(index, Answer)
    assert b"https:" not in index.body
    assert b"http://slow-head.hostile.test/" in index.body


def test_a_web_is_not_hostile_unless_it_is_told_to_be() -> None:
    web = Web(hosts=1)
    assert web.seeds() == ["http://site-0.test/"]
    for host in ("hostile.test", "slow-head.hostile.test"):
        answer = web.reply(host, "/")
        assert isinstance(answer, Answer)
        assert answer.status == 404


def test_settings_carry_over() -> None:
    twin = Web.from_settings(WEB.settings())
    assert twin.settings() == WEB.settings()
    assert twin.seeds() == WEB.seeds()
    assert twin.tls


def beginning(reply: Answer | Act) -> object:
    if isinstance(reply, Answer):
        return reply
    steps: Steps = reply.steps()
    return reply.status, reply.end, list(islice(steps, 20))


@pytest.mark.parametrize("name", sorted(CATALOGUE.keys() - {"retry-date"}))
def test_what_a_host_says_depends_on_seed_and_url_alone(name: str) -> None:
    twin = Web.from_settings(WEB.settings())
    for target in ("/", "/robots.txt", "/x/7?a=b"):
        first = beginning(WEB.reply(CATALOGUE[name].host, target))
        assert first == beginning(twin.reply(CATALOGUE[name].host.upper() + ":80", target))


def test_another_seed_is_another_web() -> None:
    other = Web.from_settings(WEB.settings() | {"seed": 4})
    for name in ("endless-body", "session-path", "farm"):
        host = CATALOGUE[name].host
        assert beginning(WEB.reply(host, "/")) != beginning(other.reply(host, "/"))


def test_slow_is_a_byte_and_a_pause() -> None:
    web = Web(hosts=0, hostile=True, drip_s=2.5)
    for host, target in (("slow-head", "/"), ("slow-body", "/"), ("robots-slow", "/robots.txt")):
        act = web.reply(f"{host}.hostile.test", target)
        assert isinstance(act, Act)
        steps = list(act.steps())[host != "slow-head" :]
        assert set(steps[1::2]) == {2.5}
        assert {len(step) for step in steps[::2] if isinstance(step, bytes)} == {1}
        assert len(steps) * 2.5 / 2 > 3_000


# The wire

HEAD = rb"HTTP/1\.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
LENGTH = rb"Content-Length: \d+\r\n"
DATED = rb"HTTP/1\.1 %s\r\nDate: [^\r]+\r\n"
PAGE = rb"<!DOCTYPE html>\n<html lang=.*</html>\n"
OK_PAGE = DATED % b"200 OK" + rb".*\r\n\r\n" + PAGE
CHUNKED = HEAD + rb"Transfer-Encoding: chunked\r\n\r\n"


def location(target: str) -> bytes:
    return rb"HTTP/1\.1 302 Found\r\n.*Location: " + re.escape(target.encode("latin-1")) + rb"\r\n"


def retry(value: bytes) -> bytes:
    return DATED % b"429 Too Many Requests" + rb".*\r\nRetry-After: " + value + rb"\r\n"


WIRE: dict[str, tuple[bytes, str]] = {
    "reset-accept": (rb"$", "reset"),
    "close-accept": (rb"$", "closed"),
    "talks-first": (rb"SSH-2\.0-\S+ \S+\r\n$", "closed"),
    "close-request": (rb"$", "closed"),
    "reset-request": (rb"$", "reset"),
    "reset-head": (HEAD + rb"$", "reset"),
    "reset-body": (HEAD + rb"Content-Length: 100000\r\n\r\n" + PAGE + rb"$", "reset"),
    "keep-alive-liar": (
        HEAD + LENGTH + rb"Connection: keep-alive\r\nKeep-Alive: .*\r\n\r\n" + PAGE + rb"$",
        "closed",
    ),
    "second-answer": (HEAD + LENGTH + rb"\r\n" + PAGE + HEAD + rb".*<title>Forged", "kept"),
    "slow-head": (HEAD, "endless"),
    "endless-head": (HEAD + rb"(X-Flood: rain\r\n){10000}", "endless"),
    "many-headers": (HEAD + LENGTH + rb"(X-Header-\d+: \d+\r\n){20000}\r\n", "kept"),
    "big-header": (HEAD + LENGTH + rb"X-Big: x{300000}", "endless"),
    "continue-flood": (rb"(HTTP/1\.1 100 Continue\r\n\r\n){10000}", "endless"),
    "early-hints": (rb"(HTTP/1\.1 103 Early Hints\r\nLink: [^\r]*\r\n\r\n){3}" + HEAD, "kept"),
    "status-garbage": (rb"It works!\r\n", "closed"),
    "status-http09": (PAGE + rb"$", "closed"),
    "status-version": (rb"HTTP/3\.7 200 OK\r\n", "closed"),
    "status-icy": (rb"ICY 200 OK\r\n", "closed"),
    "status-999": (rb"HTTP/1\.1 999 Request denied\r\n", "closed"),
    "status-short": (rb"HTTP/1\.1 20 OK\r\n", "closed"),
    "status-no-reason": (rb"HTTP/1\.1 200\r\n", "closed"),
    "status-nul": (rb"HTTP/1\.1 2\0\0 OK\r\n", "closed"),
    "header-nul": (HEAD + LENGTH + rb"X-Nul: a\0b\r\n", "kept"),
    "header-no-colon": (HEAD + LENGTH + rb"No colon\r\n", "kept"),
    "folded-header": (HEAD + LENGTH + rb"X-Folded: one\r\n two\r\n", "kept"),
    "bare-lf": (rb"HTTP/1\.1 200 OK\n[^\r]*\n\n" + PAGE + rb"$", "closed"),
    "slow-body": (HEAD + LENGTH, "endless"),
    "endless-body": (HEAD + rb"Connection: close\r\n\r\n[0-9a-f]{300000}", "endless"),
    "endless-chunks": (CHUNKED + rb"(10000\r\n[0-9a-f]{65536}\r\n){5}", "endless"),
    "tiny-chunks": (CHUNKED + rb"(1\r\n.\r\n){50000}0\r\n\r\n$", "kept"),
    "endless-extension": (CHUNKED + rb"5;x=x{300000}", "endless"),
    "endless-trailers": (CHUNKED + rb".*\r\n0\r\n(X-Trailer: rain\r\n){10000}", "endless"),
    "ten-gigabytes": (HEAD + rb"Content-Length: 10000000000\r\n\r\n[0-9a-f]{300000}", "endless"),
    "ten-gigabytes-ranges": (
        HEAD + rb"Content-Length: 10000000000\r\nAccept-Ranges: bytes\r\n\r\n[0-9a-f]{300000}",
        "endless",
    ),
    "length-too-long": (HEAD + rb"Content-Length: 100000\r\n\r\n" + PAGE + rb"$", "closed"),
    "length-too-short": (HEAD + LENGTH + rb"\r\n" + PAGE + rb"(<p>more){1000}$", "kept"),
    "length-twice": (HEAD + rb"Content-Length: 50\r\nContent-Length: 51\r\n\r\n", "closed"),
    "length-negative": (HEAD + rb"Content-Length: -5\r\n", "closed"),
    "length-garbage": (HEAD + rb"Content-Length: many\r\n", "closed"),
    "length-overflow": (HEAD + rb"Content-Length: 10{29}\r\n", "closed"),
    "length-and-chunks": (
        HEAD + rb"Transfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n.*\r\n0\r\n\r\n$",
        "kept",
    ),
    "chunk-not-hex": (CHUNKED + rb"zz\r\n" + PAGE, "closed"),
    "chunk-overflow": (CHUNKED + rb"F{20}\r\n" + PAGE, "closed"),
    "chunk-negative": (CHUNKED + rb"-10\r\n" + PAGE, "closed"),
    "chunk-unframed": (CHUNKED + rb"10\r\n" + PAGE + rb"\r\n0\r\n\r\n$", "closed"),
    "chunk-cut": (CHUNKED + rb"[0-9a-f]{2}\r\n" + PAGE + rb"\r\n$", "closed"),
    "gzip-bomb": (HEAD + rb"Content-Encoding: gzip\r\n.*\r\n\r\n\x1f\x8b", "endless"),
    "gzip-in-gzip": (HEAD + rb"Content-Encoding: gzip, gzip\r\n.*\r\n\r\n\x1f\x8b", "closed"),
    "brotli-bomb": (HEAD + rb"Content-Encoding: br\r\n", "closed"),
    "zstd-bomb": (HEAD + rb"Content-Encoding: zstd\r\n.*\r\n\r\n\x28\xb5\x2f\xfd", "closed"),
    "zstd-window": (
        HEAD + rb"Content-Encoding: zstd\r\n.*\r\n\r\n\x28\xb5\x2f\xfd\0\xa8",
        "closed",
    ),
    "coding-tower": (HEAD + rb"Content-Encoding: (gzip, ){19}gzip\r\n", "kept"),
    "not-gzip": (HEAD + rb"Content-Encoding: gzip\r\n" + LENGTH + rb"\r\n" + PAGE, "kept"),
    "gzip-cut": (HEAD + rb"Content-Encoding: gzip\r\n" + LENGTH + rb"\r\n\x1f\x8b", "kept"),
    "redirect-endless": (location("/hop/1"), "kept"),
    "redirect-loop": (location("/hop/1"), "kept"),
    "redirect-self": (location("/"), "kept"),
    "redirect-there": (location("http://redirect-back.hostile.test/hop/1"), "kept"),
    "redirect-back": (location("http://redirect-there.hostile.test/hop/1"), "kept"),
    "cookie-wall": (location("/") + rb".*Set-Cookie: passed=1; Path=/\r\n", "kept"),
    "redirect-metadata": (location("http://169.254.169.254/latest/meta-data/"), "kept"),
    "redirect-mapped": (location("http://[::ffff:127.0.0.1]/"), "kept"),
    "redirect-decimal": (location("http://2130706433/"), "kept"),
    "redirect-localhost": (location("http://localhost:22/"), "kept"),
    "redirect-file": (location("file:///etc/passwd"), "kept"),
    "redirect-ftp": (location("ftp://ftp.hostile.test/"), "kept"),
    "redirect-javascript": (location("javascript:alert(1)"), "kept"),
    "redirect-data": (location("data:text/html,hello"), "kept"),
    "redirect-garbage": (location("http://\xff\xfe[/"), "kept"),
    "redirect-empty": (location(""), "kept"),
    "redirect-nowhere": (rb"HTTP/1\.1 302 Found\r\nContent-Length: 0\r\n\r\n$", "kept"),
    "redirect-long": (rb"HTTP/1\.1 302 Found\r\nLocation: /x{100000}\r\n", "kept"),
    "retry-seconds": (retry(rb"30"), "kept"),
    "retry-date": (retry(rb"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"), "kept"),
    "retry-past": (retry(rb"Thu, 01 Jan 2004 00:00:00 GMT"), "kept"),
    "retry-far": (retry(rb"Tue, 01 Jan 2199 00:00:00 GMT"), "kept"),
    "retry-overflow": (retry(rb"9{40}"), "kept"),
    "retry-negative": (retry(rb"-5"), "kept"),
    "retry-garbage": (retry(rb"soon"), "kept"),
    "retry-none": (DATED % b"429 Too Many Requests" + rb"((?!Retry-After).)*$", "kept"),
    "unavailable": (DATED % b"503 Service Unavailable" + rb"((?!Retry-After).)*$", "kept"),
    "html-as-png": (DATED % b"200 OK" + rb"Content-Type: image/png\r\n.*\r\n\r\n" + PAGE, "kept"),
    "png-as-html": (
        DATED % b"200 OK" + rb"Content-Type: text/html; .*\r\n\r\n\x89PNG\r\n",
        "kept",
    ),
    "html-untyped": (rb"HTTP/1\.1 200 OK\r\n" + LENGTH + rb"\r\n" + PAGE, "kept"),
    "html-mistyped": (DATED % b"200 OK" + rb"Content-Type: ;;=\r\n.*\r\n\r\n" + PAGE, "kept"),
    "wrong-charset": (
        DATED % b"200 OK" + rb"Content-Type: text/html; charset=utf-8\r\n.*<title>\xc3\xe0\xe2",
        "kept",
    ),
    "no-such-charset": (
        DATED % b"200 OK" + rb"Content-Type: text/html; charset=x-none\r\n.*<title>\xc3\xe0\xe2",
        "kept",
    ),
    "million-links": (
        HEAD + rb"Connection: close\r\n\r\n.{36}(<a href=/item/\d+>\d+</a>\n){10000}",
        "endless",
    ),
    "nested": (HEAD + rb"Connection: close\r\n\r\n.{35}(<div>){60000}", "endless"),
    "long-urls": (OK_PAGE.removesuffix(PAGE) + rb'.*href="/0/x{100000}"', "endless"),
} | {
    case.name: (OK_PAGE, "kept")
    for case in CATALOGUE.values()
    if case.name.startswith("robots-")
    or case.name.startswith(("calendar", "facets", "session", "deeper", "mirror", "farm"))
}
WIRE["soft-404"] = (DATED % b"200 OK" + rb".*<title>Not found</title>", "kept")
SILENT = {"silent-accept", "silent-request", "stalled-body"}
NO_WIRE = {"refuse-connect", "silent-connect"}  # tested by their doors


def test_every_host_is_looked_at() -> None:
    secure = {case.name for case in CATALOGUE.values() if case.tls}
    assert WIRE.keys() | SILENT | NO_WIRE | secure == CATALOGUE.keys()


@pytest.mark.parametrize("name", WIRE)
def test_on_the_wire(fake: FakeWeb, name: str) -> None:
    pattern, end = WIRE[name]
    limit = DRIPS if name.startswith("slow-") else LIMIT
    seen = ask(fake, CATALOGUE[name].host, limit=limit)
    assert seen.end == end
    assert re.match(pattern, seen.data, re.DOTALL), seen.data[:500]


@pytest.mark.parametrize("name", sorted(SILENT))
def test_silence(fake: FakeWeb, name: str) -> None:
    case = CATALOGUE[name]
    with socket.create_connection(("127.0.0.1", fake.port), PATIENCE_S) as client:
        client.sendall(get(case.host).encode())
        if name == "stalled-body":
            assert client.recv(LIMIT).endswith(b"</html>\n")
        assert_silent(client, fake)


def test_a_slow_host_goes_on(fake: FakeWeb) -> None:
    """As many pauses as bytes: so many that one write cannot have been all."""
    with socket.create_connection(("127.0.0.1", fake.port), PATIENCE_S) as client:
        client.sendall(get("slow-head.hostile.test").encode())
        parts = [client.recv(DRIPS) for _ in range(DRIPS // 4)]
    assert b"HTTP/1.1 200 OK".startswith(parts[0])
    assert max(map(len, parts)) < DRIPS


def target_of(seen: Seen) -> str:
    found = re.search(rb"\r\nLocation: ([^\r]*)\r\n", seen.data)
    assert found
    return found[1].decode()


def test_mazes_of_redirects(fake: FakeWeb) -> None:
    for name, hops in (
        ("redirect-endless", ["/hop/1", "/hop/2", "/hop/3", "/hop/4"]),
        ("redirect-loop", ["/hop/1", "/hop/2", "/hop/3", "/hop/1"]),
        ("redirect-self", ["/", "/"]),
    ):
        target = "/"
        for hop in hops:
            target = target_of(ask(fake, f"{name}.hostile.test", target))
            assert target == hop
    assert target_of(ask(fake, "redirect-endless.hostile.test", "/hop/" + 20 * "9")) == "/hop/1"
    back = target_of(ask(fake, "redirect-back.hostile.test", "/hop/7"))
    assert back == "http://redirect-there.hostile.test/hop/8"


def test_a_cookie_opens_the_wall() -> None:
    headers = {"cookie": "a=b; passed=1"}
    assert WEB.reply("cookie-wall.hostile.test", "/", headers).status == 200


RULES = rb"User-agent: \*\nDisallow: /private/\n"
ROBOTS: dict[str, tuple[bytes, str]] = {
    "robots-huge": (
        rb"HTTP/1\.1 200 OK\r\n.*Length: 100000000\r\n\r\n" + RULES + rb"(# [^\n]*\n){1000}",
        "endless",
    ),
    "robots-endless": (
        rb"HTTP/1\.1 200 OK\r\n.*\r\n\r\n" + RULES + rb"(# [^\n]*\n){1000}",
        "endless",
    ),
    "robots-slow": (rb"HTTP/1\.1 200 OK\r\n.*Content-Length: 10000\r\n\r\n", "endless"),
    "robots-5-hops": (location("/robots/1"), "kept"),
    "robots-6-hops": (location("/robots/1"), "kept"),
    "robots-loop": (location("/robots.txt?again"), "kept"),
    "robots-metadata": (location("http://169.254.169.254/robots.txt"), "kept"),
    "robots-401": (DATED % b"401 Unauthorized", "kept"),
    "robots-403": (DATED % b"403 Forbidden", "kept"),
    "robots-429": (DATED % b"429 Too Many Requests", "kept"),
    "robots-500": (DATED % b"500 Internal Server Error", "kept"),
    "robots-503": (DATED % b"503 Service Unavailable", "kept"),
    "robots-html": (OK_PAGE, "kept"),
    "robots-binary": (
        DATED % b"200 OK" + rb"Content-Type: text/plain\r\n.*\r\n\r\n.{4096}$",
        "kept",
    ),
    "robots-garbage": (rb"\x16\x03rubbish", "closed"),
    "robots-reset": (rb"$", "reset"),
}


def test_every_robots_file_is_looked_at() -> None:
    assert ROBOTS.keys() == {case.name for case in GROUPS["robots.txt"]}


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_on_the_wire(fake: FakeWeb, name: str) -> None:
    pattern, end = ROBOTS[name]
    host = CATALOGUE[name].host
    seen = ask(fake, host, "/robots.txt", DRIPS if name == "robots-slow" else LIMIT)
    assert re.match(pattern, seen.data, re.DOTALL), seen.data[:500]
    assert seen.end == end
    assert b'href="/private/"' in ask(fake, host).data


@pytest.mark.parametrize("hops", [5, 6])
def test_robots_behind_redirects(fake: FakeWeb, hops: int) -> None:
    host, target = f"robots-{hops}-hops.hostile.test", "/robots.txt"
    for _ in range(hops):
        target = target_of(ask(fake, host, target))
    assert ask(fake, host, target).data.endswith(b"Disallow: /private/\n")


def test_other_hosts_have_no_robots_txt(fake: FakeWeb) -> None:
    for name in CATALOGUE.keys() - ROBOTS.keys():
        reply = WEB.reply(CATALOGUE[name].host, "/robots.txt?x")
        assert isinstance(reply, Answer)
        assert reply.status == 404
    assert ask(fake, "slow-head.hostile.test", "/robots.txt").end == "kept"


def links(host: str, target: str = "/") -> list[str]:
    reply = WEB.reply(host, target)
    assert isinstance(reply, Answer)
    return [unescape(link) for link in re.findall(r'href=["\']([^"\']+)', reply.body.decode())]


def test_traps_have_no_end() -> None:
    calendar = "calendar.hostile.test"
    assert links(calendar)[0] == "/month/1"
    assert links(calendar, "/month/41")[0] == "/month/42"
    for host in ("session-path.hostile.test", "session-query.hostile.test"):
        first = links(host)
        second = links(host, first[0])
        assert len({*first, *second}) == len(first) + len(second)
    shop = "facets.hostile.test"
    seen, todo = set[str](), links(shop)
    while todo and len(seen) < 500:
        seen.add(todo[0])
        todo += [link for link in links(shop, todo.pop(0)) if link not in seen]
    assert len(seen) == 500
    assert {"news/", "more/", "./page.html"} == set(links("deeper.hostile.test", "/news/more/"))
    farm = links("farm.hostile.test")
    further = links(farm[0].removeprefix("http://").rstrip("/"))
    assert len({*farm, *further}) == len(farm) + len(further)
    assert all(link.endswith(".farm.hostile.test/") for link in further)
    assert min(map(len, links("long-urls.hostile.test"))) > 100_000


def test_mirrors_are_equal_to_the_byte() -> None:
    for target in ("/", "/article-3"):
        one, two = (WEB.reply(f"mirror-{n}.hostile.test", target) for n in ("one", "two"))
        assert one == two


def body(name: str) -> bytes:
    act = WEB.reply(CATALOGUE[name].host, "/")
    assert isinstance(act, Act)
    raw = b"".join(step for step in act.steps() if isinstance(step, bytes))
    return raw.partition(b"\r\n\r\n")[2]


def test_what_is_long_is_as_long_as_it_says() -> None:
    assert body("million-links").count(b"<a href=/item/") == 1_000_000
    assert body("nested").count(b"<div>") == body("nested").count(b"</div>") == 200_000


def test_bombs_explode(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = bytes(3 << 20)
    monkeypatch.setattr(codings, "BOMB_MEGABYTES", 3)
    monkeypatch.setattr(codings, "NESTED", 1)
    assert brotli.decompress(body("brotli-bomb")) == zeros
    assert zstd.decompress(body("zstd-bomb")) == zeros
    with pytest.raises(zstd.ZstdError):
        zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: 27}).decompress(
            body("zstd-window")
        )
    assert inflated(body("gzip-bomb")) == zeros
    assert inflated(inflated(body("gzip-in-gzip"))) == zeros
    page = body("coding-tower")
    for _ in range(20):
        page = gzip.decompress(page)
    assert b"coding-tower.hostile.test/" in page
    assert b"gzip-cut.hostile.test/" in inflated(body("gzip-cut"))


def inflated(data: bytes) -> bytes:
    """All that a gzip stream without an end holds."""
    return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data)


def test_bombs_are_ten_gigabytes() -> None:
    sizes = {name: len(body(f"{name}-bomb")) for name in ("gzip", "brotli", "zstd")}
    assert sizes["gzip"] < 11 * 10**6
    assert sizes["brotli"] < 140_000
    assert sizes["zstd"] < 330_000
    assert len(body("gzip-in-gzip")) < 30_000
    unpacked, whole = zlib.decompressobj(16 + zlib.MAX_WBITS), 0
    data = body("gzip-in-gzip")
    while data:
        whole += len(unpacked.decompress(data, 1 << 20))
        data = unpacked.unconsumed_tail
    assert whole == len(body("gzip-bomb"))


# Connections


def through_the_door(fake: FakeWeb, name: str) -> Seen:
    try:
        client = socket.create_connection(endpoint(fake, CATALOGUE[name]), PATIENCE_S)
    except ConnectionResetError:  # so quick that connecting itself fails
        return Seen(b"", "reset")
    with client:
        return received(client)


def test_doors(fake: FakeWeb) -> None:
    for name, data, end in (
        ("reset-accept", b"", "reset"),
        ("close-accept", b"", "closed"),
        ("talks-first", b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", "closed"),
    ):
        assert through_the_door(fake, name) == (data, end)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(endpoint(fake, CATALOGUE["refuse-connect"]), PATIENCE_S)


def test_a_silent_door(fake: FakeWeb) -> None:
    where = endpoint(fake, CATALOGUE["silent-accept"])
    with socket.create_connection(where, PATIENCE_S) as client:
        client.sendall(get("silent-accept.hostile.test").encode())
        assert_silent(client, fake)


def test_a_door_that_never_opens(fake: FakeWeb) -> None:
    with socket.socket() as client:
        client.setblocking(False)
        client.connect_ex(endpoint(fake, CATALOGUE["silent-connect"]))
        answered(fake)
        assert select.select([], [client], [], 0) == ([], [], [])


def test_a_web_without_hostile_hosts_has_one_port() -> None:
    with FakeWeb(Web(hosts=1)) as fake:
        assert fake.routes == {"*.test": fake.address}
        assert fake.ca_file is None


def resident_bytes(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * 4096


def test_ten_gigabytes_take_no_memory(fake: FakeWeb) -> None:
    before = resident_bytes(fake.pid)
    seen = 0
    with socket.create_connection(("127.0.0.1", fake.port), PATIENCE_S) as client:
        client.sendall(get("ten-gigabytes.hostile.test", "/", "Range: bytes=0-9").encode())
        while seen < 50 << 20:
            seen += len(client.recv(1 << 20))
        assert resident_bytes(fake.pid) < before + (20 << 20)
    answered(fake)


def talk(
    conversation: Callable[[Reading, Writing, Server], Awaitable[None]], web: Web = WEB
) -> None:
    """One conversation with a server of its own, on one connection."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_S), serve(web) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            await conversation(reader, writer, server)
            writer.close()

    uvloop.run(main())


ENDLESS = Web(hosts=1, hostile=True)


@pytest.mark.parametrize("name", ["endless-body", "slow-body", "silent-request", "stalled-body"])
def test_nothing_goes_on_when_the_client_has_gone(name: str) -> None:
    async def conversation(reader: Reading, writer: Writing, server: Server) -> None:
        writer.write(get(CATALOGUE[name].host).encode())
        if name != "silent-request":
            await reader.read(1)
        while not server.served:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0)
        (connection,) = server.connections
        player = connection._pending
        writer.transport.abort()
        while server.connections:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0)
        assert next(player._steps, None) is None  # type: ignore[union-attr]

    talk(conversation, ENDLESS)


def test_a_client_that_does_not_read_stops_the_flood() -> None:
    async def conversation(_: Reading, writer: Writing, server: Server) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(get("endless-body.hostile.test").encode())
        while not server.connections:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0)
        (connection,) = server.connections
        while not connection._paused:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0)
        waiting = connection._transport.get_write_buffer_size()
        for _turn in range(50):
            await asyncio.sleep(0)
        assert 0 < connection._transport.get_write_buffer_size() <= waiting
        assert waiting < 1 << 20

    talk(conversation, ENDLESS)


def test_a_flood_leaves_others_their_turn() -> None:
    async def conversation(reader: Reading, writer: Writing, server: Server) -> None:
        async def drink(flood: Reading) -> None:
            while await flood.read(1 << 20):
                pass

        floods = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(5)]
        for _, to in floods:
            to.write(get("continue-flood.hostile.test").encode())
        drinkers = [asyncio.create_task(drink(flood)) for flood, _ in floods]
        for _ in range(20):
            writer.write(get("site-0.test").encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"Content-Length: (\d+)", head)
            assert length
            await reader.readexactly(int(length[1]))
        for drinker, (_, to) in zip(drinkers, floods, strict=True):
            drinker.cancel()
            to.transport.abort()

    talk(conversation, ENDLESS)


def test_many_kept_answers_in_a_row() -> None:
    count = 5_000

    async def conversation(reader: Reading, writer: Writing, _: Server) -> None:
        writer.write(count * get("redirect-empty.hostile.test").encode() + LAST.encode())
        data = await reader.read(-1)
        assert data.count(b"HTTP/1.1 302 Found\r\n") == count
        assert data.endswith(LAST_ANSWER)

    talk(conversation, ENDLESS)


def test_an_act_has_an_end_of_its_own() -> None:
    async def conversation(reader: Reading, writer: Writing, server: Server) -> None:
        writer.write(get("silent-request.hostile.test").encode())
        while not server.served:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0)
        now_s = asyncio.get_running_loop().time()
        server.close_idle(now_s + 100)
        assert server.connections
        assert not next(iter(server.connections))._transport.is_closing()
        server.close_idle(now_s + 1_000)
        assert await reader.read() == b""

    talk(conversation, ENDLESS)


def test_the_log_shows_them_all(tmp_path: Path) -> None:
    with FakeWeb(WEB, log_path=tmp_path / "log.tsv") as fake:
        for name in ("reset-request", "status-999", "redirect-self", "endless-body"):
            ask(fake, CATALOGUE[name].host)
        for name in ("talks-first", "reset-accept"):
            through_the_door(fake, name)
        secure(fake, CATALOGUE["tls-valid"])
        for name in ("tls-expired", "tls-plain"):
            with pytest.raises(ssl.SSLError):
                secure(fake, CATALOGUE[name])
        answered(fake)
        entries = [entry for entry in fake.log() if entry.target != "/robots.txt"]
    assert [(e.method, e.host, e.target, e.status) for e in entries[:-1]] == [
        ("GET", "reset-request.hostile.test", "/", 0),
        ("GET", "status-999.hostile.test", "/", 999),
        ("GET", "redirect-self.hostile.test", "/", 302),
        ("GET", "endless-body.hostile.test", "/", 200),
        ("-", "talks-first.hostile.test", "-", 0),
        ("-", "reset-accept.hostile.test", "-", 0),
        ("GET", "tls-valid.hostile.test", "/", 200),
        ("-", "tls-expired.hostile.test", "-", 0),
        ("-", "tls-plain.hostile.test", "-", 400),
    ]
    assert len({entry.connection for entry in entries}) == len(entries)


# TLS


def secure(
    fake: FakeWeb, case: Case, context: ssl.SSLContext | None = None, host: str | None = None
) -> Seen:
    """One request over TLS. Raises ssl.SSLError and OSError."""
    context = context or ssl.create_default_context(cafile=fake.ca_file)
    host = host or case.host
    with (
        socket.create_connection(endpoint(fake, case), PATIENCE_S) as plain,
        context.wrap_socket(plain, server_hostname=host) as client,
    ):
        client.sendall((get(host) + LAST).encode())
        return received(client)


def test_good_tls(fake: FakeWeb) -> None:
    seen = secure(fake, CATALOGUE["tls-valid"])
    assert seen.end == "kept"
    assert b"<title>tls-valid.hostile.test/</title>" in seen.data


@pytest.mark.parametrize(
    ("name", "code"),  # X509_V_ERR_… of OpenSSL's x509_vfy.h
    [
        ("tls-expired", 10),
        ("tls-future", 9),
        ("tls-self-signed", 18),
        ("tls-other-name", 62),
        ("tls-other-ca", 20),
    ],
)
def test_certificates_that_do_not_hold(fake: FakeWeb, name: str, code: int) -> None:
    with pytest.raises(ssl.SSLCertVerificationError) as caught:
        secure(fake, CATALOGUE[name])
    assert caught.value.verify_code == code
    blind = ssl.create_default_context()
    blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
    assert secure(fake, CATALOGUE[name], blind).end == "kept"


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_old_tls(fake: FakeWeb) -> None:
    case = CATALOGUE["tls-old"]
    with pytest.raises(ssl.SSLError, match=r"(?i)version|protocol"):
        secure(fake, case)
    old = ssl.create_default_context(cafile=fake.ca_file)
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = ssl.TLSVersion.TLSv1
    assert secure(fake, case, old).end == "kept"


def test_handshakes_that_fail(fake: FakeWeb) -> None:
    with pytest.raises(ConnectionResetError):
        secure(fake, CATALOGUE["tls-reset"])
    with pytest.raises(ssl.SSLError, match=r"(?i)wrong version|record"):
        secure(fake, CATALOGUE["tls-plain"])
    case = CATALOGUE["tls-silent"]
    with socket.create_connection(endpoint(fake, case), PATIENCE_S) as client:
        client.sendall(hello(case.host))
        secure(fake, CATALOGUE["tls-valid"])
        assert_silent(client, fake)


def test_it_closes_after_the_handshake(fake: FakeWeb) -> None:
    case = CATALOGUE["tls-close"]
    context = ssl.create_default_context(cafile=fake.ca_file)
    with (
        socket.create_connection(endpoint(fake, case), PATIENCE_S) as plain,
        context.wrap_socket(plain, server_hostname=case.host) as client,
    ):
        assert client.version() == "TLSv1.3"
        assert client.recv(1) == b""


def test_any_other_name_gets_a_good_certificate(fake: FakeWeb) -> None:
    case = CATALOGUE["tls-valid"]
    seen = secure(fake, case, host="site-0.test")
    good = WEB.answer("site-0.test", "/").body
    assert good in seen.data
    blind = ssl.create_default_context()
    blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(endpoint(fake, case), PATIENCE_S) as plain,
        blind.wrap_socket(plain) as client,
    ):
        client.sendall((get("site-0.test") + LAST).encode())
        assert good in received(client).data


def hello(host: str) -> bytes:
    """The first that a TLS client sends."""
    out = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out, server_hostname=host)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


def test_a_hello_in_pieces(fake: FakeWeb) -> None:
    case = CATALOGUE["tls-plain"]
    data = hello(case.host)
    with socket.create_connection(endpoint(fake, case), PATIENCE_S) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(data), 100):
            client.sendall(data[start : start + 100])
            answered(fake)
        assert received(client).data.startswith(b"HTTP/1.1 400 Bad Request\r\n")


@pytest.mark.parametrize(
    "sent", [b"", b"\x16", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\xff\xff\x01"]
)
def test_what_is_no_hello(fake: FakeWeb, sent: bytes) -> None:
    with socket.create_connection(endpoint(fake, CATALOGUE["tls-valid"]), PATIENCE_S) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        assert received(client).end in {"closed", "reset"}
    answered(fake)


def test_the_server_name() -> None:
    assert server_name(hello("TLS-Valid.hostile.test")) == "tls-valid.hostile.test"
    assert server_name(hello("127.0.0.1")) == ""


HELLO = hello("a.test")


@given(st.binary(max_size=200) | st.integers(0, 600).map(lambda cut: HELLO[:cut]))
def test_any_bytes_have_a_name_or_none(data: bytes) -> None:
    assert server_name(data) in {"", "a.test"} or len(data) < MAX_RECORD_BYTES


def test_without_trustme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trustme", None)
    with pytest.raises(GossamerError, match="pip install trustme"):
        Certificates()
