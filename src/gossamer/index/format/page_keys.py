"""The keys of pages and titles in the index: hashes, by which they are found and compared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import xxhash

from gossamer.index.format.analysis import title_analyzer, whitespace_analyzer
from gossamer.index.format.exact_form import code_in, pieces_of
from gossamer.index.format.normalization import normalize

if TYPE_CHECKING:
    from collections.abc import Sequence

HOST_BITS = 23
"""Low bits of a page's key, which are a hash of its host."""
_HOST_MASK = (1 << HOST_BITS) - 1
_HYPHENED = re.compile(r"-\w")


def page_key(url: str, host: str) -> int:
    """A number that identifies a page: 40 bits of a hash of its URL, and 23 of one of its host.

    Both are in one column, as opening a column costs more than reading a hundred pages' values.
    """
    return _hash(url, 40) << HOST_BITS | _hash(host, HOST_BITS)


def host_bits(key: int) -> int:
    """The host's bits of a page's key, equal for all pages of the host."""
    return key & _HOST_MASK


def hash_prefix(key: int) -> str:
    """The first 24 bits of the URL's hash as six digits: a short term is quick to look up."""
    return f"{key >> (HOST_BITS + 16):06x}"


def title_keys(title: str) -> Sequence[str]:
    """Hashes that are the same for equal titles: of the words, and of these with code, if any.

    `C` and `C++` differ only in the last one. Hyphens make no difference.
    """
    words = " ".join(title_analyzer().analyze(normalize(title)))
    found = code_in(pieces_of(normalize(title)))
    terms = whitespace_analyzer().analyze(found) if found else ()
    symbols = " ".join(term for term in terms if not _HYPHENED.match(term))
    keys = (words, words + symbols) if symbols else (words,)
    return [xxhash.xxh3_64_hexdigest(key.encode()) for key in keys]


def words_key(title: str) -> str:
    """The first of the title's keys, which ignores symbols."""
    return xxhash.xxh3_64_hexdigest(" ".join(title_analyzer().analyze(normalize(title))).encode())


def _hash(name: str, bits: int) -> int:
    return xxhash.xxh3_64_intdigest(name.encode()) >> (64 - bits)
