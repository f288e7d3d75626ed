from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker
from warcio.exceptions import ArchiveLoadFailed

from gossamer.storage.warc import (
    Known,
    WarcReader,
    WarcWriter,
    payload_digest,
    read_response,
    read_responses,
    request_head,
    response_head,
)
from gossamer.storage.warc.cdxj import index_of
from gossamer.storage.warc.reader import header_values
from tests.support.captures import DATE, DATE_MS, HTML, INFO, file_capture, http_capture, write

if TYPE_CHECKING:
    from collections.abc import Sequence

PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
BODIES = (b"<p>one</p>", b"", b"three " * 1_000)
CODED = (
    *HTML,
    (b"Content-Encoding", b"gzip"),
    (b"Transfer-Encoding", b"chunked"),
    (b"X-Name", "Grüße".encode("latin-1")),
)


class Record(NamedTuple):
    type: str
    headers: dict[str, str]
    head: list[tuple[str, str]] | None
    content: bytes


def records(path: Path) -> list[Record]:
    """Return the records as warcio reads them, with their digests checked."""
    with path.open("rb") as file:
        return [
            Record(
                record.rec_type,
                dict(record.rec_headers.headers),
                record.http_headers and record.http_headers.headers,
                record.content_stream().read(),
            )
            for record in ArchiveIterator(file, check_digests="raise")
        ]


def pages(bodies: Sequence[bytes] = BODIES) -> list[Any]:
    return [
        http_capture(f"http://a.test/{number}", body, CODED, decoded=True)
        for number, body in enumerate(bodies)
    ]


def check(path: Path) -> int:
    """Return the exit code of `warcio check`."""

    class Command:
        inputs = (str(path),)
        verbose = True

    return int(Checker(Command).process_all())


def test_what_is_written_is_read_in_its_order(tmp_path: Path) -> None:
    path, offsets = write(tmp_path, pages())
    found = list(read_responses(path))
    assert [page.offset for page in found] == offsets
    assert [page.body for page in found] == list(BODIES)


def test_each_page_is_found_by_its_offset(tmp_path: Path) -> None:
    path, offsets = write(tmp_path, pages())
    assert [read_response(path, offset).body for offset in offsets] == list(BODIES)
    with WarcReader(path) as reader:
        found = [reader.at(offset) for offset in reversed(offsets)]
    assert [page and page.body for page in found] == list(reversed(BODIES))


def test_the_fields_of_a_record_are_read_as_far_as_they_can_be(tmp_path: Path) -> None:
    path, _ = write(tmp_path, pages())
    with WarcReader(path) as reader:
        assert reader.fields(0)["warc-type"] == "warcinfo"
        assert reader.fields(1) == {}
        assert reader.fields(1 << 30) == {}


def test_an_offset_that_is_none_is_an_error(tmp_path: Path) -> None:
    path, offsets = write(tmp_path, pages())
    for offset in (0, offsets[1] + 1, path.stat().st_size):
        with pytest.raises(ValueError, match=r"no whole record"):
            read_response(path, offset)


def test_headers_of_the_transfer_are_kept_under_other_names(tmp_path: Path) -> None:
    path, _ = write(tmp_path, pages([b"body"]))
    (page,) = read_responses(path)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-length"] == "4"
    assert page.headers["x-crawler-content-encoding"] == "gzip"
    assert page.headers["x-crawler-transfer-encoding"] == "chunked"
    assert page.headers["x-name"] == "Grüße"
    assert "content-encoding" not in page.headers
    assert "transfer-encoding" not in page.headers


def test_lines_of_a_header_are_values_by_name() -> None:
    lines = [
        "HTTP/1.1 200 OK",
        "A: b",
        "X:",
        " Y : z",
        "a:c",
        "X-Robots-Tag: x: a",
        "x-robots-tag:b",
    ]
    assert header_values(lines) == {
        "a": "b, c",
        "x": "",
        " y ": "z",
        "x-robots-tag": "x: a\nb",
    }
    assert header_values(["Link:", "link: b"]) == {"link": ", b"}


def test_repeated_headers_are_one_list(tmp_path: Path) -> None:
    headers = ((b"X-Robots-Tag", b"noindex"), (b"x-robots-tag", b" nofollow"))
    path, _ = write(tmp_path, [http_capture("http://a.test/", b"x", headers)])
    (page,) = read_responses(path)
    assert page.headers["x-robots-tag"] == "noindex\nnofollow"


def test_a_coding_that_was_not_decoded_keeps_its_name() -> None:
    head = response_head(200, "OK", [(b"Content-Encoding", b"utf-8")], 4, decoded=False)
    assert head == b"HTTP/1.1 200 OK\r\nContent-Encoding: utf-8\r\nContent-Length: 4\r\n\r\n"


