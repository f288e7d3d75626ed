"""Answers as servers of the wild send them: by kinds, each on a host of its own.

`WILD` has them all. What a browser shows of each is what it should be here, see
tests/browser/test_answers.py.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from typing import TYPE_CHECKING, NamedTuple

import brotli
from backports import zstd

from tests.support import legacy_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

OK = "HTTP/1.1 200 OK"
HTML = b"Content-Type: text/html; charset=utf-8"
WORDS = "The keeper of the lighthouse counts the boats."
PAGE = f"<!doctype html><title>Harbour</title><p>{WORDS}".encode()
TARGET = b"<!doctype html><title>Quay</title><p>The ferry waits at the quay."


class Wild(NamedTuple):
    kind: str
    name: str
    raw: bytes
    """What the server says to a request of `/page`, before it closes."""
    host: str

    @property
    def url(self) -> str:
        return f"http://{self.host}/page"


def answer(
    *lines: bytes, body: bytes = PAGE, status: bytes = OK.encode(), end: bytes = b""
) -> bytes:
    """An answer with these header lines and, without `end`, the body's length."""
    framing = () if end else (b"Content-Length: %d" % len(body),)
    return b"\r\n".join((status, *lines, *framing, b"", b"")) + body


def html(*lines: bytes, body: bytes = PAGE) -> bytes:
    return answer(HTML, *lines, body=body)


def _status_lines() -> Iterator[tuple[str, bytes]]:
    lines = [
        *(b"HTTP/1.1 200", b"HTTP/1.1 200 ", b"HTTP/1.1  200  OK", b"http/1.1 200 OK"),
        *(b"Http/1.1 200 ok", b"HTTP/1.1\t200\tOK", b"HTTP/1.0 200 OK", b"HTTP/0.9 200 OK"),
        *(b"HTTP/2 200 OK", b"HTTP/2.0 200", b"HTTP/3.7 200 OK", b"HTTP/1.2 200 OK"),
        *(b"HTTP/11 200 OK", b"HTTP 200 OK", b"HTTP/1 200 OK", b"HTTP/1. 200 OK", b"HTTP/ 200 OK"),
        *(b"HTTP/1.1 OK", b"HTTP/1.1 ", b"HTTP/1.1", b"HTTP/1.1 200OK", b"HTTP/1.1 0200 OK"),
        *(b"HTTP/1.1 200 \xff\xfe", b"HTTP/1.1 200 O\0K", b"HTTP/1.1 200 It\rworks"),
        *(
            b"HTTP/1.1 200 OK ",
            b"HTTPS/1.1 200 OK",
            b"HTTP/1.1 200 \xc3\x9cber",
            b"HTTP/1.1,200 OK",
        ),
        *(b"\r\nHTTP/1.1 200 OK", b"\nHTTP/1.1 200 OK", b"\r\n\r\nHTTP/1.1 200 OK"),
        *(b"  HTTP/1.1 200 OK", b"\xef\xbb\xbfHTTP/1.1 200 OK", b"abcdHTTP/1.1 200 OK"),
        *(b"\r\n\r\n\r\nHTTP/1.1 200 OK", b"abcdeHTTP/1.1 200 OK", b"HTTP/1.1 +200 OK"),
        *(b"HTTP/1.1 -1 No", b"HTTP/1.1 2\0\0 OK", b"HTTP/-1.1 200 OK", b"HTTP/1.1 200.5 OK"),
        *(b"ICY 200 OK", b"It works!", b"200 OK", b"Status: 200 OK", b"RTSP/1.0 200 OK"),
    ]
    for line in lines:
        yield repr(line)[2:-1], answer(HTML, status=line)
    yield "no head at all", PAGE
    yield "a head of LF alone", html().replace(b"\r\n", b"\n")
    yield "a head without fields", b"HTTP/1.1 200 OK\r\n\r\n" + PAGE
    yield "a status line and LF, and nothing between", b"HTTP/1.1 200 OK\n\n" + PAGE


