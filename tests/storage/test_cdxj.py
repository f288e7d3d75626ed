"""CDXJ: keys equal those of the `surt` package (the table is the output of version 0.3.1), and the
offsets in lines are those at which warcio finds the records.
"""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.indexer import Indexer
from warcio.timeutils import iso_date_to_timestamp

from gossamer.storage.warc import Known, WarcWriter, cdxj
from gossamer.web.urls import normalize
from tests.support.captures import DATE_MS, INFO, file_capture, http_capture

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {
    "http://example.com/": "com,example)/",
    "http://www.example.com/": "com,example)/",
    "https://www2.example.com/A/B/": "com,example)/a/b",
    "http://example.com:8080/a": "com,example:8080)/a",
    "https://example.com:443/": "com,example)/",
    "http://my_host.example.com/_": "com,example,my_host)/_",
    "http://127.0.0.1/x": "1,0,0,127)/x",
    "http://[::1]/x": "::1)/x",
    "http://[2001:db8::1]:8080/x?y": "2001:db8::1:8080)/x?y",
    "http://example.com/a?b=2&a=1": "com,example)/a?a=1&b=2",
    "http://example.com/?b&a=&a": "com,example)/?a&a=&b",
    "http://example.com/a//b///c/": "com,example)/a/b/c",
    "http://example.com/%C3%BC?%C3%9C": "com,example)/%c3%bc?%c3%9c",
    "http://example.com/%C3%9C/b/?Id=10": "com,example)/%c3%9c/b?id=10",
    "http://example.com/a%20b": "com,example)/a%20b",
    "http://example.com/%2525": "com,example)/%25",
    "http://example.com/a%2Fb/../c": "com,example)/a/c",
    "http://example.com/..%2F%3F.x": "com,example)/../?.x",
    "http://example.com/a%3Fb?c%26d=e": "com,example)/a?b?c&d=e",
    "http://example.com/a%23b?c%23d": "com,example)/a%23b?c%23d",
    "http://example.com/?x=1&PHPSESSID=0123456789abcdef0123456789abcdef": "com,example)/?&x=1",
    "http://example.com/?sid=0123456789abcdef0123456789abcdef&x=1": "com,example)/?x=1",
    "http://example.com/?cfid=1&cftoken=2&z=3": "com,example)/?z=3",
    "http://example.com/(S(abcdefghijklmnopqrstuvwx))/a.aspx": "com,example)/a.aspx",
    "http://example.com/x/(abcdefghijklmnopqrstuvwx)/A.aspx?q=1": "com,example)/x/a.aspx?q=1",
    "http://example.com/?a=b=c&a=b": "com,example)/?a=b&a=b=c",
    "ftp://ftp.example.org/pub/File.TXT": "org,example,ftp)/pub/file.txt",
    "ftp://www.example.org:2121/a": "org,example:2121)/a",
    "file:///home/x/Y.html": "file:/home/x/y.html",
}


def test_what_has_no_authority_is_its_own_key() -> None:
    assert cdxj.surt_key("mailto:Ann@Example.com") == "mailto:Ann@Example.com"


@pytest.mark.parametrize(("url", "key"), KEYS.items())
def test_keys_are_those_of_surt(url: str, key: str) -> None:
    assert cdxj.surt_key(url) == key


@given(path=st.text("aB/.%25C39 ?&=();+", max_size=30))
def test_any_normalised_url_has_a_key_in_one_word(path: str) -> None:
    url = normalize(f"http://www.Example.com/{path}")
    if url is not None:
        key = cdxj.surt_key(url)
        assert key.startswith("com,example)/")
        assert key.isascii()
        assert key == key.lower()
        assert not set(key) & set(" \r\n#")


@given(parts=st.lists(st.sampled_from([*"aB1/.-?=&", "%C3", "%2e", "sid=", "x" * 32]), max_size=12))
def test_the_short_cut_leads_to_the_same_key(parts: list[str]) -> None:
    url = normalize(f"http://www.Example.com/{''.join(parts)}")
    if url is not None:
        key = cdxj.surt_key(url)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cdxj, "_PLAIN", re.compile("(?!)"))
            assert cdxj.surt_key(url) == key


