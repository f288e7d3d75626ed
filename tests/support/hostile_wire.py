"""The bytes that each hostile host must send: a pattern for their start, and how they end."""

from __future__ import annotations

import re

from gossamer.fakeweb.hostile import CATALOGUE

HEAD = rb"HTTP/1\.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
LENGTH = rb"Content-Length: \d+\r\n"
DATED = rb"HTTP/1\.1 %s\r\nDate: [^\r]+\r\n"
PAGE = rb"<!DOCTYPE html>\n<html lang=.*</html>\n"
OK_PAGE = DATED % b"200 OK" + rb".*\r\n\r\n" + PAGE
CHUNKED = HEAD + rb"Transfer-Encoding: chunked\r\n\r\n"


def location(target: str) -> bytes:
    return rb"HTTP/1\.1 302 Found\r\n.*Location: " + re.escape(target.encode("latin-1")) + rb"\r\n"


def retry(value: bytes) -> bytes:
    return DATED % b"429 Too Many Requests" + rb".*\r\nRetry-After: " + value + rb"\r\n"


WIRE: dict[str, tuple[bytes, str]] = {
    "reset-accept": (rb"$", "reset"),
    "close-accept": (rb"$", "closed"),
    "talks-first": (rb"SSH-2\.0-\S+ \S+\r\n$", "closed"),
    "close-request": (rb"$", "closed"),
    "reset-request": (rb"$", "reset"),
    "reset-head": (HEAD + rb"$", "reset"),
    "reset-body": (HEAD + rb"Content-Length: 100000\r\n\r\n" + PAGE + rb"$", "reset"),
    "keep-alive-liar": (
        HEAD + LENGTH + rb"Connection: keep-alive\r\nKeep-Alive: .*\r\n\r\n" + PAGE + rb"$",
        "closed",
    ),
    "second-answer": (HEAD + LENGTH + rb"\r\n" + PAGE + HEAD + rb".*<title>Forged", "kept"),
    "slow-head": (HEAD, "endless"),
    "endless-head": (HEAD + rb"(X-Flood: rain\r\n){10000}", "endless"),
    "many-headers": (HEAD + LENGTH + rb"(X-Header-\d+: \d+\r\n){20000}\r\n", "kept"),
    "big-header": (HEAD + LENGTH + rb"X-Big: x{300000}", "endless"),
    "continue-flood": (rb"(HTTP/1\.1 100 Continue\r\n\r\n){10000}", "endless"),
    "early-hints": (rb"(HTTP/1\.1 103 Early Hints\r\nLink: [^\r]*\r\n\r\n){3}" + HEAD, "kept"),
    "status-garbage": (rb"It works!\r\n", "closed"),
    "status-http09": (PAGE + rb"$", "closed"),
    "status-version": (rb"HTTP/3\.7 200 OK\r\n", "closed"),
    "status-icy": (rb"ICY 200 OK\r\n", "closed"),
    "status-999": (rb"HTTP/1\.1 999 Request denied\r\n", "closed"),
    "status-short": (rb"HTTP/1\.1 20 OK\r\n", "closed"),
    "status-no-reason": (rb"HTTP/1\.1 200\r\n", "closed"),
    "status-nul": (rb"HTTP/1\.1 2\0\0 OK\r\n", "closed"),
    "header-nul": (HEAD + LENGTH + rb"X-Nul: a\0b\r\n", "kept"),
    "header-no-colon": (HEAD + LENGTH + rb"No colon\r\n", "kept"),
    "folded-header": (HEAD + LENGTH + rb"X-Folded: one\r\n two\r\n", "kept"),
    "bare-lf": (rb"HTTP/1\.1 200 OK\n[^\r]*\n\n" + PAGE + rb"$", "closed"),
    "slow-body": (HEAD + LENGTH, "endless"),
    "endless-body": (HEAD + rb"Connection: close\r\n\r\n[0-9a-f]{300000}", "endless"),
    "endless-file": (
        rb"HTTP/1\.1 200 OK\r\nContent-Type: application/pdf\r\n.*\r\n\r\n[0-9a-f]{300000}",
        "endless",
    ),
    "endless-chunks": (CHUNKED + rb"(10000\r\n[0-9a-f]{65536}\r\n){5}", "endless"),
    "tiny-chunks": (CHUNKED + rb"(1\r\n.\r\n){50000}0\r\n\r\n$", "kept"),
    "endless-extension": (CHUNKED + rb"5;x=x{300000}", "endless"),
    "endless-trailers": (CHUNKED + rb".*\r\n0\r\n(X-Trailer: rain\r\n){10000}", "endless"),
    "ten-gigabytes": (HEAD + rb"Content-Length: 10000000000\r\n\r\n[0-9a-f]{300000}", "endless"),
    "ten-gigabytes-ranges": (
        HEAD + rb"Content-Length: 10000000000\r\nAccept-Ranges: bytes\r\n\r\n[0-9a-f]{300000}",
        "endless",
    ),
    "length-too-long": (HEAD + rb"Content-Length: 100000\r\n\r\n" + PAGE + rb"$", "closed"),
    "length-too-short": (HEAD + LENGTH + rb"\r\n" + PAGE + rb"(<p>more){1000}$", "kept"),
    "length-twice": (HEAD + rb"Content-Length: 50\r\nContent-Length: 51\r\n\r\n", "closed"),
    "length-negative": (HEAD + rb"Content-Length: -5\r\n", "closed"),
    "length-garbage": (HEAD + rb"Content-Length: many\r\n", "closed"),
    "length-overflow": (HEAD + rb"Content-Length: 10{29}\r\n", "closed"),
    "length-and-chunks": (
        HEAD + rb"Transfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n.*\r\n0\r\n\r\n$",
        "kept",
    ),
    "chunk-not-hex": (CHUNKED + rb"zz\r\n" + PAGE, "closed"),
    "chunk-overflow": (CHUNKED + rb"F{20}\r\n" + PAGE, "closed"),
    "chunk-negative": (CHUNKED + rb"-10\r\n" + PAGE, "closed"),
    "chunk-unframed": (CHUNKED + rb"10\r\n" + PAGE + rb"\r\n0\r\n\r\n$", "closed"),
    "chunk-cut": (CHUNKED + rb"[0-9a-f]{2}\r\n" + PAGE + rb"\r\n$", "closed"),
    "gzip-bomb": (HEAD + rb"Content-Encoding: gzip\r\n.*\r\n\r\n\x1f\x8b", "endless"),
    "gzip-in-gzip": (HEAD + rb"Content-Encoding: gzip, gzip\r\n.*\r\n\r\n\x1f\x8b", "closed"),
    "brotli-bomb": (HEAD + rb"Content-Encoding: br\r\n", "closed"),
    "zstd-bomb": (HEAD + rb"Content-Encoding: zstd\r\n.*\r\n\r\n\x28\xb5\x2f\xfd", "closed"),
    "zstd-window": (
        HEAD + rb"Content-Encoding: zstd\r\n.*\r\n\r\n\x28\xb5\x2f\xfd\0\xa8",
        "closed",
    ),
    "coding-tower": (HEAD + rb"Content-Encoding: (gzip, ){19}gzip\r\n", "kept"),
    "not-gzip": (HEAD + rb"Content-Encoding: gzip\r\n" + LENGTH + rb"\r\n" + PAGE, "kept"),
    "gzip-cut": (HEAD + rb"Content-Encoding: gzip\r\n" + LENGTH + rb"\r\n\x1f\x8b", "kept"),
    "redirect-endless": (location("/hop/1"), "kept"),
    "redirect-loop": (location("/hop/1"), "kept"),
    "redirect-self": (location("/"), "kept"),
    "redirect-there": (location("http://redirect-back.hostile.test/hop/1"), "kept"),
    "redirect-back": (location("http://redirect-there.hostile.test/hop/1"), "kept"),
    "cookie-wall": (location("/") + rb".*Set-Cookie: passed=1; Path=/\r\n", "kept"),
    "redirect-metadata": (location("http://169.254.169.254/latest/meta-data/"), "kept"),
    "redirect-mapped": (location("http://[::ffff:127.0.0.1]/"), "kept"),
    "redirect-decimal": (location("http://2130706433/"), "kept"),
    "redirect-localhost": (location("http://localhost:22/"), "kept"),
    "redirect-file": (location("file:///etc/passwd"), "kept"),
    "redirect-ftp": (location("ftp://ftp.hostile.test/"), "kept"),
    "redirect-javascript": (location("javascript:alert(1)"), "kept"),
    "redirect-data": (location("data:text/html,hello"), "kept"),
    "redirect-garbage": (location("http://\xff\xfe[/"), "kept"),
    "redirect-empty": (location(""), "kept"),
    "redirect-nowhere": (rb"HTTP/1\.1 302 Found\r\nContent-Length: 0\r\n\r\n$", "kept"),
    "redirect-long": (rb"HTTP/1\.1 302 Found\r\nLocation: /x{100000}\r\n", "kept"),
    "retry-seconds": (retry(rb"30"), "kept"),
    "retry-date": (retry(rb"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"), "kept"),
    "retry-past": (retry(rb"Thu, 01 Jan 2004 00:00:00 GMT"), "kept"),
    "retry-far": (retry(rb"Tue, 01 Jan 2199 00:00:00 GMT"), "kept"),
    "retry-overflow": (retry(rb"9{40}"), "kept"),
    "retry-negative": (retry(rb"-5"), "kept"),
    "retry-garbage": (retry(rb"soon"), "kept"),
    "retry-none": (DATED % b"429 Too Many Requests" + rb"((?!Retry-After).)*$", "kept"),
    "unavailable": (DATED % b"503 Service Unavailable" + rb"((?!Retry-After).)*$", "kept"),
    "html-as-png": (DATED % b"200 OK" + rb"Content-Type: image/png\r\n.*\r\n\r\n" + PAGE, "kept"),
    "png-as-html": (
        DATED % b"200 OK" + rb"Content-Type: text/html; .*\r\n\r\n\x89PNG\r\n",
        "kept",
    ),
    "html-untyped": (rb"HTTP/1\.1 200 OK\r\n" + LENGTH + rb"\r\n" + PAGE, "kept"),
    "html-mistyped": (DATED % b"200 OK" + rb"Content-Type: ;;=\r\n.*\r\n\r\n" + PAGE, "kept"),
    "wrong-charset": (
        DATED % b"200 OK" + rb"Content-Type: text/html; charset=utf-8\r\n.*<title>\xc3\xe0\xe2",
        "kept",
    ),
    "no-such-charset": (
        DATED % b"200 OK" + rb"Content-Type: text/html; charset=x-none\r\n.*<title>\xc3\xe0\xe2",
        "kept",
    ),
    "million-links": (
        HEAD + rb"Connection: close\r\n\r\n.{36}(<a href=/item/\d+>\d+</a>\n){10000}",
        "endless",
    ),
    "nested": (HEAD + rb"Connection: close\r\n\r\n.{35}(<div>){60000}", "endless"),
    "long-urls": (OK_PAGE.removesuffix(PAGE) + rb'.*href="/0/x{100000}"', "endless"),
} | {
    case.name: (OK_PAGE, "kept")
    for case in CATALOGUE.values()
    if case.name.startswith("robots-")
    or case.name.startswith(("calendar", "facets", "session", "deeper", "mirror", "farm"))
}
WIRE["soft-404"] = (DATED % b"200 OK" + rb".*<title>Not found</title>", "kept")

