"""Which near-duplicates does `dedup` find, and at which cost, beside datasketch and text-dedup?

    python bench/near_duplicates.py [FOLDER ...] [--texts N] [--peers PYTHON]

Texts of 1,000 random words, or, with folders, the main texts of the HTML pages in them (at most N,
evenly spread). Of each text, a copy is planted, with words replaced, blocks of words left out or
moved, as many as give it a Jaccard similarity between 0.5 and 1. The table has the share of the
planted pairs that each library reports, by their similarity; the number of pairs that it reports
whose similarity is below 0.8; and the CPU seconds. Similarities are computed from sets of words,
without the code under test. Ours are those of sketches and of the step on a crawl of these texts.

`--peers`: a Python with datasketch and text-dedup (they need other versions of our dependencies):
python -m venv PEERS && PEERS/bin/pip install datasketch text-dedup
"""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
import time
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from corpus import crawl
from harness import Options, report
from measuring import tree_cpu_s
from parse import RULES, URL, pages_of
from rich.console import Console
from rich.table import Table

from gossamer import dedup
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page
from gossamer.web.sketches import hash_and_sketch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

RANDOM_WORDS, VOCABULARY = 1_000, 30_000
MIN_WORDS = 120
BINS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
FALSE, NEAR = 0.8, 0.9
SETTINGS = "dedup.similarity = 0.8\n"
SHINGLE_WORDS = 5
_UNSPACED = "\u0e00-\u0eff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_])+")
"""A character of a script without spaces is a word by itself, as in gossamer.web.sketches."""

Pair = tuple[int, int]


class Found(NamedTuple):
    pairs: set[Pair]
    cpu_s: float


def synthetic(count: int) -> list[str]:
    draw = random.Random(1)  # noqa: S311  # reproducible
    words = [f"w{number}" for number in range(VOCABULARY)]
    return [" ".join(draw.choices(words, k=RANDOM_WORDS)) for _ in range(count)]


