"""Which pages come first in an index of several languages?

    python bench/mixed_languages.py --collections FOLDER [--sets TEXT] [--weight WEIGHT]

FOLDER/ir holds collections (`collection.py`) whose names end in their languages, such as
`gather.py` makes. At random, more pages of some than of others are taken into one index. Users of
each language ask, who prefer pages in it:

  own    the judged questions of its collection
  none   the same, but no language is preferred
  other  the same, but the user prefers pages in another language
  names  one or two words, each in few pages of the language and in more of others: names and code;
         the pages in the language that have them are relevant
  alien  such words which no page in the language has: all pages that have them are relevant

For each: the mean nDCG@10, and how often the first result is a page of the collection (for `alien`,
one that has the words).
"""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from collection import Collection, rows
from harness import Options, collection, report
from ranked_systems import DEPTH, gossamer
from relevance import generate, ndcg

from gossamer.config import RankingConfig

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from gossamer.search.searcher import Searcher

SEED = 3
FEW = 6
"""Names are in at most this many pages of a language,"""
MANY = 3
"""and in at least this many of others."""
SPREAD = (0.3, 1.5)
"""How many pages of a collection are taken, over --documents."""
NAME = re.compile(r"(?<!\w)[a-z][a-z0-9_.-]{2,}[a-z0-9](?!\w)")


class Asked(NamedTuple):
    kind: str
    query: str
    language: str
    """The language that the user prefers, "" if none."""
    gains: Mapping[str, float]
    first: frozenset[str]
    """The pages of which one should come first."""


def generated(folder: Path) -> Path:
    for language in ("de", "en"):
        generate(folder, language)
    return folder


def taken(folder: Path, options: argparse.Namespace, draw: random.Random) -> list[Collection]:
    """Random parts of all collections, whose pages have the language in their ids."""
    found = []
    for path in sorted(each.parent for each in folder.glob("*/qrels.tsv")):
        if not re.search(options.sets, path.name):
            continue
        whole = Collection.read(path)
        size = int(options.documents * draw.uniform(*SPREAD))
        draw.shuffle(whole.documents)
        language = whole.language
        documents = [
            {key: value for key, value in each.items() if key != "url"}
            | {"id": f"{language}/{each['id']}"}
            for each in whole.documents[:size]
        ]
        gains = {
            query: {f"{language}/{name}": gain for name, gain in each.items()}
            for query, each in whole.gains.items()
        }
        found.append(Collection(whole.name, documents, whole.queries, gains))
    return found


def named(row: Mapping[str, Any]) -> frozenset[str]:
    """The words of a page that may be names or code."""
    return frozenset(NAME.findall(f"{row['title'] or ''}\n{row['text'] or ''}".lower()))


def asked(
    sets: Sequence[Collection], pages: Mapping[str, frozenset[str]], draw: random.Random, each: int
) -> Iterator[Asked]:
    by_language: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for url, words in pages.items():
        by_language[url.split("/")[3]][url] = words
    counts = {
        language: Counter(word for words in mine.values() for word in words)
        for language, mine in by_language.items()
    }
    everywhere = sum(counts.values(), Counter[str]())
    for one in sets:
        language, mine = one.language, by_language[one.language]
        other = draw.choice([code for code in by_language if code != language])
        yield from judged(one, mine, other, draw, each)
        rare = {
            word
            for word, count in counts[language].items()
            if count <= FEW and everywhere[word] - count >= MANY
        }
        having = [url for url, words in mine.items() if words & rare]
        for url in draw.sample(having, min(each, len(having))):
            names = sorted(mine[url] & rare)
            names = draw.sample(names, min(len(names), draw.choice([1, 2])))
            own = {page: 1.0 for page, held in mine.items() if held.issuperset(names)}
            yield Asked("names", " ".join(names), language, own, frozenset(mine))
            if not any(held.issuperset(names) for held in by_language[other].values()):
                found = {page: 1.0 for page, held in pages.items() if held.issuperset(names)}
                yield Asked("alien", " ".join(names), other, found, frozenset(found))


def judged(
    one: Collection, pages: Mapping[str, Any], other: str, draw: random.Random, most: int
) -> Iterator[Asked]:
    """Questions of which a relevant page was taken."""
    found = []
    for query in one.queries:
        gains = {
            url: gain
            for name, gain in one.gains[query["id"]].items()
            if gain and (url := f"http://collection.example/{name}") in pages
        }
        if gains:
            found.append((query["text"], gains))
    for text, gains in draw.sample(found, min(most, len(found))):
        for kind, language in (("own", one.language), ("none", ""), ("other", other)):
            yield Asked(kind, text, language, gains, frozenset(pages))


def measured(searcher: Searcher, questions: Sequence[Asked]) -> None:
    scores: dict[str, list[float]] = defaultdict(list)
    firsts: dict[str, list[bool]] = defaultdict(list)
    for each in questions:
        hits = searcher.search(each.query, limit=DEPTH, language=each.language).hits
        found = [hit.url for hit in hits]
        scores[each.kind].append(ndcg(found, each.gains))
        firsts[each.kind].append(bool(found) and found[0] in each.first)
    print("kind   questions  nDCG@10  first %")
    for kind, values in scores.items():
        first = 100 * sum(firsts[kind]) / len(values)
        print(f"{kind:6} {len(values):9,} {sum(values) / len(values):8.3f} {first:8.1f}")
    both = [sum(scores[kind]) / len(scores[kind]) for kind in ("own", "names") if scores[kind]]
    report(f"nDCG@10 of {' and '.join(f'{each:.3f}' for each in both)} in the user's language")


def main() -> None:
    reader = Options(__doc__, documents=(400, 20), queries=(8, 4))
    reader.add_argument("--sets", default="", help="a regular expression that names of sets match")
    reader.add_argument("--weight", type=float, help="ranking.language")
    options = reader.read()
    weights = RankingConfig()
    if options.weight is not None:
        weights = msgspec.structs.replace(weights, language=options.weight)
    draw = random.Random(SEED)  # noqa: S311  # reproducible
    with tempfile.TemporaryDirectory() as scratch:
        folder = collection(options, "ir") or generated(Path(scratch))
        sets = taken(folder, options, draw)
        documents = rows([document for each in sets for document in each.documents])
        pages = {row["url"]: named(row) for row in documents}
        index = Path(scratch) / "index"
        index.mkdir()
        searcher = gossamer(documents, index, weights)
        measured(searcher, [*asked(sets, pages, draw, options.queries)])


if __name__ == "__main__":
    main()
