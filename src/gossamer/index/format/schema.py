"""The index format: the fields of a tantivy index, and how a page becomes a document.

A shard is a folder, and each language in it has an index of its own below (`analysis.py` says why);
`layout.py` names the folders. All indexes have the same fields:

  names   indexed whole: url, host, site (the host, those of pages that this one stands for, and
          every domain above them), copy_site (those of them that are not above the page's own
          host), language, kind, title_key, and hash_prefix: some bits of the page's key, a short
          term to find it by
  words   title, anchors, address, text, first_words, boilerplate, vocabulary, and exact forms.
          `text` has all text about the page: title, headings, description, main text, each anchor
          once, the address. So a page matches a word if and only if `text` has it, and one posting
          list suffices. `first_words` has the title and the first words of the main text. In
          `text`, `title` and `first_words`, words in CamelCase are followed by their parts, and so
          are runs of scripts without spaces if the language's words are not split there.
          `boilerplate` is the rest of the visible text: navigation and the like. `vocabulary` has
          the words of title, headings and anchors without stemming, for spelling. `exact_form` has
          the words of `text` without stemming, and `code` its code; `title_exact_form` and
          `title_code` have those of the title (`exact_form.py`)
  values  date_ms (published, else modified), its year, fetched_ms, key (see `page_key`), and
          static_rank (PageRank divided by its mean, when the page was written)
  stored  stored_document: the fields of a result (StoredDocument, as MessagePack)

The main text is stored whole, in pieces (`stored_text.py`), because a snippet may show any part.
Its lines that the site repeats are stored apart (`common`), as a snippet shows another part if it
can. They come last in `text`, and `first_words` has none of them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec
import tantivy
import xxhash

from gossamer.errors import StoreError
from gossamer.index.format import stored_text
from gossamer.index.format.analysis import (
    analyzer_for,
    first_words,
    plain_words,
    title_analyzer,
    whitespace_analyzer,
)
from gossamer.index.format.exact_form import code_in, marked_pieces, pieces_of, split_parts
from gossamer.index.format.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

META = "meta.json"
"""The file in which tantivy lists the segments of an index."""
FORMAT = 14
"""Increment whenever the fields or the text analysis change; the index is then rebuilt."""

NAMES = ("url", "hash_prefix", "host", "site", "copy_site", "language", "kind", "title_key")
FACETS = ("host", "language", "kind")
WORDS = (
    "title",
    "anchors",
    "address",
    "text",
    "first_words",
    "boilerplate",
    "vocabulary",
    "exact_form",
    "code",
    "title_exact_form",
    "title_code",
)
FIRST_WORDS = 20
"""The first words of a page's main text, after title and headings: they say what it is about."""
FIRST_CHARS = 2_000
"""Characters of the main text in which they are sought."""

STORED_BLOCK_BYTES = 4_096
"""Stored documents are compressed and read in blocks of this size. tantivy's default, 16,384, takes
slightly less disk, but more time per document."""
MAX_HEADINGS = 20
"""Headings that are stored beside the main text."""
HOST_BITS = 23
"""Low bits of a page's key, which are a hash of its host."""
_HOST_MASK = (1 << HOST_BITS) - 1
MIN_YEAR, MAX_YEAR = 1990, 2100
"""Dates outside these years are mistakes and have no year in the facet."""

_HYPHENED = re.compile(r"-\w")
_TERMS, _PLAIN, _EXACT_FORM, _CODE = "terms", "plain", "exact_form", "code"
_TOKENIZERS = {
    "address": _PLAIN,
    "vocabulary": _PLAIN,
    "exact_form": _EXACT_FORM,
    "title_exact_form": _EXACT_FORM,
    "code": _CODE,
    "title_code": _CODE,
}
_OPTIONS = {"anchors": "freq"} | dict.fromkeys(
    ("vocabulary", "exact_form", "code", "title_exact_form", "title_code"), "basic"
)


class StoredDocument(msgspec.Struct, frozen=True, array_like=True):
    """The fields of a result. `text` holds the pieces of the main text (`stored_text.py`).

    `common` holds the pieces of its lines that the site repeats. `headings` are those that are not
    in the main text. The page stands for `copies` other pages with the same content, and for
    `versions` older versions of it.
    """

    url: str
    title: str
    description: str
    text: list[bytes]
    headings: list[str]
    language: str | None
    kind: str
    image: str | None
    date_ms: int | None
    fetched_ms: int
    copies: int
    versions: int
    common: list[bytes]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(StoredDocument).decode


