"""Do questions find the paragraph that answers them, if that is in another language?

    python bench/across_languages.py --collections FOLDER [--model NAME] [--answers de,…] [--more N]

FOLDER/cross has a JSON file per language, of texts by name (`gather_translations.py` makes them
from what Debian has in many languages): equal names are translations of each other. A
question is the first sentence of a paragraph in one language; its answer is the paragraph of that
name, among `--paragraphs` of another language. Paragraphs are pages of an index that holds nothing
else, searched as ever: once by words only, and once with vectors of the model, too. A question
counts if its answer is among the first ten.

With `--more`, each collection is filled up with so many texts of other names and in all languages,
of which none is a translation of a question's paragraph: does a larger haystack hide the needles?

It also prints the cost of vectors: CPU time per page, bytes, and what a scan of a million takes, by
signs and then products as in searches, by products only, and with usearch if that is installed.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from harness import Options, collection, generate_text, report
from ranked_systems import gossamer

from gossamer.config import RankingConfig, SemanticConfig
from gossamer.index.format.analysis import OTHER, STEMMERS
from gossamer.index.format.page_keys import page_key
from gossamer.search.searcher import Searcher
from gossamer.semantic.merging import group_owners
from gossamer.semantic.models import Model, load_model
from gossamer.semantic.nearest import Meanings
from gossamer.semantic.passages import passages_of
from gossamer.semantic.quantizing import Vectors, empty_vectors, quantize, sign_bits
from gossamer.semantic.scanning import CANDIDATES, nearest
from gossamer.semantic.segments import Segment, order_by_page, text_hash
from gossamer.web.urls import host_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from numpy import typing as npt

ASKED = {
    "de": ("en", "es", "fr", "it", "ru", "zh"),
    "en": ("de", "es", "ja"),
    "fr": ("en", "it"),
    "ru": ("en", "de"),
    "zh": ("en",),
    "ja": ("en",),
}
"""By language of the answers, those of the questions."""
TRAINED = frozenset(
    ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
)
"""The languages of the usual model."""
FIRST = 10
MIN_CHARS, MIN_WIDE_CHARS = 90, 40
MIN_WORDS = 6
CHARS_PER_WORD = {"ja": 3, "zh": 2}
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])")
_WIDE = frozenset(("ja", "ko", "zh"))
PLAIN: dict[str, Any] = {
    "description": None,
    "headings": None,
    "anchors": None,
    "inner_boilerplate": None,
    "boilerplate": None,
    "is_doubtful": False,
    "content_type": "text/html",
    "published_ms": None,
    "modified_ms": None,
    "image": None,
    "nosnippet": False,
    "wishes": None,
    "fetched_ms": 0,
    "static_rank": 1.0,
    "copies": None,
    "versions": None,
    "copy_hosts": None,
    "title": "",
}


class Question(NamedTuple):
    text: str
    answer: str
    """The name of the paragraph."""


def usable(texts: Mapping[str, str], language: str) -> dict[str, str]:
    """The paragraphs that are long enough to be about something, each once."""
    least = MIN_WIDE_CHARS if language in _WIDE else MIN_CHARS
    found: dict[str, str] = {}
    for name, text in sorted(texts.items()):
        if len(text) >= least:
            found.setdefault(text, name)
    return {name: text for text, name in found.items()}


def first_sentence(text: str) -> str:
    return _SENTENCE_END.split(text, maxsplit=1)[0]


def questions_of(
    asked: Mapping[str, str], answers: Mapping[str, str], language: str, most: int
) -> Iterator[Question]:
    """Questions in a language, of paragraphs that have a translation.

    A sentence with which several paragraphs begin has no single answer.
    """
    begins = Counter(first_sentence(text) for text in {*asked.values()})
    names = [*answers]
    random.Random(3).shuffle(names)  # noqa: S311
    for name in names:
        text = first_sentence(asked.get(name, ""))
        words = (
            len(text) / CHARS_PER_WORD[language]
            if language in CHARS_PER_WORD
            else len(text.split())
        )
        if words >= MIN_WORDS and asked[name] != answers[name] and begins[text] == 1:
            yield Question(text, name)
            if not (most := most - 1):
                return


def row_of(name: str, text: str, language: str) -> dict[str, Any]:
    url = f"http://{text_hash(name) % 5000}.example/{text_hash(name):x}"
    key = language if language in STEMMERS else OTHER
    own = {"url": url, "host": host_of(url), "text": text, "language": language}
    return PLAIN | own | {"index_language": key}


def encoded(model: Model, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[list[Segment]]]:
    """The vectors of pages, a segment per language, as the step `embed` makes them."""
    by_language: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_language.setdefault(row["index_language"], []).append(row)
    found = {}
    for language, ours in by_language.items():
        texts: dict[int, str] = {}
        hashes, pages = [], []
        for row in ours:
            for passage in passages_of(row["title"], row["text"], SemanticConfig().passages):
                texts[digest := text_hash(passage)] = passage
                hashes.append(digest)
                pages.append(page_key(row["url"], row["host"]))
        kept, starts, owners = group_owners(np.array(hashes, np.uint64), np.array(pages, np.int64))
        vectors = _encode(model, [texts[int(each)] for each in kept])
        by_page, covered = order_by_page(owners), np.empty(0, np.int64)
        segment = Segment(kept, vectors, starts, owners, by_page, covered)
        found[language] = [[segment]]
    return found


def _encode(model: Model, texts: Sequence[str]) -> Vectors:
    made = [model.encode(texts[begin : begin + 256]) for begin in range(0, len(texts), 256)]
    if not made:
        return empty_vectors(0, model.dimension)
    return Vectors(*(np.concatenate(each) for each in zip(*made, strict=True)))


class Found(NamedTuple):
    """The share of questions whose answer is among the first ten, also by source.

    `rank`: the mean reciprocal rank.
    """

    share: float
    rank: float
    sources: Mapping[str, float]

    def __str__(self) -> str:
        sources = ", ".join(f"{name} {share:.1%}" for name, share in self.sources.items())
        return f"{self.share:.1%} ({sources}; MRR {self.rank:.3f})"


def share_found(
    searcher: Searcher, questions: Sequence[Question], urls: Mapping[str, str], language: str
) -> Found:
    ranks: dict[str, list[float]] = {}
    for question in questions:
        hits = searcher.search(f"{question.text} lang:{language}", limit=FIRST).hits
        names, answer = [hit.url for hit in hits], urls[question.answer]
        rank = 1 / (1 + names.index(answer)) if answer in names else 0.0
        ranks.setdefault(question.answer.partition("/")[0], []).append(rank)
    everything = [rank for some in ranks.values() for rank in some]
    return Found(
        _share(everything),
        float(np.mean(everything)),
        {name: _share(ranks[name]) for name in ranks},
    )


def _share(ranks: Sequence[float]) -> float:
    return float(np.mean([rank > 0 for rank in ranks]))


def compare(
    texts: Mapping[str, Mapping[str, str]], options: argparse.Namespace, model: Model
) -> list[tuple[float, float]]:
    """Print a row per pair of languages; return the shares by words, and with vectors."""
    shares = []
    for answered in options.answers.split(",") if options.answers else ASKED:
        asking = [language for language in ASKED[answered] if language in texts]
        if answered not in texts or not asking:
            continue
        both = usable(texts[answered], answered)
        names = [name for name in both if all(name in texts[language] for language in asking)]
        random.Random(2).shuffle(names)  # noqa: S311
        # The handbook is prose, and its paragraphs are less alike than those of the help.
        names.sort(key=lambda name: not name.startswith("handbook"))
        chosen = {name: both[name] for name in names[: options.paragraphs]}
        rows = [row_of(f"{answered}/{name}", text, answered) for name, text in chosen.items()]
        urls = {name: row["url"] for name, row in zip(chosen, rows, strict=True)}
        if options.more:
            rows += others(texts, {*chosen}, answered, options.more)
        began_s = time.process_time()
        vectors = encoded(model, rows)
        took_ms = 1000 * (time.process_time() - began_s) / len(rows)
        print(f"{answered}: {len(rows):,} paragraphs, {took_ms:.1f} ms of CPU per paragraph")
        with tempfile.TemporaryDirectory() as folder:
            by_words = gossamer(rows, Path(folder), RankingConfig())
            by_words.node.meanings = Meanings(model, vectors)
            both_ways = Searcher(by_words.node, RankingConfig())
            for asked in asking:
                questions = [*questions_of(texts[asked], chosen, asked, options.questions)]
                found = [
                    share_found(searcher, questions, urls, answered)
                    for searcher in (by_words, both_ways)
                ]
                shares.append((found[0].share, found[1].share))
                known = "" if {asked, answered} <= TRAINED else " (not a language of the model)"
                print(
                    f"{asked} → {answered}, {len(questions)} questions: words {found[0]};"
                    f" with vectors {found[1]}{known}",
                    flush=True,
                )
    return shares


def others(
    texts: Mapping[str, Mapping[str, str]],
    names: set[str],
    language: str,
    most: int,
) -> list[dict[str, Any]]:
    """Paragraphs of other names, first in the language of the answers, that no question is about.

    They get the language of the answers, so that it does not shut them out.
    """
    draw = random.Random(1)  # noqa: S311
    found: list[dict[str, Any]] = []
    for other in (language, *sorted(set(texts) - {language})):
        pool = [item for item in usable(texts[other], other).items() if item[0] not in names]
        draw.shuffle(pool)
        for name, text in pool[: most - len(found)]:
            found.append(row_of(f"{other}/{name}", text, language))
    return found


def measure_scan(count: int, dimension: int, pick: npt.NDArray[np.float32]) -> float:
    """Print what it takes to find the nearest of many vectors; return ms of CPU per query."""
    draw = np.random.default_rng(1)
    numbers = np.empty((count, dimension), np.int8)
    for begin in range(0, count, 50_000):
        end = min(begin + 50_000, count)
        mixed = pick[draw.integers(0, len(pick), end - begin)]
        mixed = mixed + draw.normal(0, 0.03, mixed.shape).astype(np.float32)
        numbers[begin:end] = quantize(mixed.astype(np.float32)).numbers
    signs = np.concatenate([sign_bits(numbers[at : at + 50_000]) for at in range(0, count, 50_000)])
    queries = [quantize(numbers[at][None].astype(np.float32)) for at in draw.integers(0, count, 20)]
    took: dict[int, float] = {}
    best: dict[int, list[set[int]]] = {}
    for most in (CANDIDATES, count):
        began_s, best[most] = time.process_time(), []
        for query in queries:
            places, products = nearest(signs, numbers, query.signs[0], query.numbers[0], most)
            best[most].append({*places[np.argsort(-products)[:FIRST]].tolist()})
        took[most] = 1000 * (time.process_time() - began_s) / len(queries)
    shared = [len(one & other) for one, other in zip(best[CANDIDATES], best[count], strict=True)]
    print(
        f"{count:,} vectors of {dimension} numbers: {took[CANDIDATES]:.1f} ms of CPU by signs"
        f" and products ({sum(shared) / FIRST / len(shared):.1%} of the first ten are the same),"
        f" {took[count]:.1f} ms by products; {dimension + 8 * signs.shape[1] + 28} bytes each"
    )
    _measure_usearch(numbers, [query.numbers[0] for query in queries])
    return took[CANDIDATES]


def _measure_usearch(
    numbers: npt.NDArray[np.int8],
    queries: Sequence[npt.NDArray[np.int8]],
) -> None:
    try:
        from usearch.index import Index, search
    except ModuleNotFoundError:
        print("usearch is not installed")
        return
    began_s = time.process_time()
    for query in queries:
        search(numbers, query, FIRST, "cos", exact=True)
    scan_ms = 1000 * (time.process_time() - began_s) / len(queries)
    some = numbers[: min(len(numbers), 100_000)]
    began_s, index = time.process_time(), Index(ndim=numbers.shape[1], metric="cos", dtype="i8")
    index.add(np.arange(len(some)), some)
    built_s = time.process_time() - began_s
    began_s = time.process_time()
    for query in queries:
        index.search(query, FIRST)
    took_ms = 1000 * (time.process_time() - began_s) / len(queries)
    print(
        f"usearch: {scan_ms:.1f} ms of CPU by an exact scan of {len(numbers):,};"
        f" a graph of {len(some):,}: {took_ms:.2f} ms, built in {built_s:.0f} s of CPU"
        f" ({1e6 * built_s / len(some):.0f} µs per vector)"
    )


class TinyModel:
    """Texts with the same numbers mean the same."""

    name, dimension, least_similarity = "tiny", 64, 0.1

    def encode(self, texts: Sequence[str], *, are_queries: bool = False) -> npt.NDArray[np.float32]:
        assert texts or are_queries
        rows = [
            sum(
                np.random.default_rng(int(number)).normal(size=self.dimension)
                for number in re.findall(r"\d+", f"{text} 0")
            )
            for text in texts
        ]
        return np.array(rows, np.float32)


def tiny_texts() -> dict[str, dict[str, str]]:
    return {
        language: {
            f"tiny/{number}": f"{number} {generate_text(prose, f'{language}{number}', 2)}"
            for number in range(40)
        }
        for language, prose in (("en", "en"), ("de", "de"))
    }


def main() -> None:
    sizes = {
        "paragraphs": (2_000, 30),
        "questions": (400, 10),
        "more": (0, 0),
        "vectors": (1_000_000, 5_000),
    }
    options_of = Options(__doc__, **sizes)
    options_of.add_argument("--model", default="use", help="as semantic.model")
    options_of.add_argument("--answers", help="languages of the answers, by default all")
    options = options_of.read()
    folder = collection(options, "cross")
    if folder is None:
        texts, model = tiny_texts(), Model(TinyModel(), SemanticConfig().passages)
    else:
        texts = {
            file.stem: json.loads(file.read_text(encoding="utf-8"))
            for file in sorted(folder.glob("*.json"))
        }
        model = load_model(SemanticConfig(model=options.model))
    shares = compare(texts, options, model)
    some = [text for text in list(next(iter(texts.values())).values())[:2_000] if len(text) > 50]
    made = _encode(model, some)
    rows = made.numbers * made.scales[:, None]
    scan_ms = measure_scan(options.vectors, model.dimension, rows)
    least = min(share for _, share in shares)
    words = np.mean([share for share, _ in shares])
    report(
        f"{np.mean([share for _, share in shares]):.1%} of answers among the first ten over"
        f" {len(shares)} pairs of languages (least {least:.1%}), by words {words:.1%};"
        f" {scan_ms:.1f} ms of CPU per scan of {options.vectors:,}"
    )


if __name__ == "__main__":
    main()