def real(folders: Sequence[Path], count: int) -> list[str]:
    """Distinct main texts of pages, with at least MIN_WORDS words."""
    bodies = [body for folder in folders for body in pages_of(folder, count)]
    texts = []
    for body in bodies[:: -(-len(bodies) // count)]:
        page = parse_page(Page(URL, {"content-type": "text/html"}, body), RULES)
        text = page.main_text or page.text or ""
        if len(WORD.findall(text)) >= MIN_WORDS:
            texts.append(text)
    return list(dict.fromkeys(texts))


def edited(text: str, draw: random.Random) -> str:
    """A copy with up to a tenth of the words replaced, or blocks of words moved or left out."""
    words = text.split()
    share = draw.random() ** 2
    kind = draw.random()
    if kind < 0.6:
        for at in draw.sample(range(len(words)), int(len(words) * share / 8)):
            words[at] = f"x{draw.getrandbits(40)}"
    elif kind < 0.8:
        length = int(len(words) * share / 2)
        at = draw.randrange(len(words) - length + 1)
        del words[at : at + length]
    else:
        for _ in range(1 + int(len(words) * share / 60)):
            at, to = draw.randrange(len(words)), draw.randrange(len(words))
            words[to:to] = [words.pop(at) for _ in range(min(20, len(words) - at))]
    return " ".join(words)


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = WORD.findall(unicodedata.normalize("NFKC", text).lower())
    return frozenset(zip(*(words[at:] for at in range(SHINGLE_WORDS)), strict=False))


def similarity(one: str, other: str) -> float:
    ours, theirs = shingles(one), shingles(other)
    return len(ours & theirs) / max(len(ours | theirs), 1)


def ours(texts: Sequence[str]) -> tuple[Found, float]:
    """Return the pairs that the step finds similar, and the CPU seconds of the sketches."""
    began_s = time.process_time()
    columns = [hash_and_sketch(text, str(number)) for number, text in enumerate(texts)]
    sketch_s = time.process_time() - began_s
    numbers: dict[int | None, int] = {
        text_hash: number for number, (text_hash, _) in enumerate(columns)
    }
    rows: Iterator[dict[str, Any]] = (
        {
            "url": f"https://a.example/{number}",
            "host": "a.example",
            "rank": 1.0,
            "anchors": [],
            "title": "",
            "main_text": text,
            "text_hash": text_hash,
            "sketch": sketch,
        }
        for number, (text, (text_hash, sketch)) in enumerate(zip(texts, columns, strict=True))
    )
    with tempfile.TemporaryDirectory() as folder, Engine(EngineConfig(workers=2)) as engine:
        made = crawl(Path(folder, "crawl"), rows, engine, SETTINGS)
        began_s = tree_cpu_s()
        dedup.run(made.work)
        cpu_s = tree_cpu_s() - began_s
        similar = made.dataset("similar").where("similarity >= 0.8").collect()
    pairs = {_ordered(numbers[row["one"]], numbers[row["other"]]) for row in similar}
    return Found(pairs, cpu_s + sketch_s), sketch_s


def peer(python: str, name: str, texts: Sequence[str]) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "texts.parquet"), Path(folder, "found.parquet")
        pq.write_table(pa.table({"text": list(texts)}), source)
        script = Path(__file__).parent / "near_peers.py"
        command = [python, str(script), name, str(source), str(target)]
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found = pq.read_table(target).to_pylist()
    pairs = {_ordered(row["one"], row["other"]) for row in found}
    return Found(pairs, float(run.stdout.split()[-1]))


def _ordered(one: int, other: int) -> Pair:
    return min(one, other), max(one, other)


def clusters(pairs: Iterable[Pair], count: int) -> list[int]:
    """By text, the number of its cluster: text-dedup reports these instead of pairs."""
    first = list(range(count))

    def find(at: int) -> int:
        while first[at] != at:
            first[at] = first[first[at]]
            at = first[at]
        return at

    for one, other in pairs:
        first[find(other)] = find(one)
    return [find(at) for at in range(count)]


def shares(found: set[Pair], planted: dict[Pair, float], *, clustered: int) -> Iterator[str]:
    """The share of the planted pairs that was found, for each bin."""
    place = clusters(found, clustered) if clustered else []
    for low, high in pairwise(BINS):
        pairs = [
            pair
            for pair, true in planted.items()
            if low <= true < high or (high == BINS[-1] and true == high)
        ]
        met = sum(place[a] == place[b] if place else (a, b) in found for a, b in pairs)
        yield f"{100 * met / len(pairs):.2f} % of {len(pairs)}" if pairs else "–"


def main() -> None:
    parser = Options(__doc__, texts=(2_000, 60))
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--peers", metavar="PYTHON")
    options = parser.read()
    bases = real(options.folders, options.texts) if options.folders else synthetic(options.texts)
    draw = random.Random(2)  # noqa: S311  # reproducible
    texts = bases + [edited(text, draw) for text in bases]
    planted: dict[Pair, float] = {}
    for number in range(len(bases)):
        pair = number, number + len(bases)
        planted[pair] = similarity(texts[pair[0]], texts[pair[1]])
    mine, sketch_s = ours(texts)
    rows: list[tuple[str, Found, int]] = [("gossamer", mine, 0)]
    if options.peers:
        rows.append(("datasketch", peer(options.peers, "datasketch", texts), 0))
        rows.append(("text-dedup", peer(options.peers, "text-dedup", texts), len(texts)))
    words = sum(len(WORD.findall(text)) for text in texts) / len(texts)
    names = [f"{low} to {high}" for low, high in pairwise(BINS)]
    table = Table(
        *("", *names, "pairs", f"below {FALSE}", "CPU s"),
        title=f"{len(texts)} texts of {words:.0f} words; sketches: {sketch_s:.1f} CPU s",
    )
    for name, found, clustered in rows:
        wrong = sum(similarity(texts[a], texts[b]) < FALSE for a, b in found.pairs)
        counted: list[Any] = [len(found.pairs), wrong, f"{found.cpu_s:.1f}"]
        table.add_row(name, *shares(found.pairs, planted, clustered=clustered), *map(str, counted))
    Console(width=200).print(table)
    near = {pair for pair, true in planted.items() if true >= NEAR}
    share = len(near & mine.pairs) / max(len(near), 1)
    report(f"{share:.1%} of the pairs with a similarity of at least {NEAR} are found")


if __name__ == "__main__":
    main()