def test_equal_pages_of_normal_form_have_equal_keys() -> None:
    urls = ["http://www.example.com/a", "https://example.com/A/", "http://www1.example.com:80/a"]
    assert {cdxj.surt_key(url) for url in urls} == {"com,example)/a"}


def write(folder: Path) -> tuple[Path, Path]:
    """Write a WARC file with captures of every kind, and its index."""
    writer = WarcWriter(str(folder), "warc/1", INFO)
    moved = ((b"Location", b"/"),)
    writer.write(http_capture("http://www.b.test/", b"<p>b"))
    writer.write(http_capture("http://a.test/copy", b"<p>b"))
    writer.write(http_capture("http://a.test/moved", b"", moved, status=301))
    writer.write(http_capture("http://a.test/", b"<p>a", ((b"content-type", b"Text/HTML ;x"),)))
    writer.write(file_capture("file:///srv/a.txt", b"text"))
    same = http_capture("http://a.test/same", b"as before")
    writer.revisit(same, Known(same.url, DATE_MS - 1_000))
    writer.write(http_capture("http://a.test/", b"<p>newer")._replace(date_ms=DATE_MS + 1_000))
    warc, index = writer.close()
    assert (index["name"], index["rows"]) == ("warc", 0)
    path = folder / str(index["path"])
    assert index["bytes"] == path.stat().st_size
    assert str(index["path"]) == str(warc["path"]).replace(".warc.gz", ".cdxj")
    assert warc["rows"] == len(path.read_bytes().splitlines())
    return folder / str(warc["path"]), path


def parsed(line: bytes) -> tuple[str, str, dict[str, Any]]:
    key, timestamp, fields = line.decode().split(" ", 2)
    return key, timestamp, json.loads(fields)


def test_lines_are_sorted_by_their_bytes(tmp_path: Path) -> None:
    _, index = write(tmp_path)
    content = index.read_bytes()
    lines = content.splitlines(keepends=True)
    assert lines == sorted(lines)
    assert content.endswith(b"\n")
    assert [(key, timestamp) for key, timestamp, _ in map(parsed, lines)] == [
        ("file:/srv/a.txt", "20231114221320"),
        ("test,a)/", "20231114221320"),
        ("test,a)/", "20231114221321"),
        ("test,a)/copy", "20231114221320"),
        ("test,a)/moved", "20231114221320"),
        ("test,a)/same", "20231114221320"),
        ("test,b)/", "20231114221320"),
    ]


def test_fields_are_those_that_warcio_finds(tmp_path: Path) -> None:
    warc, index = write(tmp_path)
    names = {
        "offset": "offset",
        "length": "length",
        "url": "warc-target-uri",
        "status": "http:status",
        "digest": "warc-payload-digest",
    }
    out = io.StringIO()
    fields = [*names.values(), "warc-type", "warc-date", "http:content-type", "content-type"]
    indexer = Indexer(fields, [str(warc)], None)
    with warc.open("rb") as file:
        records = ArchiveIterator(file)
        for record in records:
            indexer.process_index_entry(records, record, str(warc), out)
    expected = []
    for line in out.getvalue().splitlines():
        found = json.loads(line)
        kind = found["warc-type"]
        mime = {
            "revisit": "warc/revisit",
            "response": found.get("http:content-type", "").split(";")[0].strip(),
            "resource": found["content-type"],
        }.get(kind)
        if mime is not None:
            entry = {name: found[field] for name, field in names.items() if field in found}
            entry |= {"filename": warc.name} | ({"mime": mime} if mime else {})
            key = cdxj.surt_key(entry["url"])
            expected.append((key, iso_date_to_timestamp(found["warc-date"]), entry))
    assert len(expected) == 7
    lines = [parsed(line) for line in index.read_bytes().splitlines()]
    assert lines == sorted(expected, key=lambda entry: entry[:2])


def test_a_file_without_exchanges_has_no_index(tmp_path: Path) -> None:
    assert WarcWriter(str(tmp_path), "warc/1", INFO).close() == []
    assert list(tmp_path.iterdir()) == []
