"""How a page becomes a document of the index: names, words, exact forms, values, stored fields.

A line that the text, the headings and links have in common counts once: the field `text` gets only
those names of the page that its main text lacks.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import tantivy

from gossamer.index.format.analysis import (
    analyzer_for,
    first_words,
    plain_words,
    plain_words_of,
)
from gossamer.index.format.exact_form import (
    all_pieces,
    code_in,
    different_words,
    join_texts,
    marked_pieces,
    split_parts,
)
from gossamer.index.format.field_terms import field_terms
from gossamer.index.format.joined_words import joined_words
from gossamer.index.format.normalization import (
    compose_characters,
    compose_each,
    normalize_composed,
    variant_forms,
)
from gossamer.index.format.page_keys import hash_prefix, page_key, title_keys
from gossamer.index.format.stored_document import StoredDocument, encode_document, pack_text

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from gossamer.index.format.exact_form import Pieces

FIRST_WORDS = 20
"""The first words of a page's main text, after title and headings: they say what it is about."""
FIRST_CHARS = 2_000
"""Characters of the main text in which they are sought."""
MAX_HEADINGS = 20
"""Headings that are stored beside the main text."""
MIN_YEAR, MAX_YEAR = 1990, 2100
"""Dates outside these years are mistakes and have no year in the facet."""
_WORD = re.compile(r"[^\W_]+")
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
"""Short names of media types."""


def build_document(row: Mapping[str, Any]) -> tantivy.Document:
    """The tantivy document of a row of `task_rows`."""
    return DocumentBuilder(row).build()


class PageTexts(NamedTuple):
    """The texts of a page, with composed letters.

    `text` is the main text without `inner_boilerplate`, those of its lines that the site repeats;
    `boilerplate` is text outside it. `text` is only empty if all of them are.
    """

    title: str
    description: str
    headings: Sequence[str]
    anchors: Sequence[str]
    text: str
    inner_boilerplate: str
    boilerplate: str

    @property
    def names(self) -> Sequence[str]:
        """What the page is called."""
        return (self.title, *self.headings, *dict.fromkeys(self.anchors))

    @property
    def main_text(self) -> str:
        """The main text, its boilerplate last."""
        if not self.inner_boilerplate:
            return self.text
        return f"{self.text}\n{self.inner_boilerplate}"


def read_texts(row: Mapping[str, Any]) -> PageTexts:
    text, inner, boilerplate = (
        compose_characters(row[name]) for name in ("text", "inner_boilerplate", "boilerplate")
    )
    if not text:
        text, inner = inner, ""
    if not text:
        text, boilerplate = boilerplate, ""
    return PageTexts(
        compose_characters(row["title"]),
        compose_characters(row["description"]),
        compose_each(row["headings"] or []),
        compose_each(row["anchors"] or []),
        text,
        inner,
        boilerplate,
    )