def _statuses() -> Iterator[tuple[str, bytes]]:
    codes = [
        *(101, 199, 201, 202, 203, 204, 205, 206, 207, 226, 299, 300, 304, 305, 306, 309, 399),
        *(400, 401, 403, 404, 410, 429, 451, 499, 500, 503, 599, 600, 999, 1000, 20, 2, 0, 2000),
    ]
    for code in codes:
        yield str(code), answer(HTML, status=b"HTTP/1.1 %d Odd" % code)
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    yield "103, then 200", hint + html()
    yield "100 and 103, then 200", b"HTTP/1.1 100 Continue\r\n\r\n" + hint + html()
    yield "100 with LF, then 200", b"HTTP/1.1 100 Continue\n\n" + html()
    yield "102 with a field, then 200", b"HTTP/1.1 102 Processing\r\nX: x\r\n\r\n" + html()


def _fields() -> Iterator[tuple[str, bytes]]:
    lines = {
        "a blank before the colon": b"X-Powered-By : x",
        "a tab before the colon": b"X-Powered-By\t: x",
        "a blank in a name": b"X-Powered By: x",
        "a name beyond ASCII": b"X-\xc3\xbc: x",
        "a name of control characters": b"X\x01: x",
        "a name with brackets": b"X[0]: x",
        "a name with a slash": b"X/Y: x",
        "a line without a colon": b"no colon here",
        "a word alone": b"Word",
        "an empty name": b": x",
        "two colons": b"X:: x",
        "a colon alone": b":",
        "a CR in a value": b"X-A: a\rb",
        "a CR and a name": b"X-A: a\rX-B: b",
        "two CR": b"X-A: a\r",
        "a NUL in a value": b"X-A: a\0b",
        "a NUL in a name": b"X\0A: a",
        "controls in a value": b"X-A: a\x01\x1b\x7fb",
        "Latin-1 in a value": b"X-A: \xfcber",
        "UTF-8 in a value": b"X-A: \xc3\xbcber",
        "an empty value": b"X-A:",
        "no blank after the colon": b"X-A:x",
        "a folded value": b"X-A: a\r\n b",
        "a value folded with a tab": b"X-A: a\r\n\tb",
        "a folded value of blanks": b"X-A: a\r\n  ",
        "a folded line without a colon": b"no colon\r\n and more",
        "a line of a blank": b" ",
        "a line of a tab": b"\t",
        "a line of markup": b"<!-- cached -->",
        "a warning of PHP": b"<br />\r\n<b>Warning</b>:  foo in <b>/x.php</b> on line 1<br />",
        "a second status line": b"HTTP/1.1 200 OK",
        "a second status line of 404": b"HTTP/1.1 404 Not Found",
        "Status of CGI": b"Status: 404 Not Found",
        "a long value": b"X-Long: " + b"x" * 9_000,
        "a very long value": b"X-Long: " + b"x" * 100_000,
        "a long name": b"X" * 9_000 + b": x",
        "129 fields": b"\r\n".join(b"X-%d: x" % n for n in range(129)),
        "300 fields": b"\r\n".join(b"X-%d: x" % n for n in range(300)),
        "5,000 fields": b"\r\n".join(b"X-%d: x" % n for n in range(5_000)),
        "100 cookies": b"\r\n".join(b"Set-Cookie: a%d=b; Path=/" % n for n in range(100)),
        "an unknown Connection": b"Connection: Keep-Alive, Upgrade, x",
        "Upgrade": b"Connection: Upgrade\r\nUpgrade: h2,h2c",
        "Upgrade to WebSocket": b"Connection: Upgrade\r\nUpgrade: websocket",
        "an old WebSocket's key": b"Sec-WebSocket-Key1: x",
        "Trailer": b"Trailer: X",
        "two Content-Dispositions": b"Content-Disposition: a\r\nContent-Disposition: b",
        "two equal Content-Dispositions": b"Content-Disposition: inline\r\n" * 2
        + b"X: x",
        "nosniff": b"X-Content-Type-Options: nosniff",
        "Content-Location": b"Content-Location: http://elsewhere.test/",
        "Set-Cookie with CR": b"Set-Cookie: a=b\rc",
    }  # fmt: skip
    for name, line in lines.items():
        yield name, html(line)
        if len(line) < 60 and b"Disposition" not in line:
            yield f"{name}, first", answer(line, HTML)
    yield "a blank before the colon of the type", answer(b"Content-Type : text/html")
    yield "a type in capitals", answer(b"CONTENT-TYPE: TEXT/HTML")
    yield "a blank before the first field", answer(b" X: y", HTML)
    yield "a mix of line ends", html(b"A: b\nC: d\n").replace(b"C: d\n\r\n", b"C: d\n")


