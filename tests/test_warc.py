from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from gossamer.warc import (
    WarcWriter,
    payload_digest,
    read_response,
    request_head,
    response_head,
    responses,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

BODIES = (b"<p>one</p>", b"", b"three " * 1_000)
HEADERS = (
    (b"Content-Type", b"text/html; charset=utf-8"),
    (b"Content-Encoding", b"gzip"),
    (b"Transfer-Encoding", b"chunked"),
    (b"X-Name", "Grüße".encode("latin-1")),
)


def write(folder: Path, bodies: Sequence[bytes] = BODIES) -> tuple[Path, list[int]]:
    writer = WarcWriter(str(folder), "warc/1", {"robots": "obey"})
    offsets = [
        writer.write(
            f"http://a.test/{number}",
            1_700_000_000_123,
            request_head(f"/{number}", [("Host", "a.test"), ("User-Agent", "gossamer")]),
            response_head(200, "OK", HEADERS, len(body), decoded=True),
            body,
            payload_digest(body),
            truncated=number == 1,
        )
        for number, body in enumerate(bodies)
    ]
    (row,) = writer.close()
    path = folder / str(row["path"])
    assert row == {
        "name": "warc",
        "path": writer.path,
        "rows": len(bodies),
        "bytes": path.stat().st_size,
    }
    return path, offsets


def test_what_is_written_is_read_in_its_order(tmp_path: Path) -> None:
    path, offsets = write(tmp_path)
    found = list(responses(path))
    assert [page.offset for page in found] == offsets
    assert [page.body for page in found] == list(BODIES)


def test_each_page_is_found_by_its_offset(tmp_path: Path) -> None:
    path, offsets = write(tmp_path)
    assert [read_response(path, offset).body for offset in offsets] == list(BODIES)


def test_an_offset_that_is_none_is_an_error(tmp_path: Path) -> None:
    path, offsets = write(tmp_path)
    for offset in (0, offsets[1] + 1, path.stat().st_size):
        with pytest.raises(ValueError, match=r"no whole response record"):
            read_response(path, offset)


def test_headers_of_the_transfer_are_kept_under_other_names(tmp_path: Path) -> None:
    path, _ = write(tmp_path, [b"body"])
    (page,) = responses(path)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-length"] == "4"
    assert page.headers["x-crawler-content-encoding"] == "gzip"
    assert page.headers["x-crawler-transfer-encoding"] == "chunked"
    assert "content-encoding" not in page.headers
    assert "transfer-encoding" not in page.headers


def test_a_coding_that_was_not_decoded_keeps_its_name() -> None:
    head = response_head(200, "OK", [(b"Content-Encoding", b"utf-8")], 4, decoded=False)
    assert head == b"HTTP/1.1 200 OK\r\nContent-Encoding: utf-8\r\nContent-Length: 4\r\n\r\n"


def test_warcio_reads_it_and_agrees_with_the_digests(tmp_path: Path) -> None:
    path, _ = write(tmp_path)
    with path.open("rb") as file:
        records = [
            (record.rec_type, record.rec_headers, record.content_stream().read())
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    assert [kind for kind, _, _ in records] == ["warcinfo"] + ["response", "request"] * 3
    info, *rest = [headers for _, headers, _ in records]
    assert info.get_header("WARC-Filename") == path.name
    for response, request in zip(rest[::2], rest[1::2], strict=True):
        assert request["WARC-Concurrent-To"] == response["WARC-Record-ID"]
        assert response["WARC-Warcinfo-ID"] == info["WARC-Record-ID"]
        assert response["WARC-Date"] == "2023-11-14T22:13:20.123Z"
    assert [body for kind, _, body in records if kind == "response"] == list(BODIES)
    assert [headers["WARC-Truncated"] for headers in rest[::2]] == [None, "length", None]


def test_fastwarc_reads_it_and_agrees_with_the_digests(tmp_path: Path) -> None:
    path, _ = write(tmp_path)
    with path.open("rb") as file:
        records = [
            (record.headers["WARC-Type"], record.verify_payload_digest())
            for record in FastIterator(file, parse_http=True)
        ]
    assert [digest for kind, digest in records if kind == "response"] == [True] * 3


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[int]]:
    path, offsets = write(tmp_path_factory.mktemp("whole"), [b"a" * 50, b"", b"b" * 3_000])
    return path.read_bytes(), offsets


@given(data=st.data())
def test_a_file_cut_anywhere_is_read_up_to_its_last_whole_page(
    data: st.DataObject, whole: tuple[bytes, list[int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    content, offsets = whole
    cut = data.draw(st.integers(0, len(content)))
    path = tmp_path_factory.getbasetemp() / "cut.warc.gz"
    path.write_bytes(content[:cut])
    bodies = [page.body for page in responses(path)]
    assert bodies == [b"a" * 50, b"", b"b" * 3_000][: len(bodies)]
    ends = [*offsets[1:], len(content)]  # the request record behind a page belongs to its share
    assert len(bodies) >= sum(end <= cut for end in ends)
    assert len(bodies) <= sum(offset < cut for offset in offsets)


@given(
    bodies=st.lists(st.binary(max_size=300), max_size=4),
    headers=st.lists(
        st.tuples(st.from_regex(rb"[A-Za-z-]{1,12}", fullmatch=True), st.binary(max_size=20)),
        max_size=3,
    ),
)
def test_any_body_and_header_comes_back(
    bodies: list[bytes],
    headers: list[tuple[bytes, bytes]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    clean = [
        (name, bytes(byte for byte in value if byte not in b"\r\n\0")) for name, value in headers
    ]
    writer = WarcWriter(str(tmp_path_factory.getbasetemp()), "any", {})
    for body in bodies:
        head = response_head(200, "OK", clean, len(body), decoded=True)
        digest = payload_digest(body)
        writer.write(
            "http://a.test/", 0, request_head("/", []), head, body, digest, truncated=False
        )
    rows = writer.close()
    assert len(rows) == bool(bodies)
    for row in rows:
        path = Path(tmp_path_factory.getbasetemp(), str(row["path"]))
        assert [page.body for page in responses(path)] == bodies
        path.unlink()
