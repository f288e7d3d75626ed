"""Writes WARC files, each with its CDXJ index."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, NamedTuple

from gossamer import __version__
from gossamer.storage.errors import disk_errors
from gossamer.storage.kept_objects import create_kept, write_kept
from gossamer.storage.task_output import Row, file_row
from gossamer.storage.warc import cdxj
from gossamer.storage.warc.records import block_digest, plain, warc_date, warc_fields, warc_record

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from gossamer.storage.opening import NewFile

HTTP_RESPONSE = "application/http; msgtype=response"
HTTP_REQUEST = "application/http; msgtype=request"
WARC_FIELDS = "application/warc-fields"
PROFILES = "http://netpreserve.org/warc/1.1/revisit"
ARCHIVE = ".warc.gz"
"""How the name of a file ends."""
_ID_PREFIX_CHARS = len("01234567-0123-4567-0123-")


def index_path(path: str) -> str:
    """The path of the index of a WARC file."""
    return path.removesuffix(ARCHIVE) + ".cdxj"


class Capture(NamedTuple):
    """An exchange to archive: the request and its answer."""

    url: str
    date_ms: int
    """When the exchange began, in Unix time."""
    body: bytes
    digest: str | None
    """Digest of the body, or, for a 304, of the body stored earlier."""
    head: bytes = b""
    """Head of the HTTP response; empty for schemes that have none."""
    request: bytes = b""
    status: int | None = None
    content_type: str = ""
    """The Content-Type as sent."""
    address: str | None = None
    """IP address of the server."""
    truncated: str | None = None
    """Why the body is incomplete: length, time, disconnect or unspecified."""
    notes: Mapping[str, object] = {}
    """Fields of the metadata record."""


class Known(NamedTuple):
    """The answer that a revisit refers to. It was stored earlier, maybe in another file."""

    url: str
    date_ms: int | None
    not_modified: bool = False
    """Whether the server sent a 304; otherwise the digests are equal."""
    record_id: str | None = None
    offset: int = -1
    """The offset of its record, if it is in this file."""


class WarcWriter:
    """Writes one file of the dataset warc. `attempt` is a folder from `Store.attempt`.

    The first exchange creates the file.

    Invariants
      * `size` is the offset of the next record. The file ends there even after an error, so it
        holds only complete exchanges.
      * `_index` has a line for each exchange, and `_stored` an entry for each stored body.
    """

    def __init__(self, root: str, attempt: str, info: Mapping[str, str]) -> None:
        self.path = f"{attempt}/{uuid.uuid4().hex}{ARCHIVE}"
        self.size = 0
        self._root = root
        self._full_path = f"{root}/{self.path}"
        self._name = self.path.rpartition("/")[2]
        self._file: NewFile | None = None
        self._info = info
        # Record ids are one random UUID per file, with a counter in its last 48 bits.
        self._id_prefix = f"<urn:uuid:{str(uuid.uuid4())[:_ID_PREFIX_CHARS]}"
        self._ids = 0
        self._info_id = self._next_id()
        self._index: list[bytes] = []
        self._stored: dict[tuple[str | None, Hashable], Known] = {}

    def write(self, capture: Capture, likeness: Hashable = None) -> int:
        """Append an exchange and return the offset of the record with its body. Raises StoreFull.

        Of bodies with the same digest and `likeness`, only the first is stored; the others become
        revisits that refer to it. So `likeness` must hold everything in an answer, apart from its
        body, that readers of the body need.
        """
        stored = self._stored.get((capture.digest, likeness)) if capture.body else None
        if stored is not None:
            self.revisit(capture, stored)
            return stored.offset
        file = self._open_archive(capture.date_ms)
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
        """Append an exchange without its body, which is already stored. Raises StoreFull."""
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
        file = self._open_archive(capture.date_ms)
        self._append(file, capture, "revisit", self._next_id(), fields, capture.head)

    def close(self) -> list[Row]:
        """Close the file, write its index and return both as rows of YIELD.

        The rows count exchanges. A file without any exchange gets no rows.
        """
        if self._file is None:
            return []
        self._file.close()
        if not self._index:
            return []
        index = b"".join(sorted(self._index))
        index_file = index_path(self.path)
        lines = write_kept(f"{self._root}/{index_file}", index)
        return [
            file_row("warc", self.path, len(self._index), self.size, self._file.xxh3),
            file_row("warc", index_file, 0, lines.size, lines.xxh3),
        ]

    def _append(
        self, file: NewFile, capture: Capture, kind: str, record_id: str, fields: str, block: bytes
    ) -> None:
        """Append the records of an exchange: answer, request and metadata, all or none."""
        date = warc_date(capture.date_ms)
        address = f"WARC-IP-Address: {capture.address}\r\n" if capture.address else ""
        about = (
            f"WARC-Target-URI: {capture.url}\r\nWARC-Date: {date}\r\n{address}"
            f"WARC-Warcinfo-ID: {self._info_id}\r\n"
        )
        answer = warc_record(kind, record_id, about + fields, block)
        records = [answer]
        concurrent = (
            ("request", HTTP_REQUEST, capture.request),
            ("metadata", WARC_FIELDS, warc_fields(capture.notes)),
        )
        for concurrent_kind, content_type, text in concurrent:
            if text:
                fields = (
                    f"{about}WARC-Concurrent-To: {record_id}\r\n{block_digest(text)}"
                    f"Content-Type: {content_type}\r\n"
                )
                records.append(warc_record(concurrent_kind, self._next_id(), fields, text))
        offset = self.size
        self._put(file, b"".join(records))
        mime = "warc/revisit" if kind == "revisit" else plain(capture.content_type.split(";")[0])
        self._index.append(
            cdxj.cdxj_line(
                capture.url,
                date,
                mime=mime,
                status=capture.status,
                digest=capture.digest,
                length=len(answer),
                offset=offset,
                filename=self._name,
            )
        )

    def _open_archive(self, date_ms: int) -> NewFile:
        """Return the open file, created with its warcinfo record if necessary."""
        if self._file is None:
            self._file = create_kept(self._full_path)
        if not self.size:
            own = {"software": f"gossamer/{__version__}", "format": "WARC File Format 1.1"}
            block = warc_fields({**own, **self._info})
            fields = (
                f"WARC-Date: {warc_date(date_ms)}\r\nWARC-Filename: {self._name}\r\n"
                f"{block_digest(block)}Content-Type: {WARC_FIELDS}\r\n"
            )
            self._put(self._file, warc_record("warcinfo", self._info_id, fields, block))
        return self._file

    def _put(self, file: NewFile, data: bytes) -> None:
        """Append `data`, or else nothing, and raise StoreFull."""
        with disk_errors(self._full_path):
            file.write(data)
        self.size += len(data)

    def _next_id(self) -> str:
        self._ids += 1
        return f"{self._id_prefix}{self._ids:012x}>"
