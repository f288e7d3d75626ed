"""Datasets of pages with the same content."""

from __future__ import annotations

from gossamer.tables.dataset import Column, Dataset

SKETCHED = Dataset(
    "sketched",
    "the texts among which all similar ones were found, with the bands of their sketches",
    key=("text",),
    writer="dedup",
    readers=("dedup",),
    newest_wins=True,
    columns=(
        Column("text", "long", "text_hash of documents"),
        Column(
            "bands",
            "array<long>",
            "a hash of each of the 14 bands of its sketch, none if it has no sketch; null if the "
            "text is no longer compared",
        ),
    ),
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
        Column("one", "long", "text_hash of documents, the lower one"),
        Column("other", "long", "the higher one"),
        Column("similarity", "double", "the share of their shingles that both have"),
    ),
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
        Column("mirror_of", "string", "the host with its pages that has the highest rank"),
        Column("agreeing", "long", "number of paths at which both have the same text"),
        Column("shared_paths", "long", "number of paths that both have"),
        Column("pages", "long", "number of paths of the mirror"),
        Column("pages_of_original", "long", "number of paths of the other host"),
    ),
)

DISPOSITIONS = Dataset(
    "dispositions",
    "what becomes of the document of each page: it is indexed, or why not",
    key=("url",),
    writer="dedup",
    readers=("index", "postings", "serve"),
    newest_wins=False,
    columns=(
        Column("url", "string", "as requested"),
        Column("round", "int", "the round of its document"),
        Column("rank", "double", "its PageRank, and that of all pages that it stands for"),
        Column(
            "disposition",
            "string",
            "indexed, dropped_duplicate, dropped_status, dropped_outcome, dropped_noindex, "
            "dropped_unavailable",
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
            "at most 100 of these pages, versions first, and of these the shortest URLs",
        ),
    ),
)
