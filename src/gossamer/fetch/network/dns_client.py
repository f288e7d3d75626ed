"""DNS look-ups by c-ares: from a name to its addresses, or to the reason why there are none.

Facts (c-ares 1.34, pycares 5, aiodns 4)
  * c-ares caches answers, at 2.8 KB per name, for an hour and without a limit on their number;
    pycares cannot turn that off. So a channel serves for CHANNEL_S or CHANNEL_NAMES only. That is
    no longer than the shortest time for which the resolver keeps an answer.
  * Its time limit for a query is five times the server's average, at least 250 ms and initially
    QUERY_S, and doubles with each try. With TRIES, a name gets 7.75 s of a server that is fast for
    others. LOOKUP_S ends look-ups that take longer, for instance with several dead servers, and
    those that c-ares forgets (c-ares issue 1000).
  * A malformed answer closes its connection, and all queries that wait there are sent again, up to
    TRIES times: then they count as malformed, too. So a name with that result is asked for again,
    on a channel of its own, and a stranger's server harms its own names only.
  * The TTL of an address does not include those of the aliases (CNAME) that led to it.
  * /etc/hosts and `localhost` (RFC 6761 §6.3) need no server. Search domains of resolv.conf are
    not used: a stranger's http://intranet/ must not become a name of our own network.
"""

from __future__ import annotations

import asyncio
import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import aiodns
import pycares
from aiodns import error as ares

from gossamer.config.network_addresses import nameserver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

QUERY_S = 2.0
TRIES = 5
LOOKUP_S = 10.0
CHANNEL_S = 30.0
CHANNEL_NAMES = 4096
MAX_ADDRESSES = 16
"""Addresses kept per name. A server may send thousands."""

NEGATIVE_TTL_S = 300
"""For a name that does not exist. RFC 2308 §5 uses the SOA record, which c-ares does not expose."""
FAILURE_TTL_S = 30
"""For a server that fails: RFC 9520 §3.2 requires at least 1 s and at most 300 s."""

_AI_NOSORT = 1 << 7
"""ARES_AI_NOSORT: sorting by RFC 6724 would open a socket for each address."""
_NAME = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9_-]{1,63}\.)*(?!(?:[0-9]+|0x[0-9a-f]*)\Z)[a-z0-9_-]{1,63}",
    re.ASCII | re.IGNORECASE,
)
"""Valid DNS names, without their last dot. A name must not end in a number (WHATWG URL, "ends in a
number"): c-ares takes 0177.0.0.1 for the address 177.0.0.1."""


class Failure(NamedTuple):
    text: str
    code: int
    """An error code of getaddrinfo: EAI_…"""
    ttl_s: float = FAILURE_TTL_S


class DnsResult(NamedTuple):
    """The result of a look-up: either `addresses` or `failure`."""

    addresses: tuple[str, ...]
    """IPv4 first, because it works wherever there is a network at all."""
    ttl_s: float
    failure: Failure | None = None


TIMED_OUT = Failure("DNS timed out", socket.EAI_AGAIN)
BAD_NAME = Failure("not a valid DNS name", socket.EAI_NONAME, NEGATIVE_TTL_S)
MALFORMED = Failure("the DNS server's answer is malformed", socket.EAI_FAIL)
CLOSED = Failure("the look-up was cancelled", socket.EAI_FAIL)
_FAILURES: Mapping[int, Failure] = {
    ares.ARES_ENOTFOUND: Failure("no such name (NXDOMAIN)", socket.EAI_NONAME, NEGATIVE_TTL_S),
    ares.ARES_ENODATA: Failure("the name has no address", socket.EAI_NODATA, NEGATIVE_TTL_S),
    ares.ARES_EBADNAME: BAD_NAME,
    ares.ARES_ESERVFAIL: Failure("the DNS server failed (SERVFAIL)", socket.EAI_AGAIN),
    ares.ARES_EREFUSED: Failure("the DNS server refused to answer (REFUSED)", socket.EAI_FAIL),
    ares.ARES_EBADRESP: MALFORMED,
    ares.ARES_ECONNREFUSED: Failure("no DNS server can be reached", socket.EAI_AGAIN),
    ares.ARES_ETIMEOUT: TIMED_OUT,
    ares.ARES_ECANCELLED: CLOSED,
}


@dataclass(eq=False)
class _Channel:
    ares: aiodns.DNSResolver
    opened_s: float
    asked: int = 0
    waiting: int = 0


class Dns:
    """A client of `nameservers` (`address` or `address:port`), by default of the system's.

    Invariant: a channel is open while it is the current one or a look-up waits for it.
    The methods need a running event loop. The constructor raises ConfigError.
    """

    def __init__(self, nameservers: Iterable[str], clock: Callable[[], float]) -> None:
        self._servers = [nameserver(text) for text in nameservers]
        self._clock = clock
        self._current: _Channel | None = None
        self._open: set[_Channel] = set()
        self._closed = False

    async def look_up(self, name: str) -> DnsResult:
        """Look up A and AAAA of an ASCII name. All errors become a Failure.

        It takes at most LOOKUP_S, or twice that if the first answer was malformed.
        """
        if not _NAME.fullmatch(name):
            return _dns_failure(BAD_NAME)
        if self._closed:
            return _dns_failure(CLOSED)
        found = await self._ask(name, await self._channel())
        if found.failure == MALFORMED and not self._closed:
            found = await self._ask(name, self._open_channel())
        return found

    async def _ask(self, name: str, channel: _Channel) -> DnsResult:
        channel.asked += 1
        channel.waiting += 1
        try:
            async with asyncio.timeout(LOOKUP_S):
                found = await channel.ares.getaddrinfo(
                    name, type=socket.SOCK_STREAM, flags=_AI_NOSORT
                )
        except TimeoutError:
            return _dns_failure(TIMED_OUT)
        except ares.DNSError as error:
            code, text = error.args
            return _dns_failure(
                _FAILURES.get(code, Failure(f"DNS failed ({text})", socket.EAI_FAIL))
            )
        finally:
            channel.waiting -= 1
            await self._retire(channel)
        return _to_dns_result(found)

    async def close(self) -> None:
        """Close all channels; pending look-ups fail."""
        self._closed = True
        self._current = None
        while self._open:
            await self._open.pop().ares.close()

    async def _channel(self) -> _Channel:
        now_s, last = self._clock(), self._current
        if last and now_s - last.opened_s < CHANNEL_S and last.asked < CHANNEL_NAMES:
            return last
        current = self._current = self._open_channel()
        if last:
            await self._retire(last)
        return current

    def _open_channel(self) -> _Channel:
        channel = _Channel(
            aiodns.DNSResolver(
                self._servers,
                timeout=QUERY_S,
                tries=TRIES,
                flags=pycares.ARES_FLAG_EDNS | pycares.ARES_FLAG_NOSEARCH,
            ),
            self._clock(),
        )
        self._open.add(channel)
        return channel

    async def _retire(self, channel: _Channel) -> None:
        if channel is not self._current and not channel.waiting and channel in self._open:
            self._open.discard(channel)
            await channel.ares.close()


def _to_dns_result(result: pycares.AddrInfoResult) -> DnsResult:
    nodes = sorted(result.nodes, key=lambda node: node.family != socket.AF_INET)
    ttls = [*(node.ttl for node in nodes), *(alias.ttl for alias in result.cnames)]
    return DnsResult(tuple(node.addr[0].decode() for node in nodes[:MAX_ADDRESSES]), min(ttls))


def _dns_failure(failure: Failure) -> DnsResult:
    return DnsResult((), failure.ttl_s, failure)
