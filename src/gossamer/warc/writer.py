"""Writes WARC files, each with its index."""

from __future__ import annotations

import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gossamer import __version__
from gossamer.backends import disk_errors
from gossamer.layers import Row, written
from gossamer.warc import cdxj
from gossamer.warc.records import block_digest, plain, record, warc_date, warc_fields

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from io import FileIO

HTTP_RESPONSE = "application/http; msgtype=response"
HTTP_REQUEST = "application/http; msgtype=request"
WARC_FIELDS = "application/warc-fields"
PROFILES = "http://netpreserve.org/warc/1.1/revisit"
_ID_PREFIX_CHARS = len("01234567-0123-4567-0123-")


class Capture(NamedTuple):
    """An exchange, as it is archived."""

    url: str
    date_ms: int
    """When it began."""
    body: bytes
    digest: str | None
    """Of the body, or of the one stored earlier that this answer stands for."""
    head: bytes = b""
    """Of the HTTP response; empty where the scheme has none."""
    request: bytes = b""
    status: int | None = None
    content_type: str = ""
    """As sent."""
    address: str | None = None
    """IP address of the server."""
    truncated: str | None = None
    """Why the body is not whole: length, time, disconnect or unspecified."""
    notes: Mapping[str, object] = {}
    """Fields of the metadata record."""


class Known(NamedTuple):
    """What a revisit refers to: an answer that was stored earlier, maybe in another file."""

    url: str
    date_ms: int | None
    not_modified: bool = False
    """The server said so (304), and we did not compare."""
    record_id: str | None = None
    offset: int = -1
    """Where it is, if it is in this file."""


