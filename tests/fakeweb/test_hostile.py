"""The hostile web, seen through raw sockets: each host behaves as in the catalogue."""

from __future__ import annotations

import gzip
import re
import socket
import sys
import zlib
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING

import brotli
import pytest

from gossamer.fakeweb import Answer, FakeWeb, Web
from gossamer.fakeweb.hostile import CATALOGUE, Act, codings, markdown
from gossamer.fakeweb.hostile.catalogue import GROUPS
from gossamer.tables.outcomes import OUTCOMES
from tests.support.hostile_client import (
    DRIPS,
    LIMIT,
    PATIENCE_S,
    WEB,
    Seen,
    ask,
    assert_silent,
    get,
)
from tests.support.hostile_wire import ROBOTS, WIRE
from tests.support.repository import ROOT

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.fakeweb.hostile.act import Steps


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeWeb]:
    with FakeWeb(WEB) as running:
        yield running


# The catalogue


def test_the_catalogue_is_sound() -> None:
    assert len(CATALOGUE) == sum(map(len, GROUPS.values()))
    for case in CATALOGUE.values():
        assert re.fullmatch(r"[a-z0-9-]{1,63}", case.name)
        assert case.outcomes
        assert set(case.outcomes) <= OUTCOMES.keys()
        assert case.does


def test_the_docs_show_the_catalogue() -> None:
    docs = ROOT / "docs" / "fakeweb.md"
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

SILENT = {"silent-accept", "silent-request", "stalled-body"}
NO_WIRE = {"refuse-connect", "silent-connect"}  # tested on their own ports


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
    """The head arrives in many small parts, not in one write."""
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
    """Decompress a gzip stream that lacks its end."""
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
