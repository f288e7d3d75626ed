"""Reading seed lists and seeds typed by users.

A line of a list is one of these:

    url                              may stand between `<` and `>`, or in double quotes
    url<TAB>key=value<TAB>…          as Nutch and StormCrawler have it; what follows the URL is
                                     ignored, except further URLs with a scheme
    host<TAB>url<TAB>url…            the older form with one line per host

`#` begins a comment at the start of a line and after white space. Empty lines are ignored. Lines
end with LF, CR LF or CR. The encoding is UTF-8, or UTF-16 or UTF-32 with a byte order mark, as
Windows writes them; UTF-16 is also known by its zeros. Files may be compressed with gzip; `-` is
the standard input.

A URL without a scheme gets https, except on this machine (`localhost`), on an IP address, or with a
port other than 443 and 8443. There it gets http, because development servers and intranets rarely
have a certificate. If that guess is wrong, write the scheme.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import re
import sys
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from gossamer.errors import SeedError
from gossamer.web.public_suffixes import is_public
from gossamer.web.urls import Target, host_of, resolve_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gossamer.web.urls import UrlRules

STDIN = "-"
SHOWN_CHARS = 200
GZIP_MAGIC = b"\x1f\x8b"
MAX_LINE_BYTES = 1 << 20
BYTE_ORDER_MARK = "\ufeff"
WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # it begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks, and the codecs that read them."""
COMMENT = re.compile(r"(^|\s)#.*")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+([/?#]|$))")
"""`mailto:x` has a scheme, `example.org:8080/x` has a port."""
ENCLOSED = re.compile(r"\A(?:(<)|\")(.*)(?(1)>|\")\Z")
METADATA = re.compile(r"[^\s=/?#]+=")
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


def read_list(source: str, rules: UrlRules) -> Iterator[Target | BadLine]:
    """Yield each seed of a list as its normalised URL and spelling, and each invalid line.

    Raises SeedError if the list cannot be read completely.
    """
    try:
        with _open(source) as file:
            yield from parse_seeds(iter(lambda: file.readline(MAX_LINE_BYTES), b""), source, rules)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise SeedError(source, f"cannot be read: {why}", "pass a text or gzip file") from None


def parse_typed(words: Iterable[str], rules: UrlRules) -> Iterator[Target]:
    """Yield seeds typed by a user, as `read_list` does. Raises SeedError at the first invalid one.

    A name without scheme and port must be below a public suffix: `seeds.txt` is more likely a file.
    """
    for word in map(str.strip, words):
        seed = None if word == STDIN or _undecodable_seed(word) else resolve_seed(word, rules)
        if SCHEME.match(word) is None:
            if word == STDIN or Path(word).is_file():
                what = "the standard input" if word == STDIN else "a file"
                remedy = f"pass {what} as a list: --list {word} (in Python: lists=[{word!r}])"
                raise SeedError(word, f"is {what}, not a URL", remedy)
            if (
                seed
                and PLAIN_HTTP.match(word) is None
                and not is_public(host_of(seed.url).partition(":")[0])
            ):
                raise SeedError(
                    word,
                    "is neither a file nor a name in a known top-level domain",
                    f"include the scheme: {seed.url} or http{seed.url.removeprefix('https')}",
                )
        if seed is None:
            schemes = ", ".join(f"{scheme}://" for scheme in rules.schemes)
            raise SeedError(
                f"{word[:SHOWN_CHARS]!r}",
                "is not a URL that can be crawled",
                f"pass a host name, or a URL that begins with one of {schemes}",
            )
        yield seed


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


def parse_seeds(lines: Iterable[bytes], source: str, rules: UrlRules) -> Iterator[Target | BadLine]:
    """Yield the seeds and the invalid lines of a list.

    `lines` end with LF bytes, wherever these stand in a wider encoding.
    """
    for number, line in enumerate(_utf8_lines(lines), start=1):
        try:
            text = line.decode().removeprefix(BYTE_ORDER_MARK)  # joined lists have several
        except UnicodeDecodeError:
            yield BadLine(source, number, line.decode("latin-1").strip(), "not UTF-8 or UTF-16")
            continue
        text = COMMENT.sub("", text).strip()
        for word in _seeds_of_line(text) if text else ():
            seed = resolve_seed(word, rules)
            yield seed or BadLine(source, number, word, "not a URL that can be crawled")


def _seeds_of_line(text: str) -> list[str]:
    first, *rest = (ENCLOSED.sub(r"\2", word.strip()) for word in text.split("\t"))
    if SCHEME.match(first):
        return [first, *(word for word in rest if "://" in word and SCHEME.match(word))]
    return [word for word in rest if not METADATA.match(word)] or [first]


def _utf8_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a list in UTF-8, without their ends. Lines that no encoding reads are not."""
    begin = b"".join(islice(lines := iter(lines), 1))
    encoding = _wide_encoding(begin)
    lines = chain([begin], lines)
    if encoding is not None:
        lines = _decoded_lines(lines, encoding)
    for line in lines:
        yield from line.removesuffix(b"\n").removesuffix(b"\r").split(b"\r")


def _wide_encoding(begin: bytes) -> str | None:
    for mark, encoding in WIDE:
        if begin.startswith(mark):
            return encoding
    if len(begin) > 1 and (begin[0] == 0) != (begin[1] == 0):
        return "utf-16-le" if begin[0] else "utf-16-be"
    return None


def _decoded_lines(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The lines of a text in a wide encoding, at most MAX_LINE_BYTES characters each."""
    rest = ""
    for text in codecs.iterdecode(chunks, encoding, errors="replace"):
        *complete, rest = (rest + text).split("\n")
        if len(rest) > MAX_LINE_BYTES:
            complete, rest = [*complete, rest], ""
        yield from map(_as_utf8, complete)
    yield _as_utf8(rest)


def _as_utf8(line: str) -> bytes:
    """A line in UTF-8, and invalid if it had characters that could not be decoded."""
    return line.encode().replace("\ufffd".encode(), b"\xff")


def resolve_seed(text: str, rules: UrlRules) -> Target | None:
    """The URL that a text means, with a scheme added if it lacks one."""
    if not SCHEME.match(text):
        if " " in text:
            return None
        text = f"{'http' if PLAIN_HTTP.match(text) else 'https'}://{text}"
    (url,), spellings = resolve_all([text], None, rules)
    return None if url is None else Target(url, spellings.get(text))


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
