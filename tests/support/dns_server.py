"""A DNS server on loopback that answers, fails and lies as configured (RFC 1035, over UDP).

    zone = {"*.test": addresses("192.0.2.7"), "gone.test": NXDOMAIN, "slow.test": SILENCE}
    async with serve(zone) as server:
        ...  # look names up at server.address
        server.queries  # the queries received, in order

A zone maps name patterns to replies. The first pattern that matches counts; a name that no
pattern matches does not exist. From a sequence of replies, successive queries for the same name
and type get one each, in order, and then always the last one:
`(addresses("8.8.8.8", ttl_s=0), addresses("127.0.0.1"))` is DNS rebinding. The server does not
listen on TCP, so a client that retries a truncated reply there is refused.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from gossamer.fakeweb.http_server import loopback_addresses

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

A, CNAME, AAAA = 1, 5, 28
IN = 1
NO_ERROR, FORMAT_ERROR, SERVER_FAILURE, NAME_ERROR, REFUSED_BY_POLICY = 0, 1, 2, 3, 5
"""Response codes (RFC 1035 §4.1.1)."""
RESPONSE, AUTHORITATIVE, TRUNCATION, RECURSION_DESIRED, RECURSION_AVAILABLE = (
    0x8000, 0x0400, 0x0200, 0x0100, 0x0080,
)  # fmt: skip
MAX_ALIASES = 8
"""Maximum number of CNAMEs in one reply, which ends CNAME loops."""
MAX_LABEL_BYTES = 63
_HEADER = struct.Struct("!6H")
_FIXED = struct.Struct("!HHIH")
"""The part of a resource record between name and data: type, class, TTL, data length."""
_QUESTION_NAME = struct.pack("!H", 0xC000 | _HEADER.size)
"""A pointer to the name in the question (RFC 1035 §4.1.4)."""


class Query(NamedTuple):
    """A query as received. `name` is in lower case, without the final dot."""

    id: int
    name: str
    type: int
    question: bytes
    """The question section as sent; a reply must repeat its capitals (0x20 encoding)."""
    recursion_desired: bool


@dataclass(frozen=True)
class Reply:
    """The reply to a query. By default, the name exists and has no address (NODATA)."""

    addresses: tuple[str, ...] = ()
    """IPv4 addresses answer queries of type A, IPv6 addresses those of type AAAA."""
    ttl_s: int = 300
    alias: str = ""
    """The target of a CNAME; the zone's records of that name follow in the same reply."""
    code: int = NO_ERROR
    silent_for: tuple[int, ...] = ()
    """Query types that get no answer."""
    truncated: bool = False
    wrong_id: bool = False
    """Reply with another id than the query's, like an attacker who tries to poison a cache."""
    garbage: bytes | None = None
    """Bytes that are sent instead of a message. The query's id precedes them, so that the client
    takes them for its answer."""


Zone: TypeAlias = Mapping[str, Reply | Sequence[Reply]]
NODATA = Reply()
NXDOMAIN = Reply(code=NAME_ERROR)
SERVFAIL = Reply(code=SERVER_FAILURE)
REFUSED = Reply(code=REFUSED_BY_POLICY)
SILENCE = Reply(silent_for=(A, AAAA))
TRUNCATED = Reply(truncated=True)


def addresses(*texts: str, ttl_s: int = 300) -> Reply:
    return Reply(texts, ttl_s)


def parse(message: bytes) -> Query | None:
    """Return the query in a message, None if it is invalid. Ignore bytes after the question."""
    try:
        number, flags, questions, *_ = _HEADER.unpack_from(message)
        labels, at = [], _HEADER.size
        while length := message[at]:
            if length > MAX_LABEL_BYTES:
                return None
            labels.append(message[at + 1 : at + 1 + length].decode("ascii").lower())
            at += 1 + length
        kind, _ = struct.unpack_from("!HH", message, at + 1)
    except (struct.error, IndexError, UnicodeDecodeError):
        return None
    if flags & RESPONSE or questions != 1:
        return None
    question = message[_HEADER.size : at + 5]
    return Query(number, ".".join(labels), kind, question, bool(flags & RECURSION_DESIRED))


