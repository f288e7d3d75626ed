r"""The index format: a tantivy folder per shard, its fields and how text becomes terms.

Facts
  * tantivy's own tokenizer keeps a run of Chinese, Japanese or Thai as one word, so that a part
    of it is not found, and cuts Hindi at its vowel signs. Here a word is a run of letters, marks
    and digits (`\w` of UTS #18, without `_`), and each character of a script that is written
    without spaces stands for itself: several in a row are searched as a phrase. This costs
    1.0 µs a word, tantivy's 0.3.
  * What is stored costs disk, and time when a snippet is made, so the whole text is indexed and
    only its beginning is stored (`excerpt`), once, compressed by tantivy.

Terms are not stemmed: `page` does not find `pages`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import tantivy
import xxhash

from gossamer.errors import StoreError
from gossamer.urls import domain_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ANALYZER = "words"
TEXT_FIELDS = ("title", "headings", "anchors", "address", "description", "text")
"""Fields that words are searched in; `address` holds the words of host and path."""

EXCERPT_CHARS = 20_000
MAX_WORD_BYTES = 80
"""Longer words are data, not language."""

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = rf"[\w--[_{_UNSPACED}]]+|[{_UNSPACED}]"
_SCHEME = re.compile(r"^[a-z]+://(www\.)?")


def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("url", "host", "domain", "language", "title_key"):
        builder.add_text_field(
            name, stored=name == "url", tokenizer_name="raw", index_option="basic"
        )
    for name in TEXT_FIELDS:
        builder.add_text_field(
            name, stored=name in ("title", "description"), tokenizer_name=ANALYZER
        )
    builder.add_bytes_field("excerpt", stored=True)
    builder.add_integer_field("fetched_ms", stored=True, fast=True)
    builder.add_float_field("rank", fast=True)
    return builder.build()


def analyzer() -> tantivy.TextAnalyzer:
    """Words of a text: folded to ASCII where Unicode has a like letter, then lower case."""
    # Folding comes first: the lower case of `İ` is `i` and a combining dot, which would stay.
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_WORD))
        .filter(tantivy.Filter.remove_long(MAX_WORD_BYTES))
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.lowercase())
        .build()
    )


def create(folder: Path) -> tantivy.Index:
    """An empty index. The folder must exist."""
    index = tantivy.Index(schema(), str(folder))
    index.register_tokenizer(ANALYZER, analyzer())
    return index


def open_index(folder: Path) -> tantivy.Index:
    """An index for reading. It is mapped into memory: its files may be deleted meanwhile.

    Raises StoreError where it is damaged.
    """
    try:
        index = tantivy.Index.open(str(folder))
    except ValueError as error:
        raise StoreError(folder, f"is damaged: {error}", "build it again: gossamer index") from None
    index.config_reader("Manual")  # a folder never changes, so nobody needs to watch it
    index.register_tokenizer(ANALYZER, analyzer())
    return index


def title_key(words: list[str]) -> str:
    """What equal titles have in common: a hash of their words."""
    return xxhash.xxh3_64_hexdigest(" ".join(words).encode())


def document(row: Mapping[str, Any], words: tantivy.TextAnalyzer) -> tantivy.Document:
    """A document from a row of index.ROW."""
    url, title, text = row["url"], composed(row["title"]), composed(row["text"])
    document = tantivy.Document()
    document.add_text("url", url)
    document.add_text("host", row["host"])
    document.add_text("domain", domain_of(url))
    document.add_text("address", _address(url))
    document.add_text("title", title)
    document.add_text("title_key", title_key(words.analyze(title)))
    document.add_text("description", composed(row["description"]))
    document.add_text("text", text)
    document.add_bytes("excerpt", text[:EXCERPT_CHARS].encode())
    document.add_integer("fetched_ms", row["fetched_ms"])
    for heading in row["headings"] or ():
        document.add_text("headings", composed(heading))
    for anchor in row["anchors"] or ():
        document.add_text("anchors", composed(anchor))
    if row["language"]:
        document.add_text("language", row["language"])
    if row["rank"] is not None:
        document.add_float("rank", row["rank"])
    return document


def _address(url: str) -> str:
    """The part of a URL that people read: host without `www.`, path and query, decoded."""
    return composed(unquote(_SCHEME.sub("", url)))


def composed(text: str | None) -> str:
    """Text as the index holds it, so that equal letters are equal: composed (NFC)."""
    return unicodedata.normalize("NFC", text or "")
