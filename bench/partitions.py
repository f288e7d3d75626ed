"""Shards of documents or partitions of terms: what do a query's answers cost?

    python bench/partitions.py [FOLDER] [--documents 20_000] [--partitions 8] [--queries 500]

The documents are pieces of 4,000 characters from the HTML and text files below FOLDER
(/usr/share/doc). A query consists of 1 to 4 different terms of one document, so a term is drawn in
proportion to its document frequency. Three organisations answer the same queries, once requiring
every word (AND) and once any word (OR), with ten hits each:

  terms        the step `postings`: partitioned by hash of the term
  documents    the same code and format: sharded by hash of the URL, with separate `postings` for
               each shard's documents
  tantivy      shards with the same documents, one field with the same terms (BM25)

All run one after the other in this process. The columns:

  slowest    the slowest of the partitions queried, plus merging: the time of a query if each
             partition has its own machine; p99 is the 99th percentile
  sum        the time of all machines together
  asked      partitions queried
  KB moved   bytes sent between machines. Document shards are asked for their document frequencies
             first, so that all score alike
  pipelined  KB if the query passes from partition to partition instead
  balance    postings read for all queries: the partition with the most, divided by the mean
  found      matching documents per query
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import pyarrow as pa
import tantivy
import xxhash
from selectolax.lexbor import LexborHTMLParser

from gossamer import postings
from gossamer.api import Crawl
from gossamer.config import EngineConfig
from gossamer.engine import Engine
from gossamer.fulltext import schema
from gossamer.fulltext.analysis import plain
from gossamer.postings.blocks import Partition
from gossamer.postings.reader import DF_BYTES, Numbered, Reader
from gossamer.tables import DOCUMENTS, PAGES
from gossamer.task_output import ParquetWriter, layers_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.postings.blocks import Postings
    from gossamer.store import File

Shard = Callable[[Mapping[str, int], bool], tuple[int, int, int]]
"""Searches for words, all of them or any; returns numbers of hits, postings read and matches."""

CHARS = 4_000
MAX_FILE_BYTES = 4 << 20
LIMIT = 10
HIT_BYTES = 12
ENDINGS = (".html", ".htm", ".txt", ".gz")


def pieces(folder: Path) -> Iterator[tuple[str, str]]:
    """Iterate over URLs and texts, with the files in an order that is the same on each run."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS)
    for path in random.Random(0).sample(files, len(files)):  # noqa: S311  # reproducible
        if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            continue
        body = path.read_bytes()
        try:
            text = (gzip.decompress(body) if path.suffix == ".gz" else body).decode()
        except (OSError, EOFError, UnicodeDecodeError):
            continue
        if "<html" in text[:1000].lower():
            text = LexborHTMLParser(text).root.text(separator=" ")
        text = re.sub(r"\s+", " ", text)
        for start in range(0, len(text), CHARS):
            yield f"http://docs.test{path}?{start:08d}", text[start : start + CHARS]


def crawl_of(folder: Path, rows: Sequence[tuple[str, str]], engine: Engine, parts: int) -> Crawl:
    """Create a crawl that holds these documents, to be partitioned into `parts`."""
    settings = f"postings.partitions = {parts}"
    crawl = Crawl.create(str(folder), settings, engine)
    documents = ParquetWriter(crawl.path, "documents", crawl.work.store.attempt("documents"))
    pages = ParquetWriter(crawl.path, "pages", crawl.work.store.attempt("pages"))
    plain = {"outcome": "parsed", "noindex": False, "round": 1}
    known = dict.fromkeys(DOCUMENTS.column_names) | plain
    written = [known | {"url": url, "text": text} for url, text in rows]
    documents.write(pa.Table.from_pylist(written, DOCUMENTS.schema))
    state = dict.fromkeys(PAGES.column_names) | {"status": "fetched"}
    pages.write(pa.Table.from_pylist([state | {"url": url} for url, _ in rows], PAGES.schema))
    with crawl.work.step("test", 1) as draft:
        draft.append = layers_of(documents.close() + pages.close(), 1)
    return crawl


class Clocked(Partition):
    """A partition that measures its time for the current query."""

    took_s = 0.0

    def find(self, term: str) -> Postings:
        started_s = time.perf_counter()
        found = super().find(term)
        self.took_s += time.perf_counter() - started_s
        return found


@dataclass
class Costs:
    """The costs of the queries, in order; `read` counts postings by partition."""

    slowest_ms: list[float] = field(default_factory=list)
    sum_ms: list[float] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    pipeline_bytes: list[int] = field(default_factory=list)
    read: Counter[int] = field(default_factory=Counter)
    total: int = 0


class ByTerms:
    """Answers from partitions by term: the postings of one crawl."""

    def __init__(self, crawl: Crawl) -> None:
        self._partitions = [Clocked(path) for path in crawl.work.paths("postings")]
        self._broker = Reader(self._partitions, Numbered(crawl.work.paths("numbered")))

    def ask(self, words: Mapping[str, int], every: bool, costs: Costs) -> None:
        for partition in self._partitions:
            partition.took_s = 0.0
        started_s = time.perf_counter()
        answer = self._broker.find(words, every=every, limit=LIMIT)
        took_s = time.perf_counter() - started_s
        of_partitions = [partition.took_s for partition in self._partitions]
        merging_s = took_s - sum(of_partitions)
        costs.slowest_ms.append(1000 * (max(of_partitions) + merging_s))
        costs.sum_ms.append(1000 * took_s)
        costs.asked.append(len(answer.postings))
        costs.bytes.append(answer.broker_bytes)
        costs.pipeline_bytes.append(answer.pipeline_bytes)
        costs.read.update(answer.postings)
        costs.total += answer.total


