from __future__ import annotations

import asyncio
import socket

import aiodns
import pycares
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from tests.support.dns_server import (
    AAAA,
    CNAME,
    NODATA,
    NXDOMAIN,
    SERVFAIL,
    SILENCE,
    TRUNCATED,
    A,
    DnsServer,
    Query,
    Reply,
    Zone,
    addresses,
    encode_name,
    parse,
    serve,
    serve_in_thread,
)

pytestmark = pytest.mark.server

HEADER = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
LABELS = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_", min_size=1, max_size=63)


def query(name: str, kind: int = A) -> Query:
    found = parse(HEADER + encode_name(name) + bytes([0, kind, 0, 1]))
    assert found is not None
    return found


def ask(zone: Zone, name: str, kind: str = "A") -> tuple[pycares.DNSResult, DnsServer]:
    """Send a query with c-ares, an independent implementation of DNS."""

    async def run() -> tuple[pycares.DNSResult, DnsServer]:
        async with serve(zone) as server:
            client = aiodns.DNSResolver([server.address], tries=1)
            try:
                return await client.query_dns(name, kind), server
            finally:
                await client.close()

    return asyncio.run(run())


def code_of(message: bytes | None) -> int:
    assert message is not None
    return message[3] & 0xF


# Messages


@given(st.lists(LABELS, min_size=1, max_size=4), st.sampled_from([A, AAAA, CNAME]))
def test_a_query_is_read_as_it_was_written(labels: list[str], kind: int) -> None:
    name = ".".join(labels)
    question = encode_name(name.upper()) + bytes([0, kind, 0, 1])
    for end in (b"", b"what follows the question"):
        assert parse(HEADER + question + end) == Query(0x1234, name, kind, question, True)


@given(st.binary() | st.binary().map(lambda end: HEADER + end))
def test_any_bytes_are_a_query_or_none(message: bytes) -> None:
    found = parse(message)
    assert found is None or message[12:].startswith(found.question)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        HEADER,
        HEADER[:-1],
        HEADER + b"\1a",
        HEADER + b"\1a\0\0\1",
        HEADER + b"\xc0\x0c\0\1\0\1",  # a pointer where a name must be
        b"\x12\x34\x81\x00" + HEADER[4:] + b"\1a\0\0\1\0\1",  # a response
        b"\x12\x34\x01\x00\x00\x02" + HEADER[6:] + b"\1a\0\0\1\0\1",  # two questions
    ],
)
def test_what_is_no_query(message: bytes) -> None:
    assert parse(message) is None


# Zones


def test_addresses_by_type() -> None:
    zone = {"*.test": addresses("192.0.2.1", "2001:db8::1", "192.0.2.2", ttl_s=77)}
    four, server = ask(zone, "a.test")
    assert [(record.data, record.ttl) for record in four.answer] == [
        (pycares.ARecordData("192.0.2.1"), 77),
        (pycares.ARecordData("192.0.2.2"), 77),
    ]
    assert server.asked("a.test") == 1
    assert [(found.name, found.type) for found in server.queries] == [("a.test", A)]
    six, _ = ask(zone, "A.Test", "AAAA")
    assert [record.data for record in six.answer] == [pycares.AAAARecordData("2001:db8::1")]


def test_aliases() -> None:
    zone = {"a.test": Reply(alias="b.test"), "b.test": addresses("192.0.2.1")}
    found, _ = ask(zone, "a.test")
    assert [(record.name, record.type) for record in found.answer] == [
        ("a.test", CNAME),
        ("b.test", A),
    ]


def test_a_loop_of_aliases_ends() -> None:
    server = DnsServer({"a.test": Reply(alias="b.test"), "b.test": Reply(alias="a.test")})
    message = server.answer(query("a.test"))
    assert message is not None
    assert code_of(message) == 0
    assert message[6:8] == b"\0\x08"


def test_the_first_pattern_counts() -> None:
    server = DnsServer({"A.test": SERVFAIL, "*.test": NODATA})
    assert code_of(server.answer(query("a.test"))) == 2
    assert code_of(server.answer(query("b.test"))) == 0
    assert code_of(server.answer(query("a.example"))) == 3


def test_replies_in_turn_by_name_and_type() -> None:
    server = DnsServer({"*.test": (addresses("192.0.2.1"), SERVFAIL, NXDOMAIN)})
    codes = [code_of(server.answer(query("a.test"))) for _ in range(4)]
    assert codes == [0, 2, 3, 3]
    assert code_of(server.answer(query("a.test", AAAA))) == 0
    assert code_of(server.answer(query("b.test"))) == 0
    assert (server.asked("a.test"), server.asked("a.test", AAAA)) == (4, 1)


def test_oddities() -> None:
    server = DnsServer(
        {
            "silent.test": SILENCE,
            "half.test": Reply(("192.0.2.1",), silent_for=(AAAA,)),
            "cut.test": TRUNCATED,
            "forged.test": Reply(("192.0.2.1",), wrong_id=True),
            "noise.test": Reply(garbage=b"noise"),
        }
    )
    assert server.answer(query("silent.test")) is None
    assert server.answer(query("half.test")) is not None
    assert server.answer(query("half.test", AAAA)) is None
    assert (server.answer(query("cut.test")) or b"")[2] & 0x02
    assert (server.answer(query("forged.test")) or b"")[:2] == b"\xed\xcb"
    assert server.answer(query("noise.test")) == b"\x12\x34noise"
    assert len(server.queries) == 6


# Servers


def test_a_server_in_a_thread() -> None:
    with serve_in_thread({"a.test": addresses("192.0.2.1")}) as server:
        assert server.address == f"127.0.0.1:{server.port}"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(10)
            for noise in (b"", b"noise"):
                client.sendto(noise, ("127.0.0.1", server.port))
            client.sendto(HEADER + query("a.test").question, ("127.0.0.1", server.port))
            assert client.recv(512).endswith(bytes([192, 0, 2, 1]))
        assert [found.name for found in server.queries] == ["a.test"]


def test_a_server_is_for_this_machine_alone() -> None:
    async def run() -> None:
        async with serve({}, "0.0.0.0"):
            pass

    with pytest.raises(UsageError, match="loopback"):
        asyncio.run(run())
