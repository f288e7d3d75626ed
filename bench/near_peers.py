"""What other libraries find among near-duplicates: run by bench/near_duplicates.py.

    PYTHON bench/near_peers.py datasketch|text-dedup TEXTS.parquet FOUND.parquet

Needs one of these libraries and pyarrow, but not Gossamer, with whose versions text-dedup's do not
agree. TEXTS has a column `text`, FOUND gets the pairs that the library accepts, `one` and `other`.
Prints the CPU seconds. Both have 14 bands of 8 values of shingles of 5 words, as Gossamer has.
text-dedup accepts whole clusters; the pairs are those of each text and the first one in its
cluster.
"""

from __future__ import annotations

import pickle
import re
import resource
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

BANDS, BAND_VALUES, SHINGLE_WORDS = 14, 8, 5
LEAST = 0.8
"""Estimated similarity from which datasketch's candidates are accepted."""
WORD = re.compile(r"\w+")


def datasketch(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    library = import_module("datasketch")
    values = BANDS * BAND_VALUES
    index = library.MinHashLSH(num_perm=values, params=(BANDS, BAND_VALUES))
    sketches: list[Any] = []
    for number, text in enumerate(texts):
        words = WORD.findall(text.lower())
        shingles = {
            " ".join(words[at : at + SHINGLE_WORDS]).encode()
            for at in range(len(words) - SHINGLE_WORDS + 1)
        }
        sketch = library.MinHash(num_perm=values, seed=1)
        sketch.update_batch(list(shingles))
        for other in index.query(sketch):
            if sketch.jaccard(sketches[other]) >= LEAST:
                yield other, number
        index.insert(number, sketch)
        sketches.append(sketch)


def text_dedup(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    dataset = import_module("datasets").Dataset
    with tempfile.TemporaryDirectory() as folder:
        dataset.from_dict({"text": list(texts)}).save_to_disk(f"{folder}/texts")
        command = [sys.executable, "-m", "text_dedup.minhash", "--path", f"{folder}/texts"]
        command += ["--local", "--output", f"{folder}/found", "--column", "text", "--debug"]
        command += ["--num_perm", str(BANDS * BAND_VALUES), "--b", str(BANDS)]
        command += ["--r", str(BAND_VALUES), "--ngram", str(SHINGLE_WORDS), "--num_proc", "1"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        clusters = pickle.loads(Path(folder, "found", "uf.pkl").read_bytes())  # noqa: S301  # ours
        find: Callable[[int], int] = clusters.find if hasattr(clusters, "find") else clusters.get
        for number in range(len(texts)):
            first = find(number)
            if first is not None and first != number:
                yield first, number


def main() -> None:
    name, source, target = sys.argv[1:]
    texts = pq.read_table(source)["text"].to_pylist()
    found = list({"datasketch": datasketch, "text-dedup": text_dedup}[name](texts))
    pairs = {"one": [one for one, _ in found], "other": [other for _, other in found]}
    pq.write_table(pa.table(pairs), target)
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(sum(each.ru_utime + each.ru_stime for each in used))


if __name__ == "__main__":
    main()