class DocumentBuilder:
    """Builds the document of a row."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row = row
        self._texts = read_texts(row)
        self._names, self._main_text = self._texts.names, self._texts.main_text
        self._lines = lines_of_same_length((*self._names, self._texts.description), self._main_text)
        self._kind = kind_of(row["content_type"])
        self._date_ms: int | None = row["published_ms"] or row["modified_ms"]
        self._analyzer = analyzer_for(row["index_language"])
        self._terms = field_terms(row["index_language"])
        self._splits_unspaced = self._analyzer.splits_unspaced
        self._document = tantivy.Document()

    def build(self) -> tantivy.Document:
        self._add_names()
        self._add_title()
        self._add_text()
        self._add_numbers()
        self._add_stored_document()
        return self._document

    def _add_names(self) -> None:
        """Add the fields that are indexed whole."""
        row, add_text = self._row, self._document.add_text
        add_text("url", row["url"])
        add_text("host", row["host"])
        add_text("hash_prefix", hash_prefix(key := page_key(row["url"], row["host"])))
        self._document.add_integer("key", key)
        self._add_sites(row["host"], row["copy_hosts"] or ())
        if row["language"]:
            add_text("language", row["language"])
        add_text("kind", self._kind)
        for wish in (row["wishes"] or "").split():
            add_text("wish", wish)

    def _add_sites(self, host: str, copy_hosts: Iterable[str]) -> None:
        """Add the sites of a page, and those of the pages that it stands for."""
        own = dict.fromkeys(_host_domains(host))
        of_copies = dict.fromkeys(site for each in copy_hosts for site in _host_domains(each))
        for site in own | of_copies:
            self._document.add_text("site", site)
        for site in of_copies:
            if site not in own:
                self._document.add_text("copy_site", site)

    def _add_title(self) -> None:
        """Add the title, with its keys, exact forms and the first words of the text behind it."""
        texts, add_text = self._texts, self._document.add_text
        titles = (texts.title, *texts.headings[:1])
        for key in {key for title in titles for key in title_keys(title)}:
            add_text("title_key", key)
        title = normalize_composed(texts.title)
        self._add_words("title", (title,))
        self._add_forms("title", "title_exact_form", title)
        self._add_variants("title_exact_form", (texts.title,))
        self._add_code_and_parts("title", "title_code", all_pieces(title))
        different = " ".join(_WORD.findall(title.lower()))
        self._add_joined_words("title", title, title, different)
        begin = lines_without(texts.text[:FIRST_CHARS].split("\n"), self._names)
        first = normalize_composed("\n".join((texts.title, first_words(begin, FIRST_WORDS))))
        parts = split_parts(all_pieces(first), splits_unspaced=self._splits_unspaced)
        self._add_words("first_words", ("\n".join((first, *parts)),))

    def _add_text(self) -> None:
        """Add all text about the page, each of its names once, and the exact forms in it."""
        texts, add_text = self._texts, self._document.add_text
        address = _address(self._row["url"])
        add_text("address", plain_words(address))
        if texts.anchors:
            self._add_words("anchors", (normalize_composed("\n".join(texts.anchors)),))
        names = skip_known((*self._names, texts.description), self._lines)
        written = (*names, self._main_text, address)
        parts = [normalize_composed(part) for part in written]
        different = self._add_words("text", parts)
        raw, normal = join_texts(parts), "\n".join(parts)
        pieces = marked_pieces(raw)
        if self._splits_unspaced:
            different = different_words(raw)
        self._add_forms("text", "exact_form", different)
        if pieces.unspaced:
            self._add_variants("exact_form", written)
        self._add_code_and_parts("text", "code", pieces)
        self._add_joined_words("text", normal, "\n".join(pieces.code), different)
        add_text("vocabulary", plain_words_of(self._names))
        if texts.boilerplate:
            self._add_words("boilerplate", (normalize_composed(texts.boilerplate),))

    def _add_words(self, field: str, texts: Iterable[str]) -> str:
        """Add the terms of normalised texts to a field; return their different words."""
        values, different = self._terms.of_texts(texts)
        self._add_values(field, values)
        return different

    def _add_values(self, field: str, values: Iterable[str]) -> None:
        for value in values:
            self._document.add_text(field, value)

    def _add_forms(self, words: str, exact_form: str, different: str) -> None:
        """Add the forms of words, and to the field of `words` terms of those with accents."""
        if not self._analyzer.has_forms:
            return
        self._document.add_text(exact_form, self._terms.forms(different))
        if not different.isascii():
            self._add_values(words, self._terms.without_accents(different))

    def _add_variants(self, exact_form: str, written: Iterable[str]) -> None:
        """Add how Chinese characters are written that normalisation replaces."""
        if found := variant_forms("\n".join(written)):
            self._document.add_text(exact_form, self._terms.forms(" ".join(found)))

    def _add_code_and_parts(self, words: str, code: str, pieces: Pieces) -> None:
        """Add the code in pieces of a text to a field, and split words to the field of `words`."""
        if terms := " ".join(filter(None, map(code_in, pieces.code))):
            self._document.add_text(code, terms)
        if split := "\n".join(split_parts(pieces, splits_unspaced=self._splits_unspaced)):
            self._add_values(words, self._terms.of_words(split))

    def _add_joined_words(self, field: str, normal: str, pieces: str, different: str) -> None:
        """Add what a text has apart, such as `e-mail`, as one word (`joined_words.py`)."""
        if joined := " ".join(joined_words(normal, pieces, different)):
            self._add_values(field, self._terms.of_words(joined))

    def _add_numbers(self) -> None:
        if self._date_ms is not None:
            self._document.add_integer("date_ms", self._date_ms)
            if (year := _year(self._date_ms)) is not None:
                self._document.add_integer("year", year)
        self._document.add_integer("fetched_ms", self._row["fetched_ms"])
        self._document.add_float("static_rank", self._row["static_rank"])

    def _add_stored_document(self) -> None:
        """Add the fields of a result; only those of metadata if the page forbids snippets."""
        row, texts, shown = self._row, self._texts, not self._row["nosnippet"]
        headings = islice(skip_known(texts.headings, self._lines), MAX_HEADINGS)
        stored = StoredDocument(
            url=row["url"],
            title=texts.title,
            description=texts.description if shown else "",
            text=pack_text(texts.text) if shown else [],
            headings=[*headings] if shown else [],
            language=row["language"],
            kind=self._kind,
            image=row["image"],
            date_ms=self._date_ms,
            fetched_ms=row["fetched_ms"],
            copies=row["copies"] or 0,
            versions=row["versions"] or 0,
            boilerplate=pack_text(texts.inner_boilerplate) if shown else [],
        )
        self._document.add_bytes("stored_document", encode_document(stored))


def kind_of(content_type: str | None) -> str:
    """The short name of a media type, as in `type:pdf`."""
    essence = (content_type or "text/html").partition(";")[0].strip().lower()
    return _KINDS.get(essence) or essence.partition("/")[2].removeprefix("x-") or "html"


def lines_of_same_length(parts: Iterable[str], text: str) -> frozenset[str]:
    """The lines of a text, without case, that may equal a part, as they have the same length."""
    lengths = {*map(len, parts)}
    lines = [line for line in text.split("\n") if len(line) in lengths]
    return frozenset("\n".join(lines).casefold().split("\n"))


def lines_without(lines: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    """The lines that are not, without case, among some names."""
    said = {name.casefold() for name in names}
    return (line for line in lines if line.casefold() not in said)


def skip_known(parts: Iterable[str], lines: Container[str]) -> Iterator[str]:
    """The parts that are not among these lines, without case, each once.

    A title that the text repeats as a heading, and that links repeat, would count several times.
    """
    said = {""}
    for part in parts:
        line = part.casefold()
        if line not in said and line not in lines:
            said.add(line)
            yield part


def _address(url: str) -> str:
    """The readable part of a URL: host without `www.`, path and query, decoded."""
    return compose_characters(unquote(url.partition("://")[2].removeprefix("www.")))


def _host_domains(host: str) -> Iterator[str]:
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
