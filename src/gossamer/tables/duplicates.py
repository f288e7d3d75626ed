"""Datasets of pages with the same content."""

from __future__ import annotations

from gossamer.tables.dataset import Column, Dataset, record_of_inputs

BOILERPLATE = Dataset(
    "boilerplate",
    "the lines of main texts that stand on many pages of a host",
    key=("host",),
    writer="boilerplate",
    readers=("boilerplate", "dedup", "index"),
    newest_wins=True,
    columns=(
        Column("host", "string", "as in pages"),
        Column("documents", "long", "its documents of all rounds when the lines were determined"),
        Column("source", "long", "the version that committed the oldest documents then"),
        Column("pages", "long", "the number of different main texts that its pages had then"),
        Column("lines", "array<long>", "hashes of the lines (Spark's xxhash64); null if none do"),
    ),
)

OWN_TEXTS = Dataset(
    "own_texts",
    "the main texts of documents of such hosts, without these lines",
    key=("url",),
    writer="boilerplate",
    readers=("boilerplate", "dedup"),
    newest_wins=True,
    columns=(
        Column("url", "string", "as in documents"),
        Column("round", "int", "the round of its document"),
        Column(
            "text",
            "long",
            "as text_hash of documents, of the lines that are its own; null if it has others, "
            "and these have fewer than 100 words",
        ),
        Column("sketch", "binary", "their sketch; null if it has no others"),
        Column("has_boilerplate", "boolean", "whether it has lines that its host repeats"),
    ),
)

HOST_DOCUMENTS = Dataset(
    "host_documents",
    "how many documents with text each host has",
    key=("host",),
    writer="boilerplate",
    readers=("boilerplate",),
    newest_wins=True,
    columns=(
        Column("host", "string", "as in pages"),
        Column("documents", "long", "its parsed documents of all rounds"),
    ),
)

COUNTED = record_of_inputs(
    "counted",
    "on what boilerplate, own_texts and host_documents are based",
    "boilerplate",
    "documents",
)

SKETCHED = Dataset(
    "sketched",
    "the texts among which all similar ones were found, with the bands of their sketches",
    key=("text",),
    writer="dedup",
    readers=("dedup",),
    newest_wins=True,
    columns=(
        Column("text", "long", "text_hash of documents, or text of own_texts"),
        Column(
            "bands",
            "binary",
            "a hash of each of the 14 bands of its sketch, 64 bits each; empty without a sketch, "
            "null if struck",
        ),
        Column("is_struck", "boolean", "whether no page has the text any more"),
    ),
    page_rows=16_384,
)

SIMILAR = Dataset(
    "similar",
    "pairs of texts that were compared in full, and their Jaccard similarities",
    key=("pair",),
    writer="dedup",
    readers=("dedup",),
    newest_wins=True,
    columns=(
        Column("pair", "long", "a hash of both texts (Spark's xxhash64)"),
        Column("one", "long", "as in sketched, the lower one"),
        Column("other", "long", "the higher one"),
        Column("similarity", "double", "the share of their shingles that both have"),
    ),
)

SHINGLED = Dataset(
    "shingled",
    "the shingles of texts that were candidates, so that these texts are not read again",
    key=("text",),
    writer="dedup",
    readers=("dedup",),
    newest_wins=False,
    columns=(
        Column("text", "long", "as in sketched"),
        Column(
            "sketch",
            "binary",
            "its least shingle in each of 112 equal ranges of hashes, or 2^32 - 1: 32 bits each",
        ),
        Column("bits", "int", "only shingles with this many lowest bits of 0 are kept"),
        Column("shingles", "binary", "hashes of its shingles, each once, sorted: 32 bits each"),
    ),
    # A harvest reads few rows, far apart. Of pages with 16 of them, it would read a third.
    page_rows=4,
)

MIRRORS = Dataset(
    "mirrors",
    "hosts that have the pages of another",
    key=("host",),
    writer="dedup",
    readers=(),
    newest_wins=False,
    columns=(
        Column("host", "string", "host:port of the mirror"),
        Column("mirror_of", "string", "the host with its pages that was there first"),
        Column("agreeing", "long", "number of paths at which both have the same text"),
        Column("shared_paths", "long", "number of paths that both have"),
        Column("pages", "long", "number of paths of the mirror"),
        Column("pages_of_original", "long", "number of paths of the other host"),
    ),
)

SHARED_PLACES = Dataset(
    "shared_places",
    "where pages of several URLs have equal paths and texts, as those of mirrors do",
    key=("place",),
    writer="dedup",
    readers=("dedup",),
    newest_wins=False,
    columns=(Column("place", "long", "as in dispositions; some may be shared no more"),),
)

DISPOSITIONS = Dataset(
    "dispositions",
    "what becomes of the document of each page, and what decided it: it is indexed, or why not",
    key=("url",),
    writer="dedup",
    readers=("dedup", "index", "postings", "serve"),
    newest_wins=True,
    columns=(
        Column("url", "string", "as requested"),
        Column("round", "int", "the round of its document"),
        Column(
            "disposition",
            "string",
            "indexed, dropped_duplicate, dropped_status, dropped_outcome, dropped_noindex, "
            "dropped_wish, dropped_unavailable",
        ),
        Column("survivor", "string", "the page that stands for a duplicate"),
        Column(
            "reason",
            "string",
            "why it is a duplicate: canonical, mirror, text, body, soft_404, near, version",
        ),
        Column("similarity", "double", "of its text and that of the page it was compared with"),
        Column("copy_count", "long", "number of pages that it stands for"),
        Column("version_count", "long", "how many of them are older versions of it"),
        Column(
            "copies",
            "array<struct<url:string,reason:string,similarity:double>>",
            "at most 100 of these pages: versions first, then those of its own host, then the ones "
            "found first, few per host",
        ),
        Column(
            "text",
            "long",
            "documents with the same one are equal: text_hash of the document, or a hash of its "
            "digest or URL",
        ),
        Column("by_body", "boolean", "whether it has no text_hash"),
        Column(
            "compared",
            "long",
            "what similar pages have in common: text_hash, or text of own_texts; null if there is "
            "too little to compare",
        ),
        Column("title", "string", "of the document"),
        Column("canonical", "string", "of the document, if it is another page"),
        Column("found_ms", "long", "when the page was found"),
        Column("titled_ms", "long", "when it got the words of its title, if it had others before"),
        Column("unfit", "string", "why the document cannot be found, whatever becomes of the page"),
        Column("unavailable_after_ms", "long", "when the document wants to be forgotten"),
        Column(
            "scope", "string", "the domain in which a page may stand for it; empty: in the crawl"
        ),
        Column("place", "long", "a hash of path, text and scope, which mirrors have in common"),
        Column(
            "families", "array<long>", "hashes of the families of versions to which the URL belongs"
        ),
        Column(
            "rank_class",
            "int",
            "the binary logarithm of its rank and the number of ranked pages, when it was compared",
        ),
    ),
)

JUDGED = record_of_inputs("judged", "on what the dispositions are based", "dedup", "documents")
