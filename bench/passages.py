"""Does a paragraph find the documents on its subject? nDCG@10 beside BM25 of bm25s.

    python bench/passages.py FOLDER ...

Each FOLDER holds judged collections (`collection.py`), such as cranfield and cacm. A question is
the beginning of a document that is relevant to a query; the answers are the other documents
relevant to it. PER_QUERY such documents of at least LEAST_WORDS words are drawn for each query
with enough answers; samples are the same on each run. Documents are indexed as in relevance.py.

Prints for each number of words both means, their ratio with its standard error, and the CPU
milliseconds of a search.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, NamedTuple

import relevance
from collection import Collection, rows, url_of

from gossamer.config import RankingConfig
from gossamer.fulltext.analysis import analyzer_for

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS = (10, 30, 60, 100, 150, 250)
LEAST_WORDS = 80
PER_QUERY = 3
MIN_ANSWERS = 3
relevance.DEPTH = 11
"""The document that asks is the best answer, and is left out."""


class Question(NamedTuple):
    url: str
    text: str
    gains: dict[str, float]


def questions(collection: Collection) -> list[Question]:
    drawn = random.Random(1)  # noqa: S311  # reproducible
    documents = {each["id"]: each for each in collection.documents}
    texts = {name: f"{each['title']} {each['text']}" for name, each in documents.items()}
    found = []
    for query in collection.queries:
        gains = collection.gains[query["id"]].items()
        relevant = [name for name, gain in gains if gain > 0 and name in documents]
        long = [name for name in relevant if len(texts[name].split()) >= LEAST_WORDS]
        if len(relevant) > MIN_ANSWERS:
            for name in drawn.sample(long, min(PER_QUERY, len(long))):
                answers = {url_of(documents[each]): 1.0 for each in relevant if each != name}
                found.append(Question(url_of(documents[name]), texts[name], answers))
    return found


def scores(asked: Sequence[Question], search: relevance.Search, words: int) -> list[float]:
    found = []
    for url, text, gains in asked:
        others = [each for each in search(" ".join(text.split()[:words])) if each != url]
        found.append(relevance.ndcg(others[:10], gains))
    return found


def main(folders: Sequence[Path]) -> None:
    print("| collection | questions | words | `fields` | bm25s | ratio | ± | CPU ms |")
    print("|---|---|---|---|---|---|---|---|")
    for folder in relevance.collections(folders):
        collection = Collection.read(folder)
        asked, documents = questions(collection), rows(collection.documents)
        with tempfile.TemporaryDirectory() as scratch:
            searcher = relevance.gossamer(documents, Path(scratch), RankingConfig())
            fields = relevance.by_fields(searcher)
            bm25s = relevance.by_bm25s(documents, analyzer_for(collection.language))
            for words in WORDS:
                began_s = time.process_time()
                ours = scores(asked, fields, words)
                cpu_ms = 1000 * (time.process_time() - began_s) / len(asked)
                peer = scores(asked, bm25s, words)
                differences = [a - b for a, b in zip(ours, peer, strict=True)]
                error = stdev(differences) / len(asked) ** 0.5 / mean(peer)
                ratio = mean(ours) / mean(peer)
                print(
                    f"| {collection.name} | {len(asked)} | {words} | {mean(ours):.3f} |"
                    f" {mean(peer):.3f} | {ratio:.3f} | {error:.3f} | {cpu_ms:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