def _types() -> Iterator[tuple[str, bytes]]:
    kinds = [
        *(b"text/html;", b"text/html;;", b"text/html ; charset = utf-8", b"text/html, text/html"),
        *(b"text/html;charset=utf8", b'text/html; charset="utf-8"', b"text/html; charset='utf-8'"),
        *(b"TEXT/HTML", b"text/html/", b"html", b"text", b"*/*", b"", b";"),
        b"text/html charset=utf-8",
        *(b"unknown/unknown", b"application/unknown", b"application/xhtml+xml; charset=utf-8"),
        *(b'text/html; boundary="a;b"; charset=utf-8', b"text/html; charset=utf-8; charset=x"),
        *(b"text/plain; charset=utf-8", b"text/html; charset=", b"text/html; charset=nonsense"),
    ]  # fmt: skip
    for kind in kinds:
        body = PAGE
        if b"xhtml" in kind:
            body = f'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>{WORDS}</p></body></html>'.encode()
        if b"plain" in kind:
            body = WORDS.encode()
        yield kind.decode() or "empty", answer(b"Content-Type: " + kind, body=body)
    yield "none", answer()
    yield "two, the first HTML", answer(HTML, b"Content-Type: text/plain")
    yield "two, the second HTML", answer(b"Content-Type: text/plain", HTML)
    yield "two equal", answer(HTML, HTML)


def _framing() -> Iterator[tuple[str, bytes]]:
    size = len(PAGE)
    length = b"Content-Length: %d" % size
    lengths = {
        "twice": [length, length],
        "n, n": [b"Content-Length: %d, %d" % (size, size)],
        "n,n,n": [b"Content-Length: %d,%d,%d" % (size, size, size)],
        "two lines, one a list": [length, b"Content-Length: %d, %d" % (size, size)],
        "two different": [length, b"Content-Length: %d" % (size - 9)],
        "n, m": [b"Content-Length: %d, %d" % (size, size - 9)],
        "empty": [b"Content-Length:"],
        "blank": [b"Content-Length:  "],
        "empty and n": [b"Content-Length:", length],
        "n and empty": [length, b"Content-Length:"],
        "a comma alone": [b"Content-Length: ,"],
        "n and a comma": [b"Content-Length: %d," % size],
        "negative": [b"Content-Length: -5"],
        "+n": [b"Content-Length: +%d" % size],
        "a word": [b"Content-Length: many"],
        "hexadecimal": [b"Content-Length: 0x%x" % size],
        "a fraction": [b"Content-Length: %d.0" % size],
        "with a unit": [b"Content-Length: %d bytes" % size],
        "leading zeros": [b"Content-Length: 000%d" % size],
        "30 digits": [b"Content-Length: 1" + b"0" * 29],
        "in quotes": [b'Content-Length: "%d"' % size],
        "too long": [b"Content-Length: %d" % (size + 50)],
        "too short": [b"Content-Length: %d" % (size - 6)],
        "a blank before the colon": [b"Content-Length : %d" % size],
        "none": [],
        "none, HTTP/1.0": [],
        "zero": [b"Content-Length: 0"],
    }
    for name, lines in lengths.items():
        status = b"HTTP/1.0 200 OK" if "1.0" in name else OK.encode()
        yield f"Content-Length: {name}", answer(HTML, *lines, status=status, end=b"close")


def chunked(
    body: bytes = PAGE, size: int = 20, end: bytes = b"\r\n", last: bytes = b"0", extra: bytes = b""
) -> bytes:
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    sent = b"".join(b"%x%b%b%b%b" % (len(chunk), extra, end, chunk, end) for chunk in chunks)
    return sent + last + end + end if last else sent


