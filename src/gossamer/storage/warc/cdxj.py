"""CDXJ: the index of a WARC file, in which replay tools find the captures of a URL.

One line per capture: the URL's key, the time (14 digits, UTC) and a JSON object, in the form that
cdxj-indexer writes and pywb reads. The lines are sorted by their bytes.

    org,example)/a?b=1 20261121191109 {"url": "http://www.example.org/a?b=1", "mime": ...}

The key is the one that pywb looks up: the URL as the `surt` package canonicalises it, which is a
port of the Internet Archive's IAURLCanonicalizer. It merges more URLs than `gossamer.web.urls` does
(case, `www.`, trailing slashes), because it groups captures for readers and does not decide what
is crawled.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes, unquote_to_bytes

import msgspec

from gossamer.storage.warc.reader import HEAD_END, WarcReader, head_fields
from gossamer.storage.warc.records import plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CAPTURES = ("response", "resource", "revisit")
"""The types of records that have a line in the index."""
KEPT = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
"""The punctuation that the key does not escape: printable ASCII except `#` and `%`."""

_ESCAPED = "%[89a-f][0-9a-f]"
_PLAIN = re.compile(
    r"https?://([a-z0-9.-]*[a-z])"
    rf"((?:/(?:[a-z0-9_~-]|{_ESCAPED})(?:[a-z0-9._~-]|{_ESCAPED})*)*)/?"
    r"(\?[a-z0-9_-]+=[a-z0-9_-]{0,23})?",
    re.ASCII | re.IGNORECASE,
)
"""Host, path and query of most URLs, in which nothing must be escaped, dropped or sorted. Session
ids do not match: they have longer values, or two parameters."""
_PARTS = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?]*?)(?::([0-9]+))?(/[^?]*)?(?:\?(.*))?", re.DOTALL)
_WWW = re.compile(r"www\d*\.")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_PATH_SESSIONS = (
    re.compile(r"(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)"),
    re.compile(r"(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)"),
)
_QUERY_SESSIONS = (
    re.compile(r"(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?"),
    re.compile(r"(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?"),
    re.compile(r"(.*)sid=[0-9a-z]{32}(?:&(.*))?"),
    re.compile(r"(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?"),
    re.compile(r"(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?"),
)


class Entry(msgspec.Struct):
    """The JSON object of a line; its fields are in this order."""

    url: str
    mime: str = ""
    status: str = ""
    digest: str = ""
    length: str = ""
    offset: str = ""
    filename: str = ""


def cdxj_line(
    url: str,
    date: str,
    *,
    mime: str,
    status: int | None,
    digest: str | None,
    length: int,
    offset: int,
    filename: str,
) -> bytes:
    """Return the line of a capture, with its line end.

    `date` has the form of WARC-Date, `digest` is in base 32, and `offset` and `length` are those
    of the compressed record, in bytes. Fields without a value are omitted.
    """
    fields = {
        "url": url,
        "mime": mime,
        "status": status and str(status),
        "digest": digest and f"sha1:{digest}",
        "length": str(length),
        "offset": str(offset),
        "filename": filename,
    }
    present = msgspec.json.encode({name: value for name, value in fields.items() if value})
    return b"%b %b %b\n" % (surt_key(url).encode(), timestamp(date).encode(), present)


def parse_line(line: bytes) -> tuple[bytes, int, Entry]:
    """Return a line's key, its time as a number of 14 digits, and its fields."""
    key_, time, fields = line.split(b" ", 2)
    return key_, int(time), msgspec.json.decode(fields, type=Entry)


def move_capture(line: bytes, offset: int, filename: str) -> bytes:
    """Return the line of a capture whose record was copied, with its new place."""
    place, _, fields = line.partition(b" {")
    entry = msgspec.json.decode(b"{" + fields)
    entry |= {"offset": str(offset), "filename": filename}
    return b"%b %b\n" % (place, msgspec.json.encode(entry))


def timestamp(date: str) -> str:
    """Convert `2026-11-21T19:11:09.123Z` to `20261121191109`."""
    return f"{date[:4]}{date[5:7]}{date[8:10]}{date[11:13]}{date[14:16]}{date[17:19]}"


def surt_key(url: str) -> str:
    """Return the sort key of a normalised URL, the same as the `surt` package's."""
    plain = _PLAIN.fullmatch(url)
    if plain:
        host, path, query = plain.groups("")
        return f"{_reverse_host(host)}){path or '/'}{query}".lower()
    parts = _PARTS.fullmatch(url)
    if parts is None:
        return url
    scheme, host, port, path, query = parts.groups("")
    port = f":{port}" if port and port != _DEFAULT_PORTS.get(scheme) else ""
    found = (f"{_reverse_host(host)}{port})" if host else f"{scheme}:") + _surt_path(path)
    query = _surt_query(query)
    return f"{found}?{query}" if query else found


def _reverse_host(host: str) -> str:
    name = host.lower().strip("[]")
    if www := _WWW.match(name):
        name = name[www.end() :]
    return ",".join(reversed(name.split(".")))


def _surt_path(path: str) -> str:
    kept: list[str] = []
    for segment in _escaped_once(path).lower().split("/")[1:]:
        if segment == ".." and kept:
            kept.pop()
        elif segment != ".":
            kept.append(segment)
    *directories, last = kept or [""]
    found = "/".join(["", *filter(None, directories), last])
    for session in _PATH_SESSIONS:
        if match := session.fullmatch(found):
            found = "".join(match.groups())
    return found[:-1] if len(found) > 1 and found.endswith("/") else found


def _surt_query(query: str) -> str:
    found = _escaped_once(query).lower()
    for session in _QUERY_SESSIONS:
        if match := session.fullmatch(found):
            found = "".join(match.groups(""))
    return "&".join(map("=".join, sorted(pair.split("=", 1) for pair in found.split("&"))))


def _escaped_once(text: str) -> str:
    """Unescape `text` until nothing changes any more, then escape it once."""
    data = text.encode()
    while (unescaped := unquote_to_bytes(data)) != data:
        data = unescaped
    return quote_from_bytes(data, safe=KEPT)


def index_of(path: str | Path) -> bytes:
    """The index of a whole WARC file, byte for byte as `WarcWriter` wrote it."""
    return b"".join(sorted(_lines_of(path)))


def _lines_of(path: str | Path) -> Iterator[bytes]:
    with WarcReader(path) as reader:
        for record, offset, end in reader.records():
            head, _, block = record.partition(HEAD_END)
            fields = head_fields(head)
            kind = fields.get("warc-type")
            if kind not in CAPTURES:
                continue
            answer = head_fields(block.partition(HEAD_END)[0])
            described = fields if kind == "resource" else answer
            mime = plain(described.get("content-type", "").split(";")[0])
            yield cdxj_line(
                fields["warc-target-uri"],
                fields["warc-date"],
                mime="warc/revisit" if kind == "revisit" else mime,
                status=None
                if kind == "resource" or not block.strip()
                else int(block.split(None, 2)[1]),
                digest=fields.get("warc-payload-digest", "").removeprefix("sha1:") or None,
                length=end - offset,
                offset=offset,
                filename=PurePath(path).name,
            )
