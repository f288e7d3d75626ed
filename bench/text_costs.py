"""What do the steps cost that read a page's text for a query? The figures in the modules' notes.

    python bench/text_costs.py [FOLDER]

FOLDER holds HTML files; by default, the manual of Python 3.11. CPU time, the best of RUNS.

    stored text   fulltext/stored_text.py: compression, and search in bytes and in strings
    words, code   fulltext/analysis.py and written.py: tokenizers, and what Python finds
    passages      search/passages.py and snippets.py: a text without the words, so all of it is read
"""

from __future__ import annotations

import sys
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from isal import isal_zlib
from selectolax.lexbor import LexborHTMLParser

from gossamer.fulltext import stored_text
from gossamer.fulltext.analysis import analyzer_for
from gossamer.fulltext.marked import marked_pieces
from gossamer.fulltext.written import code_in, pieces_of, split_words
from gossamer.search.passages import MAX_COMPARED_BYTES
from gossamer.search.query import Words
from gossamer.search.snippets import MAX_ANALYZED_BYTES, Snippets

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = 60
PROSE_CHARS = 30_000
RUNS = 5


def best_s(work: Callable[[], object]) -> float:
    """The CPU seconds of the fastest of RUNS."""
    times = []
    for _ in range(RUNS):
        begun_s = time.process_time()
        work()
        times.append(time.process_time() - begun_s)
    return min(times)


def texts(folder: Path) -> str:
    """The visible text of the folder's first pages."""
    bodies = (LexborHTMLParser(path.read_bytes()).body for path in sorted(folder.rglob("*.html")))
    return "\n".join(body.text(separator=" ") for body in islice(bodies, FILES) if body)


def show(name: str, value: float, unit: str) -> None:
    print(f"{name:44} {value:8.3f} {unit}")


def of_stored_text(text: str) -> None:
    prose = text[:PROSE_CHARS].encode("ascii", "ignore")
    packed = isal_zlib.compress(prose)
    accented = prose.decode() + "é"
    lz4 = pa.compress(prose, codec="lz4", asbytes=True)
    show("isal: share left of the text", len(packed) / len(prose), "")
    show("lz4: share left of the text", len(lz4) / len(prose), "")
    show("isal: compress", 1000 * best_s(lambda: isal_zlib.compress(prose)), "ms")
    show("isal: decompress", 1000 * best_s(lambda: isal_zlib.decompress(packed)), "ms")
    show("bytes.lower", 1000 * best_s(prose.lower), "ms")
    show("bytes.find", 1000 * best_s(lambda: prose.find(b"\0\0")), "ms")
    show("str.lower, one letter not ASCII", 1000 * best_s(accented.lower), "ms")


def of_words(text: str) -> None:
    for language, name in (("en", "simple tokenizer"), ("xx", "regular expression")):
        analyzer = analyzer_for(language)
        words = len(analyzer.terms.analyze(text))
        taken_s = best_s(lambda terms=analyzer.terms: terms.analyze(text))
        show(f"{name}, per word", 1e6 * taken_s / words, "µs")
    pieces = marked_pieces(text)
    for name, work in (
        ("pieces that may have any", lambda: marked_pieces(text)),
        ("code in these", lambda: code_in(pieces)),
        ("words in CamelCase in these", lambda: list(split_words(pieces))),
        (
            "pieces, and both in all of them",
            lambda: (code_in(every := pieces_of(text)), list(split_words(every))),
        ),
    ):
        show(f"{name}, per character", 1e9 * best_s(work) / len(text), "ns")


def of_snippets(text: str) -> None:
    plain = text.encode("ascii", "ignore").decode()
    asked = Snippets([Words("zyzzogeton"), Words("quokkas")], "en")
    stored = stored_text.packed((plain * 10)[:MAX_COMPARED_BYTES])
    taken_s = best_s(lambda: asked.of(stored, ""))
    show("passages, per million bytes", 1e9 * taken_s / MAX_COMPARED_BYTES, "ms")
    accented = stored_text.packed(plain[:MAX_ANALYZED_BYTES].replace("a", "é"))
    taken_s = best_s(lambda: asked.of(accented, ""))
    read = sum(len(each.text) for each in stored_text.windows(accented))
    show("… if all words are analysed, per thousand", 1e6 * taken_s / read, "ms")


def main() -> None:
    folder = Path(*sys.argv[1:2] or ["/usr/share/doc/python3.11/html"])
    text = texts(folder)
    of_stored_text(text)
    of_words(text)
    of_snippets(text)


if __name__ == "__main__":
    main()