class WarcWriter:
    """One file of the dataset warc. `attempt` is a folder from `Store.attempt`.

    It is created by the first exchange.

    Invariants
      * `size` is where the next record will start. After an error, too, the file ends there, so
        that it holds whole exchanges and nothing else.
      * `_index` has a line for each of them, and `_stored` each body.
    """

    def __init__(self, root: str, attempt: str, info: Mapping[str, str]) -> None:
        stem = uuid.uuid4().hex
        self.path = f"{attempt}/{stem}.warc.gz"
        self.size = 0
        self._index_path = f"{attempt}/{stem}.cdxj"
        self._root = Path(root)
        self._full_path = self._root / self.path
        self._name = self._full_path.name
        self._file: FileIO | None = None
        self._info = info
        # A random UUID for the file, and its records counted in the last 48 bits of it.
        self._id_prefix = f"<urn:uuid:{str(uuid.uuid4())[:_ID_PREFIX_CHARS]}"
        self._ids = 0
        self._info_id = self._next_id()
        self._index: list[bytes] = []
        self._stored: dict[tuple[str | None, Hashable], Known] = {}

    def write(self, capture: Capture, likeness: Hashable = None) -> int:
        """Append an exchange; the offset of the record that holds its body. Raises StoreFull.

        Of bodies with the same digest and `likeness` only the first is stored, and revisits
        refer to it. What a reader needs of an answer beside its body belongs into `likeness`.
        """
        stored = self._stored.get((capture.digest, likeness)) if capture.body else None
        if stored is not None:
            self.revisit(capture, stored)
            return stored.offset
        file = self._begun(capture.date_ms)
        offset = self.size
        record_id = self._next_id()
        fields = f"WARC-Payload-Digest: sha1:{capture.digest}\r\n"
        if capture.truncated is not None:
            fields += f"WARC-Truncated: {capture.truncated}\r\n"
        if capture.head:
            kind, block = "response", capture.head + capture.body
            fields += f"Content-Type: {HTTP_RESPONSE}\r\n"
        else:
            kind, block = "resource", capture.body
            if content_type := plain(capture.content_type):
                fields += f"Content-Type: {content_type}\r\n"
        self._append(file, capture, kind, record_id, fields, block)
        if capture.body:
            self._stored[capture.digest, likeness] = Known(
                capture.url, capture.date_ms, record_id=record_id, offset=offset
            )
        return offset

    def revisit(self, capture: Capture, known: Known) -> None:
        """Append an exchange without its body, which is stored already. Raises StoreFull."""
        profile = "server-not-modified" if known.not_modified else "identical-payload-digest"
        fields = f"WARC-Profile: {PROFILES}/{profile}\r\nWARC-Refers-To-Target-URI: {known.url}\r\n"
        if known.date_ms is not None:
            fields += f"WARC-Refers-To-Date: {warc_date(known.date_ms)}\r\n"
        if known.record_id is not None:
            fields += f"WARC-Refers-To: {known.record_id}\r\n"
        if capture.digest is not None:
            fields += f"WARC-Payload-Digest: sha1:{capture.digest}\r\n"
        if capture.head:
            if not known.not_modified:
                fields += "WARC-Truncated: length\r\n"
            fields += f"{block_digest(capture.head)}Content-Type: {HTTP_RESPONSE}\r\n"
        file = self._begun(capture.date_ms)
        self._append(file, capture, "revisit", self._next_id(), fields, capture.head)

    def close(self) -> list[Row]:
        """The file and its index as rows of YIELD, its exchanges counted; none if it has none."""
        if self._file is None:
            return []
        self._file.close()
        if not self._index:
            return []
        index = b"".join(sorted(self._index))
        path = self._root / self._index_path
        with disk_errors(path):
            path.write_bytes(index)
        return [
            written("warc", self.path, len(self._index), self.size),
            written("warc", self._index_path, 0, len(index)),
        ]

    def _append(
        self,
        file: FileIO,
        capture: Capture,
        kind: str,
        record_id: str,
        fields: str,
        block: bytes,
    ) -> None:
        """What came, the request, and what we know of both; all or nothing."""
        date = warc_date(capture.date_ms)
        address = f"WARC-IP-Address: {capture.address}\r\n" if capture.address else ""
        about = (
            f"WARC-Target-URI: {capture.url}\r\nWARC-Date: {date}\r\n{address}"
            f"WARC-Warcinfo-ID: {self._info_id}\r\n"
        )
        came = record(kind, record_id, about + fields, block)
        records = [came]
        beside = (
            ("request", HTTP_REQUEST, capture.request),
            ("metadata", WARC_FIELDS, warc_fields(capture.notes)),
        )
        for kind_beside, content_type, text in beside:
            if text:
                fields = (
                    f"{about}WARC-Concurrent-To: {record_id}\r\n{block_digest(text)}"
                    f"Content-Type: {content_type}\r\n"
                )
                records.append(record(kind_beside, self._next_id(), fields, text))
        offset = self.size
        self._put(file, b"".join(records))
        mime = "warc/revisit" if kind == "revisit" else plain(capture.content_type.split(";")[0])
        self._index.append(
            cdxj.line(
                capture.url,
                date,
                mime=mime,
                status=capture.status,
                digest=capture.digest,
                length=len(came),
                offset=offset,
                filename=self._name,
            )
        )

    def _begun(self, date_ms: int) -> FileIO:
        """The file, with its warcinfo record."""
        if self._file is None:
            with disk_errors(self._full_path):
                self._full_path.parent.mkdir(parents=True, exist_ok=True)
                # Without a buffer: what was written is in the file whenever a kill comes.
                self._file = self._full_path.open("xb", buffering=0)
        if not self.size:
            own = {"software": f"gossamer/{__version__}", "format": "WARC File Format 1.1"}
            block = warc_fields({**own, **self._info})
            fields = (
                f"WARC-Date: {warc_date(date_ms)}\r\nWARC-Filename: {self._name}\r\n"
                f"{block_digest(block)}Content-Type: {WARC_FIELDS}\r\n"
            )
            self._put(self._file, record("warcinfo", self._info_id, fields, block))
        return self._file

    def _put(self, file: FileIO, data: bytes) -> None:
        """Append all of it, or nothing and raise StoreFull."""
        with disk_errors(self._full_path):
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[file.write(rest) :]
            except OSError:
                with suppress(OSError):
                    file.seek(file.truncate(self.size))
                raise
        self.size += len(data)

    def _next_id(self) -> str:
        self._ids += 1
        return f"{self._id_prefix}{self._ids:012x}>"
