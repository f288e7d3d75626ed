"""Reading seed lists and seeds typed by users.

A line of a list is a URL, or, in the older form with one line per host, `host<TAB>url<TAB>url…`.
`#` begins a comment at the start of a line and after white space. Empty lines are ignored. Files
may be compressed with gzip; `-` is the standard input.

A URL without a scheme gets https, except on this machine (`localhost`), on an IP address, or with a
port other than 443 and 8443. There it gets http, because development servers and intranets rarely
have a certificate. If that guess is wrong, write the scheme.
"""

from __future__ import annotations

import errno
import gzip
import re
import sys
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from gossamer.errors import SeedError
from gossamer.web.public_suffixes import is_public
from gossamer.web.urls import host_of, normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gossamer.web.urls import UrlRules

STDIN = "-"
SHOWN_CHARS = 200
GZIP_MAGIC = b"\x1f\x8b"
MAX_LINE_BYTES = 1 << 20
COMMENT = re.compile(r"(^|\s)#.*")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+([/?#]|$))")
"""`mailto:x` has a scheme, `example.org:8080/x` has a port."""
PLAIN_HTTP = re.compile(
    r"""
    (?! [^/?#]* : (?:443|8443) (?:[/?#]|\Z) )
    (?:
        (?: [^/?#:]+\. )? localhost \.? (?=[:/?#]|\Z)
        | [0-9]{1,3} (?: \.[0-9]{1,3} ){3} (?=[:/?#]|\Z)
        | \[
        | [^/?#]* : [0-9]+ (?:[/?#]|\Z)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Matches texts without a scheme that mean http: localhost, an IP address, or a port."""


@dataclass(frozen=True)
class BadLine:
    source: str
    line: int
    """Its number, counted from 1."""
    text: str
    why: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.why}: {self.text[:SHOWN_CHARS]!r}"


def read_list(source: str, rules: UrlRules) -> Iterator[str | BadLine]:
    """Yield each seed of a list as a normalised URL, and each invalid line as a BadLine.

    Raises SeedError if the list cannot be read completely.
    """
    try:
        with _open(source) as file:
            yield from parse_seeds(iter(lambda: file.readline(MAX_LINE_BYTES), b""), source, rules)
    except (OSError, EOFError, zlib.error) as error:
        raise SeedError(source, f"cannot be read: {error}", "pass a text or gzip file") from None


def parse_typed(words: Iterable[str], rules: UrlRules) -> Iterator[str]:
    """Yield seeds typed by a user as normalised URLs. Raises SeedError at the first invalid one.

    A name without scheme and port must be below a public suffix: `seeds.txt` is more likely a file.
    """
    for word in map(str.strip, words):
        url = None if word == STDIN or _undecodable_seed(word) else normalize_seed(word, rules)
        if SCHEME.match(word) is None:
            if word == STDIN or Path(word).is_file():
                what = "the standard input" if word == STDIN else "a file"
                remedy = f"pass {what} as a list: --list {word} (in Python: lists=[{word!r}])"
                raise SeedError(word, f"is {what}, not a URL", remedy)
            if (
                url
                and PLAIN_HTTP.match(word) is None
                and not is_public(host_of(url).partition(":")[0])
            ):
                raise SeedError(
                    word,
                    "is neither a file nor a name in a known top-level domain",
                    f"include the scheme: {url} or http{url.removeprefix('https')}",
                )
        if url is None:
            schemes = ", ".join(f"{scheme}://" for scheme in rules.schemes)
            raise SeedError(
                f"{word[:SHOWN_CHARS]!r}",
                "is not a URL that can be crawled",
                f"pass a host name, or a URL that begins with one of {schemes}",
            )
        yield url


def check_seeds(words: Iterable[str], lists: Iterable[str], rules: UrlRules) -> None:
    """Raise SeedError if a word is not a valid seed, or a list does not exist."""
    for _ in parse_typed(words, rules):
        pass
    for source in lists:
        if source != STDIN and not Path(source).exists():
            raise SeedError(source, "cannot be read: no such file", "pass a text or gzip file")


def _undecodable_seed(word: str) -> bool:
    """Whether a word contains bytes that were not UTF-8 on the command line."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return True
    return False


def parse_seeds(lines: Iterable[bytes], source: str, rules: UrlRules) -> Iterator[str | BadLine]:
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            yield BadLine(source, number, line.decode("latin-1").strip(), "not UTF-8")
            continue
        text = COMMENT.sub("", text).strip()
        if not text:
            continue
        _host, tab, rest = text.partition("\t")
        for word in rest.split("\t") if tab else [text]:
            url = normalize_seed(word.strip(), rules)
            yield url or BadLine(source, number, word, "not a URL that can be crawled")


def normalize_seed(text: str, rules: UrlRules) -> str | None:
    """The normalised URL that a text means, with a scheme added if it lacks one."""
    if SCHEME.match(text):
        return normalize(text, rules=rules)
    scheme = "http" if PLAIN_HTTP.match(text) else "https"
    return None if " " in text else normalize(f"{scheme}://{text}", rules=rules)


@contextmanager
def _open(source: str) -> Iterator[BinaryIO]:
    if source == STDIN:
        if sys.stdin is None:  # the calling process closed it
            raise OSError(errno.EBADF, "the standard input is closed")
        yield sys.stdin.buffer
        return
    with open(source, "rb") as file:  # noqa: PTH123  # `source` is what the user typed
        if file.peek(2)[:2] == GZIP_MAGIC:  # peek, because a pipe cannot be read twice
            with gzip.open(file) as unzipped:
                yield unzipped  # type: ignore[misc]  # a GzipFile reads as BinaryIO does
        else:
            yield file
