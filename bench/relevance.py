"""How good are the answers? nDCG@10 on collections with judgements, beside plain BM25.

    python bench/relevance.py FOLDER [LANGUAGE]

FOLDER holds one folder per collection, with docs.jsonl (id, title, text), queries.jsonl (id, text)
and qrels.tsv (query, document, gain). Documents are indexed like pages in LANGUAGE (en), without
ranks and links, and searched with each ranking profile. The baseline is tantivy's BM25 of the
stemmed words of title and text in one field. Each cell has the mean nDCG@10 and ms per query. Gains
are not transformed (Järvelin and Kekäläinen, TOIS 2002). Queries without judgements are left out.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import tantivy
from rich.console import Console
from rich.table import Table

from gossamer.config import Profile, RankingConfig
from gossamer.fulltext import schema
from gossamer.fulltext.analysis import analyzer_for
from gossamer.search.node import Node
from gossamer.search.profiles import PROFILES
from gossamer.search.searcher import Searcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Search = Callable[[str], Sequence[str]]
    """The ids of the best documents for a query."""

DEPTH = 10
BLANK: dict[str, Any] = {
    "host": "collection.example",
    "description": None,
    "headings": None,
    "anchors": None,
    "boilerplate": None,
    "content_type": "text/html",
    "published_ms": None,
    "modified_ms": None,
    "image": None,
    "nosnippet": False,
    "fetched_ms": 0,
    "static_rank": 0.0,
}


class Collection(NamedTuple):
    documents: list[dict[str, str]]
    queries: list[dict[str, str]]
    gains: Mapping[str, Mapping[str, float]]
    """The gains by query, then by document."""

    @classmethod
    def read(cls, folder: Path) -> Collection:
        def lines(name: str) -> list[dict[str, str]]:
            text = (folder / name).read_text(encoding="utf-8")
            return [json.loads(line) for line in text.splitlines()]

        gains: dict[str, dict[str, float]] = defaultdict(dict)
        for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
            query, document, gain = line.split("\t")
            gains[query][document] = float(gain)
        return cls(lines("docs.jsonl"), lines("queries.jsonl"), gains)


def gossamer(documents: Sequence[Mapping[str, str]], language: str, folder: Path) -> Searcher:
    path = folder / language
    path.mkdir()
    writer = schema.create(path).writer(128_000_000, 1)
    for each in documents:
        row = {"url": f"http://collection.example/{each['id']}", "language": language}
        row |= {"title": each["title"], "text": each["text"]}
        writer.add_document(schema.document(BLANK | row))
    writer.commit()
    writer.wait_merging_threads()
    return Searcher(Node([path], RankingConfig()), RankingConfig())


def in_profile(searcher: Searcher, profile: Profile) -> Search:
    return lambda query: [
        hit.url.rpartition("/")[2]
        for hit in searcher.search(query, limit=DEPTH, profile=profile).hits
    ]


def plain_bm25(documents: Sequence[Mapping[str, str]], language: str) -> Search:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("text", tokenizer_name="terms")
    form, words = builder.build(), analyzer_for(language)
    index = tantivy.Index(form)
    index.register_tokenizer("terms", words.terms)
    writer = index.writer(128_000_000, 1)
    for each in documents:
        text = f"{each['title']}\n{each['text'].removeprefix(each['title'])}"
        writer.add_document(tantivy.Document(id=each["id"], text=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> list[str]:
        content_words = [word for word in query.split() if words.has_content_word(word)]
        terms = words.terms.analyze(" ".join(content_words))
        clauses = [
            (tantivy.Occur.Should, tantivy.Query.term_query(form, "text", term)) for term in terms
        ]
        hits = searcher.search(tantivy.Query.boolean_query(clauses), limit=DEPTH).hits
        return [searcher.doc(address)["id"][0] for _, address in hits]

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
    judged = [each for each in collection.queries if any(collection.gains[each["id"]].values())]
    started = time.perf_counter()
    found = [search(each["text"]) for each in judged]
    elapsed_s = time.perf_counter() - started
    values = [
        ndcg(documents, collection.gains[each["id"]])
        for each, documents in zip(judged, found, strict=True)
    ]
    return sum(values) / len(values), 1000 * elapsed_s / len(judged)


def main(root: Path, language: str = "en") -> None:
    table = Table("collection", "documents", *PROFILES, "plain BM25")
    for folder in sorted(path for path in root.iterdir() if (path / "qrels.tsv").exists()):
        collection = Collection.read(folder)
        with tempfile.TemporaryDirectory() as scratch:
            searcher = gossamer(collection.documents, language, Path(scratch))
            searches = [in_profile(searcher, profile) for profile in PROFILES]
            searches.append(plain_bm25(collection.documents, language))
            results = [measured(collection, search) for search in searches]
        table.add_row(
            folder.name,
            f"{len(collection.documents):,}",
            *(f"{value:.3f}  {ms:.1f} ms" for value, ms in results),
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:3])
