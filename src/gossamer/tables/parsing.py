"""Datasets of what pages contain, and of fetched pages that are not parsed yet."""

from __future__ import annotations

from gossamer.tables.dataset import Column, Dataset
from gossamer.tables.fetching import RESPONSES

_TO_PARSE = ("round", "url", "host", "depth", "fetches", "fetched_ms", "content_type")

_IN_WARC = ("body_bytes", "truncated", "digest", "headers", "warc_file", "warc_offset", "announced")

UNPARSED = Dataset(
    "unparsed",
    "responses that no parse step has parsed yet",
    key=("round", "url"),
    writer="parse",
    readers=("parse",),
    newest_wins=False,
    columns=(
        *(column for column in RESPONSES.columns if column.name in _TO_PARSE + _IN_WARC),
        Column("why", "string", "the reason: postponed_cpu or interrupted, see docs/parsing.md"),
    ),
)

DOCUMENTS = Dataset(
    "documents",
    "the text and metadata of each page, or why it could not be parsed",
    key=("round", "url"),
    writer="parse",
    readers=("update", "mark", "boilerplate", "dedup", "index", "embed", "postings"),
    newest_wins=False,
    columns=(
        Column("round", "int", "the round that fetched it"),
        Column("url", "string", "as requested"),
        Column("host", "string", "as in pages"),
        Column("outcome", "string", "parsed, listing, empty, unsupported, failed, filtered"),
        Column("detail", "string", "the reason if it was not parsed, or only in part"),
        Column("fetched_ms", "long", "as in responses"),
        Column("content_type", "string", "media type of the body, by header or first bytes"),
        Column("charset", "string", "WHATWG name of the encoding that was used"),
        Column(
            "truncated",
            "boolean",
            "text is missing: the body is incomplete, or longer than a limit of [parse] or of its "
            "parser",
        ),
        Column("title", "string", "title, with white space collapsed"),
        Column("headline", "string", "title of the article, without the name of the site"),
        Column("description", "string", "from meta elements, else from JSON-LD or microdata"),
        Column("headings", "array<string>", "h1 to h3, in document order"),
        Column("text", "string", "visible text"),
        Column("main_text", "string", "text without boilerplate; all text if it is not HTML"),
        Column("boilerplate", "string", "the lines of text that are not in main_text, each once"),
        Column("is_doubtful", "boolean", "main_text may have boilerplate: see docs/parsing.md"),
        Column("text_hash", "long", "a hash of the words of main_text and of the title"),
        Column(
            "sketch",
            "binary",
            "MinHash of main_text: 112 32-bit numbers, little-endian; null below 100 words",
        ),
        Column("language", "string", "language of the main text, ISO 639-1; null if undetermined"),
        Column("language_hint", "string", "language that the page or its header declares (BCP 47)"),
        Column("authors", "array<string>", "names of the authors"),
        Column("published_ms", "long", "date of publication that the page states"),
        Column("modified_ms", "long", "date of the last change that the page states"),
        Column("image", "string", "URL of the image that represents the page"),
        Column("site_name", "string", "name of the site that the page states"),
        Column("page_type", "string", "Open Graph's type: article, video, product, …"),
        Column("canonical", "string", "normalised URL of rel=canonical"),
        Column(
            "alternates",
            "array<struct<language:string,url:string>>",
            "the same page in other languages: hreflang, normalised URL",
        ),
        Column("noindex", "boolean", "the page asks not to be indexed"),
        Column("nofollow", "boolean", "the page asks that its links not be followed"),
        Column("noarchive", "boolean", "the page asks that no copy of it be shown"),
        Column("nosnippet", "boolean", "the page asks that no text of it be shown"),
        Column("unavailable_after_ms", "long", "when the page asks to be removed"),
        Column("links", "int", "number of links that passed the filters"),
        Column("body_bytes", "long", "as in responses"),
        Column("digest", "string", "digest of the body, as in responses"),
        Column(
            "wishes",
            "string",
            "uses that its publisher allows or forbids, such as `search=yes ai-train=no`; null: "
            "nothing is said, or the host is your own",
            added=True,
        ),
        Column(
            "wishes_said",
            "string",
            "where that is said, a line each, such as `robots.txt Content-Signal: ai-train=no`",
            added=True,
        ),
    ),
)
