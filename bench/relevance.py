"""How good are the answers on judged collections, beside BM25 of other programs?

    python bench/relevance.py --collections FOLDER

FOLDER/ir holds collections (`collection.py`). Their documents are parsed and indexed as a crawl
does, through HTML, with anchor texts but without ranks. In the same run, over the same texts (the
title once, then the main text):

  fields   Gossamer with its default ranking profile
  bm25s    bm25s, Lucene's form of BM25, k1 = 1.2, b = 0.75, with the terms of our analysis, without
           stop words
  tantivy  tantivy's own query parser, over title and text

Each cell is the mean nDCG@10; gains are not transformed (Järvelin and Kekäläinen, TOIS 2002).
Queries without judgements are left out.
"""

from __future__ import annotations

import json
import math
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

import bm25s
import tantivy
from collection import Collection, rows, url_of
from harness import Options, collection, generate_text, report

from gossamer.config import RankingConfig
from gossamer.index.format import schema
from gossamer.index.format.analysis import OTHER, STEMMERS, analyzer_for, is_unspaced
from gossamer.index.format.document_builder import build_document
from gossamer.search.node import Node
from gossamer.search.searcher import Searcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gossamer.index.format.analysis import Analyzer

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


def measured(judged: Collection, search: Search) -> float:
    """Return the mean nDCG."""
    urls = {each["id"]: url_of(each) for each in judged.documents}

    def of(query: Mapping[str, str]) -> float:
        gains = judged.gains[query["id"]].items()
        known = {urls[name]: gain for name, gain in gains if name in urls}
        return ndcg(search(query["text"]), known)

    return mean(map(of, judged.queries))


class Compared(NamedTuple):
    fields: float
    bm25s: float
    tantivy: float

    @property
    def ratios(self) -> tuple[float, float]:
        return self.fields / self.bm25s, self.fields / self.tantivy


def compared(judged: Collection) -> Compared:
    documents = rows(judged.documents)
    language = judged.language
    analyzer = analyzer_for(language if language in STEMMERS else OTHER)
    with tempfile.TemporaryDirectory() as scratch:
        searches = (
            by_fields(gossamer(documents, Path(scratch), RankingConfig())),
            by_bm25s(documents, analyzer),
            by_tantivy(documents, analyzer),
        )
        return Compared(*(measured(judged, search) for search in searches))


def generate(folder: Path) -> Path:
    """Write a collection whose questions are the beginnings of its texts."""
    texts = {f"d{n}": generate_text("en", f"text {n}", 10) for n in range(12)}
    documents = [{"id": name, "title": "", "text": text} for name, text in texts.items()]
    queries = [{"id": name, "text": text[:60]} for name, text in texts.items()]
    target = folder / "generated"
    target.mkdir()
    for name, lines in (("docs.jsonl", documents), ("queries.jsonl", queries)):
        (target / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (target / "qrels.tsv").write_text("".join(f"{name}\t{name}\t1\n" for name in texts))
    return folder


def main() -> None:
    options = Options(__doc__).read()
    with tempfile.TemporaryDirectory() as scratch:
        folder = collection(options, "ir") or generate(Path(scratch))
        found = [Collection.read(path.parent) for path in sorted(folder.glob("*/qrels.tsv"))]
    print("| collection | documents | queries | `fields` | bm25s | tantivy |", end="")
    print(" `fields` / bm25s | `fields` / tantivy |\n|---|---|---|---|---|---|---|---|")
    ratios = []
    for each in found:
        ndcgs = compared(each)
        ratios.append(ndcgs.ratios)
        counts = (f"{len(rows):,}" for rows in (each.documents, each.queries))
        values = (f"{value:.3f}" for value in (*ndcgs, *ndcgs.ratios))
        print("|", " | ".join((each.name, *counts, *values)), "|", flush=True)
    by_peer = [*zip(*ratios, strict=True)]
    print("| mean | | | | | |", " | ".join(f"{mean(each):.3f}" for each in by_peer), "|")
    below = (f"{sum(ratio < 1 for ratio in each)} of {len(each)}" for each in by_peer)
    print("| below | | | | | |", " | ".join(below), "|")
    bm25s_ratio, tantivy_ratio = map(mean, by_peer)
    report(f"{bm25s_ratio:.2f} × the nDCG@10 of bm25s, {tantivy_ratio:.2f} × that of tantivy")


if __name__ == "__main__":
    main()
