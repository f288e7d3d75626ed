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
from gossamer.warc.records import one_line, record, warc_date

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from io import FileIO

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
        name = uuid.uuid4().hex
        self.path = f"{attempt}/{name}.warc.gz"
        self.size = 0
        self._index_path = f"{attempt}/{name}.cdxj"
        self._root = Path(root)
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
        if capture.head:
            kind, block = "response", capture.head + capture.body
            content_type = "application/http; msgtype=response"
        else:
            kind, block = "resource", capture.body
            content_type = one_line(capture.content_type).decode(errors="replace")
        fields = f"WARC-Payload-Digest: sha1:{capture.digest}\r\n"
        if capture.truncated is not None:
            fields += f"WARC-Truncated: {capture.truncated}\r\n"
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
            fields += "Content-Type: application/http; msgtype=response\r\n"
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
        with_it = f"{about}WARC-Concurrent-To: {record_id}\r\n"
        came = self._record(kind, record_id, about + fields, block)
        records = [came]
        if capture.request:
            fields = f"{with_it}Content-Type: application/http; msgtype=request\r\n"
            records.append(self._record("request", self._next_id(), fields, capture.request))
        if capture.notes:
            fields = f"{with_it}Content-Type: application/warc-fields\r\n"
            notes = _warc_fields(capture.notes)
            records.append(self._record("metadata", self._next_id(), fields, notes))
        offset = self.size
        self._put(file, b"".join(records))
        mime = "warc/revisit" if kind == "revisit" else capture.content_type.partition(";")[0]
        self._index.append(
            cdxj.line(
                capture.url,
                date,
                mime=mime.strip(),
                status=capture.status,
                digest=capture.digest,
                length=len(came),
                offset=offset,
                filename=Path(self.path).name,
            )
        )

    def _record(self, kind: str, record_id: str, fields: str, block: bytes) -> bytes:
        return record(f"WARC-Type: {kind}\r\nWARC-Record-ID: {record_id}\r\n{fields}", block)

    def _begun(self, date_ms: int) -> FileIO:
        """The file, with its warcinfo record."""
        path = self._root / self.path
        if self._file is None:
            with disk_errors(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                # Without a buffer: what was written is in the file whenever a kill comes.
                self._file = path.open("xb", buffering=0)
        if not self.size:
            own = {"software": f"gossamer/{__version__}", "format": "WARC File Format 1.1"}
            fields = (
                f"WARC-Date: {warc_date(date_ms)}\r\nWARC-Filename: {path.name}\r\n"
                "Content-Type: application/warc-fields\r\n"
            )
            block = _warc_fields({**own, **self._info})
            self._put(self._file, self._record("warcinfo", self._info_id, fields, block))
        return self._file

    def _put(self, file: FileIO, data: bytes) -> None:
        """Append all of it, or nothing and raise StoreFull."""
        with disk_errors(self._root / self.path):
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


def _warc_fields(fields: Mapping[str, object]) -> bytes:
    """A block of the type application/warc-fields."""
    return b"".join(b"%b: %b\r\n" % (one_line(k), one_line(str(v))) for k, v in fields.items())
