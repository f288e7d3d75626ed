"""What does a sketch of a page's text cost, and how good is its estimate, beside other libraries?

    python bench/sketches.py [FOLDER] [--pages N]

FOLDER holds pages as for bench/parse.py, of which N are parsed. Prints CPU ms per 1,000 words of
their main texts, the best of five runs for each page, and the share of the time that the guarded
parser takes for these pages. Then the root mean square error of the estimated similarity, over
pairs of a text and an edited copy of known similarity. datasketch and rensa get strings of
five words, as their users make them; "from hashes" passes rensa our hashes of shingles. Both have
as many values as ours. Libraries that are not installed are left out.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from parse import DOCS, RULES, URL, cost_ms, pages_of
from rich.console import Console
from rich.table import Table

from gossamer.parse.content import parse_page
from gossamer.parse.guard import GuardedParser
from gossamer.parse.page import Page
from gossamer.sketches import (
    SHINGLE_WORDS,
    VALUES,
    described,
    shingles,
    similarity,
    sketch,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PAGES = 40
PAIRS, PAIR_WORDS = 300, 2_000
SEED = 1
OURS = (
    ("both columns", lambda text: described(text, None)),
    ("sketch", lambda text: sketch(shingles(words(text)))),
)
NO_VALUES = ("both columns", "rensa, from hashes")
"""What is timed only."""


def texts_of(pages: Sequence[Page]) -> list[str]:
    parsed = (parse_page(page, RULES) for page in pages)
    return [text for page in parsed if (text := page.main_text or page.text)]


def strings(text: str) -> list[str]:
    found = text.lower().split()
    return [" ".join(found[at : at + SHINGLE_WORDS]) for at in range(len(found) - 4)]


def peers() -> Iterator[tuple[str, Callable[[str], Any]]]:
    """A function from a text to its signature, by name."""
    if find_spec("datasketch"):
        minhash = import_module("datasketch").MinHash

        def datasketch(text: str) -> Any:
            made = minhash(num_perm=VALUES, seed=SEED)
            made.update_batch([each.encode() for each in strings(text)])
            return made.digest()

        yield "datasketch", datasketch
    if find_spec("rensa"):
        of = import_module("rensa").RMinHash

        def rensa(text: str) -> Any:
            made = of(VALUES, SEED)
            made.update(strings(text))
            return np.array(made.digest())

        def hashed(text: str) -> Any:
            hashes = shingles(words(text)).tolist()
            return of.digest_matrix_from_token_hash_sets([hashes], VALUES, SEED)

        yield "rensa", rensa
        yield "rensa, from hashes", hashed


def edited(text: str, rand: random.Random) -> str:
    """A copy in which up to a tenth of the words are replaced."""
    found = text.split()
    for at in rand.sample(range(len(found)), rand.randint(0, len(found) // 10)):
        found[at] = f"{rand.getrandbits(30):x}"
    return " ".join(found)


def pairs_of(texts: Sequence[str]) -> list[tuple[str, str, float]]:
    """Texts, edited copies, and how similar these are."""
    rand, pairs = random.Random(SEED), []  # noqa: S311
    for _ in range(PAIRS):
        text = " ".join(re.findall(r"[^\W_]+", rand.choice(texts).lower())[:PAIR_WORDS])
        copy = edited(text, rand)
        both = (np.unique(shingles(words(each))) for each in (text, copy))
        pairs.append((text, copy, similarity(*both)))
    return pairs


def error(sign: Callable[[str], Any], pairs: Sequence[tuple[str, str, float]]) -> float:
    errors = [float(np.mean(sign(one) == sign(other))) - true for one, other, true in pairs]
    return float(np.sqrt(np.mean(np.square(errors))))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=DOCS)
    parser.add_argument("--pages", type=int, default=PAGES)
    options = parser.parse_args()
    pages = [
        Page(URL, {"content-type": "text/html"}, body)
        for body in pages_of(options.folder, options.pages)
    ]
    texts = texts_of(pages)
    if not texts:
        parser.error(f"no page in {options.folder}")
    count = sum(words(text).size for text in texts) / len(texts)
    with GuardedParser(RULES) as guarded:
        guarded.parse(pages[0])
        parse_ms = cost_ms(guarded.parse, pages, time.perf_counter)
    pairs = pairs_of(texts)
    table = Table(
        *("", "ms per 1,000 words", "% of parsing", "error"),
        title=f"{len(texts)} texts of {count:.0f} words, parsed in {parse_ms:.2f} ms each",
    )
    for name, sign in (*OURS, *peers()):
        ms = cost_ms(sign, texts)
        rms = "" if name in NO_VALUES else f"{error(sign, pairs):.4f}"
        table.add_row(name, f"{ms / count * 1000:.3f}", f"{100 * ms / parse_ms:.1f}", rms)
    mean = np.mean([true * (1 - true) / VALUES for *_, true in pairs])
    table.add_row("binomial error", "", "", f"{np.sqrt(mean):.4f}")
    Console().print(table)


if __name__ == "__main__":
    main()