def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in NAMES:
        builder.add_text_field(
            name, fast=name in FACETS, tokenizer_name="raw", index_option="basic"
        )
    for name in WORDS:
        builder.add_text_field(
            name,
            tokenizer_name=_TOKENIZERS.get(name, _TERMS),
            index_option=_OPTIONS.get(name, "position"),
        )
    builder.add_integer_field("date_ms", fast=True, indexed=True)
    builder.add_integer_field("year", fast=True)
    builder.add_integer_field("key", fast=True)
    builder.add_integer_field("fetched_ms", fast=True)
    builder.add_float_field("static_rank", fast=True)
    builder.add_bytes_field("stored_document", stored=True)
    return builder.build()


def create(folder: Path) -> tantivy.Index:
    """Create an empty index in an existing folder, named for a language (`analyzer_for`)."""
    tantivy.Index(schema(), str(folder))
    path = folder / META
    meta = json.loads(path.read_bytes())
    # The Python binding has no arguments for these settings. Another thread for the compression of
    # stored documents would cost more to wake than it does.
    meta["index_settings"] |= {
        "docstore_blocksize": STORED_BLOCK_BYTES,
        "docstore_compress_dedicated_thread": False,
    }
    path.write_text(json.dumps(meta))
    return resume(folder)


def resume(folder: Path) -> tantivy.Index:
    """Open an index for writing, in a folder named for its language."""
    return _registered(tantivy.Index.open(str(folder)), folder.name)


def open_index(folder: Path) -> tantivy.Index:
    """Open an index for reading, in a folder named for its language. Raises StoreError.

    Its files are mapped into memory, so they may be deleted while it is open.
    """
    try:
        index = tantivy.Index.open(str(folder))
    except ValueError as error:
        raise StoreError(folder, f"is damaged: {error}", "build it again: gossamer index") from None
    if index.schema != schema():
        raise StoreError(
            folder, "was written by another version of Gossamer", "build it again: gossamer index"
        )
    index.config_reader("Manual")  # a folder never changes, so there is nothing to watch
    return _registered(index, folder.name)


def _registered(index: tantivy.Index, language: str) -> tantivy.Index:
    index.register_tokenizer(_TERMS, analyzer_for(language).terms)
    index.register_tokenizer(_PLAIN, whitespace_analyzer())
    index.register_tokenizer(_EXACT_FORM, analyzer_for(language).exact_form)
    index.register_tokenizer(_CODE, whitespace_analyzer())
    return index


def title_keys(title: str) -> Sequence[str]:
    """Hashes that are the same for equal titles: of the words, and of these with code, if any.

    `C` and `C++` differ only in the last one. Hyphens make no difference.
    """
    words = " ".join(title_analyzer().analyze(title))
    found = code_in(pieces_of(title))
    terms = whitespace_analyzer().analyze(found) if found else ()
    symbols = " ".join(term for term in terms if not _HYPHENED.match(term))
    keys = (words, words + symbols) if symbols else (words,)
    return [xxhash.xxh3_64_hexdigest(key.encode()) for key in keys]


def words_key(title: str) -> str:
    """The first of the title's keys, which ignores symbols."""
    return xxhash.xxh3_64_hexdigest(" ".join(title_analyzer().analyze(title)).encode())


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


def _hash(name: str, bits: int) -> int:
    return xxhash.xxh3_64_intdigest(name.encode()) >> (64 - bits)


