"""Every dataset of a crawl: columns, types, units, key, writer, readers.

The single source: steps select exactly these columns, files are written with exactly these types,
and docs/datasets.md is generated from it.

Times are `_ms` (milliseconds since 1970, UTC) or `_s` (seconds). URLs are normalised
(`gossamer.urls.normalize`), so that the same page always has the same key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping

_ARROW: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "array<string>": pa.list_(pa.string()),
    "array<int>": pa.list_(pa.int32()),
    "array<struct<origin:string,fetched_ms:bigint,status:int,body:binary>>": pa.list_(
        pa.struct(
            [("origin", "string"), ("fetched_ms", "int64"), ("status", "int32"), ("body", "binary")]
        )
    ),
    "array<struct<language:string,url:string>>": pa.list_(
        pa.struct([("language", pa.string()), ("url", pa.string())])
    ),
    "array<struct<src:string,anchor:string>>": pa.list_(
        pa.struct([("src", pa.string()), ("anchor", pa.string())])
    ),
}


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    """A Spark SQL type, one of the keys of `_ARROW`."""
    doc: str


@dataclass(frozen=True)
class Dataset:
    """A table of a crawl. Its rows are in immutable layers (see store.py)."""

    name: str
    holds: str
    key: tuple[str, ...]
    writer: str
    readers: tuple[str, ...]
    newest_wins: bool
    """True: a row replaces older rows of its key. False: layers have different keys."""
    columns: tuple[Column, ...] = ()
    """Empty for files of other formats (WARC, the index), which docs/formats.md describes."""

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, _ARROW[column.type]) for column in self.columns])

    @cached_property
    def ddl(self) -> str:
        """The schema in the form that Spark reads."""
        return ", ".join(f"{column.name} {column.type}" for column in self.columns)

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.columns]


PAGES = Dataset(
    "pages",
    "the state of every known URL",
    key=("url",),
    writer="inject, refresh, update",
    readers=("inject", "refresh", "generate", "parse", "update", "rank", "index", "postings"),
    newest_wins=True,
    columns=(
        Column("url", "string", "normalised URL"),
        Column("host", "string", "host, with the port if it is not the scheme's default"),
        Column("status", "string", "unfetched, fetched, redirected, excluded (robots.txt), gone"),
        Column("source", "string", "how it was first found: seed, link, redirect"),
        Column("depth", "int", "number of links from the nearest seed"),
        Column("hops", "int", "smallest number of redirects in a row that led to it"),
        Column("inlinks", "long", "links to it, each linking page counted once"),
        Column("score", "double", "pages with higher scores are fetched first (see scoring)"),
        Column("found_ms", "long", "when it was first found"),
        Column("fetches", "int", "fetches that were answered with a page or as unchanged"),
        Column("failures", "int", "failures since the last answer"),
        Column("outcome", "string", "outcome of the last fetch (see docs/datasets.md, outcomes)"),
        Column("fetched_ms", "long", "when it was last requested"),
        Column("stored_ms", "long", "when the stored answer was fetched"),
        Column("next_fetch_ms", "long", "due time: after interval_s or the wait before a retry"),
        Column("interval_s", "long", "update.interval_days when next_fetch_ms was computed"),
        Column("etag", "string", "validator of the stored answer"),
        Column("last_modified", "string", "validator of the stored answer"),
        Column("digest", "string", "SHA-1 of the stored body, base 32, as in WARC"),
    ),
)

FETCHLIST = Dataset(
    "fetchlist",
    "the pages that a round will fetch",
    key=("round", "url"),
    writer="generate",
    readers=("fetch",),
    newest_wins=False,
    columns=(
        Column("round", "int", "the round, from 1"),
        Column("url", "string", "normalised URL"),
        Column("host", "string", "as in pages"),
        Column("part", "int", "fetch task; the same for all hosts of a registrable domain"),
        Column("score", "double", "as in pages; a host's pages are fetched in descending order"),
        Column("depth", "int", "as in pages"),
        Column("hops", "int", "as in pages"),
        Column("fetches", "int", "as in pages; 0: never fetched"),
        Column("asked", "boolean", "it was requested in an earlier round"),
        Column("etag", "string", "as in pages, for conditional requests"),
        Column("last_modified", "string", "as in pages, for conditional requests"),
        Column("digest", "string", "as in pages, to detect an unchanged body"),
        Column("stored_ms", "long", "as in pages"),
    ),
)

RESPONSES = Dataset(
    "responses",
    "the outcome of each fetch",
    key=("round", "url"),
    writer="fetch",
    readers=("parse", "update", "invert", "rank"),
    newest_wins=False,
    columns=(
        Column("round", "int", "the round"),
        Column("url", "string", "as requested"),
        Column("host", "string", "as in pages"),
        Column("depth", "int", "as in pages"),
        Column("hops", "int", "as in pages"),
        Column("fetches", "int", "as in the fetchlist"),
        Column("outcome", "string", "see docs/datasets.md, outcomes"),
        Column("detail", "string", "the reason, if the outcome is not specific enough"),
        Column("http_status", "int", "null if no answer came"),
        Column("fetched_ms", "long", "when it was requested"),
        Column("elapsed_ms", "int", "from the request to the last byte"),
        Column("content_type", "string", "header as received"),
        Column("body_bytes", "long", "size of the decoded body"),
        Column("truncated", "boolean", "the body is incomplete: cut, or the transfer broke off"),
        Column("digest", "string", "SHA-1 of the body, base 32"),
        Column("redirect_url", "string", "normalised target; null if it cannot be crawled"),
        Column("retry_after_s", "long", "the wait that the server requested"),
        Column("etag", "string", "header"),
        Column("last_modified", "string", "header"),
        Column("warc_file", "string", "file in the dataset warc; null if nothing was stored"),
        Column("warc_offset", "long", "offset in bytes of the record that holds the body"),
    ),
)

HOSTS = Dataset(
    "hosts",
    "the state of each host that was contacted",
    key=("host",),
    writer="inject, fetch, update",
    readers=("inject", "generate", "fetch", "parse", "update"),
    newest_wins=True,
    columns=(
        Column("host", "string", "as in pages"),
        Column("depth", "int", "smallest depth of its pages in any fetchlist"),
        Column("address", "string", "IP address of the last contact"),
        Column(
            "robots",
            "array<struct<origin:string,fetched_ms:bigint,status:int,body:binary>>",
            "robots.txt of its origins: when it was fetched, the HTTP status (0: no answer), the "
            "body of a 200; kept for at most a day",
        ),
        Column("crawl_delay_s", "double", "the delay that robots.txt requests"),
        Column("ready_ms", "long", "earliest time of the next contact"),
        Column("failures", "int", "failures in a row"),
        Column("outcome", "string", "outcome of the last contact"),
        Column("contacted_ms", "long", "when the last contact ended"),
        Column("latency_ms", "int", "duration of the last contact"),
        Column("requests", "long", "requests in all rounds, including robots.txt"),
        Column("pages", "long", "pages requested in all rounds, each counted once"),
        Column("bytes", "long", "size of all decoded bodies in all rounds"),
    ),
)

DOMAINS = Dataset(
    "domains",
    "registrable domains with a seed, or with links from another domain",
    key=("domain",),
    writer="update",
    readers=("generate", "update"),
    newest_wins=True,
    columns=(
        Column("domain", "string", "registrable domain, by the whole Public Suffix List"),
        Column("seed", "boolean", "a seed is on it, or redirects to it"),
        Column("linked_from", "array<string>", "the first 100 other domains found to link to it"),
    ),
)

WARC = Dataset(
    "warc",
    "request, response, revisit and metadata records, in the standard format",
    key=(),
    writer="fetch",
    readers=("parse",),
    newest_wins=False,
)

_TO_PARSE = ("round", "url", "host", "depth", "fetches", "fetched_ms", "content_type")
_IN_WARC = ("body_bytes", "digest", "warc_file", "warc_offset")
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
    readers=("index", "postings"),
    newest_wins=False,
    columns=(
        Column("round", "int", "the round that fetched it"),
        Column("url", "string", "as requested"),
        Column("host", "string", "as in pages"),
        Column("outcome", "string", "parsed, listing, empty, unsupported, failed"),
        Column("detail", "string", "the reason if it was not parsed, or only in part"),
        Column("fetched_ms", "long", "as in responses"),
        Column("content_type", "string", "media type of the body, by header or first bytes"),
        Column("charset", "string", "WHATWG name of the encoding that was used"),
        Column("title", "string", "title, with white space collapsed"),
        Column("headline", "string", "title of the article, without the name of the site"),
        Column("description", "string", "from meta elements, else from JSON-LD or microdata"),
        Column("headings", "array<string>", "h1 to h3, in document order"),
        Column("text", "string", "visible text"),
        Column("main_text", "string", "text without boilerplate; all text if it is not HTML"),
        Column("boilerplate", "string", "the lines of text that are not in main_text, each once"),
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
    ),
)

LINKS = Dataset(
    "links",
    "links between pages",
    key=("round", "src", "dst"),
    writer="parse",
    readers=("parse", "update", "invert", "rank"),
    newest_wins=False,
    columns=(
        Column("round", "int", "the round that fetched src"),
        Column("src", "string", "the linking page, or a robots.txt"),
        Column("dst", "string", "the linked page, normalised"),
        Column("anchor", "string", "text of the link; of several, the first non-empty one"),
        Column(
            "relation",
            "string",
            "element or role: a, area, frame, iframe, refresh, canonical, alternate, amphtml, "
            "next, prev, feed; with parse.media also img, srcset, image, video; in feeds and "
            "sitemaps entry, enclosure, sitemap; in robots.txt sitemap; or redirect",
        ),
        Column("nofollow", "boolean", "rel=nofollow, ugc or sponsored, or the page is nofollow"),
        Column("dated_ms", "long", "when dst was published or changed, by a feed or sitemap"),
        Column("depth", "int", "src's depth when it was fetched, plus 1 unless a redirect"),
        Column("hops", "int", "src's hops plus 1 for a redirect, else 0"),
        Column("first", "boolean", "src was fetched for the first time"),
    ),
)

INLINKS = Dataset(
    "inlinks",
    "the pages that link to each page, with their anchor texts",
    key=("dst",),
    writer="invert",
    readers=("index",),
    newest_wins=True,
    columns=(
        Column("dst", "string", "the page"),
        Column("count", "long", "number of linking pages"),
        Column(
            "sources",
            "array<struct<src:string,anchor:string>>",
            "linking pages and their anchor texts, at most 200, in the order of their URLs",
        ),
    ),
)

RANKS = Dataset(
    "ranks",
    "PageRank",
    key=("url",),
    writer="rank",
    readers=("index", "postings"),
    newest_wins=True,
    columns=(
        Column("url", "string", "the page"),
        Column("rank", "double", "a probability; all ranks sum to 1"),
    ),
)

INDEX = Dataset(
    "index",
    "the full-text index, one tantivy folder per shard and language",
    key=(),
    writer="index",
    readers=("serve",),
    newest_wins=False,
)

INDEXED = Dataset(
    "indexed",
    "the documents that the index holds",
    key=("url",),
    writer="index",
    readers=("index",),
    newest_wins=False,
    columns=(
        Column("url", "string", "as requested"),
        Column("round", "int", "round of its document"),
        Column("source", "long", "a hash of the files that hold the documents of that round"),
        Column("shard", "int", "the shard that holds it; 0: the first tier"),
        Column("index_language", "string", "the language of the index that holds it"),
        Column("anchors", "long", "a hash of its anchor texts"),
        Column("static_rank", "double", "PageRank divided by its mean, when the page was written"),
    ),
)

POSTINGS = Dataset(
    "postings",
    "a term-partitioned index: the documents with each term, and how often they have it",
    key=("term", "first"),
    writer="postings",
    readers=("postings.reader",),
    newest_wins=False,
    columns=(
        Column("term", "string", "the term, not stemmed"),
        Column("df", "int", "number of documents that have it, over all rows of the term"),
        Column("first", "int", "number of the first document of this row"),
        Column("gaps", "array<int>", "each document's number minus the previous one; first 0"),
        Column("occurrences", "array<int>", "how often the term occurs in each of these documents"),
    ),
)

NUMBERED = Dataset(
    "numbered",
    "the documents to which the numbers in postings refer",
    key=("number",),
    writer="postings",
    readers=("postings.reader",),
    newest_wins=False,
    columns=(
        Column("number", "int", "number of the document, from 0 without gaps"),
        Column("url", "string", "as in documents"),
        Column("words", "int", "number of words, with repetitions"),
        Column("norm", "double", "√ Σ (1 + ln tf)² over its terms, each of which occurs tf times"),
    ),
)

DATASETS: Mapping[str, Dataset] = {
    table.name: table for table in tuple(globals().values()) if isinstance(table, Dataset)
}
"""All datasets, in the order of this file."""