def test_an_answer_without_a_body_gets_no_length() -> None:
    assert response_head(304, "", [], None, decoded=False) == b"HTTP/1.1 304 \r\n\r\n"


def test_secrets_are_not_archived() -> None:
    headers = [("Host", "a.test"), ("authorization", "Basic c2VjcmV0"), ("X-Key", "secret")]
    assert request_head("/", headers) == (
        b"GET / HTTP/1.1\r\nHost: a.test\r\nauthorization: (withheld)\r\nX-Key: (withheld)\r\n\r\n"
    )


def test_an_exchange_of_http_is_three_records(tmp_path: Path) -> None:
    capture = http_capture("http://a.test/x?y", b"body", truncated="time")
    path, _ = write(tmp_path, [capture])
    info, response, request, metadata = records(path)
    assert [record.type for record in (info, response, request, metadata)] == [
        "warcinfo", "response", "request", "metadata"
    ]  # fmt: skip
    assert info.headers["WARC-Filename"] == path.name
    assert b"robots: obey\r\n" in info.content
    for record in (response, request, metadata):
        assert record.headers["WARC-Target-URI"] == "http://a.test/x?y"
        assert record.headers["WARC-Date"] == DATE
        assert record.headers["WARC-IP-Address"] == "127.0.0.1"
        assert record.headers["WARC-Warcinfo-ID"] == info.headers["WARC-Record-ID"]
    for record in (request, metadata):
        assert record.headers["WARC-Concurrent-To"] == response.headers["WARC-Record-ID"]
    assert response.headers["WARC-Truncated"] == "time"
    assert response.headers["WARC-Payload-Digest"] == f"sha1:{payload_digest(b'body')}"
    assert response.content == b"body"
    assert request.head == [("Host", "a.test"), ("User-Agent", "gossamer")]
    assert metadata.content == b"fetchTimeMs: 12\r\n"


def test_a_file_is_a_resource(tmp_path: Path) -> None:
    path, (offset,) = write(tmp_path, [file_capture("file:///a/b.txt", b"text", "text/plain")])
    _, resource = records(path)
    assert (resource.type, resource.content) == ("resource", b"text")
    assert resource.headers["Content-Type"] == "text/plain"
    assert "WARC-IP-Address" not in resource.headers
    stored = read_response(path, offset)
    assert stored[:3] == (offset, {"content-type": "text/plain"}, b"text")
    assert stored.fields["warc-target-uri"] == "file:///a/b.txt"


def test_record_ids_are_uuids_of_their_own(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "ab"]
    written = [record for folder in folders for record in records(write(folder, pages())[0])]
    ids = [record.headers["WARC-Record-ID"] for record in written]
    assert len(set(ids)) == len(ids)
    form = r"<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>"
    assert all(re.fullmatch(form, record_id) for record_id in ids)


def test_an_equal_body_is_stored_once(tmp_path: Path) -> None:
    writer = WarcWriter(str(tmp_path), "warc", INFO)
    first = writer.write(http_capture("http://a.test/", b"same", HTML))
    other = writer.write(http_capture("http://b.test/", b"other", HTML))
    copy = writer.write(http_capture("http://c.test/", b"same", ((b"Server", b"c"), *HTML)))
    rows = writer.close()
    assert first == copy != other
    assert [row["rows"] for row in rows] == [3, 0]
    path = tmp_path / writer.path
    original, revisit = (records(path)[number] for number in (1, 7))
    assert (revisit.type, revisit.content) == ("revisit", b"")
    assert revisit.head == [
        ("Server", "c"), ("Content-Type", "text/html; charset=utf-8"), ("Content-Length", "4")
    ]  # fmt: skip
    assert revisit.headers["WARC-Profile"] == PROFILES + "identical-payload-digest"
    assert revisit.headers["WARC-Refers-To"] == original.headers["WARC-Record-ID"]
    assert revisit.headers["WARC-Refers-To-Target-URI"] == "http://a.test/"
    assert revisit.headers["WARC-Refers-To-Date"] == DATE
    assert revisit.headers["WARC-Payload-Digest"] == original.headers["WARC-Payload-Digest"]
    assert revisit.headers["WARC-Truncated"] == "length"
    assert [page.body for page in read_responses(path)] == [b"same", b"other"]


def test_an_equal_body_that_means_something_else_is_stored_again(tmp_path: Path) -> None:
    writer = WarcWriter(str(tmp_path), "warc", INFO)
    capture = http_capture("http://a.test/", b"same")
    offsets = [writer.write(capture, likeness) for likeness in ("html", "text", "html")]
    writer.close()
    assert offsets[0] == offsets[2] != offsets[1]


