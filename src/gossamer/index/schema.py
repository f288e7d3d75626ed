"""The index format: a tantivy folder for each shard and language, and what a page is in it.

A shard is a folder, and each language in it an index of its own below: `0001-ab12cd34/en`. Why,
`analysis.py` says. All have the same fields:

  names   url, host, site (the host and every domain it is below), language, kind, title_key: whole;
          slot: a few bits of the page's key, to find given pages by a short list
  words   title, anchors, address, text, around: what is searched. `text` has all that speaks of
          the page: title, headings, description, main text, each anchor once, the address. So a
          page has a word if and only if `text` has it, and one list of postings tells. `around`
          is the rest of what the page shows: navigation and the like
          `vocabulary` has words as they are written, of what names pages: for spelling
  values  date_ms (published, else modified), year of it, fetched_ms, key (of URL and host, see
          key_of), merit (PageRank over the mean one, when the page was written)
  stored  card: what is shown of a page that was found (Card, as MessagePack)

What is stored costs disk, and time when a snippet is made: the whole text is indexed and only
its beginning is stored, once, compressed by tantivy.
"""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec
import tantivy
import xxhash

from gossamer.errors import StoreError
from gossamer.index.analysis import plain, tongue, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

META = "meta.json"
"""What an index consists of, as tantivy writes it."""
FORMAT = 3
"""Counts on whenever the fields change, or what becomes of a text: the index is made anew then."""

NAMES = ("url", "slot", "host", "site", "language", "kind", "title_key")
FACETS = ("host", "language", "kind")
WORDS = ("title", "anchors", "address", "text", "around", "vocabulary")

EXCERPT_CHARS = 20_000
STORED_BLOCK_BYTES = 4_096
"""Cards that fit into so many are compressed together, and so they are read. tantivy's 16,384 take
a little less disk, and longer to read a card."""
HOST_BITS = 23
MIN_YEAR, MAX_YEAR = 1990, 2100
"""Other dates are mistakes, and no year of a facet."""

_TERMS, _PLAIN = "terms", "plain"
_OPTIONS = {"anchors": "freq", "vocabulary": "basic"}
_KINDS = {
    "application/epub+zip": "epub",
    "application/json": "json",
    "application/msword": "doc",
    "application/pdf": "pdf",
    "application/rtf": "rtf",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/xhtml+xml": "html",
    "text/plain": "text",
}


class Card(msgspec.Struct, frozen=True, array_like=True):
    """What is shown of a page. `excerpt` is the beginning of its main text."""

    url: str
    title: str
    description: str
    excerpt: str
    language: str | None
    kind: str
    image: str | None
    date_ms: int | None
    fetched_ms: int


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Card).decode


def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in NAMES:
        builder.add_text_field(
            name, fast=name in FACETS, tokenizer_name="raw", index_option="basic"
        )
    for name in WORDS:
        builder.add_text_field(
            name,
            tokenizer_name=_PLAIN if name in ("address", "vocabulary") else _TERMS,
            index_option=_OPTIONS.get(name, "position"),
        )
    builder.add_integer_field("date_ms", fast=True, indexed=True)
    builder.add_integer_field("year", fast=True)
    builder.add_integer_field("key", fast=True)
    builder.add_integer_field("fetched_ms", fast=True)
    builder.add_float_field("merit", fast=True)
    builder.add_bytes_field("card", stored=True)
    return builder.build()


def create(folder: Path) -> tantivy.Index:
    """An empty index in a folder that exists, and is named for a language (`analysis.tongue`)."""
    tantivy.Index(schema(), str(folder))
    path = folder / META
    meta = json.loads(path.read_bytes())
    # The binding has no word for it.
    meta["index_settings"]["docstore_blocksize"] = STORED_BLOCK_BYTES
    path.write_text(json.dumps(meta))
    return resume(folder)


def resume(folder: Path) -> tantivy.Index:
    """An index that goes on, in a folder that is named for its language."""
    return _registered(tantivy.Index.open(str(folder)), folder.name)


def open_index(folder: Path) -> tantivy.Index:
    """An index for reading; its folder is named for its language. Raises StoreError.

    It is mapped into memory: its files may be deleted meanwhile.
    """
    try:
        index = tantivy.Index.open(str(folder))
    except ValueError as error:
        raise StoreError(folder, f"is damaged: {error}", "build it again: gossamer index") from None
    if index.schema != schema():
        raise StoreError(folder, "is of another version", "build it again: gossamer index")
    index.config_reader("Manual")  # a folder never changes, so nobody needs to watch it
    return _registered(index, folder.name)