def encode_name(name: str) -> bytes:
    labels = [label.encode("ascii") for label in name.rstrip(".").split(".")]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


class DnsServer(asyncio.DatagramProtocol):
    """A running server: its `address` (`127.0.0.1:port`) and the `queries` it has received."""

    def __init__(self, zone: Zone) -> None:
        self.queries: list[Query] = []
        self.address = ""
        self._zone = {pattern.lower(): reply for pattern, reply in zone.items()}
        self._asked: Counter[tuple[str, int]] = Counter()

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def asked(self, name: str, kind: int = A) -> int:
        """Return how many queries of type `kind` have arrived for a name."""
        return self._asked[name, kind]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)
        host, port = transport.get_extra_info("sockname")[:2]
        self.address = f"{host}:{port}"

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        query = parse(data)
        if query is not None and (message := self.answer(query)) is not None:
            self._transport.sendto(message, addr)

    def answer(self, query: Query) -> bytes | None:
        """Count a query and return the message that answers it; None if it gets no answer."""
        self.queries.append(query)
        turn = self._asked[query.name, query.type]
        self._asked[query.name, query.type] += 1
        reply = self._reply(query.name, turn)
        if query.type in reply.silent_for:
            return None
        if reply.garbage is not None:
            return struct.pack("!H", query.id) + reply.garbage
        code, records = self._records(query, reply, turn)
        flags = RESPONSE | AUTHORITATIVE | RECURSION_AVAILABLE | code
        flags |= RECURSION_DESIRED * query.recursion_desired | TRUNCATION * reply.truncated
        number = query.id ^ 0xFFFF if reply.wrong_id else query.id
        return (
            _HEADER.pack(number, flags, 1, len(records), 0, 0) + query.question + b"".join(records)
        )

    def _reply(self, name: str, turn: int) -> Reply:
        found = next(
            (reply for pattern, reply in self._zone.items() if fnmatchcase(name, pattern)), NXDOMAIN
        )
        return found if isinstance(found, Reply) else found[min(turn, len(found) - 1)]

    def _records(self, query: Query, reply: Reply, turn: int) -> tuple[int, list[bytes]]:
        """Return the response code and the answer section, following aliases within the zone."""
        records: list[bytes] = []
        owner = _QUESTION_NAME
        while reply.alias and len(records) < MAX_ALIASES:
            target = encode_name(reply.alias)
            records.append(_record(owner, CNAME, reply.ttl_s, target))
            owner, reply = target, self._reply(reply.alias, turn)
        for text in () if reply.alias else reply.addresses:
            address = ip_address(text)
            kind = A if address.version == 4 else AAAA
            if kind == query.type:
                records.append(_record(owner, kind, reply.ttl_s, address.packed))
        return reply.code, records


def _record(owner: bytes, kind: int, ttl_s: int, data: bytes) -> bytes:
    return owner + _FIXED.pack(kind, IN, ttl_s, len(data)) + data


@asynccontextmanager
async def serve(zone: Zone, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[DnsServer]:
    """Serve while the context is open. Port 0 chooses a free port.

    Raises UsageError for an address that is not loopback.
    """
    (address,) = loopback_addresses(host, 1)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as silent:  # so that nobody else listens there on TCP
        silent.bind((address, port))
        transport, server = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: DnsServer(zone), silent.getsockname()[:2]
        )
        try:
            yield server
        finally:
            transport.close()
            await asyncio.sleep(0)  # the transport closes in the event loop's next iteration


@contextmanager
def serve_in_thread(zone: Zone) -> Iterator[DnsServer]:
    """Like `serve`, but in its own thread, for callers without an event loop."""
    started, stop = threading.Event(), asyncio.Event()
    servers: list[DnsServer] = []
    loop = asyncio.new_event_loop()

    async def main() -> None:
        async with serve(zone) as server:
            servers.append(server)
            started.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(main(),))
    thread.start()
    started.wait()
    try:
        yield servers[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
