"""Datasets that make pages searchable."""

from __future__ import annotations

from gossamer.tables.dataset import Column, Dataset, record_of_inputs

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
    readers=("index", "embed"),
    newest_wins=False,
    columns=(
        Column("url", "string", "as requested"),
        Column("round", "int", "round of its document"),
        Column(
            "source",
            "long",
            "the version that committed the oldest documents: it changes by reparse",
        ),
        Column("shard", "int", "the shard that holds it; 0: the first tier"),
        Column("index_language", "string", "the language of the index that holds it"),
        Column("anchors", "long", "a hash of its anchor texts"),
        Column("copies", "long", "a hash of the numbers and hosts of the pages it stands for"),
        Column("boilerplate", "long", "a hash of the boilerplate of its host; null if it has none"),
        Column("static_rank", "double", "PageRank divided by its mean, when the page was written"),
    ),
)

OUTER_BOILERPLATE = Dataset(
    "outer_boilerplate",
    "the boilerplate outside main texts: lines that repeat on the pages of a host",
    key=("host",),
    writer="index",
    readers=("index",),
    newest_wins=False,
    columns=(
        Column("host", "string", "as in pages"),
        Column("pages", "long", "its documents in the index when the lines were determined"),
        Column("changes", "long", "documents that were added, replaced or removed since then"),
        Column("lines", "array<long>", "hashes of the lines (Spark's xxhash64); null if none do"),
    ),
)

GATHERED = record_of_inputs(
    "gathered", "on what index, indexed and outer_boilerplate are based", "index", "documents"
)

CHANGES = Dataset(
    "changes",
    "what harvests have changed in the set of indexed pages (docs/following.md)",
    key=("url", "harvest"),
    writer="index",
    readers=("index", "serve"),
    newest_wins=False,
    group_rows=8_192,
    columns=(
        Column("harvest", "long", "the version of the crawl that the harvest has read"),
        Column("place", "long", "the order within a harvest: XXH64 of the URL, with the seed 42"),
        Column("url", "string", "as requested"),
        Column("change", "string", "added, changed, moved, duplicate, gone"),
        Column("other", "string", "where it has moved to, or the page that stands for it"),
        Column("reason", "string", "why it is a duplicate, or gone"),
        Column("round", "int", "the round of its document; null if it left the index"),
        Column(
            "content",
            "long",
            "a hash of title, description, language and main text; null if it left the index",
        ),
        Column("at_ms", "long", "when the harvest took place"),
    ),
)

FORGOTTEN_CHANGES = Dataset(
    "forgotten_changes",
    "one row: up to where changes were merged into one per page",
    key=(),
    writer="index",
    readers=("index", "serve"),
    newest_wins=False,
    columns=(Column("harvest", "long", "the last harvest of which changes may be missing"),),
)

VECTORS = Dataset(
    "vectors",
    "vectors of passages, segments per shard and language, if there is a model ([semantic])",
    key=(),
    writer="embed",
    readers=("embed", "serve"),
    newest_wins=False,
)

EMBEDDED = Dataset(
    "embedded",
    "the documents of which there are vectors",
    key=("url",),
    writer="embed",
    readers=("embed",),
    newest_wins=False,
    columns=tuple(
        column
        for column in INDEXED.columns
        if column.name in ("url", "round", "source", "shard", "index_language")
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
