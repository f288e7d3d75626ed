"""Seed lists, a line at a time.

A line is a URL, or the older form of a line per host: `host<TAB>url<TAB>url…`. A URL without a
scheme means https. Empty lines and those that begin with `#` mean nothing. Files may be gzip
compressed; `-` is the standard input.
"""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from gossamer.errors import SeedError
from gossamer.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gossamer.urls import UrlRules

GZIP_MAGIC = b"\x1f\x8b"
MAX_LINE_BYTES = 1 << 20
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+(/|$))")
"""`mailto:x` has a scheme, `example.org:8080/x` has a port."""


@dataclass(frozen=True)
class BadLine:
    source: str
    line: int
    """From 1."""
    text: str
    why: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.why}: {self.text[:200]!r}"


def read(source: str, rules: UrlRules) -> Iterator[str | BadLine]:
    """Every seed of a list as a normalised URL, and every line that is none.

    Raises SeedError where the list cannot be read (to its end).
    """
    try:
        with _open(source) as file:
            yield from parse(iter(lambda: file.readline(MAX_LINE_BYTES), b""), source, rules)
    except (OSError, EOFError, zlib.error) as error:
        raise SeedError(source, f"cannot be read: {error}", "give a text or gzip file") from None


def parse(lines: Iterable[bytes], source: str, rules: UrlRules) -> Iterator[str | BadLine]:
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError:
            yield BadLine(source, number, line.decode("latin-1").strip(), "not UTF-8")
            continue
        if not text or text.startswith("#"):
            continue
        _host, tab, rest = text.partition("\t")
        for word in rest.split("\t") if tab else [text]:
            url = seed(word.strip(), rules)
            yield url or BadLine(source, number, word, "not a URL that can be crawled")


def seed(text: str, rules: UrlRules) -> str | None:
    """The URL a person means by this text."""
    if SCHEME.match(text):
        return normalize(text, rules=rules)
    return None if " " in text else normalize(f"https://{text}", rules=rules)


@contextmanager
def _open(source: str) -> Iterator[BinaryIO]:
    if source == "-":
        yield sys.stdin.buffer
        return
    with open(source, "rb") as file:  # noqa: PTH123  # `source` is what the user typed
        magic = file.read(2)
        file.seek(0)
        if magic == GZIP_MAGIC:
            with gzip.open(file) as unzipped:
                yield unzipped  # type: ignore[misc]  # a GzipFile reads as BinaryIO does
        else:
            yield file
