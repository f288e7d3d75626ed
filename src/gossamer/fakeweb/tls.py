"""TLS on loopback: one port, on which SNI determines how the handshake proceeds.

A connection begins in plain TCP. Its first record is read with MSG_PEEK, which leaves it in the
socket for the TLS handshake, and the server name in it (RFC 6066 §3) selects the case. Names
outside the catalogue get a valid certificate, issued on first use, and the same web as on the
plain port.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
import tempfile
import warnings
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.errors import GossamerError
from gossamer.fakeweb.hostile.case import DOMAIN, Certificate, Handshake
from gossamer.fakeweb.hostile.catalogue import CATALOGUE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import ModuleType

    from gossamer.fakeweb.hostile.act import Act

TLS_HOSTS = f"tls-*.{DOMAIN}"
CA_FILE = "ca.pem"
MAX_CONTEXTS = 1_024
HANDSHAKE = 22  # a record type (RFC 8446 §5.1)
RECORD_HEAD_BYTES = 5
MAX_RECORD_BYTES = 16 << 10
HELLO_HEAD_BYTES = 4 + 2 + 32  # type and length, version, random (RFC 8446 §4.1.2)
SERVER_NAME = 0
HELLO_S = 10.0  # the time a client has to send its ClientHello
DAY = timedelta(days=1)

_HOST = re.compile(rb"[A-Za-z0-9._-]{1,253}")  # RFC 1035 §2.3.4

Failed = Callable[[int, str], None]
"""Called after a failed handshake, with the client's port and the host's name or ""."""


class Certificates:
    """A test CA and a TLS context per host name. Raises GossamerError if trustme is missing."""

    def __init__(self) -> None:
        trustme = _trustme()
        self._ca = trustme.CA()
        self._unknown_ca = trustme.CA()
        self.context = lru_cache(maxsize=MAX_CONTEXTS)(self._context)

    def ca_pem(self) -> bytes:
        """Return the CA certificate, which a client must trust, as PEM."""
        return self._ca.cert_pem.bytes()  # type: ignore[no-any-return]

    def _context(self, name: str, handshake: Handshake) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if handshake.old:
            # SECLEVEL=0: at its default level, OpenSSL 3 has no signature algorithm for TLS 1.1.
            context.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings():  # these versions are deprecated, which is the point
                warnings.simplefilter("ignore", DeprecationWarning)
                context.minimum_version = ssl.TLSVersion.TLSv1
                context.maximum_version = ssl.TLSVersion.TLSv1_1
        if handshake.certificate is Certificate.SELF_SIGNED:
            ca = self._unknown_ca  # a root certificate is self-signed
            with ca.private_key_pem.tempfile() as key, ca.cert_pem.tempfile() as certificate:
                context.load_cert_chain(certificate, key)
            return context
        issuer = self._unknown_ca if handshake.certificate is Certificate.OTHER_CA else self._ca
        now = datetime.now(UTC)
        validity = {
            Certificate.EXPIRED: {"not_before": now - 60 * DAY, "not_after": now - 30 * DAY},
            Certificate.FUTURE: {"not_before": now + 30 * DAY, "not_after": now + 60 * DAY},
        }.get(handshake.certificate, {})
        if handshake.certificate is Certificate.OTHER_NAME:
            name = f"other.{DOMAIN}"
        issuer.issue_cert(name, **validity).configure_cert(context)
        return context


class TlsPort:
    """The port's `address` as host:port, and `ca_file`, which clients must trust."""

    def __init__(
        self,
        listening: socket.socket,
        ca_file: Path,
        certificates: Certificates,
        make: Callable[[str, Act | None], asyncio.Protocol],
        failed: Failed,
    ) -> None:
        """`make` builds the protocol of a connection from the host's name and greeting."""
        host, port = listening.getsockname()
        self.address = f"{host}:{port}"
        self.ca_file = ca_file
        self._listening = listening
        self._certificates = certificates
        self._make = make
        self._failed = failed
        self._greetings: set[asyncio.Task[None]] = set()

    async def accept(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while True:
                connection, client = await loop.sock_accept(self._listening)
                task = loop.create_task(self._greet(connection, client[1]))
                self._greetings.add(task)
                task.add_done_callback(self._greetings.discard)
        finally:
            for task in self._greetings:
                task.cancel()

    async def _greet(self, connection: socket.socket, client_port: int) -> None:
        name = ""
        try:
            async with asyncio.timeout(HELLO_S):
                name = server_name(await _first_record(connection))
            await self._take_over(connection, name)
        except (OSError, ValueError):  # ValueError: a name that no certificate can have
            self._failed(client_port, name)
            connection.close()
        except asyncio.CancelledError:
            connection.close()
            raise

    async def _take_over(self, connection: socket.socket, name: str) -> None:
        case = CATALOGUE.get(name.removesuffix(f".{DOMAIN}"))
        handshake = (case and case.tls) or Handshake()
        plain = handshake.certificate is Certificate.NONE
        await asyncio.get_running_loop().connect_accepted_socket(
            lambda: self._make(name, handshake.greeting),
            connection,
            ssl=None if plain else self._certificates.context(name or DOMAIN, handshake),
        )


@contextlib.asynccontextmanager
async def open_tls(
    listening: socket.socket, make: Callable[[str, Act | None], asyncio.Protocol], failed: Failed
) -> AsyncIterator[TlsPort]:
    """Serve TLS on a bound socket while the context is open."""
    listening.setblocking(False)
    listening.listen()
    certificates = Certificates()
    with _ca_folder(certificates.ca_pem()) as folder, listening:
        port = TlsPort(listening, Path(folder, CA_FILE), certificates, make, failed)
        accepting = asyncio.create_task(port.accept())
        try:
            yield port
        finally:
            accepting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await accepting


async def _first_record(connection: socket.socket) -> bytes:
    """Return the first TLS record and leave it in the socket.

    If the bytes are not a TLS handshake or end early, return those that have arrived.
    """
    loop = asyncio.get_running_loop()
    seen = b""
    wanted = RECORD_HEAD_BYTES
    while len(seen) < wanted:
        # The socket becomes readable when the whole record is there, not with each byte of it.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wanted)
        await _readable(loop, connection)
        before, seen = seen, connection.recv(wanted, socket.MSG_PEEK)
        if len(seen) == len(before) or seen[0] != HANDSHAKE:
            break
        if len(seen) >= RECORD_HEAD_BYTES:
            wanted = RECORD_HEAD_BYTES + min(int.from_bytes(seen[3:5], "big"), MAX_RECORD_BYTES)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
    return seen


async def _readable(loop: asyncio.AbstractEventLoop, connection: socket.socket) -> None:
    ready: asyncio.Future[None] = loop.create_future()

    def read() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(connection, read)
    try:
        await ready
    finally:
        loop.remove_reader(connection)


def server_name(record: bytes) -> str:
    """Return the host name in a ClientHello (RFC 8446 §4.1.2), in lower case, or "".

    An invalid host name becomes "", because the name is written to the log.
    """
    try:
        name = _server_name(record)
    except IndexError:
        return ""
    return name.decode().lower() if _HOST.fullmatch(name) else ""


def _server_name(record: bytes) -> bytes:
    at = RECORD_HEAD_BYTES + HELLO_HEAD_BYTES
    at += 1 + record[at]  # session id
    at += 2 + _uint16(record, at)  # cipher suites
    at += 1 + record[at]  # compression methods
    at += 2
    while at < len(record):
        kind, size = _uint16(record, at), _uint16(record, at + 2)
        if kind == SERVER_NAME:  # the name follows list length, name type and name length
            return record[at + 9 : at + 4 + size]
        at += 4 + size
    return b""


def _uint16(data: bytes, at: int) -> int:
    return data[at] << 8 | data[at + 1]


def _ca_folder(pem: bytes) -> tempfile.TemporaryDirectory[str]:
    """Create a temporary folder with CA_FILE in it."""
    folder = tempfile.TemporaryDirectory(prefix="fakeweb-tls-")
    Path(folder.name, CA_FILE).write_bytes(pem)
    return folder


def _trustme() -> ModuleType:
    try:
        import trustme
    except ImportError:
        raise GossamerError(
            "fakeweb --tls", "cannot issue certificates without trustme", "pip install trustme"
        ) from None
    return trustme
