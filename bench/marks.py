"""How much sooner does a crawl find the pages that its owner wants, if 20 pages are marked?

    python bench/marks.py [--sites 20] [--topic-pages 5000] [--pages 500] [--rounds 8] [--seed 7]

Crawls the sites of `gossamer.fakeweb.topics`, PAGES in each round. Pages of one topic of ten are
wanted; URLs say nothing of it. After two rounds, ten fetched pages that are wanted and ten that are
not are marked, and known pages are judged anew, or are not (`later`); a copy of the crawl goes on
without marks. Prints which share of each further round's requests went to wanted pages, and how
many of all parsed pages were judged right. Then the processor time to judge the texts and links of
the crawl, beside a loop in Python that does the same for texts with a set and a dict.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import tempfile
import time
from collections import Counter, deque
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from local_settings import local_settings

from gossamer import classifier, marks, promise
from gossamer.api import Crawl
from gossamer.classifier import Classifier
from gossamer.fakeweb import FakeWeb, Web

if TYPE_CHECKING:
    from collections.abc import Sequence

WANTED = 0
OF_EACH = 10
BEFORE = 2
"""Rounds."""
BATCH = 8_192


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--topic-pages", type=int, default=5_000)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    web = Web(options.seed, hosts=0, topic_sites=options.sites, topic_pages=options.topic_pages)
    assert web.topics is not None
    with FakeWeb(web) as fake, tempfile.TemporaryDirectory(prefix="marks-") as folder:
        more = {
            "generate.pages": options.pages,
            "generate.pages_per_host": options.pages,
            "update.scoring": "links*fit",
        }
        with Crawl.create(f"{folder}/begun", local_settings(fake.address, more)) as crawl:
            crawl.inject(web.seeds())
            crawl.run(BEFORE)
            asked = [row.url for row in crawl.dataset("responses").select("url").collect()]
        for name in ("no marks", "marks, later", "marks"):
            copy = Path(folder, name.replace(", ", "-").replace(" ", "-"))
            shutil.copytree(f"{folder}/begun", copy)
            with Crawl.open(str(copy)) as crawl:
                if name != "no marks":
                    mark(web, crawl, asked, known=name == "marks")
                crawl.run(options.rounds)
                print_crawl(web, name, crawl)
                if name == "marks":
                    print_cost(crawl)


def mark(web: Web, crawl: Crawl, asked: Sequence[str], *, known: bool) -> None:
    assert web.topics is not None
    by_kind: dict[bool, list[str]] = {True: [], False: []}
    for url in sorted(asked):
        if (topic := web.topics.topic_of(url)) is not None:
            by_kind[topic == WANTED].append(url)
    for fit, urls in by_kind.items():
        done = crawl.mark(urls[:OF_EACH], fit=fit, known=known and not fit)
        print(f"mark: {done.counts}, {done.seconds:.1f} s", flush=True)


def print_crawl(web: Web, name: str, crawl: Crawl) -> None:
    assert web.topics is not None
    rows = crawl.dataset("responses").select("round", "url").collect()
    asked = Counter(row["round"] for row in rows)
    wanted = Counter(row["round"] for row in rows if web.topics.topic_of(row.url) == WANTED)
    shares = " ".join(f"{wanted[n] / asked[n]:4.0%}" for n in sorted(asked) if n > BEFORE)
    later = sum(asked[n] for n in asked if n > BEFORE)
    total = sum(wanted[n] for n in wanted if n > BEFORE)
    parsed = crawl.pages().where("fit IS NOT NULL").select("url", "fit").collect()
    topics = [(row.fit, web.topics.topic_of(row.url)) for row in parsed]
    right = Counter(fit == (topic == WANTED) for fit, topic in topics if topic is not None)
    print(
        f"{name:14} {shares}  all {total / later:4.0%} of {later:,}, "
        f"judged right {right[True] / right.total():.1%}",
        flush=True,
    )


def print_cost(crawl: Crawl) -> None:
    documents = crawl.dataset("documents").select("title", "main_text").toArrow().combine_chunks()
    links = crawl.links().select("dst", "anchor").toArrow()
    links = links.append_column("score", pa.nulls(links.num_rows, pa.float64()))
    judge = Classifier.of(crawl.dataset("fit_words").toArrow())
    texts = marks.text_of(documents).combine_chunks()
    marked = marks.stored(crawl.work)
    kb = pc.mean(pc.binary_length(texts)).as_py() / 1000

    def in_batches() -> None:
        for n in range(0, len(texts), BATCH):
            judge.scores(classifier.split(texts.slice(n, BATCH)))

    weights = dict(zip(judge.words.to_pylist(), judge.weights.tolist(), strict=True))

    def in_a_loop() -> None:
        for text in texts.to_pylist():
            found = set(re.findall(r"[^\W\d_]+", text.lower())) & weights.keys()
            sum(weights[word] for word in found) / math.sqrt(len(found) or 1)

    def of_links() -> None:
        deque(promise.judged_links(judge, iter(links.to_batches(BATCH))), 0)

    for name, each, count in (
        (f"texts of {kb:.1f} KB", in_batches, len(texts)),
        ("the same in a loop", in_a_loop, len(texts)),
        ("links", of_links, links.num_rows),
        ("marks, to learn", partial(marks.learned, marked), marked.num_rows),
    ):
        begun_s = time.process_time()
        each()
        cpu_s = time.process_time() - begun_s
        print(f"{name:20} {cpu_s / count * 1e6:6.1f} µs each, of {count:,}", flush=True)


if __name__ == "__main__":
    main()