def test_empty_bodies_are_no_copies_of_each_other(tmp_path: Path) -> None:
    path, offsets = write(tmp_path, pages([b"", b""]))
    assert [page.offset for page in read_responses(path)] == offsets


def test_revisits_of_what_an_earlier_round_stored(tmp_path: Path) -> None:
    writer = WarcWriter(str(tmp_path), "warc", INFO)
    url, body = "http://a.test/", b"as before"
    same = http_capture(url, body)
    head = response_head(304, "Not Modified", [(b"ETag", b'"1"')], None, decoded=False)
    not_modified = same._replace(head=head, body=b"", status=304)
    writer.revisit(same, Known(url, DATE_MS))
    writer.revisit(not_modified, Known(url, DATE_MS, not_modified=True))
    writer.revisit(not_modified._replace(digest=None), Known(url, None, not_modified=True))
    writer.revisit(file_capture("ftp://a.test/", body), Known("ftp://a.test/", DATE_MS))
    writer.close()
    path = tmp_path / writer.path
    compared, told, told_without_date, file = (
        record for record in records(path) if record.type == "revisit"
    )
    assert compared.headers["WARC-Profile"] == PROFILES + "identical-payload-digest"
    assert compared.headers["WARC-Refers-To-Date"] == DATE
    assert told.headers["WARC-Profile"] == PROFILES + "server-not-modified"
    assert told.headers["WARC-Payload-Digest"] == f"sha1:{payload_digest(body)}"
    assert (told.head, "WARC-Truncated" in told.headers) == ([("ETag", '"1"')], False)
    assert "WARC-Refers-To-Date" not in told_without_date.headers
    assert "WARC-Payload-Digest" not in told_without_date.headers
    assert (file.head, file.content) == (None, b"")
    assert list(read_responses(path)) == []
    assert check(path) == 0
    assert index_of(path) == path.with_name(f"{path.name.partition('.')[0]}.cdxj").read_bytes()


def everything(folder: Path) -> tuple[Path, list[int]]:
    """Write a file with records of every type."""
    return write(
        folder,
        [
            *pages(),
            http_capture("http://a.test/copy", BODIES[2], CODED, decoded=True),
            http_capture("http://a.test/gone", b"gone", status=410, reason="Gone"),
            file_capture("file:///a", b"a"),
        ],
    )


def test_the_index_can_be_written_again(tmp_path: Path) -> None:
    path, _ = everything(tmp_path)
    assert index_of(path) == path.with_name(f"{path.name.partition('.')[0]}.cdxj").read_bytes()


def test_warcio_finds_nothing_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, _ = everything(tmp_path)
    assert check(path) == 0
    told = capsys.readouterr().out
    assert told.count("digest pass") == 1 + 3 * 4 + 2 + 1  # all but the revisit's payload
    assert "no digest to check" not in told


def test_fastwarc_finds_nothing_wrong(tmp_path: Path) -> None:
    path, offsets = everything(tmp_path)
    found = []
    with path.open("rb") as file:
        for record in FastIterator(file, parse_http=False):
            kind = record.headers["WARC-Type"]
            found.append((kind, record.stream_pos))
            assert kind in ("response", "resource") or record.verify_block_digest()
    assert [at for kind, at in found if kind in ("response", "resource")] == sorted(set(offsets))
    with path.open("rb") as file:
        for record in FastIterator(file, parse_http=True):
            if record.headers["WARC-Type"] == "response":  # it checks only payloads of HTTP
                assert record.verify_payload_digest()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[int], list[bytes]]:
    """Return a file, the offsets of its records, and their blocks."""
    path, _ = everything(tmp_path_factory.mktemp("whole"))
    starts, blocks = [], []
    with path.open("rb") as file:
        for record in FastIterator(file, parse_http=False):
            starts.append(record.stream_pos)
            blocks.append(record.reader.read())
    return path.read_bytes(), starts, blocks


def test_a_file_cut_anywhere_is_read_up_to_its_last_whole_record(
    whole: tuple[bytes, list[int], list[bytes]], tmp_path: Path
) -> None:
    content, starts, blocks = whole
    ends = [*starts[1:], len(content)]
    path = tmp_path / "cut.warc.gz"
    path.write_bytes(content)
    bodies = list(read_responses(path))
    edges = {edge + near for edge in (0, *ends) for near in range(-40, 41)}
    for cut in sorted({*edges, *range(0, len(content), 5)} & set(range(len(content) + 1)))[::-1]:
        os.truncate(path, cut)
        count = sum(end <= cut for end in ends)
        there = [page for page in bodies if page.offset in starts[:count]]
        assert list(read_responses(path)) == there, cut
        if cut % 101 == 0 or cut in ends or cut + 1 in ends:
            for found in (whole_for_fastwarc(path), whole_for_warcio(path)):
                assert found[:count] == blocks[:count]
                assert len(found) <= count + 1  # they do not check the checksum first