class ByDocuments:
    """Answers from shards of documents, all of which every query goes to."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._shards = shards

    def ask(self, words: Mapping[str, int], every: bool, costs: Costs) -> None:
        took_ms, moved = [], 0
        for number, shard in enumerate(self._shards):
            started_s = time.perf_counter()
            hits, read, total = shard(words, every)
            took_ms.append(1000 * (time.perf_counter() - started_s))
            moved += hits * HIT_BYTES + 2 * DF_BYTES * len(words)
            costs.read[number] += read
            costs.total += total
        costs.slowest_ms.append(max(took_ms))
        costs.sum_ms.append(sum(took_ms))
        costs.asked.append(len(self._shards))
        costs.bytes.append(moved)


def of_postings(crawl: Crawl) -> Shard:
    broker = Reader.open(crawl.work)

    def ask(words: Mapping[str, int], every: bool) -> tuple[int, int, int]:
        answer = broker.find(words, every=every, limit=LIMIT)
        return len(answer.best.documents), sum(answer.postings.values()), answer.total

    return ask


def of_tantivy(folder: Path, rows: Sequence[tuple[str, str]]) -> Shard:
    fields = tantivy.SchemaBuilder()
    fields.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    made = fields.build()
    folder.mkdir(parents=True)
    index = tantivy.Index(made, str(folder))
    writer = index.writer(64_000_000, 1)
    words = plain()
    for _, text in rows:
        document = tantivy.Document()
        document.add_text("text", " ".join(words.analyze(schema.composed(text))))
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(terms: Mapping[str, int], every: bool) -> tuple[int, int, int]:
        occur = tantivy.Occur.Must if every else tantivy.Occur.Should
        parts = [(occur, tantivy.Query.term_query(made, "text", term, "freq")) for term in terms]
        answer = searcher.search(tantivy.Query.boolean_query(parts), limit=LIMIT)
        read = sum(searcher.doc_freq("text", term) for term in terms)
        return len(answer.hits), read, answer.count

    return ask


def log_of(rows: Sequence[tuple[str, str]], queries: int) -> list[Counter[str]]:
    draw, words = random.Random(1), plain()  # noqa: S311  # reproducible
    log: list[Counter[str]] = []
    while len(log) < queries:
        terms = sorted(set(words.analyze(schema.composed(draw.choice(rows)[1]))))
        if terms:
            log.append(Counter(draw.sample(terms, min(draw.randint(1, 4), len(terms)))))
    return log


def mb(files: Sequence[File]) -> float:
    return sum(file.bytes for file in files) / 1e6


def report(name: str, how: str, costs: Costs, partitions: int) -> None:
    slowest, whole = sorted(costs.slowest_ms), costs.sum_ms
    work = [costs.read[number] for number in range(partitions)]
    pipeline = f"{mean(costs.pipeline_bytes) / 1000:10.1f}" if costs.pipeline_bytes else f"{'':10}"
    print(
        f"{name:12}{how:6}{mean(slowest):9.2f}{slowest[len(slowest) * 99 // 100]:8.2f}"
        f"{mean(whole):8.2f}{mean(costs.asked):8.1f}{mean(costs.bytes) / 1000:10.1f}{pipeline}"
        f"{max(work) / mean(work):9.2f}{costs.total / len(whole):10.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=Path("/usr/share/doc"))
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--queries", type=int, default=500)
    options = parser.parse_args()
    rows = list(islice(pieces(options.folder), options.documents))
    shards: list[list[tuple[str, str]]] = [[] for _ in range(options.partitions)]
    for row in rows:
        shards[xxhash.xxh64_intdigest(row[0].encode()) % options.partitions].append(row)
    log = log_of(rows, options.queries)
    with (
        tempfile.TemporaryDirectory(prefix="partitions-") as name,
        Engine(EngineConfig()) as engine,
    ):
        folder = Path(name)
        whole = crawl_of(folder / "terms", rows, engine, options.partitions)
        report_of_step = postings.run(whole.work)
        parts = [crawl_of(folder / f"{n}", shard, engine, 1) for n, shard in enumerate(shards)]
        for part in parts:
            postings.run(part.work)
        tantivies = [of_tantivy(folder / f"t{n}", shard) for n, shard in enumerate(shards)]
        on_disk = {
            "terms": mb(whole.work.store.files("postings")),
            "documents": sum(mb(part.work.store.files("postings")) for part in parts),
            "tantivy": sum(f.stat().st_size for f in folder.glob("t[0-9]*/*")) / 1e6,
        }
        counts = report_of_step.counts
        print(f"{counts}, built in {report_of_step.seconds:.1f} s; MB on disk:", end=" ")
        print(", ".join(f"{name} {size:.1f}" for name, size in on_disk.items()))
        print(
            f"{'':18}{'slowest ms':>9}{'p99':>7}{'sum ms':>8}{'asked':>8}{'KB moved':>10}", end=""
        )
        print(f"{'pipelined':>10}{'balance':>9}{'found':>10}")
        for every, how in ((True, "AND"), (False, "OR")):
            for of, organisation in {
                "terms": ByTerms(whole),
                "documents": ByDocuments([of_postings(part) for part in parts]),
                "tantivy": ByDocuments(tantivies),
            }.items():
                costs = Costs()
                for words in log:
                    organisation.ask(words, every, costs)
                report(of, how, costs, options.partitions)


if __name__ == "__main__":
    main()
