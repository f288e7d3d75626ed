"""The length of a record, by the index beside its WARC file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.storage.warc import WarcReader, WarcWriter, index_path, record_length
from tests.support.captures import http_capture

if TYPE_CHECKING:
    from pathlib import Path


def test_each_record_has_its_length(tmp_path: Path) -> None:
    writer = WarcWriter(str(tmp_path), "warc/1", {})
    bodies = [b"", b"<p>one", b"<p>two" * 9_000, *(b"%d" % number for number in range(30))]
    offsets = [
        writer.write(http_capture(f"http://a.test/{number}", body), number)
        for number, body in enumerate(bodies)
    ]
    writer.close()
    path = f"{tmp_path}/{writer.path}"
    with WarcReader(path) as reader:
        for offset in offsets:
            stored = reader.at(offset)
            assert stored is not None
            assert record_length(path, offset) == stored.length
    assert record_length(path, offsets[-1] + 1) is None
    index = tmp_path / index_path(writer.path)
    index.write_bytes(b'x 1 {"length":"1","offset":"7"\nno line "offset":"8"')
    assert (record_length(path, 7), record_length(path, 8)) == (None, None)
    index.unlink()
    assert record_length(path, 7) is None