def document(row: Mapping[str, Any]) -> tantivy.Document:
    """The tantivy document of a row of `index._rows`."""
    url, title, description = row["url"], composed(row["title"]), composed(row["description"])
    anchors = [composed(anchor) for anchor in row["anchors"] or ()]
    text, common, boilerplate = _texts(row)
    address = _address(url)
    date_ms = row["published_ms"] or row["modified_ms"]
    kind = kind_of(row["content_type"])
    document = tantivy.Document()
    document.add_text("url", url)
    document.add_text("host", row["host"])
    document.add_text("hash_prefix", hash_prefix(key := page_key(url, row["host"])))
    document.add_integer("key", key)
    _add_sites(document, row["host"], row["copy_hosts"] or ())
    if row["language"]:
        document.add_text("language", row["language"])
    document.add_text("kind", kind)
    headings = [composed(heading) for heading in row["headings"] or ()]
    for title_key in {key for name in (title, *headings[:1]) for key in title_keys(name)}:
        document.add_text("title_key", title_key)
    document.add_text("title", title)
    document.add_text("address", plain_words(address))
    for anchor in anchors:
        document.add_text("anchors", anchor)
    names = (title, *headings, *dict.fromkeys(anchors))
    whole = f"{text}\n{common}" if common else text
    lines = lines_like((*names, description), whole)
    parts = [*unsaid((*names, description), lines), whole, address]
    for part in parts:
        document.add_text("text", part)
    joined = "\n".join(parts)
    document.add_text("exact_form", joined)
    document.add_text("title_exact_form", title)
    splits = analyzer_for(row["index_language"]).splits_unspaced
    _add_parts(document, "text", "code", marked_pieces(joined), splits_unspaced=splits)
    lead = "\n".join((title, first_words(unnamed(text[:FIRST_CHARS], names), FIRST_WORDS)))
    lead_parts = split_parts(pieces_of(lead), splits_unspaced=splits)
    document.add_text("first_words", "\n".join((lead, *lead_parts)))
    _add_parts(document, "title", "title_code", pieces_of(title), splits_unspaced=splits)
    document.add_text("vocabulary", plain_words("\n".join(names)))
    if boilerplate:
        document.add_text("boilerplate", boilerplate)
    if date_ms is not None:
        document.add_integer("date_ms", date_ms)
        if (year := _year(date_ms)) is not None:
            document.add_integer("year", year)
    document.add_integer("fetched_ms", row["fetched_ms"])
    document.add_float("static_rank", row["static_rank"])
    shown = not row["nosnippet"]
    stored_document = StoredDocument(
        url,
        title,
        description if shown else "",
        stored_text.pack_text(text) if shown else [],
        [*islice(unsaid(headings, lines), MAX_HEADINGS)] if shown else [],
        row["language"],
        kind,
        row["image"],
        date_ms,
        row["fetched_ms"],
        row["copies"] or 0,
        row["versions"] or 0,
        stored_text.pack_text(common) if shown else [],
    )
    document.add_bytes("stored_document", _encode(stored_document))
    return document


def _texts(row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Main text, its lines that the site repeats, and the other text: the first is not empty."""
    text, common, boilerplate = (composed(row[name]) for name in ("text", "common", "boilerplate"))
    if not text:
        text, common = common, ""
    if not text:
        text, boilerplate = boilerplate, ""
    return text, common, boilerplate


def _add_sites(document: tantivy.Document, host: str, copy_hosts: Iterable[str]) -> None:
    """Add the sites of a page, and those of the pages that it stands for."""
    own = dict.fromkeys(_domains(host))
    of_copies = dict.fromkeys(site for each in copy_hosts for site in _domains(each))
    for site in own | of_copies:
        document.add_text("site", site)
    for site in of_copies:
        if site not in own:
            document.add_text("copy_site", site)


def _add_parts(
    document: tantivy.Document, words: str, code: str, pieces: str, *, splits_unspaced: bool
) -> None:
    """Add the code in pieces of a text to the field `code`, and split words to the field `words`.

    `splits_unspaced`: whether the field splits runs of scripts without spaces by itself.
    """
    if terms := code_in(pieces):
        document.add_text(code, terms)
    if split := "\n".join(split_parts(pieces, splits_unspaced=splits_unspaced)):
        document.add_text(words, split)


def lines_like(parts: Iterable[str], text: str) -> frozenset[str]:
    """The lines of a text, without case, that may equal a part: others have another length."""
    lengths = {*map(len, parts)}
    return frozenset(line.casefold() for line in text.split("\n") if len(line) in lengths)


def unnamed(text: str, names: Iterable[str]) -> str:
    """The lines of a text that are not, without case, among some names."""
    said = {name.casefold() for name in names}
    return "\n".join([line for line in text.split("\n") if line.casefold() not in said])


def unsaid(parts: Iterable[str], lines: Iterable[str]) -> Iterator[str]:
    """The parts that are not among these lines, without case, each once.

    A title that the text repeats as a heading, and that links repeat, would count several times.
    """
    said = {"", *lines}
    for part in parts:
        if (line := part.casefold()) not in said:
            said.add(line)
            yield part


def stored_document(stored: tantivy.Document) -> StoredDocument:
    packed: bytes = stored["stored_document"][0]
    return _decode(packed)


def composed(text: str | None) -> str:
    """Text in the Unicode form of the index: composed (NFC), so that equal letters are equal."""
    if not text or text.isascii():
        return text or ""
    return unicodedata.normalize("NFC", text)


def _address(url: str) -> str:
    """The readable part of a URL: host without `www.`, path and query, decoded."""
    return composed(unquote(url.partition("://")[2].removeprefix("www.")))


def _domains(host: str) -> Iterator[str]:
    """A host with and without its port, and the domains above it: a.b.org, b.org, org."""
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