def _registered(index: tantivy.Index, language: str) -> tantivy.Index:
    index.register_tokenizer(_TERMS, tongue(language).terms)
    index.register_tokenizer(_PLAIN, plain())
    return index


def title_key(title: str) -> str:
    """What equal titles have in common: a hash of their words."""
    return xxhash.xxh3_64_hexdigest(" ".join(whole().analyze(title)).encode())


def key_of(url: str, host: str) -> int:
    """What stands for a page where a number is needed: 40 bits of its URL's hash, 23 of its host's.

    Both in one column: to open one costs more than to read the values of a hundred pages in it.
    """
    return _hash(url, 40) << HOST_BITS | _hash(host, HOST_BITS)


def host_of(key: int) -> int:
    """Equal for pages of a host."""
    return key & ((1 << HOST_BITS) - 1)


def slot(key: int) -> str:
    """One of 16 million that a page is in, in few digits: terms are looked for by digits."""
    return f"{key >> (HOST_BITS + 16):06x}"


def _hash(name: str, bits: int) -> int:
    return xxhash.xxh3_64_intdigest(name.encode()) >> (64 - bits)


def document(row: Mapping[str, Any]) -> tantivy.Document:
    """A document from a row as the step deals them (`index._rows`)."""
    url, title, description = row["url"], composed(row["title"]), composed(row["description"])
    anchors = [composed(anchor) for anchor in row["anchors"] or ()]
    text, around = composed(row["text"]), composed(row["around"])
    if not text:
        text, around = around, ""
    address = _address(url)
    date_ms = row["published_ms"] or row["modified_ms"]
    kind = kind_of(row["content_type"])
    document = tantivy.Document()
    document.add_text("url", url)
    document.add_text("host", row["host"])
    document.add_text("slot", slot(key := key_of(url, row["host"])))
    document.add_integer("key", key)
    for domain in _domains(row["host"]):
        document.add_text("site", domain)
    if row["language"]:
        document.add_text("language", row["language"])
    document.add_text("kind", kind)
    document.add_text("title_key", title_key(title))
    document.add_text("title", title)
    document.add_text("address", address)
    for anchor in anchors:
        document.add_text("anchors", anchor)
    headings = [composed(heading) for heading in row["headings"] or ()]
    names = (title, *headings, *dict.fromkeys(anchors))
    for part in (*names, description, text, address):
        if part:
            document.add_text("text", part)
    document.add_text("vocabulary", "\n".join(names))
    if around:
        document.add_text("around", around)
    if date_ms is not None:
        document.add_integer("date_ms", date_ms)
        if (year := _year(date_ms)) is not None:
            document.add_integer("year", year)
    document.add_integer("fetched_ms", row["fetched_ms"])
    document.add_float("merit", row["merit"])
    excerpt = text[:EXCERPT_CHARS] if not row["nosnippet"] else ""
    card = Card(
        url,
        title,
        description if not row["nosnippet"] else "",
        excerpt,
        row["language"],
        kind,
        row["image"],
        date_ms,
        row["fetched_ms"],
    )
    document.add_bytes("card", _encode(card))
    return document


def card(stored: tantivy.Document) -> Card:
    packed: bytes = stored["card"][0]
    return _decode(packed)


def kind_of(content_type: str | None) -> str:
    """A short name of a media type, as in `type:pdf`."""
    essence = (content_type or "text/html").partition(";")[0].strip().lower()
    return _KINDS.get(essence) or essence.partition("/")[2].removeprefix("x-") or "html"


def composed(text: str | None) -> str:
    """Text as the index holds it, so that equal letters are equal: composed (NFC)."""
    if not text or text.isascii():
        return text or ""
    return unicodedata.normalize("NFC", text)


def _address(url: str) -> str:
    """The part of a URL that people read: host without `www.`, path and query, decoded."""
    return composed(unquote(url.partition("://")[2].removeprefix("www.")))


def _domains(host: str) -> Iterator[str]:
    """A host, with its port and without, and the domains it is below: a.b.org, b.org, org."""
    name, _, port = host.rpartition(":")
    if name and port.isdigit():
        yield host
    else:
        name = host
    while name:
        yield name
        name = name.partition(".")[2]


def _year(date_ms: int) -> int | None:
    try:
        year = datetime.fromtimestamp(date_ms / 1000, UTC).year
    except (OverflowError, ValueError, OSError):
        return None
    return year if MIN_YEAR <= year <= MAX_YEAR else None
