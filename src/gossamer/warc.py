"""WARC 1.1 (ISO 28500:2017): one file of stored pages, and its reader.

A file is a `warcinfo` record and then, for each page, its `response` and its `request`; each
record is a gzip member of its own (annex D), so that an offset is enough to read one. What the
response's HTTP head says, and why, is in docs/formats.md.

Cost, per page: 60 µs for 20 KB, 200 µs for 90 KB, most of it isal's gzip.
"""

from __future__ import annotations

import hashlib
import uuid
from base64 import b32encode
from pathlib import Path
from time import gmtime, strftime
from typing import IO, TYPE_CHECKING, NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecordType
from isal import isal_zlib

from gossamer import __version__
from gossamer.backends import disk_errors
from gossamer.layers import Row, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LEVEL = 1
"""Of isal's gzip. Measured on text: level 0 is no faster on 90 KB and a fifth larger."""
GZIP = 31
READ_BUFFER_BYTES = 1 << 20
HIDDEN = frozenset((b"content-encoding", b"transfer-encoding", b"content-length"))
"""Headers that describe the transfer, and would be wrong for what is stored."""


class StoredResponse(NamedTuple):
    """A stored page: where its record starts, its HTTP headers (names lower-case), its body."""

    offset: int
    headers: dict[str, str]
    body: bytes


class WarcWriter:
    """One file of the dataset warc. `attempt` is a folder from `Store.attempt`.

    It is created by the first page. Invariant: `size` is where the next record will start.
    """

    def __init__(self, root: str, attempt: str, info: Mapping[str, str]) -> None:
        self.path = f"{attempt}/{uuid.uuid4().hex}.warc.gz"
        self.size = 0
        self._pages = 0
        self._full_path = Path(root, self.path)
        self._file: IO[bytes] | None = None
        self._info = info
        self._info_id = _record_id()

    def write(
        self,
        url: str,
        date_ms: int,
        request_head: bytes,
        response_head: bytes,
        body: bytes,
        digest: str,
        *,
        truncated: bool,
    ) -> int:
        """Append a page; the offset of its response record. Raises StoreFull."""
        date = warc_date(date_ms)
        response_id = _record_id()
        about = f"WARC-Target-URI: {url}\r\nWARC-Date: {date}\r\nWARC-Warcinfo-ID: {self._info_id}"
        response = _record(
            f"WARC-Type: response\r\nWARC-Record-ID: {response_id}\r\n{about}\r\n"
            f"WARC-Payload-Digest: sha1:{digest}\r\n"
            + ("WARC-Truncated: length\r\n" if truncated else "")
            + "Content-Type: application/http; msgtype=response",
            response_head,
            body,
        )
        request = _record(
            f"WARC-Type: request\r\nWARC-Record-ID: {_record_id()}\r\n{about}\r\n"
            f"WARC-Concurrent-To: {response_id}\r\n"
            "Content-Type: application/http; msgtype=request",
            request_head,
        )
        with disk_errors(self._full_path):
            if self._file is None:
                self._file = self._create(date)
            offset = self.size
            self._append(self._file, response + request)
        self._pages += 1
        return offset

    def close(self) -> list[Row]:
        """The file as rows of YIELD, its pages counted: none where nothing was written."""
        if self._file is None:
            return []
        with disk_errors(self._full_path):
            self._file.close()
        return [written("warc", self.path, self._pages, self.size)]

    def _create(self, date: str) -> IO[bytes]:
        self._full_path.parent.mkdir(parents=True, exist_ok=True)
        file = self._full_path.open("xb")
        fields = {"software": f"gossamer/{__version__}", "format": "WARC File Format 1.1"}
        block = "".join(f"{name}: {text}\r\n" for name, text in {**fields, **self._info}.items())
        self._append(
            file,
            _record(
                f"WARC-Type: warcinfo\r\nWARC-Record-ID: {self._info_id}\r\nWARC-Date: {date}\r\n"
                f"WARC-Filename: {self._full_path.name}\r\nContent-Type: application/warc-fields",
                block.encode(),
            ),
        )
        return file

    def _append(self, file: IO[bytes], data: bytes) -> None:
        file.write(data)
        self.size += len(data)


def responses(path: str | Path) -> Iterator[StoredResponse]:
    """The stored pages of a file, in its order, up to the last one that is whole."""
    with Path(path).open("rb", buffering=READ_BUFFER_BYTES) as file:
        yield from _responses(file)


def read_response(path: str | Path, offset: int) -> StoredResponse:
    """The stored page at an offset. Raises ValueError where none starts there."""
    with Path(path).open("rb") as file:
        file.seek(offset)
        for response in _responses(file):
            if response.offset == offset:
                return response
            break
    raise ValueError(f"{path}: no whole response record at {offset}")


def payload_digest(body: bytes) -> str:
    """SHA-1 in base 32, as WARC-Payload-Digest has it: for identity, not for security."""
    return b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def warc_date(time_ms: int) -> str:
    seconds, ms = divmod(time_ms, 1000)
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(seconds))}.{ms:03d}Z"


def request_head(target: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """The head of a GET request. `target` is path and query."""
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"GET {target} HTTP/1.1\r\n{fields}\r\n".encode("utf-8", "surrogateescape")


def response_head(
    status: int,
    reason: str,
    headers: Iterable[tuple[bytes, bytes]],
    body_bytes: int,
    *,
    decoded: bool,
) -> bytes:
    """The head of a response as it is stored beside its decoded body (docs/formats.md, WARC).

    Content-Length stands last: a head that was cut anywhere never fits the body behind it.
    """
    lines = [f"HTTP/1.1 {status} {reason}".encode("utf-8", "surrogateescape")]
    for name, value in headers:
        folded = name.lower()
        if folded in HIDDEN and (decoded or folded != b"content-encoding"):
            lines.append(b"X-Crawler-%b: %b" % (name, value))
        else:
            lines.append(b"%b: %b" % (name, value))
    lines.append(b"Content-Length: %d\r\n\r\n" % body_bytes)
    return b"\r\n".join(lines)


def _responses(file: IO[bytes]) -> Iterator[StoredResponse]:
    records = ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True)
    while True:
        try:
            record = next(records)
            body = record.reader.read()
        except (StopIteration, OSError, EOFError):
            return
        headers: dict[str, str] = {}
        for name, text in record.http_headers or ():  # repeats are one list (RFC 9110 §5.3)
            known = headers.get(folded := name.lower())
            headers[folded] = text if known is None else f"{known}, {text}"
        # Of a record that was cut, FastWARC gives what there is of it.
        if headers.get("content-length") != str(len(body)):
            return
        yield StoredResponse(record.stream_pos, headers, body)


def _record(fields: str, *block: bytes) -> bytes:
    length = sum(map(len, block))
    head = f"WARC/1.1\r\n{fields}\r\nContent-Length: {length}\r\n\r\n".encode()
    return bytes(isal_zlib.compress(b"".join((head, *block, b"\r\n\r\n")), LEVEL, GZIP))


def _record_id() -> str:
    return f"<{uuid.uuid4().urn}>"
