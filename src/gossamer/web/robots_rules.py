"""Matching the rules of a robots.txt: which rule decides about a URL (RFC 9309 §2.2.2, §2.2.3).

Patterns and URLs are compared as octets in one spelling:

    percent-encoding  unreserved octets are decoded, hex digits are in upper case, and everything
                      that RFC 3986 requires to be encoded is; reserved octets stay as written
    a stray `%`       of a pattern stays as it is, as in Google's parser (robots.cc), so `/%` is the
                      head of every encoded octet; one of a URL equals both `%` and its encoding
    `*` and `$`       become %2A and %24, unless they are a wildcard or the end of a pattern
    a query           `/`, `:`, `?` and `@` are not delimiters in it, so they equal their encoded
                      form, as in the table of §2.2.2; a pattern without `?` matches both forms

How rules are found: a pattern starts with a literal head, up to its first `*`. Heads are keys of a
dictionary, and a path is cut to each length that some head has, so prefixes cost one look-up per
length, however many there are. The rest of a pattern is searched from left to right without
backtracking: the time grows with the URL and with the octets of the rules, never exponentially.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

# RFC 3986 appendix B, up to the fragment.
_URL = re.compile(rb"(?:[^:/?#]+:)?(?://[^/?#]*)?([^#]*)")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# Triplets, and `$` and octets that neither a path nor a query may contain.
_ESCAPES = re.compile(rb"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~/?:@!&'()*+,;=%-]")
_STRAY = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ENCODED_STRAY = re.compile(r"%25(?![0-9A-Fa-f]{2})")
_QUERY_DELIMITERS = {"%2F": "/", "%3A": ":", "%3F": "?", "%40": "@"}
_ESCAPED_DELIMITERS = re.compile("|".join(_QUERY_DELIMITERS))

_UNMATCHED = 1


class Rule(NamedTuple):
    allow: bool
    pattern: bytes
    """As written; not empty."""


class _Wildcard(NamedTuple):
    """The rest of a pattern with `*`, after its head."""

    rank: int
    needle: str
    """The longest part. Most URLs lack it, and so need no further search."""
    parts: tuple[str, ...]
    end: str
    """How the URL must end, after the parts; empty if any end will do."""


class Rules:
    """All rules for one agent.

    The rank of a rule is twice its number of octets, plus one if it allows. The matching rule of
    the highest rank wins, so an Allow beats a Disallow of equal length. Octets are counted in the
    spelling in which they are compared.
    """

    __slots__ = ("_exact", "_lengths", "_prefixes", "_wildcards")

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._exact: dict[str, int] = {}
        self._prefixes: dict[str, int] = {}
        wildcards: dict[str, set[_Wildcard]] = {}
        for allow, pattern in rules:
            anchored = pattern.endswith(b"$")
            literal = _open_query(_normal(pattern.removesuffix(b"$")))
            rank = 2 * (len(literal) + anchored) + allow
            head, *parts = literal.split("*")
            table = self._exact if anchored and not parts else self._prefixes
            end = parts.pop() if anchored and parts else ""
            parts = [part for part in parts if part]
            if parts or end:
                needle = max(*parts, end, key=len) if parts else end
                wildcards.setdefault(head, set()).add(_Wildcard(rank, needle, tuple(parts), end))
            else:
                table[head] = max(rank, table.get(head, rank))
        self._wildcards = {
            head: sorted(found, key=lambda wildcard: wildcard.rank, reverse=True)
            for head, found in wildcards.items()
        }
        heads = chain(self._prefixes, self._wildcards)
        self._lengths = sorted({len(head) for head in heads}, reverse=True)

    def allow(self, url: str) -> bool:
        """Whether the rules allow an absolute URL. A URL that no rule matches is allowed."""
        path = _path(url)
        return self._highest(path) % 2 == 1 or path == "/robots.txt"  # which is always allowed

    def rank(self, url: str) -> int | None:
        """The rank of the rule that decides about an absolute URL; None if no rule matches it."""
        rank = self._highest(_path(url))
        return None if rank == _UNMATCHED else rank

    def _highest(self, path: str) -> int:
        spellings = {path, _open_query(path)}
        if "%25" in path:  # it may be a stray `%` that `urls.normalize` has encoded
            stray = _ENCODED_STRAY.sub("%", path)
            spellings |= {stray, _open_query(stray)}
        return max(map(self._rank, spellings))

    def _rank(self, path: str) -> int:
        best = self._exact.get(path, _UNMATCHED)
        for length in self._lengths:
            head = path[:length]
            best = max(best, self._prefixes.get(head, _UNMATCHED))
            for rank, needle, parts, end in self._wildcards.get(head, ()):
                if rank <= best:
                    break
                if needle in path and _follow(parts, end, path, length):
                    best = rank
                    break
        return best


def _follow(parts: tuple[str, ...], end: str, path: str, start: int) -> bool:
    """Whether the parts occur in order, then `end`; the leftmost place of each is sufficient."""
    for part in parts:
        found = path.find(part, start)
        if found < 0:
            return False
        start = found + len(part)
    return path.endswith(end, start)


def _path(url: str) -> str:
    """Path and query in normal form. Lone surrogates count as octets, so every URL has one."""
    match = _URL.match(url.encode("utf-8", "surrogatepass"))
    path = match[1] if match else b""
    if path[:1] != b"/":
        path = b"/" + path
    return _STRAY.sub("%25", _normal(path)).replace("*", "%2A")


def _normal(text: bytes) -> str:
    return _ESCAPES.sub(lambda escape: _escape(escape[0]), text).decode("ascii")


@cache  # for 740 different arguments
def _escape(escape: bytes) -> bytes:
    triplet = len(escape) == len("%41")
    octet = int(escape[1:], 16) if triplet else escape[0]
    return bytes((octet,)) if triplet and octet in _UNRESERVED else b"%%%02X" % octet


def _open_query(text: str) -> str:
    path, mark, query = text.partition("?")
    return path + mark + _ESCAPED_DELIMITERS.sub(lambda found: _QUERY_DELIMITERS[found[0]], query)
