"""The systems that relevance.py compares: Gossamer, bm25s and tantivy, over the same pages.

Each is a function from a query to the URLs of the best pages. The peers get the title once, then
the main text, as our parser extracts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bm25s
import tantivy

from gossamer.index.format import schema
from gossamer.index.format.document_builder import build_document
from gossamer.search.node import Node
from gossamer.search.searcher import Searcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from usual_analysis import Terms

    from gossamer.config import RankingConfig

    Search = Callable[[str], Sequence[str]]
    """The URLs of the best documents for a query."""

DEPTH = 10
MEMORY_BYTES = 64_000_000
TANTIVY_STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}


def gossamer(
    documents: Iterable[Mapping[str, Any]], folder: Path, weights: RankingConfig
) -> Searcher:
    """An index of rows of `collection.rows`, one per language, as in a crawl."""
    writers: dict[str, tantivy.IndexWriter] = {}
    for row in documents:
        language = row["index_language"]
        if language not in writers:
            (folder / language).mkdir()
            writers[language] = schema.create(folder / language).writer(MEMORY_BYTES, 1)
        writers[language].add_document(build_document(row))
    for writer in writers.values():
        writer.commit()
        writer.wait_merging_threads()
    return Searcher(Node([folder / language for language in writers], weights), weights)


def by_fields(searcher: Searcher) -> Search:
    return lambda query: [hit.url for hit in searcher.search(query, limit=DEPTH).hits]


def full_text(row: Mapping[str, Any]) -> str:
    """Title and text of a page, the title only once."""
    title, text = row["title"] or "", row["text"] or ""
    return text if title in text else f"{title}\n{text}"


def by_bm25s(documents: Sequence[Mapping[str, Any]], terms_of: Terms) -> Search:
    """Lucene's form of BM25, with Lucene's k1 and b."""
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index([terms_of(full_text(row)) for row in documents], show_progress=False)

    def search(query: str) -> list[str]:
        known = [term for term in terms_of(query) if term in index.vocab_dict]
        if not known:
            return []
        found, scores = index.retrieve(
            [known], k=min(DEPTH, len(documents)), show_progress=False, n_threads=1
        )
        return [
            documents[number]["url"]
            for number, score in zip(found[0], scores[0], strict=True)
            if score > 0
        ]

    return search


def by_tantivy(documents: Iterable[Mapping[str, Any]], language: str) -> Search:
    """tantivy's own query parser over title and text, in its usual analysis of the language."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw")
    for name in ("title", "text"):
        builder.add_text_field(name, tokenizer_name="terms")
    index = tantivy.Index(builder.build())
    index.register_tokenizer("terms", _tantivy_analyzer(language))
    writer = index.writer(MEMORY_BYTES, 1)
    for row in documents:
        texts = {name: row[name] or "" for name in ("title", "text")}
        writer.add_document(tantivy.Document(url=row["url"], **texts))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> list[str]:
        tree, _ = index.parse_query_lenient(query, ["title", "text"])
        hits = searcher.search(tree, limit=DEPTH).hits
        return [searcher.doc(address)["url"][0] for _, address in hits]

    return search


def _tantivy_analyzer(language: str) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(40)).filter(tantivy.Filter.lowercase())
    if language in TANTIVY_STEMMERS:
        builder = builder.filter(tantivy.Filter.stemmer(TANTIVY_STEMMERS[language]))
    return builder.build()