def whole_for_fastwarc(path: Path) -> list[bytes]:
    """Return the complete blocks that FastWARC reads before it gives up."""
    blocks = []
    with path.open("rb") as file, suppress(OSError):
        for record in FastIterator(file, parse_http=False):
            block = record.reader.read()
            if len(block) == record.content_length:
                blocks.append(block)
    return blocks


def whole_for_warcio(path: Path) -> list[bytes]:
    blocks = []
    with path.open("rb") as file, suppress(ArchiveLoadFailed):
        for record in ArchiveIterator(file, no_record_parse=True):
            block = record.raw_stream.read()
            if str(len(block)) == record.rec_headers["Content-Length"]:
                blocks.append(block)
    return blocks


def test_bytes_that_changed_are_noticed(tmp_path: Path) -> None:
    path, offsets = write(tmp_path, pages())
    content = bytearray(path.read_bytes())
    content[offsets[2] + 200] ^= 1
    path.write_bytes(content)
    with WarcReader(path) as reader:
        assert [reader.at(offset) is not None for offset in offsets] == [True, True, False]


hostile_bytes = st.binary(max_size=30) | st.sampled_from(
    [b"", b"\r\n\r\n", b"a\r\nWARC/1.1\r\n", b"\0", b" folded", b"a: b", b"\n", b"\xff\xfe", b"a:"]
)
hostile_text = hostile_bytes.map(lambda data: data.decode("utf-8", "surrogateescape"))


@given(
    bodies=st.lists(st.binary(max_size=300), max_size=4),
    headers=st.lists(st.tuples(hostile_bytes, hostile_bytes), max_size=4),
    request=st.lists(st.tuples(hostile_text, hostile_text), max_size=3),
    reason=hostile_text,
    content_type=hostile_text,
)
def test_no_header_breaks_the_framing(
    bodies: list[bytes],
    headers: list[tuple[bytes, bytes]],
    request: list[tuple[str, str]],
    reason: str,
    content_type: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    asked = request_head(content_type, request)
    captures = [
        http_capture(f"http://a.test/{n}", body, headers, reason=reason)._replace(request=asked)
        for n, body in enumerate(bodies)
    ]
    files = [file_capture(f"file:///{n}", body, content_type) for n, body in enumerate(bodies)]
    writer = WarcWriter(str(tmp_path_factory.getbasetemp()), "any", {"reason": reason})
    offsets = [writer.write(capture, capture.url) for capture in (*captures, *files)]
    rows = writer.close()
    assert len(rows) == (2 if bodies else 0)
    if bodies:
        path = Path(tmp_path_factory.getbasetemp(), writer.path)
        assert [page.body for page in read_responses(path)] == bodies * 2
        assert [page.offset for page in read_responses(path)] == offsets
        expected = [
            "warcinfo", *["response", "request", "metadata"] * len(bodies),
            *["resource"] * len(bodies),
        ]  # fmt: skip
        assert [record.type for record in records(path)] == expected
        with path.open("rb") as file:
            fast = [
                (record.headers["WARC-Type"], record.reader.read())
                for record in FastIterator(file, parse_http=False)
            ]
        assert [kind for kind, _ in fast] == expected
        blocks = [block for kind, block in fast if kind == "response"]
        assert all(block.count(b"\r\n\r\n") >= 1 for block in blocks)
        for block, body in zip(blocks, bodies, strict=True):
            head, _, rest = block.partition(b"\r\n\r\n")
            assert rest == body
            assert head.count(b"\n") == head.count(b"\r") == head.count(b"\r\n") <= 1 + len(headers)
        path.unlink()
        path.with_name(path.name.replace(".warc.gz", ".cdxj")).unlink()


def test_no_changed_byte_of_a_record_changes_what_is_read(tmp_path: Path) -> None:
    """The checksum of each gzip member protects it, except header bytes that the reader ignores."""
    path, (offset,) = write(tmp_path, pages([b"<p>" + os.urandom(600).hex().encode()]))
    whole = path.read_bytes()
    expected = read_response(path, offset)
    noticed = 0
    for at in range(offset, len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        with WarcReader(path) as reader:
            found = reader.at(offset)
        assert found in (None, expected), at
        noticed += found is None
    assert noticed > 500