RULES = rb"User-agent: \*\nDisallow: /private/\n"
ROBOTS: dict[str, tuple[bytes, str]] = {
    "robots-huge": (
        rb"HTTP/1\.1 200 OK\r\n.*Length: 100000000\r\n\r\n" + RULES + rb"(# [^\n]*\n){1000}",
        "endless",
    ),
    "robots-endless": (
        rb"HTTP/1\.1 200 OK\r\n.*\r\n\r\n" + RULES + rb"(# [^\n]*\n){1000}",
        "endless",
    ),
    "robots-slow": (rb"HTTP/1\.1 200 OK\r\n.*Content-Length: 10000\r\n\r\n", "endless"),
    "robots-5-hops": (location("/robots/1"), "kept"),
    "robots-6-hops": (location("/robots/1"), "kept"),
    "robots-loop": (location("/robots.txt?again"), "kept"),
    "robots-metadata": (location("http://169.254.169.254/robots.txt"), "kept"),
    "robots-401": (DATED % b"401 Unauthorized", "kept"),
    "robots-403": (DATED % b"403 Forbidden", "kept"),
    "robots-429": (DATED % b"429 Too Many Requests", "kept"),
    "robots-500": (DATED % b"500 Internal Server Error", "kept"),
    "robots-503": (DATED % b"503 Service Unavailable", "kept"),
    "robots-html": (OK_PAGE, "kept"),
    "robots-binary": (
        DATED % b"200 OK" + rb"Content-Type: text/plain\r\n.*\r\n\r\n.{4096}$",
        "kept",
    ),
    "robots-garbage": (rb"\x16\x03rubbish", "closed"),
    "robots-reset": (rb"$", "reset"),
}
