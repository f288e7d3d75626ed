"""Every dataset of a crawl: columns, types, units, key, writer, readers.

The one truth about data: steps select exactly these columns, files are written with exactly
these types, and docs/datasets.md is generated from here.

Times are `_ms` (milliseconds since 1970, UTC) or `_s` (seconds). URLs are normalised
(`gossamer.urls.normalize`), so that equal pages have equal keys.
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
            [
                ("origin", pa.string()),
                ("fetched_ms", pa.int64()),
                ("status", pa.int32()),
                ("body", pa.binary()),
            ]
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
    """A Spark SQL type; a key of the table above."""
    doc: str


@dataclass(frozen=True)
class Dataset:
    """A table of a crawl. Its rows lie in immutable layers (see store.py)."""

    name: str
    holds: str
    key: tuple[str, ...]
    writer: str
    readers: tuple[str, ...]
    newest_wins: bool
    """True: a row replaces older rows of its key. False: layers are disjoint and add up."""
    columns: tuple[Column, ...] = ()
    """Empty for files of another format (WARC, the index), whose text is in docs/formats.md."""

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, _ARROW[column.type]) for column in self.columns])

    @cached_property
    def ddl(self) -> str:
        """The same schema as Spark reads it."""
        return ", ".join(f"{column.name} {column.type}" for column in self.columns)

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.columns]


PAGES = Dataset(
    "pages",
    "the state of every URL ever met",
    key=("url",),
    writer="inject, update",
    readers=("inject", "generate", "parse", "update", "rank", "index", "postings"),
    newest_wins=True,
    columns=(
        Column("url", "string", "normalised URL"),
        Column("host", "string", "host, with the port where it is not the scheme's own"),
        Column("status", "string", "unfetched, fetched, redirected, excluded (robots.txt), gone"),
        Column("source", "string", "how it was met first: seed, link, redirect"),
        Column("depth", "int", "links from the nearest seed"),
        Column("hops", "int", "redirects in a row that led to it, the fewest"),
        Column("inlinks", "long", "links to it, each linking page counted once"),
        Column("score", "double", "what to fetch first: higher is sooner (see scoring)"),
        Column("found_ms", "long", "when it was first met"),
        Column("fetches", "int", "how often an answer was stored"),
        Column("failures", "int", "failures since the last answer"),
        Column("outcome", "string", "of the last fetch (see docs/datasets.md, outcomes)"),
        Column("fetched_ms", "long", "when it was last asked for"),
        Column("stored_ms", "long", "when the stored answer came"),
        Column("next_fetch_ms", "long", "not to be fetched before"),
        Column("interval_s", "long", "time between two fetches"),
        Column("etag", "string", "validator of the stored answer"),
        Column("last_modified", "string", "validator of the stored answer"),
        Column("digest", "string", "SHA-1 of the stored body, base 32, as in WARC"),
    ),
)

FETCHLIST = Dataset(
    "fetchlist",
    "what a round shall fetch",
    key=("round", "url"),
    writer="generate",
    readers=("fetch",),
    newest_wins=False,
    columns=(
        Column("round", "int", "the round, from 1"),
        Column("url", "string", "normalised URL"),
        Column("host", "string", "as in pages"),
        Column("part", "int", "the fetch task; all hosts of a registrable domain have the same"),
        Column("score", "double", "as in pages; a host's pages are fetched in falling order"),
        Column("depth", "int", "as in pages"),
        Column("hops", "int", "as in pages"),
        Column("fetches", "int", "as in pages; 0: never fetched"),
        Column("asked", "boolean", "it was asked for in an earlier round"),
        Column("etag", "string", "to ask for changes only"),
        Column("last_modified", "string", "to ask for changes only"),
        Column("digest", "string", "to tell whether the body changed"),
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
        Column("url", "string", "as asked for"),
        Column("host", "string", "as in pages"),
        Column("depth", "int", "as in pages"),
        Column("hops", "int", "as in pages"),
        Column("fetches", "int", "as in the fetchlist"),
        Column("outcome", "string", "see docs/datasets.md, outcomes"),
        Column("detail", "string", "why, where the outcome alone does not tell"),
        Column("http_status", "int", "null where no answer came"),
        Column("fetched_ms", "long", "when it was asked for"),
        Column("elapsed_ms", "int", "from asking to the last byte"),
        Column("content_type", "string", "header, as sent"),
        Column("body_bytes", "long", "after content coding"),
        Column("truncated", "boolean", "the body is not whole: it was cut, or broke off"),
        Column("digest", "string", "SHA-1 of the body, base 32"),
        Column("redirect_url", "string", "normalised target; null where it is not crawlable"),
        Column("retry_after_s", "long", "what the server asked for"),
        Column("etag", "string", "header"),
        Column("last_modified", "string", "header"),
        Column("warc_file", "string", "file in the dataset warc; null where nothing was stored"),
        Column("warc_offset", "long", "of the record that holds the body, bytes"),
    ),
)

HOSTS = Dataset(
    "hosts",
    "what is known of each host that was contacted",
    key=("host",),
    writer="fetch",
    readers=("generate", "fetch", "parse"),
    newest_wins=True,
    columns=(
        Column("host", "string", "as in pages"),
        Column("depth", "int", "of the page nearest to a seed that was to be fetched"),
        Column("address", "string", "IP address of the last contact"),
        Column(
            "robots",
            "array<struct<origin:string,fetched_ms:bigint,status:int,body:binary>>",
            "robots.txt of its origins: when it was fetched, the HTTP status (0: none came), the "
            "body of a 200; kept for a day at most",
        ),
        Column("crawl_delay_s", "double", "what robots.txt asks for"),
        Column("ready_ms", "long", "not to be contacted before"),
        Column("failures", "int", "failures in a row"),
        Column("outcome", "string", "of the last contact"),
        Column("contacted_ms", "long", "when that ended"),
        Column("latency_ms", "int", "how long it took"),
        Column("requests", "long", "in all rounds, robots.txt included"),
        Column("pages", "long", "asked for in all rounds, each counted once"),
        Column("bytes", "long", "of bodies, decoded, in all rounds"),
    ),
)

WARC = Dataset(
    "warc",
    "request, response, revisit and metadata records as other tools expect them",
    key=(),
    writer="fetch",
    readers=("parse",),
    newest_wins=False,
)

DOCUMENTS = Dataset(
    "documents",
    "what a page says",
    key=("round", "url"),
    writer="parse",
    readers=("index", "postings"),
    newest_wins=False,
    columns=(
        Column("round", "int", "the round that fetched it"),
        Column("url", "string", "as asked for"),
        Column("host", "string", "as in pages"),
        Column("outcome", "string", "parsed, listing, empty, unsupported, failed"),
        Column("detail", "string", "why, where it was not parsed, or not whole"),
        Column("fetched_ms", "long", "as in responses"),
        Column("content_type", "string", "what the body is, by its header or its first bytes"),
        Column("charset", "string", "WHATWG name of the encoding that was used"),
        Column("title", "string", "white space folded"),
        Column("headline", "string", "the article's, without the site's name"),
        Column("description", "string", "of meta elements, else of JSON-LD or microdata"),
        Column("headings", "array<string>", "h1 to h3, in document order"),
        Column("text", "string", "visible text"),
        Column("main_text", "string", "text without what surrounds it; all of it, but for HTML"),
        Column("around", "string", "the lines of text that main_text has not, each once"),
        Column("language", "string", "of the main text, ISO 639-1; null where it is open"),
        Column("language_hint", "string", "what the page declares, or its header (BCP 47)"),
        Column("authors", "array<string>", "names"),
        Column("published_ms", "long", "as the page says"),
        Column("modified_ms", "long", "as the page says"),
        Column("image", "string", "URL of the picture that stands for the page"),
        Column("site_name", "string", "as the page says"),
        Column("page_type", "string", "of Open Graph's vocabulary: article, video, product, …"),
        Column("canonical", "string", "normalised rel=canonical"),
        Column(
            "alternates",
            "array<struct<language:string,url:string>>",
            "the same page in other languages: hreflang, normalised URL",
        ),
        Column("noindex", "boolean", "the page asks not to be found"),
        Column("nofollow", "boolean", "the page asks not to follow its links"),
        Column("noarchive", "boolean", "the page asks that no copy of it be shown"),
        Column("nosnippet", "boolean", "the page asks that no text of it be shown"),
        Column("unavailable_after_ms", "long", "the page asks not to be found from then on"),
        Column("links", "int", "links that passed the filters"),
        Column("body_bytes", "long", "as in responses"),
        Column("digest", "string", "of the body, as in responses"),
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
        Column("dst", "string", "where it leads, normalised"),
        Column("anchor", "string", "text of the link; of several, the first that has some"),
        Column(
            "relation",
            "string",
            "the element or the role: a, area, frame, iframe, refresh, canonical, alternate, "
            "amphtml, next, prev, feed; with parse.media img, srcset, image, video; of feeds and "
            "sitemaps entry, enclosure, sitemap; of robots.txt sitemap; or redirect",
        ),
        Column("nofollow", "boolean", "rel=nofollow, ugc or sponsored, or the page's own wish"),
        Column("dated_ms", "long", "when dst was published or changed, as a feed or sitemap says"),
        Column("depth", "int", "of dst, along this link; a redirect costs none"),
        Column("hops", "int", "redirects in a row to dst, along this link; 0 where it is none"),
        Column("first", "boolean", "src was fetched for the first time"),
    ),
)

INLINKS = Dataset(
    "inlinks",
    "who links to a page, and in which words",
    key=("dst",),
    writer="invert",
    readers=("index",),
    newest_wins=True,
    columns=(
        Column("dst", "string", "the page"),
        Column("count", "long", "linking pages"),
        Column(
            "sources",
            "array<struct<src:string,anchor:string>>",
            "linking pages and their words, bounded per page, in the order of their URLs",
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
        Column("rank", "double", "probability; all ranks sum to 1"),
    ),
)

INDEX = Dataset(
    "index",
    "the full-text index, a tantivy folder for each shard and language",
    key=(),
    writer="index",
    readers=("serve",),
    newest_wins=False,
)

INDEXED = Dataset(
    "indexed",
    "what the index holds",
    key=("url",),
    writer="index",
    readers=("index",),
    newest_wins=False,
    columns=(
        Column("url", "string", "as asked for"),
        Column("round", "int", "of its document"),
        Column("source", "long", "a hash of the files that hold the documents of that round"),
        Column("shard", "int", "that it is in"),
        Column("tongue", "string", "the language whose index it is in"),
        Column("anchors", "long", "a hash of its anchors"),
        Column("merit", "double", "PageRank over the mean one, when it was written"),
    ),
)

POSTINGS = Dataset(
    "postings",
    "an index that is partitioned by terms: who has a term, and how often",
    key=("term", "first"),
    writer="postings",
    readers=("postings.broker",),
    newest_wins=False,
    columns=(
        Column("term", "string", "as the index has it"),
        Column("df", "int", "documents that have it, in all its rows"),
        Column("first", "int", "number of the first document of this row"),
        Column("gaps", "array<int>", "of each document, its number less the one before; 0 first"),
        Column("occurrences", "array<int>", "of the term in each of these documents"),
    ),
)

NUMBERED = Dataset(
    "numbered",
    "the documents that postings name by number",
    key=("number",),
    writer="postings",
    readers=("postings.broker",),
    newest_wins=False,
    columns=(
        Column("number", "int", "from 0, none is missing"),
        Column("url", "string", "as in documents"),
        Column("words", "int", "of the document, each as often as it occurs"),
        Column("norm", "double", "√ Σ (1 + ln tf)² over its terms, that occur tf times each"),
    ),
)

DATASETS: Mapping[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        PAGES,
        FETCHLIST,
        RESPONSES,
        HOSTS,
        WARC,
        DOCUMENTS,
        LINKS,
        INLINKS,
        RANKS,
        INDEX,
        INDEXED,
        POSTINGS,
        NUMBERED,
    )
}
