"""How good are the answers? nDCG@10 on judged collections, beside BM25 of other programs.

    python bench/relevance.py FOLDER ...

Each FOLDER holds collections (`collection.py`). Their documents are parsed and indexed as a crawl
does, through HTML, with anchor texts but without ranks, and searched with each ranking profile.
Beside them, in the same run, over the same texts (the title once, then the main text):

  bm25s    bm25s, Lucene's form of BM25, k1 = 1.2, b = 0.75, with the terms of our analysis, without
           stop words
  tantivy  tantivy's own query parser, over title and text

Each cell is the mean nDCG@10; gains are not transformed (Järvelin and Kekäläinen, TOIS 2002).
Queries without judgements are left out.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bm25s
import tantivy
from collection import Collection, rows, url_of
from rich.console import Console
from rich.table import Table

from gossamer.config import Profile, RankingConfig
from gossamer.fulltext import schema
from gossamer.fulltext.analysis import OTHER, STEMMERS, analyzer_for, is_unspaced
from gossamer.search.node import Node
from gossamer.search.profiles import PROFILES
from gossamer.search.searcher import Searcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gossamer.fulltext.analysis import Analyzer

    Search = Callable[[str], Sequence[str]]
    """The URLs of the best documents for a query."""

DEPTH = 10
MEMORY_BYTES = 64_000_000


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
        writers[language].add_document(schema.document(row))
    for writer in writers.values():
        writer.commit()
        writer.wait_merging_threads()
    return Searcher(Node([folder / language for language in writers], weights), weights)


def in_profile(searcher: Searcher, profile: Profile = "fields") -> Search:
    return lambda query: [
        hit.url for hit in searcher.search(query, limit=DEPTH, profile=profile).hits
    ]


def full_text(row: Mapping[str, Any]) -> str:
    """Title and text of a page, the title only once."""
    title, text = row["title"] or "", row["text"] or ""
    return text if title in text else f"{title}\n{text}"


def terms_of(text: str, analyzer: Analyzer) -> list[str]:
    """The terms of a text; of scripts without spaces, each character and each two neighbours."""
    terms = analyzer.terms.analyze(text)
    return [*terms, *(a + b for a, b in pairwise(terms) if is_unspaced(a) and is_unspaced(b))]


def content_words(query: str, analyzer: Analyzer) -> str:
    words = query.split()
    return " ".join([word for word in words if analyzer.has_content_word(word)] or words)


def by_bm25s(documents: Sequence[Mapping[str, Any]], analyzer: Analyzer) -> Search:
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    texts = [terms_of(full_text(row), analyzer) for row in documents]
    index.index(texts, show_progress=False)

    def search(query: str) -> list[str]:
        terms = terms_of(content_words(query, analyzer), analyzer)
        known = [term for term in terms if term in index.vocab_dict]
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


def by_tantivy(documents: Iterable[Mapping[str, Any]], analyzer: Analyzer) -> Search:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw")
    for name in ("title", "text"):
        builder.add_text_field(name, tokenizer_name="terms")
    index = tantivy.Index(builder.build())
    index.register_tokenizer("terms", analyzer.terms)
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


def ndcg(found: Sequence[str], gains: Mapping[str, float]) -> float:
    """Return the nDCG of the first DEPTH documents."""

    def discounted(values: Sequence[float]) -> float:
        return sum(gain / math.log2(place + 2) for place, gain in enumerate(values[:DEPTH]))

    return discounted([gains.get(document, 0) for document in found]) / discounted(
        sorted(gains.values(), reverse=True)
    )


def measured(collection: Collection, search: Search) -> tuple[float, float]:
    """Return the mean nDCG, and ms per query."""
    urls = {each["id"]: url_of(each) for each in collection.documents}
    started = time.perf_counter()
    found = [search(each["text"]) for each in collection.queries]
    elapsed_s = time.perf_counter() - started
    total = 0.0
    for query, documents in zip(collection.queries, found, strict=True):
        gains = collection.gains[query["id"]]
        total += ndcg(documents, {urls[name]: gain for name, gain in gains.items() if name in urls})
    return total / len(found), 1000 * elapsed_s / len(found)


def compared(collection: Collection) -> dict[str, tuple[float, float]]:
    """The results of each profile and baseline."""
    documents = rows(collection.documents)
    language = collection.language
    analyzer = analyzer_for(language if language in STEMMERS else OTHER)
    with tempfile.TemporaryDirectory() as scratch:
        searcher = gossamer(documents, Path(scratch), RankingConfig())
        searches = {profile: in_profile(searcher, profile) for profile in PROFILES}
        searches["bm25s"] = by_bm25s(documents, analyzer)
        searches["tantivy"] = by_tantivy(documents, analyzer)
        return {name: measured(collection, search) for name, search in searches.items()}


def collections(folders: Iterable[Path]) -> list[Path]:
    return [path.parent for folder in folders for path in sorted(folder.glob("*/qrels.tsv"))]


def main(folders: Sequence[Path]) -> None:
    names = [*PROFILES, "bm25s", "tantivy"]
    table = Table("collection", "documents", "queries", *names, "fields / bm25s")
    ratios = []
    for folder in collections(folders):
        collection = Collection.read(folder)
        results = compared(collection)
        ratios.append(results["fields"][0] / results["bm25s"][0])
        print(f"{collection.name}: {ratios[-1]:.3f}", file=sys.stderr, flush=True)
        table.add_row(
            collection.name,
            f"{len(collection.documents):,}",
            f"{len(collection.queries):,}",
            *(f"{results[name][0]:.3f}" for name in names),
            f"{ratios[-1]:.3f}",
        )
    if ratios:
        table.add_row("mean", *[""] * (len(names) + 2), f"{sum(ratios) / len(ratios):.3f}")
    Console(width=130).print(table)


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