def _chunks() -> Iterator[tuple[str, bytes]]:
    bodies = {
        "plain": chunked(),
        "LF alone": chunked(end=b"\n"),
        "an extension": chunked(extra=b";a=b"),
        "an extension in quotes": chunked(extra=b';a="b;c"'),
        "blanks after the size": chunked(extra=b"   "),
        "a tab after the size": chunked(extra=b"\t"),
        "blanks and an extension": chunked(extra=b"  ; a"),
        "a size in capitals": chunked(size=27).replace(b"1b", b"1B"),
        "a size with zeros": b"000" + chunked(),
        "a size with a blank before it": b" " + chunked(),
        "a size with 0x": b"0x" + chunked(),
        "a size with a plus": b"+" + chunked(),
        "no last chunk": chunked(last=b""),
        "a last chunk without an end": chunked(last=b"")+ b"0\r\n",
        "a last chunk of three zeros": chunked(last=b"000"),
        "a trailer": chunked(last=b"") + b"0\r\nX: y\r\n\r\n",
        "a trailer without a colon": chunked(last=b"") + b"0\r\nno colon\r\n\r\n",
        "a folded trailer": chunked(last=b"") + b"0\r\nX: y\r\n z\r\n\r\n",
        "no line end after a chunk": chunked().replace(b"\r\n1", b"1").replace(b"\r\n2", b"2"),
        "two line ends after a chunk": chunked(PAGE[:20], last=b"") + b"\r\n" + chunked(PAGE[20:]),
        "a chunk longer than its size": b"5\r\n" + PAGE[:20] + b"\r\n" + chunked(PAGE[20:]),
        "garbage after some chunks": chunked(PAGE, last=b"") + b"zz\r\n",
        "a negative size": chunked(last=b"") + b"-5\r\n",
        "a size of 20 digits": chunked(last=b"") + b"F" * 20 + b"\r\nmore",
        "no chunks at all": PAGE,
        "an empty line first": b"\r\n" + chunked(),
        "more after the end": chunked() + b"more",
        "one byte each": chunked(size=1),
        "a CR alone": chunked(end=b"\r"),
    }  # fmt: skip
    for name, body in bodies.items():
        yield f"chunks: {name}", answer(HTML, b"Transfer-Encoding: chunked", body=body, end=b"x")
    size = b"Content-Length: 9"
    right = b"Content-Length: %d" % len(PAGE)
    codings = {
        "chunked and a length": [b"Transfer-Encoding: chunked", size],
        "a length and chunked": [size, b"Transfer-Encoding: chunked"],
        "chunked and two lengths": [size, right, b"Transfer-Encoding: chunked"],
        "chunked and a length that is a word": [
            b"Content-Length: x",
            b"Transfer-Encoding: chunked",
        ],
        "chunked in capitals": [b"Transfer-Encoding: Chunked"],
        "chunked twice": [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
        "chunked, chunked": [b"Transfer-Encoding: chunked, chunked"],
        "identity, chunked": [b"Transfer-Encoding: identity, chunked"],
        "chunked, identity": [b"Transfer-Encoding: chunked, identity"],
        "identity and chunked": [b"Transfer-Encoding: identity", b"Transfer-Encoding: chunked"],
        "chunked in quotes": [b'Transfer-Encoding: "chunked"'],
        "chunked with a parameter": [b"Transfer-Encoding: chunked;q=1"],
        "a blank before the colon": [b"Transfer-Encoding : chunked"],
    }
    for name, lines in codings.items():
        yield f"Transfer-Encoding: {name}", answer(HTML, *lines, body=chunked(), end=b"x")
    plain = {
        "identity and a length": [b"Transfer-Encoding: identity", right],
        "identity": [b"Transfer-Encoding: identity"],
        "empty and a length": [b"Transfer-Encoding:", right],
        "an unknown one and a length": [b"Transfer-Encoding: x", right],
        "binary and a length": [b"Transfer-Encoding: binary", right],
        "8bit": [b"Transfer-Encoding: 8bit"],
        "gzip, of a plain body": [b"Transfer-Encoding: gzip", right],
    }
    for name, lines in plain.items():
        yield f"Transfer-Encoding: {name}", answer(HTML, *lines, end=b"x")
    yield (
        "chunks from HTTP/1.0",
        answer(
            HTML, b"Transfer-Encoding: chunked", body=chunked(), status=b"HTTP/1.0 200 OK", end=b"x"
        ),
    )
    yield (
        "chunked of HTTP/1.0, of a plain body",
        answer(HTML, b"Transfer-Encoding: chunked", status=b"HTTP/1.0 200 OK", end=b"x"),
    )


def _raw_deflate(body: bytes) -> bytes:
    return zlib.compress(body)[2:-4]


def _codings() -> Iterator[tuple[str, bytes]]:
    packed = gzip.compress(PAGE, mtime=0)
    long = PAGE + b"<p>" + b"".join(b"boat %d " % n for n in range(9_000))
    long_packed = gzip.compress(long, mtime=0)
    named = gzip.compress(PAGE, mtime=0)
    named = named[:3] + b"\x08" + named[4:10] + b"page.html\0" + named[10:]
    flags = packed[:3] + b"\x16" + packed[4:10] + b"\x04\0abcdnote\0xx" + packed[10:]
    coded: dict[str, tuple[bytes, bytes]] = {
        "gzip": (b"gzip", packed),
        "GZip": (b"GZip", packed),
        "x-gzip": (b"x-gzip", packed),
        "gzip in quotes": (b'"gzip"', PAGE),
        "gzip with a parameter": (b"gzip;q=1", PAGE),
        "gzip and blanks": (b" gzip ", packed),
        "gzip,": (b"gzip,", packed),
        "gzip, identity": (b"gzip, identity", packed),
        "identity, gzip": (b"identity, gzip", packed),
        "gzip with a name": (b"gzip", named),
        "gzip with all fields": (b"gzip", flags),
        "gzip with a wrong CRC": (b"gzip", packed[:-8] + bytes(8)),
        "gzip with a wrong length": (b"gzip", packed[:-4] + bytes(4)),
        "gzip without its trailer": (b"gzip", packed[:-8]),
        "gzip with half a trailer": (b"gzip", packed[:-4]),
        "gzip and garbage": (b"gzip", packed + b"garbage"),
        "gzip and zeros": (b"gzip", packed + bytes(99)),
        "gzip in two members": (b"gzip", gzip.compress(PAGE[:50]) + gzip.compress(PAGE[50:])),
        "gzip twice": (b"gzip, gzip", gzip.compress(packed)),
        "gzip once, named twice": (b"gzip, gzip", packed),
        "gzip cut": (b"gzip", long_packed[: len(long_packed) // 2]),
        "gzip damaged": (b"gzip", long_packed[:9_000] + b"\xff" * 50 + long_packed[9_050:]),
        "gzip of a plain body": (b"gzip", PAGE),
        "gzip of a body of zlib": (b"gzip", zlib.compress(PAGE)),
        "gzip of a raw deflate body": (b"gzip", _raw_deflate(PAGE)),
        "gzip of an empty body": (b"gzip", b""),
        "deflate": (b"deflate", zlib.compress(PAGE)),
        "deflate without its frame": (b"deflate", _raw_deflate(PAGE)),
        "deflate with a wrong checksum": (b"deflate", zlib.compress(PAGE)[:-4] + bytes(4)),
        "deflate of a gzip body": (b"deflate", packed),
        "deflate of a plain body": (b"deflate", PAGE),
        "x-deflate": (b"x-deflate", PAGE),
        "br": (b"br", brotli.compress(PAGE)),
        "br of a plain body": (b"br", PAGE),
        "br and garbage": (b"br", brotli.compress(PAGE) + b"garbage"),
        "br cut": (b"br", brotli.compress(long)[:-20]),
        "zstd": (b"zstd", zstd.compress(PAGE)),
        "zstd of a plain body": (b"zstd", PAGE),
        "zstd of a gzip body": (b"zstd", packed),
        "zstd in two frames": (b"zstd", zstd.compress(PAGE[:50]) + zstd.compress(PAGE[50:])),
        "zstd with a wrong checksum": (b"zstd", _zstd_with_checksum(PAGE)[:-4] + bytes(4)),
        "gzip, br": (b"gzip, br", brotli.compress(packed)),
    }
    names = [
        *(b"identity", b"none", b"utf-8", b"UTF-8", b"8bit", b"7bit", b"binary", b"aws-chunked"),
        *(b"text/html; charset=utf-8", b"ISO-8859-1", b"", b",", b"plain", b"raw", b"unknown"),
        *(b"quoted-printable", b"base64", b"chunked", b"compress", b"x-compress", b"amz-1.0"),
        *(b"deflated", b"bzip2", b"pack200-gzip", b"no", b"*", b"windows-1252"),
    ]
    coded |= {f"{name.decode()!r} of a plain body": (name, PAGE) for name in names}
    for name, (coding, body) in coded.items():
        yield name, html(b"Content-Encoding: " + coding, body=body)
    yield (
        "two lines, gzip and identity",
        html(b"Content-Encoding: gzip", b"Content-Encoding: identity", body=packed),
    )
    yield (
        "two lines of gzip, once gzip",
        html(b"Content-Encoding: gzip", b"Content-Encoding: gzip", body=packed),
    )
    yield (
        "gzip in chunks",
        answer(
            HTML,
            b"Content-Encoding: gzip",
            b"Transfer-Encoding: chunked",
            body=chunked(packed, 7),
            end=b"x",
        ),
    )
    yield "gzip without a length", answer(HTML, b"Content-Encoding: gzip", body=packed, end=b"x")
    yield "gzip unnamed", html(body=packed)


def _zstd_with_checksum(body: bytes) -> bytes:
    return zstd.compress(body, options={zstd.CompressionParameter.checksum_flag: 1})


def _encodings() -> Iterator[tuple[str, bytes]]:
    untyped = b"Content-Type: text/html"
    for encoding in legacy_texts.BY_ENCODING:
        plain = legacy_texts.page(encoding)
        yield (
            f"{encoding} in meta",
            answer(untyped, body=legacy_texts.page(encoding, meta=encoding)),
        )
        yield f"{encoding} in the header", answer(_typed(encoding), body=plain)
    for name, label, text in SPECIAL:
        body = b"<!doctype html><meta charset=%b><title>t</title><p>%b" % (label.encode(), text)
        yield f"{label} in meta: {name}", answer(untyped, body=body)
        yield f"{label} in the header: {name}", answer(_typed(label), body=body)
    russian = f"<!doctype html><title>t</title><p>{legacy_texts.RUSSIAN.paragraph}"
    for mark, codec in MARKS:
        body = mark + russian.encode(codec)
        yield f"a mark of {codec}", answer(untyped, body=body)
        yield f"a mark of {codec}, not of the header", answer(_typed("windows-1251"), body=body)
    both = legacy_texts.page("windows-1251", meta="koi8-r")
    yield "the header says otherwise than meta", answer(_typed("windows-1251"), body=both)


def _typed(label: str) -> bytes:
    return b"Content-Type: text/html; charset=" + label.encode()


MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_KANJI = "灯台守は毎朝港に入る船を数えている。".encode
SPECIAL: tuple[tuple[str, str, bytes], ...] = (
    (
        "the euro of GBK",
        "gbk",
        "每张票的价格是".encode("gbk") + b"\x80" + b"12, " + "船票".encode("gbk"),
    ),
    (
        "the euro of GBK",
        "gb2312",
        "每张票的价格是".encode("gbk") + b"\x80" + b"12, " + "船票".encode("gbk"),
    ),
    (
        "the euro of GBK",
        "gb18030",
        "每张票的价格是".encode("gbk") + b"\x80" + b"12, " + "船票".encode("gbk"),
    ),
    ("circled numbers", "euc-jp", b"\xad\xa1" + _KANJI("euc-jp") + b"\xad\xea"),
    ("circled numbers", "shift_jis", b"\x87\x40" + _KANJI("cp932") + b"\x87\x8a"),
    ("circled numbers", "iso-2022-jp", b"\x1b$B-!-j\x1b(B" + _KANJI("iso2022_jp")),
    ("half-width kana", "iso-2022-jp", _KANJI("iso2022_jp") + b"\x1b(I1234\x1b(B"),
    ("half-width kana", "euc-jp", _KANJI("euc-jp") + b"\x8e\xb1\x8e\xb2"),
    ("half-width kana", "shift_jis", _KANJI("cp932") + b"\xb1\xb2"),
    ("yen and overline", "iso-2022-jp", _KANJI("iso2022_jp") + b"\x1b(J\\100~\x1b(B"),
    ("JIS of 1978", "iso-2022-jp", _KANJI("iso2022_jp").replace(b"\x1b$B", b"\x1b$@")),
    ("JIS X 0212", "euc-jp", _KANJI("euc-jp") + b"\x8f\xb0\xa1"),
    ("wave dash", "euc-jp", _KANJI("euc-jp") + b"\xa1\xc1\xa1\xdd"),
    ("wave dash", "iso-2022-jp", b"\x1b$B!A!]\x1b(B" + _KANJI("iso2022_jp")),
    ("of Windows", "euc-kr", "등대지기는 배를 센다. 똠방각하 펲시".encode("cp949")),
    ("of Hong Kong", "big5", "燈塔看守人數船，係咁㗎啦".encode("big5hkscs")),
    ("quotes of Windows", "iso-8859-1", b"\x93The keeper\x94 \x96 he counts the boats\x85 \x80 12"),
    ("the byte 81", "windows-1252", b"The keeper counts caf\xe9s \x81 and boats"),
    ("letters that Python lacks", "windows-1255", "שומר המגדלור סופר".encode("cp1255") + b" \xca"),
    (
        "letters of Ukrainian",
        "x-mac-cyrillic",
        "Доглядач лічить човни".encode("mac_cyrillic") + b" \xa2\xb6",
    ),
    (
        "letters of Belarusian",
        "koi8-u",
        "Доглядач маяка лічить човни біля".encode("koi8-u") + b" \xae\xbe",
    ),
    ("letters of Romanian", "iso-8859-16", "Paznicul numără bărcile și".encode("iso-8859-16")),
    ("of the replacement", "iso-2022-kr", "등대지기는 배를 센다".encode("iso2022_kr")),
    ("of the replacement", "hz-gb-2312", "灯塔看守人每天早上数船".encode("hz")),
    ("a label in capitals", "WINDOWS-1251", "Смотритель маяка считает лодки".encode("cp1251")),
    ("a label of an alias", "cp1251", "Смотритель маяка считает лодки".encode("cp1251")),
    ("a label of an alias", "x-sjis", _KANJI("cp932")),
    ("a label of an alias", "ks_c_5601-1987", "등대지기는 배를 센다".encode("cp949")),
    ("a label of an alias", "latin1", "Der Wärter zählt jeden Morgen die Boote".encode("cp1252")),
    ("a label of an alias", "unicode", "Der Wärter zählt jeden Morgen die Boote".encode()),
)


def _redirects() -> Iterator[tuple[str, bytes]]:
    places = [
        *(b"http://elsewhere.test/", b"/there", b"there", b"?q=1", b"./a/../b"),
        b"//elsewhere.test/a",
        *(b"HTTP://ELSEWHERE.TEST:80/x", b"/a b", b"/a%20b", b"/a+b", b"/%7Ea", b"/a|b", b'/a"b'),
        *(b"/\xe9", b"/\xc3\xa9", b"/?q=\xe9", b"/?q=\xc3\xa9", b"/\xff\xfe", b"/\xc3\xa9/\xe9"),
        *(b"/\xd0\x9f\xd1\x80\xd0\xb8?\xcf\xf0\xe8", b"/a\xc2\xa0b"),
        b"http://elsewhere.test/\x81\x40",
        *(b"http:\\\\elsewhere.test\\x", b"\\x", b"/x#top", b"  /x  ", b"/a\tb", b"/x?a=1&b=2#c"),
        *(b"http:/elsewhere.test/x", b"http:///elsewhere.test/x", b"http:there"),
        b"http:elsewhere.test/x",
        *(b"http://elsewhere.test", b"http://elsewhere.test?q", b"https:/x", b"/.well-known/../x"),
        *(b"/a/%2e%2e/b", b"/x%zz", b"/%", b"/<x>", b"/{x}", b"/[x]", b"/^x`", b"/a;b=c", b"/a,b"),
        *(b"http://elsewhere.test./x", b"http://u:p@elsewhere.test/x", b"http://elsewhere.test:/x"),
        *(b"/x, /y", b"<http://elsewhere.test/x>", b'"/x"', b"URL=/x", b"http://http://elsewhere.test/"),
        *(b"http://else%77here.test/x", b"javascript:alert(1)", b"mailto:a@b.test"),
        b"data:text/html,x",
        *(b"http://", b"http://[/", b"//", b"///x", b"", b"about:blank", b"file:///etc/passwd"),
    ]  # fmt: skip
    for place in places:
        yield (
            repr(place)[2:-1] or "empty",
            answer(b"Location: " + place, HTML, status=b"HTTP/1.1 302 Found"),
        )
    for code in (300, 301, 302, 303, 304, 305, 306, 307, 308, 310, 201, 200, 404):
        status = b"HTTP/1.1 %d Odd" % code
        yield f"{code} with Location", answer(b"Location: /there", HTML, status=status)
        yield f"{code} without Location", answer(HTML, status=status)
        yield f"{code} without Location and body", answer(HTML, status=status, body=b"")
    moved = b"HTTP/1.1 301 Moved"
    yield (
        "two equal Locations",
        answer(b"Location: /there", b"Location: /there", HTML, status=moved),
    )
    yield "two Locations", answer(b"Location: /there", b"Location: /here", HTML, status=moved)
    yield (
        "an empty Location and another",
        answer(b"Location:", b"Location: /there", HTML, status=moved),
    )
    yield "a folded Location", answer(b"Location: /the\r\n re", HTML, status=moved)
    yield "Location, a blank before the colon", answer(b"Location : /there", HTML, status=moved)
    yield "location in small letters", answer(b"location:/there", HTML, status=moved)
    yield "URI", answer(b"URI: /there", HTML, status=moved)
    yield (
        "a redirect that breaks off",
        answer(b"Location: /there", HTML, b"Content-Length: 900", status=moved, end=b"x"),
    )
    yield (
        "a redirect with a wrong coding",
        answer(b"Location: /there", HTML, b"Content-Encoding: gzip", status=moved),
    )


def _refreshes() -> Iterator[tuple[str, bytes]]:
    contents = [
        *("0; url=/there", "0;url=/there", "0;URL=/there", "0; url = /there", "0 ; url=/there"),
        *("0, url=/there", "0,url=/there", "0 url=/there", "0 /there", "0;/there", "0; /there"),
        *("0; url='/there'", "0;url=/there;", "0; url=/a,b", "0; url=/a;b", "0;url='/there"),
        " 0; url=/there",
        *("0.0; url=/there", ".5; url=/there", "0.5.1; url=/there", "0;; url=/there"),
        "; url=/there",
        *("url=/there", "0; urll=/there", "0; uri=/there", "0;u=/there", "0; url /there"),
        "0; url==/there",
        *("0; url=http://elsewhere.test/x", "0; url=//elsewhere.test/x"),
        "0; url=there?a=1&amp;b=2",
        *("-1; url=/there", "+0; url=/there", "x; url=/there", "0x; url=/there"),
        *("0", "0;", "0; url="),
        *("0; url=javascript:1", "0;\turl=/there", "0;\nurl=/there", "0; url='/there'x"),
        "0; url=&quot;/there&quot;",
        *("0;  url = '/a b'", "0; url=/\xe9", "0; url=#top"),
    ]  # fmt: skip
    for content in contents:
        refresh = f'<meta http-equiv="refresh" content="{content}">'
        page = f"<!doctype html><title>Harbour</title>{refresh}<p>{WORDS}"
        yield f"meta: {content!r}", html(body=page.encode())
        if "&" not in content and "\n" not in content:
            yield f"field: {content!r}", html(b"Refresh: " + content.encode())
    meta = '<meta http-equiv=Refresh content="0; url=/there">'
    places = {
        "in the body": f"<title>t</title><body><p>{WORDS}</p>{meta}",
        "in noscript": f"<title>t</title><noscript>{meta}</noscript><p>{WORDS}",
        "in a comment": f"<title>t</title><!-- {meta} --><p>{WORDS}",
        "in a template": f"<title>t</title><template>{meta}</template><p>{WORDS}",
        "in a textarea": f"<title>t</title><p>{WORDS}<textarea>{meta}</textarea>",
        "with a base": f"<title>t</title><base href=/deep/>{meta.replace('/', '')}<p>{WORDS}",
        "two": f"<title>t</title>{meta}{meta.replace('/there', '/other')}<p>{WORDS}",
    }
    for name, page in places.items():
        yield name, html(body=b"<!doctype html>" + page.encode())
    yield (
        "field and meta",
        html(b"Refresh: 0; url=/there", body=f"<!doctype html>{meta}<p>{WORDS}".encode()),
    )
    yield (
        "a field of 404",
        answer(b"Refresh: 0; url=/there", HTML, status=b"HTTP/1.1 404 Not Found"),
    )


_KINDS: Mapping[str, Callable[[], Iterator[tuple[str, bytes]]]] = {
    "status lines": _status_lines,
    "statuses": _statuses,
    "fields": _fields,
    "types": _types,
    "lengths": _framing,
    "chunks": _chunks,
    "codings": _codings,
    "encodings": _encodings,
    "redirects": _redirects,
    "refreshes": _refreshes,
}


def _all() -> Iterator[Wild]:
    made = ((kind, *case) for kind, make in _KINDS.items() for case in make())
    for number, (kind, name, raw) in enumerate(made):
        yield Wild(kind, name, raw, f"w{number}.test")


WILD = tuple(_all())
