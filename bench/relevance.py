"""How good are the answers on judged collections, beside BM25 of other programs?

    python bench/relevance.py --collections FOLDER [--sets TEXT] [--save TSV] [--peers TSV]
    python bench/relevance.py --compare BEFORE.TSV AFTER.TSV

FOLDER/ir holds collections (`collection.py`), such as `gather.py` makes. Of large ones,
`--documents` documents and `--queries` queries are taken. Their documents are parsed and indexed as
a crawl does, through HTML, with anchor texts but without ranks. In the same run, over the same
texts:

  fields   Gossamer with its default ranking profile
  bm25s    bm25s with the analysis that is usual for the language (`usual_analysis.py`); where
           several are, the best of them for the set
  tantivy  tantivy's own query parser and stemmers, over title and text

The score of a query is its nDCG@10; gains are not transformed (Järvelin and Kekäläinen, TOIS 2002).
Queries without judgements are left out. Each set is compared with the better of both peers, and
the mean ratio counts sets alike. `--save` writes the scores of single queries; `--peers` reads
those of the peers from such a file instead of running them; `--compare` is a paired test of two.
"""

from __future__ import annotations

import json
import math
import random
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from collection import Collection, rows, url_of
from harness import Options, collection, generate_text
from paired_scores import Judged, grouped, load, save
from ranked_systems import DEPTH, by_bm25s, by_fields, by_tantivy, gossamer
from relevance_tables import (
    BEFORE,
    HEAD,
    OURS,
    language_of,
    print_changes,
    print_row,
    print_summary,
)
from usual_analysis import usual_analyses

from gossamer.config import RankingConfig

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from ranked_systems import Search

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def ndcg(found: Sequence[str], gains: Mapping[str, float]) -> float:
    """Return the nDCG of the first DEPTH documents."""

    def discounted(values: Sequence[float]) -> float:
        return sum(gain / math.log2(place + 2) for place, gain in enumerate(values[:DEPTH]))

    return discounted([gains.get(document, 0) for document in found]) / discounted(
        sorted(gains.values(), reverse=True)
    )


def number_of_words(query: str) -> int:
    """How many words a query has; two characters of a script without spaces count as one."""
    unspaced = len(_UNSPACED.findall(query))
    return len(_UNSPACED.sub(" ", query).split()) + -(-unspaced // 2)


def measured(judged: Collection, search: Search) -> list[float]:
    """Return the nDCG of each query."""
    urls = {each["id"]: url_of(each) for each in judged.documents}

    def of(query: Mapping[str, str]) -> float:
        gains = judged.gains[query["id"]].items()
        return ndcg(search(query["text"]), {urls[name]: gain for name, gain in gains})

    return [of(query) for query in judged.queries]


def sampled(judged: Collection, documents: int, queries: int) -> Collection:
    """At most so many queries and documents, drawn at random, with the answers to the queries."""
    draw = random.Random(judged.name)  # noqa: S311
    names = {each["id"] for each in judged.documents}
    gains = {
        query: {name: gain for name, gain in found.items() if name in names}
        for query, found in judged.gains.items()
    }
    asked = [each for each in judged.queries if any(gains[each["id"]].values())]
    asked = sorted(draw.sample(asked, min(queries, len(asked))), key=lambda each: each["id"])
    answers = {name for each in asked for name in gains[each["id"]]}
    others = [each for each in judged.documents if each["id"] not in answers]
    more = min(max(documents - len(answers), 0), len(others))
    kept = answers | {each["id"] for each in draw.sample(others, more)}
    found = [each for each in judged.documents if each["id"] in kept]
    return Collection(judged.name, found, asked, gains)


def searches(judged: Collection, folder: Path, *, peers: bool) -> Iterator[tuple[str, Search]]:
    documents = rows(judged.documents)
    yield OURS, by_fields(gossamer(documents, folder, RankingConfig()))
    if peers:
        for name, terms_of in usual_analyses(judged.language).items():
            yield f"bm25s {name}", by_bm25s(documents, terms_of)
        yield "tantivy", by_tantivy(documents, judged.language)


def compared(judged: Collection, *, peers: bool) -> list[Judged]:
    """The scores of all queries in all systems."""
    with tempfile.TemporaryDirectory() as scratch:
        by_system = {
            name: measured(judged, search)
            for name, search in searches(judged, Path(scratch), peers=peers)
        }
    return [
        Judged(
            judged.name,
            query["id"],
            number_of_words(query["text"]),
            {name: scores[number] for name, scores in by_system.items()},
        )
        for number, query in enumerate(judged.queries)
    ]


def with_peers(ours: Sequence[Judged], known: Sequence[Judged]) -> list[Judged]:
    """Our scores, beside those of the peers from another run."""
    scores = {(each.collection, each.query): each.scores for each in known}
    return [
        each._replace(scores={**scores[each.collection, each.query], **each.scores})
        for each in ours
    ]


def generate(folder: Path, language: str = "xx") -> Path:
    """Write a collection whose questions are the beginnings of its English texts."""
    texts = {f"d{n}": generate_text("en", f"{language} {n}", 10) for n in range(12)}
    documents = [{"id": name, "title": "", "text": text} for name, text in texts.items()]
    queries = [{"id": name, "text": text[:60]} for name, text in texts.items()]
    target = folder / f"generated-{language}"
    target.mkdir()
    for name, lines in (("docs.jsonl", documents), ("queries.jsonl", queries)):
        (target / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (target / "qrels.tsv").write_text("".join(f"{name}\t{name}\t1\n" for name in texts))
    return folder


def found_sets(options: argparse.Namespace) -> list[Collection]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = collection(options, "ir") or generate(Path(scratch))
        paths = sorted(path.parent for path in folder.glob("*/qrels.tsv"))
        chosen = [path for path in paths if re.search(options.sets, path.name)]
        return [
            sampled(Collection.read(path), options.documents, options.queries) for path in chosen
        ]


def print_change(before: Path, after: Path) -> None:
    """What changed between two versions of our code."""
    earlier = {(each.collection, each.query): each.scores[OURS] for each in load(before)}
    both = [
        each._replace(scores={OURS: each.scores[OURS], BEFORE: score})
        for each in load(after)
        if (score := earlier.get((each.collection, each.query))) is not None
    ]
    print_changes("set", grouped(both, lambda each: each.collection))
    print_changes("language", grouped(both, lambda each: language_of(each.collection)))
    print_changes("all", {"all": both})


def main() -> None:
    reader = Options(__doc__, documents=(20_000, 20), queries=(300, 20))
    reader.add_argument("--sets", default="", help="a regular expression that names of sets match")
    reader.add_argument("--save", type=Path, help="write the scores of single queries there")
    reader.add_argument("--peers", type=Path, help="take the scores of the peers from this file")
    reader.add_argument(
        "--compare", type=Path, nargs=2, help="print what changed between two files"
    )
    options = reader.read()
    if options.compare:
        print_change(*options.compare)
        return
    known = load(options.peers) if options.peers else None
    print(HEAD, flush=True)
    judged: list[Judged] = []
    for each in found_sets(options):
        scores = compared(each, peers=known is None)
        scores = scores if known is None else with_peers(scores, known)
        print_row(scores)
        judged += scores
        if options.save:
            save(options.save, judged)
    print_summary(judged)


if __name__ == "__main__":
    main()
